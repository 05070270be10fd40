// SPDX-License-Identifier: GPL-3.0-or-later
/* Completing one path: what was seen of each function, and what follows for those they call. */
#include <stdlib.h>
#include <string.h>

#include "analyze/completion/complete-internal.h"
#include "analyze/image/image.h"
#include "collect/profile.h"
#include "lib/mem.h"
#include "lib/symtab.h"

struct member *add_member(struct completer *c, uint32_t func, float probability)
{
	ALLOC_GROW(c->members, c->nr_members + 1, c->alloc_members);
	struct member *m = &c->members[c->nr_members++];
	*m = (struct member){ { func, probability, INDEX_NONE, 0 }, NULL, INDEX_NONE, SETTLED, probability };
	c->member_stamp[func] = c->stamp;
	c->member_of[func] = c->nr_members - 1;
	return m;
}

void begin_path(struct completer *c)
{
	c->nr_members = 0;
	c->nr_outside = 0;
	c->stamp++;
}

static struct member *find_member(struct completer *c, uint32_t func)
{
	return c->member_stamp[func] == c->stamp ? &c->members[c->member_of[func]] : NULL;
}

static bool in_this_path(const struct completer *c, uint32_t image_func)
{
	return c->in_path[image_func] == c->stamp;
}

/* The functions that a call passed on its way to the callee seen: each ran, and left by a known jump. */
static void add_between(struct completer *c, const struct evidence_call *seen)
{
	for (uint32_t k = 0; k < seen->nr_hops; k++) {
		const struct evidence_hop *hop = &c->evidence.hops[seen->first_hop + k];
		const struct flow *f = program_flow(&c->prog, hop->func);
		struct stop stop = { 0 };
		if (in_this_path(c, hop->func) || find_member(c, hop->func))
			continue;
		if (hop->site != FLOW_NONE)
			stop = (struct stop){ f->calls[hop->site].block, hop->site, hop->callee };
		struct activation *act = activation_get(&c->acts, hop->func, &stop, hop->site != FLOW_NONE);
		add_member(c, hop->func, 1)->act = act;
	}
}

#define ANY_CHUNK UINT32_MAX

/* The known calls of `func` in a chunk that lead to functions of this path. */
static uint32_t call_stops(struct completer *c, uint32_t func, uint32_t chunk, struct stop *stops, uint32_t room)
{
	const struct evidence *e = &c->evidence;
	const struct flow *f = program_flow(&c->prog, func);
	uint32_t n = 0;

	for (uint32_t i = e->first_call[func]; i < e->first_call[func + 1] && n < room; i++) {
		const struct evidence_call *call = &e->calls[i];
		if ((chunk != ANY_CHUNK && call->off / PROFILE_CHUNK != chunk) || call->site == FLOW_NONE || !in_this_path(c, call->callee))
			continue;
		stops[n++] = (struct stop){ f->calls[call->site].block, call->site, call->callee };
		add_between(c, call);
	}
	return n;
}

/* What a touched chunk proves: its block, or where it holds several, what dominates them all. */
uint32_t chunk_stop(struct completer *c, uint32_t func, uint32_t chunk, struct stop *stop)
{
	uint32_t blocks[PROFILE_CHUNK], nr = blocks_of_chunk(&c->prog, func, chunk, blocks);
	const struct flow *f = program_flow(&c->prog, func);

	if (!nr)
		return 0;
	uint32_t b = blocks[0];
	for (uint32_t i = 1; i < nr && b != FLOW_NONE; i++)
		b = flow_common_dominator(f, b, blocks[i]);
	if (b == FLOW_NONE)
		return 0;
	*stop = (struct stop){ b, FLOW_NONE, INDEX_NONE };
	return 1;
}

static bool is_traced(struct completer *c, uint32_t func)
{
	return func != INDEX_NONE && program_flow(&c->prog, func) && (c->prog.traits[func] & PROGRAM_TRACED);
}

static bool calls_once(const struct flow *f, uint32_t callee)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nr_calls; i++)
		n += f->calls[i].callee == callee;
	return n == 1;
}

/*
 * What a function graph says of a function's blocks: calls that were traced ran, and
 * blocks with calls that would have been and were not, did not. When no call of a
 * function was traced, the trace may have been cut at that depth, and says nothing.
 */
static uint32_t graph_stops(struct completer *c, uint32_t func, struct stop *stops, uint32_t room)
{
	const struct flow *f = program_flow(&c->prog, func);
	uint32_t n = 0, ran = 0;

	for (uint32_t i = 0; f && i < f->nr_calls && n < room; i++) {
		uint32_t callee = f->calls[i].callee;
		if (!is_traced(c, callee))
			continue;
		bool here = in_this_path(c, callee);
		ran += here;
		if (here && calls_once(f, callee))
			stops[n++] = (struct stop){ f->calls[i].block, i, callee };
		else if (!here)
			stops[n++] = (struct stop){ f->calls[i].block, i, STOP_NEVER };
	}
	return ran ? n : 0;
}

