// SPDX-License-Identifier: GPL-3.0-or-later
/* The branch model: its features, its weights, and how they are learnt. */
#include "analyze/code/branch.h"

#include <math.h>
#include <string.h>

#include "analyze/code/program.h"
#include "lib/index.h"
#include "lib/mem.h"

enum {
	LOOK_AHEAD = 3,		/* blocks that a side is followed for */
	SHORT_SKIP = 32,	/* bytes */
	LEARN_ROUNDS = 300,
};

/*
 * Learnt with branch_learn() from the 7,800 branches that a fetch trace of Linux 6.1 on
 * x86-64 ran; on functions kept out the odds fit as well (cross entropy 0.57 a branch,
 * 0.66 for the mean alone).
 */
const struct branch_model branch_model_shipped = {
	.weight = {
		[BF_BIAS] = 0.02, [BF_TEST + TEST_EQUAL] = 0.27, [BF_TEST + TEST_NOT_EQUAL] = -0.02,
		[BF_TEST + TEST_ZERO] = 0.46, [BF_TEST + TEST_NOT_ZERO] = -0.38,
		[BF_TEST + TEST_NEGATIVE] = -0.79, [BF_TEST + TEST_NOT_NEGATIVE] = 0.56,
		[BF_TEST + TEST_BIT_CLEAR] = 1.15, [BF_TEST + TEST_BIT_SET] = -0.73,
		[BF_TEST + TEST_ERRNO_ABOVE] = -2.00, [BF_TEST + TEST_ERRNO_NOT_ABOVE] = 0.92,
		[BF_TEST + TEST_ORDER] = -0.07, [BF_BACKWARD] = 0.08, [BF_FAR] = -0.46, [BF_SHORT] = 0.13,
		[BF_LOOP_LATCH_TAKEN] = -0.31, [BF_LOOP_LATCH_THROUGH] = -0.11, [BF_EXIT_TAKEN] = -0.08,
		[BF_EXIT_THROUGH] = 0.33, [BF_ERROR_TAKEN] = -1.42, [BF_ERROR_THROUGH] = 0.69,
		[BF_TRAP_TAKEN] = -1.80, [BF_TRAP_THROUGH] = 1.25, [BF_COLD_TAKEN] = -2.31,
		[BF_COLD_THROUGH] = 1.62, [BF_RETURN_TAKEN] = -0.14, [BF_RETURN_THROUGH] = -0.20,
		[BF_CALL_TAKEN] = -0.03, [BF_CALL_THROUGH] = 0.10, [BF_JOIN_TAKEN] = 0.24,
		[BF_JOIN_THROUGH] = -0.70, [BF_SHARED_TAKEN] = 0.23, [BF_SHARED_THROUGH] = -0.22,
		[BF_AWAY_TAKEN] = -0.16, [BF_REGION_TAKEN] = 1.16, [BF_REGION_THROUGH] = -1.60,
		[BF_POSITION] = -0.31,
	},
};

/* What a side of a branch runs into before it meets other ways in. */
struct side {
	bool error, trap, cold, returns, calls;
};

static bool calls_cold(const struct program *p, const struct flow *f, const struct flow_block *b, bool *calls)
{
	bool cold = false;

	for (uint32_t c = b->first_call; c < b->first_call + b->nr_calls; c++) {
		uint32_t off, g = program_target(p, &f->calls[c], &off);
		if (g != INDEX_NONE && (p->traits[g] & PROGRAM_COLD))
			cold = true;
		else
			*calls = true;
	}
	return cold;
}

static struct side look(const struct program *p, const struct flow *f, uint32_t from, uint32_t b)
{
	struct side s = { 0 };

	for (int i = 0; i < LOOK_AHEAD; i++) {
		const struct flow_block *blk = &f->blocks[b];
		if (i && blk->nr_preds > 1)
			break;
		s.error |= (blk->flags & FLOW_ERROR_VALUE) != 0;
		s.trap |= (blk->flags & (FLOW_TRAPS | FLOW_NORETURN)) != 0;
		s.cold |= calls_cold(p, f, blk, &s.calls);
		s.returns |= (blk->flags & (FLOW_RETURNS | FLOW_TAIL)) != 0;
		if (blk->nr_succs != 1)
			break;
		b = f->edges[blk->first_succ];
		if (b == from)
			break;
	}
	return s;
}

static bool is_postdominated_by(const struct flow *f, uint32_t b, uint32_t by)
{
	for (int i = 0; b != FLOW_NONE && i < 64; i++) {
		if (b == by)
			return true;
		b = f->blocks[b].ipdom;
	}
	return false;
}

/* Whether the block before b in the text does not fall into it: b was moved out of line. */
static bool stands_alone(const struct flow *f, uint32_t b)
{
	if (!b)
		return false;
	const struct flow_block *prev = &f->blocks[b - 1];
	for (uint32_t s = 0; s < prev->nr_succs; s++)
		if (f->edges[prev->first_succ + s] == b)
			return false;
	return true;
}

