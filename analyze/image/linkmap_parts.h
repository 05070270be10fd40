/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of link maps share. */
#ifndef ANALYZE_IMAGE_LINKMAP_PARTS_H
#define ANALYZE_IMAGE_LINKMAP_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/image/linkmap.h"

struct input;

struct linkmap_text {	/* a name in a line */
	const char *s;
	size_t len;
};

/* Whether an output section of that name holds code. */
bool linkmap_is_code(struct linkmap_text name);

/*
 * Append to the map, sections and marks to its last output section. The first two return -1
 * after reporting, with the line that `in` stands on, what does not fit together or is too much.
 */
int linkmap_add_output(struct linkmap *m, struct input *in, struct linkmap_text name, uint64_t addr, uint64_t size);
int linkmap_add_section(struct linkmap *m, struct input *in, struct linkmap_text name, struct linkmap_text object,
			uint64_t addr, uint64_t size);
/* symbol may be empty, see struct linkmap_mark. */
void linkmap_add_mark(struct linkmap *m, uint64_t addr, uint64_t align, struct linkmap_text symbol);
void linkmap_add_symbol(struct linkmap *m, struct linkmap_text name, uint64_t addr);

/* Whether there is room for one more of each. */
int linkmap_check_room(const struct linkmap *m, struct input *in);

#endif
