// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Dominators, post-dominators and loops of a function, by iteration over reverse
 * post-order (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", 2001).
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/code/flow-internal.h"
#include "analyze/code/flow.h"
#include "lib/mem.h"

static void fill_preds(struct flow *f)
{
	uint32_t at = 0;

	for (uint32_t e = 0; e < f->nr_edges; e++)
		f->blocks[f->edges[e]].nr_preds++;
	for (uint32_t i = 0; i < f->nr_blocks; i++) {
		f->blocks[i].first_pred = at;
		at += f->blocks[i].nr_preds;
		f->blocks[i].nr_preds = 0;
	}
	f->preds = xcalloc((size_t)f->nr_edges + 1, sizeof(*f->preds));
	f->pred_edges = xcalloc((size_t)f->nr_edges + 1, sizeof(*f->pred_edges));
	for (uint32_t i = 0; i < f->nr_blocks; i++) {
		const struct flow_block *b = &f->blocks[i];
		for (uint32_t s = 0; s < b->nr_succs; s++) {
			struct flow_block *to = &f->blocks[f->edges[b->first_succ + s]];
			f->pred_edges[to->first_pred + to->nr_preds] = b->first_succ + s;
			f->preds[to->first_pred + to->nr_preds++] = i;
		}
	}
}

/*
 * A graph to walk in either direction. Node nr is a virtual root: the exit, when
 * walking backwards. rank is the position in reverse post-order from the root.
 */
struct walk {
	const struct flow *f;
	bool backwards;
	uint32_t root;
	uint32_t exits;			/* flow_flags: what leads to the virtual exit */
	uint32_t *order, nr_order;	/* reverse post-order */
	uint32_t *rank;			/* [node], FLOW_NONE: not reached */
	uint32_t *idom;			/* [node] */
};

static bool is_exit(const struct walk *w, const struct flow_block *b)
{
	return b->flags & w->exits;
}

/* The next out-neighbour of node from position *i on. */
static uint32_t next_out(const struct walk *w, uint32_t node, uint32_t *i)
{
	if (node < w->f->nr_blocks) {
		const struct flow_block *b = &w->f->blocks[node];
		uint32_t k = (*i)++;
		if (w->backwards)
			return k < b->nr_preds ? w->f->preds[b->first_pred + k] : FLOW_NONE;
		return k < b->nr_succs ? w->f->edges[b->first_succ + k] : FLOW_NONE;
	}
	while (*i < w->f->nr_blocks) {
		uint32_t k = (*i)++;
		if ((w->f->blocks[k].flags & FLOW_REACHED) && is_exit(w, &w->f->blocks[k]))
			return k;
	}
	return FLOW_NONE;
}

static void number(struct walk *w)
{
	uint32_t nodes = w->f->nr_blocks + 1;
	uint32_t *stack = xcalloc(nodes, sizeof(*stack)), *at = xcalloc(nodes, sizeof(*at));
	unsigned char *seen = xcalloc(nodes, 1);
	uint32_t depth = 0, post = nodes;

	w->order = xcalloc(nodes, sizeof(*w->order));
	w->rank = xmalloc(nodes * sizeof(*w->rank));
	memset(w->rank, 0xff, nodes * sizeof(*w->rank));
	stack[depth++] = w->root;
	seen[w->root] = 1;
	while (depth) {
		uint32_t node = stack[depth - 1], to = next_out(w, node, &at[node]);
		if (to == FLOW_NONE) {
			w->order[--post] = node;
			depth--;
		} else if (!seen[to]) {
			seen[to] = 1;
			stack[depth++] = to;
		}
	}
	w->nr_order = nodes - post;
	memmove(w->order, w->order + post, w->nr_order * sizeof(*w->order));
	for (uint32_t i = 0; i < w->nr_order; i++)
		w->rank[w->order[i]] = i;
	free(stack);
	free(at);
	free(seen);
}

static uint32_t intersect(const struct walk *w, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (w->rank[a] > w->rank[b])
			a = w->idom[a];
		while (w->rank[b] > w->rank[a])
			b = w->idom[b];
	}
	return a;
}

/* The dominator of a node so far: of its in-neighbours that have one. */
static uint32_t meet(const struct walk *w, uint32_t node)
{
	const struct flow_block *b = &w->f->blocks[node];
	uint32_t best = FLOW_NONE;
	uint32_t nr = w->backwards ? b->nr_succs : b->nr_preds;
	const uint32_t *in = w->backwards ? w->f->edges + b->first_succ : w->f->preds + b->first_pred;

	if (w->backwards && is_exit(w, b))
		best = w->root;
	for (uint32_t i = 0; i < nr; i++) {
		if (w->rank[in[i]] == FLOW_NONE || w->idom[in[i]] == FLOW_NONE)
			continue;
		best = best == FLOW_NONE ? in[i] : intersect(w, best, in[i]);
	}
	return best;
}

static void solve(struct walk *w)
{
	uint32_t nodes = w->f->nr_blocks + 1;
	bool changed = true;

	w->idom = xmalloc(nodes * sizeof(*w->idom));
	memset(w->idom, 0xff, nodes * sizeof(*w->idom));
	w->idom[w->root] = w->root;
	while (changed) {
		changed = false;
		for (uint32_t i = 1; i < w->nr_order; i++) {
			uint32_t node = w->order[i], dom = meet(w, node);
			if (dom != w->idom[node]) {
				w->idom[node] = dom;
				changed = true;
			}
		}
	}
}

