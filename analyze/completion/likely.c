// SPDX-License-Identifier: GPL-3.0-or-later
/* Expected visits along a walk that must pass given blocks. */
#include "analyze/completion/likely.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { SWEEPS = 12 };		/* passes over the blocks: loops are followed so often */

static const float ALMOST = 0.999f;	/* what is not proved stays below 1 */

struct walk {
	const struct flow *f;
	const float *share;
	float *visits, *ahead, *next;	/* [block] */
};

/* ahead[b]: probability that a walk standing at b comes to `goal`. */
static void look_back(struct walk *w, uint32_t goal)
{
	const struct flow *f = w->f;

	memset(w->ahead, 0, f->nr_blocks * sizeof(*w->ahead));
	w->ahead[goal] = 1;
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		float change = 0;
		for (uint32_t i = f->nr_rpo; i-- > 0;) {
			uint32_t b = f->rpo[i];
			const struct flow_block *blk = &f->blocks[b];
			if (b == goal)
				continue;
			float sum = 0;
			for (uint32_t e = blk->first_succ; e < blk->first_succ + blk->nr_succs; e++)
				sum += w->share[e] * w->ahead[f->edges[e]];
			change += sum - w->ahead[b];
			w->ahead[b] = sum;
		}
		if (change < 1e-4f || !f->has_loops)
			break;
	}
}

/* visits[b] of a walk from `start`; when goal is a block, of those walks that come to it, up to there. */
static void walk_from(struct walk *w, uint32_t start, uint32_t goal)
{
	const struct flow *f = w->f;

	memset(w->visits, 0, f->nr_blocks * sizeof(*w->visits));
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		float change = 0;
		for (uint32_t i = 0; i < f->nr_rpo; i++) {
			uint32_t b = f->rpo[i];
			const struct flow_block *blk = &f->blocks[b];
			float sum = b == start ? 1 : 0;
			for (uint32_t k = blk->first_pred; k < blk->first_pred + blk->nr_preds; k++) {
				uint32_t from = f->preds[k];
				if (from == goal || w->visits[from] <= 0)
					continue;
				float share = w->share[f->pred_edges[k]];
				if (goal != FLOW_NONE)
					share *= w->ahead[from] > 0 ? w->ahead[b] / w->ahead[from] : 0;
				sum += w->visits[from] * share;
			}
			change += sum > w->visits[b] ? sum - w->visits[b] : w->visits[b] - sum;
			w->visits[b] = sum;
		}
		if (change < 1e-3f || !f->has_loops)
			break;
	}
}

static void fold(const struct walk *w, float *probability)
{
	for (uint32_t b = 0; b < w->f->nr_blocks; b++) {
		float v = w->visits[b] < ALMOST ? w->visits[b] : ALMOST;
		float p = 1 - (1 - probability[b]) * (1 - v);
		probability[b] = p < ALMOST ? p : ALMOST;
	}
}

/* What must run when block b does: dominators, post-dominators, and what a single edge leads to. */
static void prove(const struct flow *f, uint32_t b, bool entered_at_start, uint32_t *stack, float *probability)
{
	uint32_t depth = 0;

	stack[depth++] = b;
	while (depth) {
		const struct flow_block *blk = &f->blocks[b = stack[--depth]];
		if (probability[b] >= 1)
			continue;
		probability[b] = 1;
		if (blk->idom != FLOW_NONE && entered_at_start)
			stack[depth++] = blk->idom;
		if (blk->ipdom != FLOW_NONE)
			stack[depth++] = blk->ipdom;
		if (blk->nr_succs == 1)
			stack[depth++] = f->edges[blk->first_succ];
	}
}

static int compare_pairs(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* The blocks seen, in an order in which one activation can have run them. */
static uint32_t *in_order(const struct flow *f, const uint32_t *seen, uint32_t nr_seen, uint32_t *nr)
{
	uint32_t *pairs = xcalloc((size_t)nr_seen + 1, 2 * sizeof(*pairs));
	uint32_t *rank = xcalloc(f->nr_blocks, sizeof(*rank));
	uint32_t n = 0;

	for (uint32_t r = 0; r < f->nr_rpo; r++)
		rank[f->rpo[r]] = r;
	for (uint32_t i = 0; i < nr_seen; i++) {
		if (!(f->blocks[seen[i]].flags & FLOW_REACHED))
			continue;
		pairs[2 * n] = rank[seen[i]];
		pairs[2 * n++ + 1] = seen[i];
	}
	qsort(pairs, n, 2 * sizeof(*pairs), compare_pairs);
	for (uint32_t i = 0; i < n; i++)
		pairs[i] = pairs[2 * i + 1];
	free(rank);
	*nr = n;
	return pairs;
}

static void walk_through(struct walk *w, const uint32_t *stops, uint32_t nr_stops, bool entered_at_start,
			 float *probability)
{
	uint32_t at = entered_at_start || !nr_stops ? 0 : stops[0];

	for (uint32_t i = 0; i < nr_stops; i++) {
		if (stops[i] == at)
			continue;
		look_back(w, stops[i]);
		if (w->ahead[at] <= 1e-6f) {	/* of another activation */
			at = 0;
			if (w->ahead[0] <= 1e-6f)
				continue;
		}
		walk_from(w, at, stops[i]);
		fold(w, probability);
		at = stops[i];
	}
	walk_from(w, at, FLOW_NONE);
	fold(w, probability);
}

void likely_blocks(const struct flow *f, const float *edge_share, const uint32_t *seen, uint32_t nr_seen,
		   bool entered_at_start, float *probability)
{
	struct walk w = { .f = f, .share = edge_share };
	uint32_t nr_stops, *stops = in_order(f, seen, nr_seen, &nr_stops);

	uint32_t *stack = xcalloc((size_t)f->nr_blocks * 3 + 1, sizeof(*stack));
	w.visits = xcalloc(f->nr_blocks, sizeof(*w.visits));
	w.ahead = xcalloc(f->nr_blocks, sizeof(*w.ahead));
	memset(probability, 0, f->nr_blocks * sizeof(*probability));
	walk_through(&w, stops, nr_stops, entered_at_start, probability);
	if (entered_at_start)
		prove(f, 0, true, stack, probability);
	for (uint32_t i = 0; i < nr_seen; i++)
		prove(f, seen[i], entered_at_start && (f->blocks[seen[i]].flags & FLOW_REACHED), stack, probability);
	free(stack);
	free(w.visits);
	free(w.ahead);
	free(stops);
}
