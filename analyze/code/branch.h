/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How likely a conditional branch is taken, judged by what the code looks like: a
 * logistic model over features of the branch and of the two blocks it leads to.
 * The shipped weights were learnt from a fetch trace; a profile refines them.
 */
#ifndef ANALYZE_CODE_BRANCH_H
#define ANALYZE_CODE_BRANCH_H

#include "analyze/code/flow.h"

struct program;

enum branch_feature {
	BF_BIAS,
	BF_TEST,				/* one per kind of test but TEST_OTHER */
	BF_BACKWARD = BF_TEST + NR_INSN_TESTS,	/* taken leads to an earlier address */
	BF_FAR,					/* taken leads over a large part of the function */
	BF_SHORT,				/* taken skips a few instructions */
	BF_LOOP_LATCH_TAKEN, BF_LOOP_LATCH_THROUGH,	/* that side goes round the loop again */
	BF_EXIT_TAKEN, BF_EXIT_THROUGH,		/* that side leaves the loop */
	BF_ERROR_TAKEN, BF_ERROR_THROUGH,	/* that side loads -errno */
	BF_TRAP_TAKEN, BF_TRAP_THROUGH,		/* that side ends in BUG(), WARN() or a call that does not return */
	BF_COLD_TAKEN, BF_COLD_THROUGH,		/* that side reports trouble or goes to a .cold part */
	BF_RETURN_TAKEN, BF_RETURN_THROUGH,	/* that side returns soon */
	BF_CALL_TAKEN, BF_CALL_THROUGH,		/* that side calls */
	BF_JOIN_TAKEN, BF_JOIN_THROUGH,		/* that side is where the other one comes back to: an if without else */
	BF_SHARED_TAKEN, BF_SHARED_THROUGH,	/* that side has other ways in */
	BF_AWAY_TAKEN,				/* the taken side stands behind a return or jump: moved out of line */
	BF_REGION_TAKEN, BF_REGION_THROUGH,	/* log2 of the bytes that only that side leads to, / 10 */
	BF_POSITION,				/* of the taken side in the function, 0..1 */
	NR_BRANCH_FEATURES
};

struct branch_model {
	double weight[NR_BRANCH_FEATURES];
};

extern const struct branch_model branch_model_shipped;

/* Features of the conditional branch that closes block b (which has two successors). */
void branch_features(struct program *p, const struct flow *f, uint32_t b, float x[NR_BRANCH_FEATURES]);

/* Probability that a branch of these features is taken, within (0, 1). */
double branch_taken(const struct branch_model *m, const float x[NR_BRANCH_FEATURES]);

/*
 * Learning: each lesson is a branch that ran and the share of its runs that took it.
 * The result stays near `prior` where there is little to learn from.
 */
struct branch_lesson {
	float x[NR_BRANCH_FEATURES];
	float taken;	/* share, 0..1 */
	float weight;	/* how much this lesson counts, 1 for a branch seen well */
};
void branch_learn(struct branch_model *m, const struct branch_model *prior, double prior_strength,
		  const struct branch_lesson *lessons, uint32_t nr_lessons);

#endif
