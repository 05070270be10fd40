// SPDX-License-Identifier: GPL-3.0-or-later
/* From block probabilities to chunks and callees. */
#include "analyze/completion/activation.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/code/program.h"
#include "analyze/completion/evidence.h"
#include "analyze/completion/likely.h"
#include "analyze/image/image.h"
#include "lib/mem.h"

static const float ALMOST = 0.999f;	/* what is not proved stays below 1 */

void activations_init(struct activations *a, struct program *prog, const struct evidence *e, float min_probability)
{
	memset(a, 0, sizeof(*a));
	a->prog = prog;
	a->evidence = e;
	a->model = branch_model_shipped;
	a->min_probability = min_probability;
	a->shares = xcalloc((size_t)prog->img->nr_funcs + 1, sizeof(*a->shares));
	targets_init(&a->targets, prog, e);
	a->plain = xcalloc((size_t)prog->img->nr_funcs + 1, sizeof(*a->plain));
	a->prior = xcalloc((size_t)prog->img->nr_funcs + 1, sizeof(*a->prior));
}

static void drop_items(struct activations *a)
{
	for (uint32_t i = 0; i < a->keys.nr_keys; i++) {
		if (!a->items[i])
			continue;
		free(a->items[i]->chunks);
		free(a->items[i]->blocks);
		free(a->items[i]->calls);
		free(a->items[i]);
	}
	index_release(&a->keys);
	memset(a->plain, 0, a->prog->img->nr_funcs * sizeof(*a->plain));
}

void activations_release(struct activations *a)
{
	if (a->plain)
		drop_items(a);
	targets_release(&a->targets);
	for (uint32_t i = 0; a->shares && i < a->prog->img->nr_funcs; i++) {
		if (a->shares[i] != a->prior[i])
			free(a->shares[i]);
		free(a->prior[i]);
	}
	free(a->items);
	free(a->shares);
	free(a->prior);
	free(a->plain);
	memset(a, 0, sizeof(*a));
}

/* seen[b]: weight in the blocks that b dominates. */
static void sum_regions(const struct flow *f, float *seen)
{
	for (uint32_t i = f->nr_rpo; i-- > 1;)
		seen[f->blocks[f->rpo[i]].idom] += seen[f->rpo[i]];
}

/* Weight seen behind edge b -> to: what only that edge leads to; -1 when nothing is told apart. */
static float behind(const struct flow *f, uint32_t b, uint32_t to, const float *seen)
{
	return f->blocks[to].nr_preds == 1 && f->blocks[to].idom == b ? seen[to] : -1;
}

static const float PRIOR_SAMPLES = 0.5f;	/* what the model's opinion counts for, against samples */

/* An edge's share, by how many samples were seen behind it and how many there should be. */
static float weigh(float prior, float share, float expected, float seen)
{
	if (expected < 0 || seen < 0 || share <= 0)
		return prior;
	return prior * (seen + PRIOR_SAMPLES) / (prior * expected / share + PRIOR_SAMPLES);
}

static float *prior_shares(struct activations *a, uint32_t func)
{
	const struct flow *f = program_flow(a->prog, func);
	float *share = xcalloc((size_t)f->nr_edges + 1, sizeof(*share));

	for (uint32_t b = 0; b < f->nr_blocks; b++) {
		const struct flow_block *blk = &f->blocks[b];
		float x[NR_BRANCH_FEATURES];
		for (uint32_t s = 0; s < blk->nr_succs; s++)
			share[blk->first_succ + s] = 1 / (float)blk->nr_succs;
		if (blk->nr_succs != 2)
			continue;
		branch_features(a->prog, f, b, x);
		float taken = (float)branch_taken(&a->model, x);
		share[blk->first_succ] = 1 - taken;
		share[blk->first_succ + 1] = taken;
	}
	return share;
}

static float *edge_shares(struct activations *a, uint32_t func)
{
	if (!a->prior[func])
		a->shares[func] = a->prior[func] = prior_shares(a, func);
	return a->shares[func];
}

