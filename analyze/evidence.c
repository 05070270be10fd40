// SPDX-License-Identifier: GPL-3.0-or-later
/* Sorting a profile's items by image function. */
#include "analyze/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/flow.h"
#include "analyze/image.h"
#include "analyze/program.h"
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
		const struct flow *f = off == PROFILE_OFF_UNKNOWN ? NULL : program_flow(prog, caller);
		e->calls[e->nr_calls++] = (struct evidence_call){
			caller, callee, f ? flow_call_at(f, off) : FLOW_NONE, off, p->call_weights[i],
		};
	}
	qsort(e->calls, e->nr_calls, sizeof(*e->calls), compare_calls);
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
	qsort(e->touches, e->nr_touches, sizeof(*e->touches), compare_touches);
}

static void index_by_func(struct evidence *e, uint32_t nr_funcs)
{
	e->first_call = xcalloc((size_t)nr_funcs + 2, sizeof(*e->first_call));
	e->first_touch = xcalloc((size_t)nr_funcs + 2, sizeof(*e->first_touch));
	for (uint32_t i = 0; i < e->nr_calls; i++)
		e->first_call[e->calls[i].caller + 1]++;
	for (uint32_t i = 0; i < e->nr_touches; i++)
		e->first_touch[e->touches[i].func + 1]++;
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
	take_touches(e);
	index_by_func(e, prog->img->nr_funcs);
}

void evidence_release(struct evidence *e)
{
	free(e->image_of);
	free(e->profile_of);
	free(e->calls);
	free(e->first_call);
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
	return any;
}
