/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The object files behind a link map: what only they know of a section, its
 * alignment and whether its branches reach far enough for it to be moved.
 * Objects are opened when first asked for, each once.
 */
#ifndef ANALYZE_IMAGE_OBJECTS_H
#define ANALYZE_IMAGE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

struct objects;

struct object_section {
	uint64_t size;		/* bytes, before the linker relaxes */
	uint32_t align;		/* bytes, a power of two, at least 1 */
	bool code;
	bool repeated;		/* its object has several sections of this name; size and align are the largest */
	bool short_branch;	/* branches out of the section by an instruction of short reach (PowerPC: 32 KB) */
	bool short_target;	/* such a branch in another section of its object ends in it */
};

/* dir is the folder that object names are relative to; nothing is opened yet. */
struct objects *objects_new(const char *dir);
void objects_free(struct objects *o);	/* accepts NULL */

/*
 * A section of an object as the link map spells it: "fs/read_write.o", "/abs/x.o",
 * "lib/lib.a(string.o)", the archive thin or not. False when object or section
 * cannot be read: an object that is missing is normal, so nothing is reported.
 */
bool objects_section(struct objects *o, const char *object, const char *section, struct object_section *out);

/* Whether an object read so far reaches this global symbol by a short branch from another section. */
bool objects_short_target(const struct objects *o, const char *symbol);

#endif
