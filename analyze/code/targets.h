/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where an indirect call goes. Where the profile saw it go somewhere, there; else
 * guessed from tables of operations: a call through offset 40 of a structure goes
 * to a function that stands at offset 40 of some table, likelier of one near the
 * caller's source, of a table like those that this caller was seen to use, and of
 * one whose functions, or whose source file's functions, ran.
 */
#ifndef ANALYZE_CODE_TARGETS_H
#define ANALYZE_CODE_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/code/pointers.h"
#include "lib/index.h"

struct evidence;
struct program;

struct target {
	uint32_t func;		/* image func */
	float share;		/* of the calls from there */
};

struct targets {
	struct program *prog;			/* borrowed */
	const struct evidence *evidence;	/* borrowed */
	struct pointers pointers;
	bool *live;				/* [image func]: ran, or probably did */
	uint32_t *file;				/* [image func]: in files, INDEX_NONE when the object is not known */
	struct index files;			/* object names */
	uint32_t *near_live;			/* [image func]: live functions near it in its file */
	uint32_t *object_live;			/* [pointer object]: live functions in it */
	struct index observed;			/* {image func or file | TARGETS_FILE, object size}: used from there */
	struct index sites;			/* {func, site} looked up so far */
	struct { uint32_t first, nr; } *site_items;	/* [site] */
	uint32_t alloc_sites;
	struct target *items;
	uint32_t nr_items, alloc_items;
};

void targets_init(struct targets *t, struct program *prog, const struct evidence *e);
void targets_release(struct targets *t);

/* After live[] has changed: forget what was looked up. */
void targets_refresh(struct targets *t);

/* Targets of the indirect call `site` (in flow.calls) of func; valid until the next call. Returns how many. */
uint32_t targets_of(struct targets *t, uint32_t func, uint32_t site, const struct target **list);

#endif
