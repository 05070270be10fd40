/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of what a TLB has to hold at a time: a path together with those that ran
 * before it. Drawn in proportion to weight, so counting samples is counting weight.
 *
 *   sample 0   read   write  read   write     slots used by any of the four
 *   sample 1   fork   page fault  ...
 */
#ifndef REORDER_PACK_SAMPLES_H
#define REORDER_PACK_SAMPLES_H

#include <stdint.h>

struct use;
struct windows;

struct sample_options {
	uint32_t samples;	/* a multiple of 64 */
	uint32_t depth;		/* windows a sample joins, where there are many in all */
	double flatten;		/* runs count by weight to this power: below 1 rare ones count for more */
	double offset;		/* [0, 1): another one draws others */
};

/*
 * Which slots, fixed ones too, each sample uses. What ran before a window is drawn
 * among what is known to, else among all windows: anything may have. One that
 * follows itself is a sample alone. The caller releases u.
 */
void draw_samples(struct use *u, const struct windows *w, const struct sample_options *opts);

#endif