/* New shares of a function's edges from samples expected and seen in each block. */
static void learn_shares(struct activations *a, uint32_t func, float *expected, float *seen)
{
	const struct flow *f = program_flow(a->prog, func);
	float *old = a->shares[func], *prior = a->prior[func];
	float *share = xmemdup(prior, ((size_t)f->nr_edges + 1) * sizeof(*share));

	sum_regions(f, expected);
	sum_regions(f, seen);
	for (uint32_t b = 0; b < f->nr_blocks; b++) {
		const struct flow_block *blk = &f->blocks[b];
		float sum = 0;
		if (blk->nr_succs < 2)
			continue;
		for (uint32_t e = blk->first_succ; e < blk->first_succ + blk->nr_succs; e++) {
			share[e] = weigh(prior[e], old[e], behind(f, b, f->edges[e], expected),
					 behind(f, b, f->edges[e], seen));
			sum += share[e];
		}
		for (uint32_t e = blk->first_succ; sum > 0 && e < blk->first_succ + blk->nr_succs; e++)
			share[e] /= sum;
	}
	if (old != prior)
		free(old);
	a->shares[func] = share;
}

/* A loop's body counts as this many rounds, in each loop around it. */
static const float LOOP_ROUNDS = 4;

static float block_cost(const struct flow_block *b)
{
	float cost = (float)(b->end - b->start);

	for (uint32_t d = 0; d < b->depth && d < 3; d++)
		cost *= LOOP_ROUNDS;
	return cost;
}

enum { DEPTH = 4 };	/* of calls whose cost is added up */

/* Have activations of all that is called so deep from the ones at hand. */
static void get_callees(struct activations *a)
{
	for (uint32_t depth = 0, first = 0; depth <= DEPTH; depth++) {
		uint32_t end = a->keys.nr_keys;

		for (uint32_t i = first; i < end; i++) {
			const struct activation *act = a->items[i];
			const struct flow *f = act ? program_flow(a->prog, act->func) : NULL;

			for (uint32_t c = 0; f && !depth && c < f->nr_calls; c++)
				if (f->calls[c].callee != INDEX_NONE)
					activation_get(a, f->calls[c].callee, NULL, 0);
			for (uint32_t c = 0; act && depth && c < act->nr_calls; c++)
				activation_get(a, act->calls[c].func, NULL, 0);
		}
		first = end;
	}
}

/*
 * A call's depth at a time, over all functions at once: what calls itself in the end counts as often as it is met on
 * the way down, and the order in which functions are asked for makes no difference.
 */
static void settle_below(struct activations *a)
{
	uint32_t nr = a->prog->img->nr_funcs;
	double *below = xcalloc(nr, sizeof(*below));

	for (uint32_t depth = 0; depth <= DEPTH; depth++) {
		for (uint32_t f = 0; f < nr; f++) {
			const struct activation *act = a->plain[f];

			below[f] = act ? act->cost : 0;
			for (uint32_t c = 0; act && depth && c < act->nr_calls; c++)
				if (a->plain[act->calls[c].func])
					below[f] += (double)act->calls[c].probability *
						    a->plain[act->calls[c].func]->below;
		}
		for (uint32_t f = 0; f < nr; f++)
			if (a->plain[f])
				a->plain[f]->below = below[f];
	}
	free(below);
}

/* Add the samples expected in each block of an activation, and in what the block calls. */
static void add_expected(const struct activations *a, const struct activation *act, float *expected)
{
	const struct flow *f = program_flow(a->prog, act->func);

	for (uint32_t b = 0; b < f->nr_blocks; b++) {
		const struct flow_block *blk = &f->blocks[b];
		double cost = (double)block_cost(blk);
		for (uint32_t c = blk->first_call; act->blocks[b] > 0 && c < blk->first_call + blk->nr_calls; c++) {
			uint32_t callee = f->calls[c].callee;
			if (callee != INDEX_NONE && a->plain[callee])
				cost += a->plain[callee]->below;
		}
		expected[b] += (float)(act->samples_per_byte * (double)act->blocks[b] * cost);
	}
}

