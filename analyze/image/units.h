/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How image.c makes its units: from a link map and objects, or from symbols and text bytes. */
#ifndef ANALYZE_IMAGE_UNITS_H
#define ANALYZE_IMAGE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/image/image.h"

struct linkmap;

/* An executable output section of the vmlinux. */
struct code_section {
	const char *name;		/* valid until code_release */
	uint64_t addr, size;
	uint64_t align;			/* sh_addralign, at least 1 */
	const unsigned char *bytes;	/* size of them; NULL when the file holds none */
};

struct code {
	struct code_section *sections;	/* sorted by address */
	uint32_t nr_sections;
	int fd;
	void *elf;			/* Elf */
};

int code_open(struct code *t, const char *vmlinux);	/* errors are reported */
void code_release(struct code *t);
const struct code_section *code_at(const struct code *t, uint64_t addr);	/* NULL when none */

/* Units and groups. The caller has filled img->symtab; units come out sorted, strings in img->strings. */
int units_from_map(struct image *img, const struct linkmap *map, const char *objects_dir,
		   const struct code *t);
void units_from_symbols(struct image *img, const struct code *t);

/* Append; name and object are copied into img->strings (object may be NULL). */
struct unit *units_add(struct image *img, const char *section, const char *object, uint64_t addr,
		       uint64_t size);
struct image_group *units_add_group(struct image *img, enum group group, uint64_t start, uint64_t end,
				    uint64_t align);

int units_cmp(const void *a, const void *b);	/* for qsort: by address */

/* Sort units and groups by address; overlapping units are an error that is reported. */
int units_finish(struct image *img, const char *path);

/* The group of an input section by its name, and whether such a section may move on its own. */
enum group group_of_section(const char *section, const char **why_fixed);

/* Why no unit of this group moves on its own; NULL for main text. */
const char *group_why_fixed(enum group g);

/* The groups that have boundary symbols. */
struct group_bounds {
	enum group group;
	const char *start, *end;	/* symbol names */
	const char *section;		/* input section name */
	const char *also;		/* and what other kernels call it; NULL: nothing else */
};
extern const struct group_bounds group_bounds[];
extern const uint32_t nr_group_bounds;
bool is_section_of(const struct group_bounds *g, const char *section);

/*
 * What addresses say of alignments: see align.c. One item a section, in link order.
 * class: sections of one class are taken to share an alignment.
 */
struct align_item {
	uint64_t addr;
	uint64_t dot;		/* where the location counter stood before; equal to addr when not known */
	uint32_t class;
	uint32_t align;		/* result; items that come with one keep it (0: to be inferred) */
};
void align_infer(struct align_item *items, uint32_t nr, uint32_t nr_classes);

#endif
