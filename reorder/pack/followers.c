/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/followers.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "lib/progress.h"
#include "reorder/layout.h"
#include "reorder/order.h"

enum {
	MAX_SEARCHED = 48,	/* members of one group: beyond, the order by density stays */
	MAX_ROUNDS = 4,
};

static const double TAIL_SHARE = 0.25;	/* of what runs the group: a member of the tail is worth its room by then */

/* Groups that every kernel's script bounds by symbols; others may be missing from the one that is linked next. */
static bool may_follow(enum group g)
{
	return g == GROUP_NOINSTR || g == GROUP_SCHED || g == GROUP_LOCK || g == GROUP_KPROBES;
}

static bool follows(const struct callgraph *cg, uint32_t unit)
{
	const struct callgraph_node *n = &cg->nodes[unit];
	const struct unit *u = &cg->image->units[unit];

	return !u->movable && may_follow(u->group) && (n->samples || n->calls || n->touched) &&
	       layout_can_take(cg->image, unit);
}

/* What paths run of one group: the same spans count as one pattern. */
struct pattern {
	uint32_t first, nr;	/* in spans[] */
	double weight;
};

struct sorter {
	const struct callgraph *cg;
	uint32_t page;
	uint64_t start;		/* of the group, modulo page */
	uint32_t *units, nr;	/* its members, in their order */
	double *share;		/* of the patterns' weight that runs each, as long as that is the order by density */
	uint32_t *offset;	/* [unit of the image]: from the group's start */
	struct span *spans;	/* of the group's members */
	uint32_t nr_spans, alloc_spans;
	struct pattern *patterns;
	uint32_t alloc_patterns;
	struct index keys;	/* pattern = id of its spans */
};

static void place_members(struct sorter *s)
{
	uint64_t at = s->start;

	for (uint32_t i = 0; i < s->nr; i++) {
		const struct unit *u = &s->cg->image->units[s->units[i]];

		at = align_up(at, u->align);
		s->offset[s->units[i]] = (uint32_t)at;
		at += u->size;
	}
}

/* Pages that the patterns need, by weight. */
static double cost(struct sorter *s)
{
	double sum = 0;

	place_members(s);
	for (uint32_t i = 0; i < s->keys.nr_keys; i++) {
		uint64_t pages = 0;	/* of a group, whose members that ran seldom fill more than 64 */
		const struct pattern *p = &s->patterns[i];

		for (uint32_t k = p->first; k < p->first + p->nr; k++) {
			uint32_t at = s->offset[s->spans[k].unit];

			for (uint32_t n = (at + s->spans[k].start) / s->page; n <= (at + s->spans[k].end - 1) / s->page; n++)
				pages |= UINT64_C(1) << (n < 63 ? n : 63);
		}
		sum += p->weight * __builtin_popcountll(pages);
	}
	return sum;
}

static void add_pattern(struct sorter *s, const struct callgraph_path *path, enum group g)
{
	uint32_t first = s->nr_spans, nr_keys = s->keys.nr_keys;

	for (uint32_t i = path->first_span; i < path->first_span + path->nr_spans; i++) {
		const struct span *span = &s->cg->spans[i];

		if (s->cg->image->units[span->unit].group != g || !follows(s->cg, span->unit))
			continue;
		ALLOC_GROW(s->spans, s->nr_spans + 1, s->alloc_spans);
		s->spans[s->nr_spans++] = *span;
	}
	if (s->nr_spans == first)
		return;
	uint32_t id = index_add(&s->keys, &s->spans[first], (s->nr_spans - first) * sizeof(*s->spans));
	if (id == nr_keys) {
		ALLOC_GROW(s->patterns, id + 1, s->alloc_patterns);
		s->patterns[id] = (struct pattern){ first, s->nr_spans - first, 0 };
	} else {
		s->nr_spans = first;
	}
	s->patterns[id].weight += sqrt((double)path->weight);	/* as samples are drawn: for other mixes, too */
}

static void move_member(uint32_t *units, uint32_t from, uint32_t to)
{
	uint32_t u = units[from];

	if (from < to)
		memmove(&units[from], &units[from + 1], (to - from) * sizeof(*units));
	else
		memmove(&units[to + 1], &units[to], (from - to) * sizeof(*units));
	units[to] = u;
}

/* Move single members while that saves pages. */
static void search(struct sorter *s)
{
	double best = cost(s);
	bool any = true;

	for (uint32_t round = 0; round < MAX_ROUNDS && any && !interrupted(); round++) {
		any = false;
		for (uint32_t from = 0; from < s->nr; from++)
			for (uint32_t to = 0; to < s->nr; to++) {
				move_member(s->units, from, to);
				double c = cost(s);
				if (c < best * (1 - 1e-9)) {
					best = c;
					any = true;
				} else {
					move_member(s->units, to, from);
				}
			}
	}
}

