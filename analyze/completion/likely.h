/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which blocks of a function run when it is entered, given what is known to have
 * run in that activation: a Markov walk over its edges, with certainty where
 * dominators and post-dominators give it.
 */
#ifndef ANALYZE_COMPLETION_LIKELY_H
#define ANALYZE_COMPLETION_LIKELY_H

#include "analyze/code/flow.h"

/*
 * For each block the probability that it runs at least once in an activation of f
 * that ran all the blocks seen[]: exactly 1 only where that is proved. edge_share[e]
 * is the probability that edge e is followed when its block ends. With
 * entered_at_start false the activation may have begun elsewhere (.cold parts).
 */
void likely_blocks(const struct flow *f, const float *edge_share, const uint32_t *seen, uint32_t nr_seen,
		   bool entered_at_start, float *probability);

#endif
