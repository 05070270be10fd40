/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What measured access times say of a TLB.
 *
 *   ns |            ______     cost against number of pages: flat while the pages
 *      |    _______/           fit a level, a step where they no longer do. A step is
 *      |___/                   a knee; what follows it is the cost of the level behind.
 *      +------------------
 *           ^knee  ^knee
 *
 *   ticks of single touches: two populations, hits and misses, and a few that are neither
 */
#ifndef ANALYZE_CALIBRATE_KNEE_H
#define ANALYZE_CALIBRATE_KNEE_H

#include <stdbool.h>
#include <stdint.h>

struct knee {
	uint32_t before, after;	/* points: the last on the plateau below, the first above */
	double low, high;	/* cost: the plateau below, and where the rise ends */
};

/*
 * Knees of y over points 0..nr-1, in order: where the cost rises to more than step
 * times its plateau, and stays there. A rise over several points is one knee. Returns
 * how many were found, max at most. KNEE_STEP suits series whose noise is not known: a
 * plateau wavers by a tenth or two on real machines (the published Itanium series by 14 %).
 */
#define KNEE_STEP 1.5
uint32_t find_knees(const double *y, uint32_t nr, double step, struct knee *out, uint32_t max);

struct populations {
	uint32_t nr_low, nr_high, nr_apart;	/* hits, misses, neither */
	double low, high;			/* medians */
	double gap;				/* high / low; below 3 there is one population only */
};

/*
 * Split ticks in two, at the widest ratio between neighbours in order of size that
 * leaves a tenth on each side, three at least (two of fewer than eight). Values between the two, far from both, and values far
 * above the misses (the first touch of all) are set apart: apart[i] is true. x keeps its order.
 */
struct populations split_populations(const double *x, uint32_t nr, bool *apart);

double median_of(const double *x, uint32_t nr);	/* 0 for none */

#endif