static void loop_features(const struct flow *f, uint32_t b, uint32_t to, float *latch, float *leaves)
{
	*latch = (f->blocks[to].flags & FLOW_LOOP_HEAD) && flow_dominates(f, to, b) ? 1 : 0;
	*leaves = f->blocks[to].depth < f->blocks[b].depth ? 1 : 0;
}

/* How much code only this side of b leads to. */
static float region(const struct flow *f, uint32_t b, uint32_t to)
{
	const struct flow_block *blk = &f->blocks[to];

	return blk->nr_preds == 1 && blk->idom == b ? log2f(1 + (float)blk->dominated) / 10 : 0;
}

void branch_features(struct program *p, const struct flow *f, uint32_t b, float x[NR_BRANCH_FEATURES])
{
	const struct flow_block *blk = &f->blocks[b];
	uint32_t through = f->edges[blk->first_succ], taken = f->edges[blk->first_succ + 1];
	const struct flow_block *t = &f->blocks[taken], *u = &f->blocks[through];
	struct side st = look(p, f, b, taken), su = look(p, f, b, through);

	memset(x, 0, NR_BRANCH_FEATURES * sizeof(*x));
	x[BF_BIAS] = 1;
	if (blk->test != TEST_OTHER)
		x[BF_TEST + blk->test] = 1;
	x[BF_BACKWARD] = t->start < blk->end;
	x[BF_FAR] = t->start > blk->end && (t->start - blk->end) * 3 > f->size;
	x[BF_SHORT] = t->start >= blk->end && t->start - blk->end <= SHORT_SKIP;
	loop_features(f, b, taken, &x[BF_LOOP_LATCH_TAKEN], &x[BF_EXIT_TAKEN]);
	loop_features(f, b, through, &x[BF_LOOP_LATCH_THROUGH], &x[BF_EXIT_THROUGH]);
	x[BF_ERROR_TAKEN] = st.error, x[BF_ERROR_THROUGH] = su.error;
	x[BF_TRAP_TAKEN] = st.trap, x[BF_TRAP_THROUGH] = su.trap;
	x[BF_COLD_TAKEN] = st.cold, x[BF_COLD_THROUGH] = su.cold;
	x[BF_RETURN_TAKEN] = st.returns, x[BF_RETURN_THROUGH] = su.returns;
	x[BF_CALL_TAKEN] = st.calls, x[BF_CALL_THROUGH] = su.calls;
	x[BF_JOIN_TAKEN] = is_postdominated_by(f, through, taken);
	x[BF_JOIN_THROUGH] = is_postdominated_by(f, taken, through);
	x[BF_SHARED_TAKEN] = t->nr_preds > 1, x[BF_SHARED_THROUGH] = u->nr_preds > 1;
	x[BF_AWAY_TAKEN] = t->start > blk->end && stands_alone(f, taken);
	x[BF_REGION_TAKEN] = region(f, b, taken);
	x[BF_REGION_THROUGH] = region(f, b, through);
	x[BF_POSITION] = (float)t->start / (float)f->size;
}

static double logistic(double z)
{
	if (z > 12)
		z = 12;
	if (z < -12)
		z = -12;
	return 1 / (1 + exp(-z));
}

double branch_taken(const struct branch_model *m, const float x[NR_BRANCH_FEATURES])
{
	double z = 0;

	for (int i = 0; i < NR_BRANCH_FEATURES; i++)
		z += m->weight[i] * (double)x[i];
	return logistic(z);
}

/* Newton steps on the diagonal: one curvature a feature is enough for 0/1 features. */
void branch_learn(struct branch_model *m, const struct branch_model *prior, double prior_strength,
		  const struct branch_lesson *lessons, uint32_t nr_lessons)
{
	*m = *prior;
	for (int round = 0; round < LEARN_ROUNDS; round++) {
		double slope[NR_BRANCH_FEATURES], curve[NR_BRANCH_FEATURES];
		for (int i = 0; i < NR_BRANCH_FEATURES; i++) {
			slope[i] = prior_strength * (prior->weight[i] - m->weight[i]);
			curve[i] = prior_strength + 1e-6;
		}
		for (uint32_t k = 0; k < nr_lessons; k++) {
			const struct branch_lesson *l = &lessons[k];
			double y = branch_taken(m, l->x);
			for (int i = 0; i < NR_BRANCH_FEATURES; i++) {
				double xi = (double)l->x[i], w = (double)l->weight;
				slope[i] += w * ((double)l->taken - y) * xi;
				curve[i] += w * y * (1 - y) * xi * xi;
			}
		}
		for (int i = 0; i < NR_BRANCH_FEATURES; i++)
			m->weight[i] += 0.2 * slope[i] / curve[i];
	}
}
