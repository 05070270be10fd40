/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input statements that name exactly one unit of an image. */
#ifndef LDSCRIPTS_PATTERN_H
#define LDSCRIPTS_PATTERN_H

#include <stdint.h>

#include "lib/index.h"

struct image;

/* How often each section name occurs in an image. */
struct pattern_names {
	struct index sections;
	uint32_t *count;	/* [sections id] */
};

void pattern_names_init(struct pattern_names *n, const struct image *img);
void pattern_names_release(struct pattern_names *n);

/* "FILE(SECTION)" of a unit, or NULL when no pattern can name it; the caller frees. */
char *pattern_of_unit(const struct pattern_names *n, const struct image *img, uint32_t unit);

/* File pattern that matches an object as a link map spells it, alone, or NULL; the caller frees. */
char *pattern_of_object(const char *object);

#endif