void activations_learn(struct activations *a)
{
	uint32_t nr_funcs = a->prog->img->nr_funcs;
	float **expected = xcalloc((size_t)nr_funcs + 1, sizeof(*expected));

	get_callees(a);
	settle_below(a);
	for (uint32_t i = 0; i < a->keys.nr_keys; i++) {
		const struct activation *act = a->items[i];
		if (!act || act->samples_per_byte <= 0)
			continue;
		if (!expected[act->func])
			expected[act->func] = xcalloc(program_flow(a->prog, act->func)->nr_blocks, sizeof(**expected));
		add_expected(a, act, expected[act->func]);
	}
	for (uint32_t func = 0; func < nr_funcs; func++) {
		if (!expected[func])
			continue;
		float *seen = xcalloc(program_flow(a->prog, func)->nr_blocks, sizeof(*seen));
		evidence_block_weights(a->evidence, a->prog, func, seen);
		learn_shares(a, func, expected[func], seen);
		free(seen);
		free(expected[func]);
	}
	free(expected);
	targets_refresh(&a->targets);
	drop_items(a);
}

static float either(float a, float b)
{
	if (a >= 1 || b >= 1)
		return 1;
	float p = 1 - (1 - a) * (1 - b);
	return p < ALMOST ? p : ALMOST;
}

static int compare_reach(const void *pa, const void *pb)
{
	const struct reach *a = pa, *b = pb;

	if (a->func != b->func)
		return a->func < b->func ? -1 : 1;
	if (a->probability > b->probability || a->probability < b->probability)
		return a->probability > b->probability ? -1 : 1;
	if (a->via != b->via)
		return a->via < b->via ? -1 : 1;
	return a->via_off < b->via_off ? -1 : a->via_off > b->via_off;
}

/* Sort, and make one of those of the same function. */
static uint32_t join_reach(struct reach *r, uint32_t nr, float min_probability)
{
	uint32_t n = 0;

	if (!r)		/* nr is 0, too */
		return 0;
	sort_array(r, nr, sizeof(*r), compare_reach);
	for (uint32_t i = 0; i < nr;) {
		struct reach all = r[i];
		for (i++; i < nr && r[i].func == all.func; i++)
			all.probability = either(all.probability, r[i].probability);
		if (all.probability >= min_probability)
			r[n++] = all;
	}
	return n;
}

static void fill_chunks(struct activation *act, const struct flow *f, const float *p)
{
	act->nr_chunks = (f->size + PROFILE_CHUNK - 1) / PROFILE_CHUNK;
	act->chunks = xcalloc((size_t)act->nr_chunks + 1, sizeof(*act->chunks));
	for (uint32_t b = 0; b < f->nr_blocks; b++) {
		const struct flow_block *blk = &f->blocks[b];
		if (blk->end <= blk->start)
			continue;
		for (uint32_t c = blk->start / PROFILE_CHUNK; c <= (blk->end - 1) / PROFILE_CHUNK && c < act->nr_chunks; c++)
			if (p[b] > act->chunks[c])
				act->chunks[c] = p[b];
	}
}

struct reach_list {
	struct reach *items;
	uint32_t nr, alloc;
};

static void add_reach(struct reach_list *l, uint32_t func, float probability, uint32_t via, uint32_t via_off)
{
	ALLOC_GROW(l->items, l->nr + 1, l->alloc);
	l->items[l->nr++] = (struct reach){ func, probability, via, via_off };
}

static void add_indirect(struct activations *a, struct reach_list *l, uint32_t func, uint32_t site, uint32_t off, float p)
{
	const struct target *list;
	uint32_t nr = targets_of(&a->targets, func, site, &list);

	for (uint32_t i = 0; i < nr; i++)
		add_reach(l, list[i].func, p * list[i].share, func, off);
}

static bool is_stop(const struct stop *stops, uint32_t nr_stops, uint32_t site)
{
	for (uint32_t i = 0; i < nr_stops; i++)
		if (stops[i].site == site && stops[i].callee != INDEX_NONE)
			return true;
	return false;
}

