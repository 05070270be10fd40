// SPDX-License-Identifier: GPL-3.0-or-later
/* Sorting a profile's items by image function. */
#include "analyze/completion/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/code/flow.h"
#include "analyze/code/program.h"
#include "analyze/image/image.h"
#include "lib/mem.h"

static void match_funcs(struct evidence *e, const struct image *img)
{
	const struct profile *p = e->profile;

	e->image_of = xcalloc((size_t)p->names.nr_keys + 1, sizeof(*e->image_of));
	e->profile_of = xcalloc((size_t)img->nr_funcs + 1, sizeof(*e->profile_of));
	memset(e->profile_of, 0xff, ((size_t)img->nr_funcs + 1) * sizeof(*e->profile_of));
	for (uint32_t i = 0; i < p->names.nr_keys; i++) {
		enum match how;
		uint32_t f = image_match(img, profile_func_name(p, i), &how);
		e->image_of[i] = f;
		if (f != INDEX_NONE && e->profile_of[f] == INDEX_NONE)
			e->profile_of[f] = i;
	}
}

static int compare_calls(const void *pa, const void *pb)
{
	const struct evidence_call *a = pa, *b = pb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static int compare_touches(const void *pa, const void *pb)
{
	const struct evidence_touch *a = pa, *b = pb;

	if (a->func != b->func)
		return a->func < b->func ? -1 : 1;
	return a->chunk < b->chunk ? -1 : a->chunk > b->chunk;
}

enum { MAX_TAILS = 3 };	/* jumps from a call's target to the function seen */

/*
 * The tail call of func that leads to goal, over at most `depth` functions; FLOW_NONE
 * when there is none. Ties go to the first.
 */
static uint32_t tail_to(struct program *prog, uint32_t func, uint32_t goal, uint32_t depth)
{
	const struct flow *f = program_flow(prog, func);

	for (uint32_t i = 0; f && i < f->nr_calls; i++)
		if (f->calls[i].is_tail && f->calls[i].callee == goal)
			return i;
	for (uint32_t i = 0; f && depth > 1 && i < f->nr_calls; i++) {
		uint32_t g = f->calls[i].is_tail ? f->calls[i].callee : INDEX_NONE;
		if (g != INDEX_NONE && g != func && tail_to(prog, g, goal, depth - 1) != FLOW_NONE)
			return i;
	}
	return FLOW_NONE;
}

static void add_hops(struct evidence *e, struct program *prog, uint32_t func, uint32_t callee)
{
	for (uint32_t depth = MAX_TAILS; func != INDEX_NONE && func != callee; depth--) {
		uint32_t site = depth ? tail_to(prog, func, callee, depth) : FLOW_NONE;
		const struct flow *f = program_flow(prog, func);
		uint32_t next = site == FLOW_NONE ? INDEX_NONE : f->calls[site].callee;
		ALLOC_GROW(e->hops, e->nr_hops + 1, e->alloc_hops);
		e->hops[e->nr_hops++] = (struct evidence_hop){ func, site, next };
		func = next;
	}
}

/*
 * A call whose direct target is not the callee seen: the target jumped on to it,
 * perhaps over others.
 */
static void find_hops(struct evidence *e, struct program *prog)
{
	struct index pairs = { 0 };
	uint32_t *first = NULL, alloc = 0;

	for (uint32_t i = 0; i < e->nr_calls; i++) {
		struct evidence_call *c = &e->calls[i];
		const struct flow *f = c->site == FLOW_NONE ? NULL : program_flow(prog, c->caller);
		uint32_t target = f ? f->calls[c->site].callee : INDEX_NONE;
		uint32_t key[2] = { target, c->callee }, had = pairs.nr_keys;
		if (target == INDEX_NONE || target == c->callee || f->calls[c->site].is_patched)
			continue;
		uint32_t id = index_add(&pairs, key, sizeof(key));
		ALLOC_GROW(first, 2 * (id + 1), alloc);
		if (id == had) {
			first[2 * id] = e->nr_hops;
			add_hops(e, prog, target, c->callee);
			first[2 * id + 1] = e->nr_hops - first[2 * id];
		}
		c->first_hop = first[2 * id];
		c->nr_hops = first[2 * id + 1];
	}
	free(first);
	index_release(&pairs);
}

static void weigh_hops(struct evidence *e)
{
	e->hop_weights = xcalloc((size_t)e->nr_hops + 1, sizeof(*e->hop_weights));
	for (uint32_t i = 0; i < e->nr_calls; i++)
		for (uint32_t k = 0; k < e->calls[i].nr_hops; k++)
			e->hop_weights[e->calls[i].first_hop + k] += (double)e->calls[i].weight;
}

/* Where the offset of a call is not known: the only site that calls that function, if there is one. */
static uint32_t only_site(const struct flow *f, uint32_t callee)
{
	uint32_t found = FLOW_NONE;

	for (uint32_t i = 0; f && i < f->nr_calls; i++) {
		if (f->calls[i].callee != callee)
			continue;
		if (found != FLOW_NONE)
			return FLOW_NONE;
		found = i;
	}
	return found;
}

static void take_calls(struct evidence *e, struct program *prog)
{
	const struct profile *p = e->profile;

	e->calls = xcalloc((size_t)p->calls.nr_keys + 1, sizeof(*e->calls));
	for (uint32_t i = 0; i < p->calls.nr_keys; i++) {
		uint32_t caller, off, callee;
		profile_get_call(p, i, &caller, &off, &callee);
		caller = e->image_of[caller];
		callee = e->image_of[callee];
		if (caller == INDEX_NONE || callee == INDEX_NONE)
			continue;
		const struct flow *f = program_flow(prog, caller);
		uint32_t site = off == PROFILE_OFF_UNKNOWN || !f ? only_site(f, callee) : flow_call_at(f, off);
		e->calls[e->nr_calls++] = (struct evidence_call){
			caller, callee, site, off, p->call_weights[i], 0, 0,
		};
	}
	sort_array(e->calls, e->nr_calls, sizeof(*e->calls), compare_calls);
}

static void take_touches(struct evidence *e)
{
	const struct profile *p = e->profile;

	e->touches = xcalloc((size_t)p->touches.nr_keys + 1, sizeof(*e->touches));
	for (uint32_t i = 0; i < p->touches.nr_keys; i++) {
		uint32_t func, chunk;
		profile_get_touch(p, i, &func, &chunk);
		func = e->image_of[func];
		if (func != INDEX_NONE)
			e->touches[e->nr_touches++] = (struct evidence_touch){ func, chunk, p->touch_weights[i] };
	}
	sort_array(e->touches, e->nr_touches, sizeof(*e->touches), compare_touches);
}

static void index_by_func(struct evidence *e, uint32_t nr_funcs)
{
	e->first_call = xcalloc((size_t)nr_funcs + 2, sizeof(*e->first_call));
	e->first_touch = xcalloc((size_t)nr_funcs + 2, sizeof(*e->first_touch));
	for (uint32_t i = 0; i < e->nr_calls; i++)
		e->first_call[e->calls[i].caller + 1]++;
	e->callers = xcalloc((size_t)e->nr_calls + 1, sizeof(*e->callers));
	e->first_caller = xcalloc((size_t)nr_funcs + 3, sizeof(*e->first_caller));
	for (uint32_t i = 0; i < e->nr_calls; i++)
		e->first_caller[e->calls[i].callee + 2]++;
	for (uint32_t f = 2; f < nr_funcs + 2; f++)
		e->first_caller[f] += e->first_caller[f - 1];
	for (uint32_t i = 0; i < e->nr_calls; i++)
		e->callers[e->first_caller[e->calls[i].callee + 1]++] = i;
	for (uint32_t i = 0; i < e->nr_touches; i++)
		e->first_touch[e->touches[i].func + 1]++;
	e->hop_of_func = xmalloc(((size_t)nr_funcs + 1) * sizeof(*e->hop_of_func));
	memset(e->hop_of_func, 0xff, ((size_t)nr_funcs + 1) * sizeof(*e->hop_of_func));
	e->next_hop = xcalloc((size_t)e->nr_hops + 1, sizeof(*e->next_hop));
	for (uint32_t h = 0; h < e->nr_hops; h++) {
		e->next_hop[h] = e->hop_of_func[e->hops[h].func];
		e->hop_of_func[e->hops[h].func] = h;
	}
	for (uint32_t f = 0; f < nr_funcs; f++) {
		e->first_call[f + 1] += e->first_call[f];
		e->first_touch[f + 1] += e->first_touch[f];
	}
}

void evidence_init(struct evidence *e, struct program *prog, const struct profile *p)
{
	memset(e, 0, sizeof(*e));
	e->profile = p;
	match_funcs(e, prog->img);
	take_calls(e, prog);
	find_hops(e, prog);
	weigh_hops(e);
	take_touches(e);
	index_by_func(e, prog->img->nr_funcs);
}

void evidence_release(struct evidence *e)
{
	free(e->image_of);
	free(e->profile_of);
	free(e->calls);
	free(e->first_call);
	free(e->callers);
	free(e->first_caller);
	free(e->hops);
	free(e->hop_weights);
	free(e->hop_of_func);
	free(e->next_hop);
	free(e->touches);
	free(e->first_touch);
	memset(e, 0, sizeof(*e));
}

uint32_t blocks_of_chunk(struct program *prog, uint32_t func, uint32_t chunk, uint32_t *blocks)
{
	const struct flow *f = program_flow(prog, func);
	uint32_t n = 0, start = chunk * PROFILE_CHUNK;

	if (!f || chunk >= PROFILE_MAX_BYTES / PROFILE_CHUNK || start >= f->size)
		return 0;
	for (uint32_t b = flow_block_at(f, start); b < f->nr_blocks && f->blocks[b].start < start + PROFILE_CHUNK; b++)
		if (f->blocks[b].end > start && f->blocks[b].end > f->blocks[b].start)
			blocks[n++] = b;
	return n;
}

static uint32_t overlap(const struct flow_block *b, uint32_t start)
{
	uint32_t lo = b->start > start ? b->start : start;
	uint32_t hi = b->end < start + PROFILE_CHUNK ? b->end : start + PROFILE_CHUNK;

	return hi > lo ? hi - lo : 0;
}

bool evidence_block_weights(const struct evidence *e, struct program *prog, uint32_t func, float *weights)
{
	const struct flow *f = program_flow(prog, func);
	bool any = false;

	memset(weights, 0, f->nr_blocks * sizeof(*weights));
	for (uint32_t i = e->first_touch[func]; i < e->first_touch[func + 1]; i++) {
		const struct evidence_touch *t = &e->touches[i];
		uint32_t blocks[PROFILE_CHUNK], nr = blocks_of_chunk(prog, func, t->chunk, blocks), sum = 0;
		for (uint32_t k = 0; k < nr; k++)
			sum += overlap(&f->blocks[blocks[k]], t->chunk * PROFILE_CHUNK);
		for (uint32_t k = 0; k < nr; k++)
			weights[blocks[k]] += (float)t->weight *
				(float)overlap(&f->blocks[blocks[k]], t->chunk * PROFILE_CHUNK) / (float)sum;
		any |= nr > 0;
	}
	for (uint32_t i = e->first_call[func]; i < e->first_call[func + 1]; i++) {
		const struct evidence_call *c = &e->calls[i];
		if (c->site == FLOW_NONE)
			continue;
		weights[f->calls[c->site].block] += (float)c->weight;
		any = true;
	}
	for (uint32_t h = e->hop_of_func[func]; h != INDEX_NONE; h = e->next_hop[h]) {
		if (e->hops[h].site == FLOW_NONE)
			continue;
		weights[f->calls[e->hops[h].site].block] += (float)e->hop_weights[h];
		any = true;
	}
	return any;
}