/* Most weight of paths a byte first. */
static void sort_by_density(const struct sorter *s)
{
	double *weight = xcalloc((size_t)s->cg->image->nr_units + 1, sizeof(*weight)), all = 0;
	struct dense *d = xcalloc((size_t)s->nr + 1, sizeof(*d));

	for (uint32_t i = 0; i < s->keys.nr_keys; i++) {
		const struct pattern *p = &s->patterns[i];

		all += p->weight;
		for (uint32_t k = p->first; k < p->first + p->nr; k++)	/* spans are sorted by unit */
			if (k == p->first || s->spans[k].unit != s->spans[k - 1].unit)
				weight[s->spans[k].unit] += p->weight;
	}
	for (uint32_t i = 0; i < s->nr; i++)
		d[i] = (struct dense){ s->units[i], weight[s->units[i]] / (s->cg->image->units[s->units[i]].size + 1.0) };
	sort_dense(d, s->nr);
	for (uint32_t i = 0; i < s->nr; i++) {
		s->units[i] = d[i].unit;
		s->share[i] = all > 0 ? weight[d[i].unit] / all : 0;
	}
	free(d);
	free(weight);
}

/* The first members of the first group, as many as leave the hot units a quarter of the page. */
static void choose_tail(struct followers *f, const struct callgraph *cg, uint32_t page)
{
	const struct image *img = cg->image;
	uint64_t bytes = 0;
	struct layout alone;

	/* Other units, of a group around it, may come before the first group. */
	followers_assign(f, cg, NULL, 0, 0, &alone);
	bool at_once = alone.addr[f->units[0]] < alone.hot_end + MAX_GROUP_ALIGN;
	layout_release(&alone);
	if (!at_once)
		return;

	for (; f->nr_tail < f->nr; f->nr_tail++) {	/* all of the first group so far */
		const struct unit *u = &img->units[f->units[f->nr_tail]];
		uint64_t end = align_up(bytes, u->align) + u->size;

		if (u->align > MAX_GROUP_ALIGN || end > page / 4 * 3 || f->share[f->nr_tail] < TAIL_SHARE)
			break;
		bytes = end;
	}
	f->tail_bytes = f->nr_tail ? (uint32_t)bytes + MAX_GROUP_ALIGN : 0;
}

static bool is_listed(const struct followers *f, const struct callgraph *cg, enum group g)
{
	for (uint32_t i = 0; i < f->nr; i++)
		if (cg->image->units[f->units[i]].group == g)
			return true;
	return false;
}

void followers_append(const struct followers *f, struct layout *l)
{
	for (uint32_t i = 0; i < f->nr; i++)
		layout_append(l, f->units[i], 0);
}

void followers_assign(const struct followers *f, const struct callgraph *cg, const uint32_t *hot, uint32_t nr_hot,
		      uint32_t page, struct layout *l)
{
	layout_init(l, cg->image);
	for (uint32_t i = 0; i < nr_hot; i++)
		layout_append(l, hot[i], i ? 0 : page);
	followers_append(f, l);
	layout_assign(l);
	if (!f->nr || !page)
		return;
	uint64_t shift = (page - f->tail_bytes - l->addr[f->units[0]]) & (page - 1);
	bool moves[NR_GROUPS] = { false };
	for (uint32_t i = 0; i < f->nr; i++)
		moves[cg->image->units[f->units[i]].group] = true;
	for (uint32_t i = 0; i < cg->image->nr_units; i++)
		if (moves[cg->image->units[i].group])
			l->addr[i] += shift;
}

/* Where a group begins, modulo page: at its first unit, whichever that is. */
static uint64_t start_of(const struct followers *f, const struct callgraph *cg, enum group g, uint32_t page)
{
	uint64_t start = UINT64_MAX;
	struct layout l;

	followers_assign(f, cg, NULL, 0, page, &l);
	for (uint32_t i = 0; i < cg->image->nr_units; i++)
		if (cg->image->units[i].group == g && l.addr[i] < start)
			start = l.addr[i];
	layout_release(&l);
	return start & (page - 1);
}

/* Append the members of one group, ordered. */
static void add_group(struct followers *f, const struct callgraph *cg, enum group g, uint32_t page)
{
	struct sorter s = { .cg = cg, .page = page, .units = f->units + f->nr, .share = f->share + f->nr };
	bool is_first = !f->nr;

	for (uint32_t i = 0; i < cg->image->nr_units; i++)
		if (cg->image->units[i].group == g && follows(cg, i))
			s.units[s.nr++] = i;
	s.offset = xcalloc((size_t)cg->image->nr_units + 1, sizeof(*s.offset));
	for (uint32_t i = 0; i < cg->nr_paths; i++)
		add_pattern(&s, &cg->paths[i], g);
	sort_by_density(&s);
	f->nr += s.nr;
	if (is_first) {
		choose_tail(f, cg, page);
	} else if (s.nr <= MAX_SEARCHED) {
		s.start = start_of(f, cg, g, page);
		search(&s);
	}
	free(s.offset);
	free(s.spans);
	free(s.patterns);
	index_release(&s.keys);
}

void followers_init(struct followers *f, const struct callgraph *cg, uint32_t page)
{
	uint32_t nr = 0;

	memset(f, 0, sizeof(*f));
	for (uint32_t i = 0; i < cg->image->nr_units; i++)
		nr += follows(cg, i);
	f->units = xcalloc((size_t)nr + 1, sizeof(*f->units));
	f->share = xcalloc((size_t)nr + 1, sizeof(*f->share));
	for (uint32_t i = 0; i < cg->image->nr_units && f->nr < nr; i++) {
		enum group g = cg->image->units[i].group;

		if (follows(cg, i) && !is_listed(f, cg, g))
			add_group(f, cg, g, page);
	}
}

void followers_release(struct followers *f)
{
	free(f->units);
	free(f->share);
	memset(f, 0, sizeof(*f));
}