/* The direct callees of an activation; those at stops are left to the caller, who knows what they did. */
static void fill_calls(struct activations *a, struct activation *act, const struct flow *f, const float *p,
		       const struct stop *stops, uint32_t nr_stops)
{
	struct reach_list l = { 0 };

	for (uint32_t c = 0; c < f->nr_calls; c++) {
		const struct flow_call *call = &f->calls[c];
		if (p[call->block] < a->min_probability || is_stop(stops, nr_stops, c))
			continue;
		if (!call->target) {
			add_indirect(a, &l, act->func, c, call->off, p[call->block]);
			continue;
		}
		if (call->callee != INDEX_NONE)
			add_reach(&l, call->callee, p[call->block] * (call->is_patched ? 0.5f : 1), act->func, call->off);
	}
	act->calls = l.items;
	act->nr_calls = join_reach(l.items, l.nr, a->min_probability);
}

/* Shares of edges, nothing of them into blocks that did not run. NULL when nothing is known of that. */
static float *shares_without(const struct flow *f, const float *share, const struct stop *stops, uint32_t nr_stops)
{
	float *s = NULL;

	for (uint32_t i = 0; i < nr_stops; i++) {
		const struct flow_block *never = &f->blocks[stops[i].block];
		if (stops[i].callee != STOP_NEVER)
			continue;
		if (!s)
			s = xmemdup(share, ((size_t)f->nr_edges + 1) * sizeof(*s));
		for (uint32_t k = never->first_pred; k < never->first_pred + never->nr_preds; k++)
			s[f->pred_edges[k]] = 0;
	}
	for (uint32_t b = 0; s && b < f->nr_blocks; b++) {
		const struct flow_block *blk = &f->blocks[b];
		float sum = 0;
		for (uint32_t e = blk->first_succ; e < blk->first_succ + blk->nr_succs; e++)
			sum += s[e];
		for (uint32_t e = blk->first_succ; sum > 0 && e < blk->first_succ + blk->nr_succs; e++)
			s[e] /= sum;
	}
	return s;
}

static struct activation *compute(struct activations *a, uint32_t func, const struct stop *stops, uint32_t nr_stops)
{
	const struct flow *f = program_flow(a->prog, func);

	if (!f)
		return NULL;
	struct activation *act = xcalloc(1, sizeof(*act));
	float *p = xcalloc(f->nr_blocks, sizeof(*p));
	uint32_t *seen = xcalloc((size_t)nr_stops + 1, sizeof(*seen)), nr_seen = 0;
	float *share = edge_shares(a, func), *without = shares_without(f, share, stops, nr_stops);
	bool cold = (a->prog->traits[func] & PROGRAM_COLD) != 0;
	act->func = func;
	for (uint32_t i = 0; i < nr_stops; i++)
		if (stops[i].callee != STOP_NEVER)
			seen[nr_seen++] = stops[i].block;
	likely_blocks(f, without ? without : share, seen, nr_seen, !cold || !nr_seen, p);
	free(without);
	act->blocks = p;
	for (uint32_t b = 0; b < f->nr_blocks; b++)
		act->cost += (double)p[b] * (double)block_cost(&f->blocks[b]);
	fill_chunks(act, f, p);
	fill_calls(a, act, f, p, stops, nr_stops);
	free(seen);
	return act;
}

static int compare_stops(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct stop));
}

struct activation *activation_get(struct activations *a, uint32_t func, struct stop *stops, uint32_t nr_stops)
{
	uint32_t small[64], *key = small, words = 1 + nr_stops * 3;

	if (!nr_stops && a->plain[func])
		return a->plain[func];
	sort_array(stops, nr_stops, sizeof(*stops), compare_stops);
	if (words > ARRAY_SIZE(small))
		key = xcalloc(words, sizeof(*key));
	key[0] = func;
	if (nr_stops)
		memcpy(key + 1, stops, nr_stops * sizeof(*stops));
	uint32_t had = a->keys.nr_keys, id = index_add(&a->keys, key, words * sizeof(*key));
	if (key != small)
		free(key);
	if (id == had) {
		ALLOC_GROW(a->items, had + 1, a->alloc_items);
		a->items[id] = NULL;
		a->items[id] = compute(a, func, stops, nr_stops);
		if (!nr_stops)
			a->plain[func] = a->items[id];
	}
	return a->items[id];
}
