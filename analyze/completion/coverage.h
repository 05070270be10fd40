/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of what really ran a profile knows of: the truth is a profile of a whole trace. */
#ifndef ANALYZE_COMPLETION_COVERAGE_H
#define ANALYZE_COMPLETION_COVERAGE_H

#include <stdint.h>

struct profile;
struct image;

struct coverage_count {
	uint64_t truth, found, right;	/* items that ran, that the profile holds, that both do */
	double weight, weight_found;	/* of the truth: in all, and of what was found (times run) */
};

struct coverage {
	struct coverage_count funcs;
	struct coverage_count chunks;	/* of PROFILE_CHUNK bytes */
};

/* Compare by image function; what is not in the image's movable or fixed units is left out. */
void coverage_measure(struct coverage *c, const struct image *img, const struct profile *p, const struct profile *truth);

#endif
