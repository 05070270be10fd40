/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holds an order to what link order had: no root shall need more ITLB entries than
 * before, whether the profile saw it or not.
 *
 *   hot | units of roots that would be worse off | last hot page, shared with groups | the rest
 *
 * A root that was profiled counts by the mean and the 95th percentile of its paths,
 * over their weight. One that never was counts by what its code says it would run
 * (analyze/completion/unprofiled.h).
 */
#ifndef REORDER_GUARD_H
#define REORDER_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/callgraph.h"
#include "lib/index.h"

struct layout;
struct machine;

struct guard_root {
	uint32_t func;			/* of the image, INDEX_NONE when it did not match */
	enum path_kind kind;
	bool profiled;
	double mean[2], p95[2];		/* ITLB entries before and after */
};

struct guard {
	const struct callgraph *seen, *unseen;	/* borrowed: the profile's paths, and those of roots never profiled */
	const struct machine *machine;	/* borrowed: what its entries hold is counted */
	struct index names;		/* root = id of its kind and name; those profiled first */
	struct guard_root *roots;	/* [names id] */
	uint32_t nr_profiled;		/* roots */
	uint32_t *seen_root, *unseen_root;	/* [path]: root */
	struct guard_unit {		/* that guard_gather() took along */
		uint32_t unit, root;
	} *units;
	uint32_t nr_units;
	uint32_t alloc_roots, alloc_units;
};

/* before: link order, its addresses assigned. */
void guard_init(struct guard *g, const struct callgraph *seen, const struct callgraph *unseen,
		const struct layout *before, const struct machine *m);
void guard_release(struct guard *g);

static inline const char *guard_root_name(const struct guard *g, uint32_t root)
{
	return index_str(&g->names, root) + 1;	/* behind its kind */
}

/* Entries of every root under an order whose addresses are assigned. */
void guard_measure(struct guard *g, const struct layout *after);

/* By an entry or more, in the mean or the 95th percentile; by less, in the mean: a percentile is whole. */
bool guard_is_worse(const struct guard_root *r);
bool guard_is_worse_by_less(const struct guard_root *r);

/* Roots that are worse, of those profiled or of the others. Needs guard_measure(). */
uint32_t guard_count(const struct guard *g, bool profiled, bool (*is_worse)(const struct guard_root *r));

/*
 * Make the paths of profiled roots that are worse weigh so much that an algorithm
 * minds them. paths: a copy of seen's, whose weights change. Needs guard_measure().
 */
void guard_raise(const struct guard *g, struct callgraph_path *paths);

/*
 * Put what the roots never profiled would run, where they are worse, behind the hot
 * units but before l->nr_last, until none is or nothing is left to move; assigns after's addresses. Measures.
 */
void guard_gather(struct guard *g, struct layout *after);

#endif