static void walk_release(struct walk *w)
{
	free(w->order);
	free(w->rank);
	free(w->idom);
}

static void find_forward(struct flow *f)
{
	struct walk w = { .f = f, .root = 0 };

	number(&w);
	solve(&w);
	for (uint32_t i = 0; i < w.nr_order; i++) {
		struct flow_block *b = &f->blocks[w.order[i]];
		b->flags |= FLOW_REACHED;
		b->idom = i ? w.idom[w.order[i]] : FLOW_NONE;
	}
	f->nr_rpo = w.nr_order;
	f->rpo = w.order;
	w.order = NULL;
	walk_release(&w);
}

/*
 * How a function is left. The only jumps out of one that does not return, do_exit(),
 * go to its .cold part: those are no way that it normally takes.
 */
static uint32_t normal_exits(const struct flow *f)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < f->nr_rpo; i++)
		all |= f->blocks[f->rpo[i]].flags;
	if ((all & FLOW_NORETURN) && !(all & FLOW_RETURNS))
		return 0;
	return FLOW_RETURNS | FLOW_TAIL | FLOW_UNKNOWN;
}

/* Blocks from which the exit cannot be reached, BUG() and endless loops, post-dominate nothing and have no post-dominator. */
static void find_backward(struct flow *f)
{
	struct walk w = { .f = f, .backwards = true, .root = f->nr_blocks, .exits = normal_exits(f) };

	number(&w);
	solve(&w);
	for (uint32_t i = 0; i < w.nr_order; i++)
		if (w.order[i] != w.root && w.idom[w.order[i]] != w.root)
			f->blocks[w.order[i]].ipdom = w.idom[w.order[i]];
	walk_release(&w);
}

/* Add one to the depth of all blocks of the loop that the edge latch -> head closes. */
static void mark_loop(struct flow *f, uint32_t head, uint32_t latch, uint32_t *mark, uint32_t *stack)
{
	uint32_t depth = 0;

	mark[head] = head + 1;
	if (mark[latch] != head + 1) {
		mark[latch] = head + 1;
		f->blocks[latch].depth++;
		stack[depth++] = latch;
	}
	while (depth) {
		const struct flow_block *b = &f->blocks[stack[--depth]];
		for (uint32_t i = 0; i < b->nr_preds; i++) {
			uint32_t p = f->preds[b->first_pred + i];
			if (mark[p] == head + 1 || !(f->blocks[p].flags & FLOW_REACHED))
				continue;
			mark[p] = head + 1;
			f->blocks[p].depth++;
			stack[depth++] = p;
		}
	}
}

static void find_loops(struct flow *f)
{
	uint32_t *mark = xcalloc((size_t)f->nr_blocks + 1, sizeof(*mark));
	uint32_t *stack = xcalloc((size_t)f->nr_blocks + 1, sizeof(*stack));

	for (uint32_t i = 0; i < f->nr_rpo; i++) {
		uint32_t head = f->rpo[i];
		struct flow_block *b = &f->blocks[head];
		for (uint32_t k = 0; k < b->nr_preds; k++) {
			uint32_t latch = f->preds[b->first_pred + k];
			if (!(f->blocks[latch].flags & FLOW_REACHED) || !flow_dominates(f, head, latch))
				continue;
			if (!(b->flags & FLOW_LOOP_HEAD))
				b->depth++;
			b->flags |= FLOW_LOOP_HEAD;
			f->has_loops = true;
			mark_loop(f, head, latch, mark, stack);
		}
	}
	free(mark);
	free(stack);
}

static void sum_dominated(struct flow *f)
{
	for (uint32_t i = f->nr_rpo; i-- > 0;) {
		struct flow_block *b = &f->blocks[f->rpo[i]];
		b->dominated += b->end - b->start;
		if (b->idom != FLOW_NONE)
			f->blocks[b->idom].dominated += b->dominated;
	}
}

void flow_find_dominators(struct flow *f)
{
	fill_preds(f);
	find_forward(f);
	find_backward(f);
	find_loops(f);
	sum_dominated(f);
}

bool flow_dominates(const struct flow *f, uint32_t a, uint32_t b)
{
	while (b != FLOW_NONE && b != a)
		b = f->blocks[b].idom;
	return b == a;
}

static uint32_t dom_depth(const struct flow *f, uint32_t b)
{
	uint32_t n = 0;

	while (f->blocks[b].idom != FLOW_NONE) {
		b = f->blocks[b].idom;
		n++;
	}
	return n;
}

uint32_t flow_common_dominator(const struct flow *f, uint32_t a, uint32_t b)
{
	if (!(f->blocks[a].flags & f->blocks[b].flags & FLOW_REACHED))
		return FLOW_NONE;
	uint32_t da = dom_depth(f, a), db = dom_depth(f, b);
	for (; da > db; da--)
		a = f->blocks[a].idom;
	for (; db > da; db--)
		b = f->blocks[b].idom;
	while (a != b) {
		a = f->blocks[a].idom;
		b = f->blocks[b].idom;
	}
	return a;
}