static void add_foot(struct completer *c, uint32_t foot_id)
{
	struct profile_foot foot = profile_get_foot(c->in, foot_id);
	uint32_t func = c->evidence.image_of[foot.func], nr = 0;
	struct stop stops[MAX_STOPS];

	if (func == INDEX_NONE && identity_is_module(profile_func_name(c->in, foot.func))) {
		ALLOC_GROW(c->outside, c->nr_outside + 1, c->alloc_outside);
		c->outside[c->nr_outside++] = foot_id;
	}
	if (func == INDEX_NONE)
		return;
	for (uint32_t k = 0; k < foot.nr_words * 32 && nr < MAX_STOPS; k++) {
		if (!(foot.chunks[k / 32] >> (k % 32) & 1) || !program_flow(&c->prog, func))
			continue;
		uint32_t calls = call_stops(c, func, k, stops + nr, MAX_STOPS - nr);
		nr += calls ? calls : chunk_stop(c, func, k, &stops[nr]);
	}
	if (c->is_graph)
		nr = graph_stops(c, func, stops, MAX_STOPS);
	else if (!foot.nr_words && program_flow(&c->prog, func))
		nr = call_stops(c, func, ANY_CHUNK, stops, MAX_STOPS);
	/* What a thread ran before it came to its loop, and what it will when it ends, is not in this path. */
	struct activation *act = c->is_loop[func] ? NULL : activation_get(&c->acts, func, stops, nr);
	struct member *m = find_member(c, func);
	if (!m)
		m = add_member(c, func, 1);
	m->act = act;
	m->foot = foot_id;
}

/* A heap over the members that are not settled yet, the likeliest at the top. */
static bool is_before(const struct completer *c, uint32_t a, uint32_t b)
{
	float pa = c->members[a].reach.probability, pb = c->members[b].reach.probability;

	if (pa > pb || pa < pb)
		return pa > pb;
	return c->members[a].reach.func < c->members[b].reach.func;
}

static void heap_up(struct completer *c, uint32_t at)
{
	uint32_t m = c->heap[at];

	for (; at && is_before(c, m, c->heap[(at - 1) / 2]); at = (at - 1) / 2) {
		c->heap[at] = c->heap[(at - 1) / 2];
		c->members[c->heap[at]].place = at;
	}
	c->heap[at] = m;
	c->members[m].place = at;
}

static uint32_t heap_pop(struct completer *c)
{
	uint32_t top = c->heap[0], m = c->heap[--c->nr_heap], at = 0;

	while (at * 2 + 1 < c->nr_heap) {
		uint32_t kid = at * 2 + 1;
		if (kid + 1 < c->nr_heap && is_before(c, c->heap[kid + 1], c->heap[kid]))
			kid++;
		if (!is_before(c, c->heap[kid], m))
			break;
		c->heap[at] = c->heap[kid];
		c->members[c->heap[at]].place = at;
		at = kid;
	}
	if (c->nr_heap) {
		c->heap[at] = m;
		c->members[m].place = at;
	}
	c->members[top].place = SETTLED;
	return top;
}

/* One more way into a function: its caller runs, and calls it with that probability. */
static void raise_member(struct completer *c, const struct reach *r, float caller)
{
	struct member *m = find_member(c, r->func);
	float p = caller * r->probability;

	if (c->is_graph && (!m || m->place == SETTLED) && is_traced(c, r->func))
		return;
	if (p < REACH_MIN || (c->proved_only && p < 1) || (m && m->place == SETTLED))
		return;
	if (!m) {
		m = add_member(c, r->func, p);
		m->reach.via = r->via;
		m->reach.via_off = r->via_off;
		m->best = p;
		ALLOC_GROW(c->heap, c->nr_heap + 1, c->alloc_heap);
		c->heap[c->nr_heap] = (uint32_t)(m - c->members);
		heap_up(c, c->nr_heap++);
		return;
	}
	float *have = &m->reach.probability;
	*have = p >= 1 || *have >= 1 ? 1 : 1 - (1 - *have) * (1 - p);
	if (p > m->best) {
		m->best = p;
		m->reach.via = r->via;
		m->reach.via_off = r->via_off;
	}
	heap_up(c, m->place);
}

/*
 * Fill members[] up with what the functions seen call, and what those call. The
 * likeliest is settled first and passes its probability on once, however many
 * calls lead to it: that a branch is taken in one activation says that it is in
 * others, so its chances must not add up.
 */
void spread(struct completer *c)
{
	uint32_t nr_seen = c->nr_members;

	c->nr_heap = 0;
	for (uint32_t i = 0; i < nr_seen; i++) {
		const struct activation *act = c->members[i].act;
		for (uint32_t k = 0; act && k < act->nr_calls; k++)
			raise_member(c, &act->calls[k], 1);
	}
	while (c->nr_heap) {
		uint32_t i = heap_pop(c);
		struct activation *act = activation_get(&c->acts, c->members[i].reach.func, NULL, 0);
		c->members[i].act = act;
		if (c->members[i].reach.probability >= LIVE_PROBABILITY)
			c->acts.targets.live[c->members[i].reach.func] = true;
		for (uint32_t k = 0; act && k < act->nr_calls; k++)
			raise_member(c, &act->calls[k], c->members[i].reach.probability);
	}
}

/* A function graph names functions, not bytes; so do folded stacks, but they come without such a source. */
static bool is_graph(const struct completer *c, const uint32_t *feet, uint32_t nr_feet)
{
	for (uint32_t i = 0; i < nr_feet; i++)
		if (profile_get_foot(c->in, feet[i]).nr_words)
			return false;
	return c->has_graph;
}

/* Fill members[] with what ran in the path and what probably did. */
void expand(struct completer *c, uint32_t id)
{
	struct profile_path path = profile_get_path(c->in, id);

	begin_path(c);
	for (uint32_t i = 0; i < path.nr_feet; i++) {
		uint32_t f = c->evidence.image_of[profile_get_foot(c->in, path.feet[i]).func];
		if (f != INDEX_NONE)
			c->in_path[f] = c->stamp;
	}
	c->is_graph = is_graph(c, path.feet, path.nr_feet);
	for (uint32_t i = 0; i < path.nr_feet; i++)
		add_foot(c, path.feet[i]);
	if (path.kind == PATH_CHAIN && !c->is_graph && !c->proved_only)
		add_callers(c, id);
	spread(c);
}
