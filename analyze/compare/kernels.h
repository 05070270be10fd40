/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kernels set against each other under one machine and one profile: the ITLB entries
 * of each path as each kernel is linked. The profile holds names, so it fits all of
 * them; addresses in it are taken to be those of the first. Only functions that all
 * of them have are counted.
 */
#ifndef ANALYZE_COMPARE_KERNELS_H
#define ANALYZE_COMPARE_KERNELS_H

#include <stdint.h>

#include "analyze/tlb/machine.h"
#include "collect/profile.h"

struct kernel_side {
	char *label;			/* its path, short */
	char *release, *build_id;	/* "" when the kernel does not say */
	double matched;			/* share of the profile's weight found in it, 0..1 */
	uint64_t pages;			/* hot ones */
	double mean, p95, max;		/* entries a path */
	double misses;			/* estimated, a path run in the mix of all; negative: no paths */
};

struct kernel_path {
	enum path_kind kind;
	const char *root;	/* as the profile names it */
	uint64_t weight;
	double *entries;	/* [side]; negative: not in that kernel */
};

struct kernels {
	struct machine machine;
	const char *why_none;	/* why an order saves nothing on it; NULL: it does */
	struct kernel_side *sides;
	uint32_t nr_sides;
	struct kernel_path *paths;	/* heaviest first */
	uint32_t nr_paths;
	struct profile profile;		/* of functions that all have */
	double left_out;		/* share of its weight in functions that only some have, 0..1 */
};

#define KERNELS_LEFT_OUT_MIN 0.0005	/* less is 0.0 % */

struct kernels_options {
	const char *machine;		/* NULL: by the first kernel */
	const char *const *profiles;
	uint32_t nr_profiles;
	const char *const *modules;	/* see modules_init(): one for all kernels, or one for each */
	uint32_t nr_modules;		/* 0: what modules need is not counted */
};

/* Errors are reported. */
int kernels_init(struct kernels *k, const char *const *paths, uint32_t nr_paths,
		 const struct kernels_options *o);
void kernels_release(struct kernels *k);

#endif
