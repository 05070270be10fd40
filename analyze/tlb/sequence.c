/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/tlb/sequence.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "collect/fetch/fetch.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"

enum {
	CHUNK = 16,		/* bytes: granule of a visit's footprint */
	NEAR = 6,		/* a visit covered by one of this many last ones is dropped: a TLB of 16
				   entries holds them all, two pages each and user code besides */
	MAX_SEGMENT = 256,	/* items; idle loops and kernel threads never return to user mode */
	MAX_PERIOD = 64,	/* segments in the body of a repetition */
};

/* A kernel block's place in the image, found once. */
struct place_of {
	uint32_t unit;		/* INDEX_NONE: user, or outside every unit */
	uint32_t first_chunk, last_chunk;
	uint32_t user_page;	/* number, for user blocks */
	bool user;
};

struct condenser {
	struct sequence *s;
	const struct image *img;
	struct fetch fetch;
	uint32_t page_shift;

	struct place_of *places;	/* [block] */
	uint32_t nr_places, alloc_places;
	struct index user_pages;	/* {page number} */

	/* The visit going on. */
	uint32_t unit;
	uint32_t *chunks;		/* bitmap of the visit */
	uint32_t lo, hi;		/* words in use: [lo, hi) */

	struct index visits;		/* {unit, bitmap words from word `lo`, lo} */
	uint32_t *key;

	uint32_t recent[NEAR];		/* items, latest at [recent_at - 1] */
	uint32_t recent_at;

	uint32_t *segment, nr_segment;
	struct index segments;		/* {items} */
	uint32_t *symbols;		/* segment ids in order of execution */
	size_t nr_symbols, alloc_symbols;
	bool in_user;
};

static void place_block(struct condenser *c, uint32_t block)
{
	const struct fetch_block *b = &c->fetch.blocks[block];
	struct place_of *p = &c->places[block];

	*p = (struct place_of){ .unit = INDEX_NONE };
	if (!fetch_is_kernel(&c->fetch, b->addr)) {
		uint64_t page = b->addr >> c->page_shift;

		p->user = true;
		p->user_page = index_add(&c->user_pages, &page, sizeof(page));
		return;
	}
	uint32_t u = image_find_unit(c->img, b->addr);
	if (u == INDEX_NONE)
		return;
	const struct unit *unit = &c->img->units[u];
	uint64_t off = b->addr - unit->addr, end = off + (b->bytes ? b->bytes : 1);
	if (end > unit->size)
		end = unit->size;
	if (off >= end)
		return;
	p->unit = u;
	p->first_chunk = (uint32_t)(off / CHUNK);
	p->last_chunk = (uint32_t)((end - 1) / CHUNK);
}

static void place_blocks(struct condenser *c)
{
	ALLOC_GROW(c->places, c->fetch.nr_blocks, c->alloc_places);
	for (; c->nr_places < c->fetch.nr_blocks; c->nr_places++)
		place_block(c, c->nr_places);
}

/* Turn a new visit's bitmap into byte ranges. */
static void add_ranges(struct condenser *c, struct seq_visit *v)
{
	struct sequence *s = c->s;
	uint32_t size = c->img->units[v->unit].size;

	v->first = s->nr_ranges;
	for (uint32_t i = c->lo * 32; i < c->hi * 32;) {
		uint32_t start = i;

		while (i < c->hi * 32 && c->chunks[i / 32] >> i % 32 & 1)
			i++;
		if (i == start) {
			i++;
			continue;
		}
		ALLOC_GROW(s->ranges, s->nr_ranges + 1, s->alloc_ranges);
		uint32_t end = i * CHUNK < size ? i * CHUNK : size;
		s->ranges[s->nr_ranges++] = (struct seq_range){ start * CHUNK, end };
	}
	v->nr = s->nr_ranges - v->first;
}

static bool covers(const struct sequence *s, uint32_t big, uint32_t small)
{
	const struct seq_visit *b = &s->visits[big], *v = &s->visits[small];
	uint32_t j = 0;

	if (b->unit != v->unit)
		return false;
	for (uint32_t i = 0; i < v->nr; i++) {
		const struct seq_range *r = &s->ranges[v->first + i];

		while (j < b->nr && s->ranges[b->first + j].end < r->end)
			j++;
		if (j == b->nr || s->ranges[b->first + j].start > r->start)
			return false;
	}
	return true;
}

static bool is_near(const struct condenser *c, uint32_t item)
{
	for (uint32_t i = 0; i < NEAR; i++) {
		uint32_t r = c->recent[i];

		if (r == item)
			return true;
		if (r != INDEX_NONE && !((r | item) & SEQ_USER) && covers(c->s, r, item))
			return true;
	}
	return false;
}

static void forget_recent(struct condenser *c)
{
	memset(c->recent, 0xff, sizeof(c->recent));
	c->recent_at = 0;
}

static void end_segment(struct condenser *c)
{
	if (!c->nr_segment)
		return;
	ALLOC_GROW(c->symbols, c->nr_symbols + 1, c->alloc_symbols);
	c->symbols[c->nr_symbols++] = index_add(&c->segments, c->segment, c->nr_segment * sizeof(*c->segment));
	c->nr_segment = 0;
	forget_recent(c);
}

static void add_item(struct condenser *c, uint32_t item)
{
	if (is_near(c, item))
		return;
	c->recent[c->recent_at++ % NEAR] = item;
	c->segment[c->nr_segment++] = item;
	if (c->nr_segment == MAX_SEGMENT)
		end_segment(c);
}

static void end_visit(struct condenser *c)
{
	if (c->unit == INDEX_NONE)
		return;
	uint32_t n = c->hi - c->lo;
	c->key[0] = c->unit;
	c->key[1] = c->lo;
	memcpy(c->key + 2, c->chunks + c->lo, n * sizeof(*c->chunks));
	uint32_t id = index_add(&c->visits, c->key, (n + 2) * sizeof(*c->key));
	if (id == c->s->nr_visits) {
		ALLOC_GROW(c->s->visits, id + 1, c->s->alloc_visits);
		c->s->visits[id] = (struct seq_visit){ .unit = c->unit };
		add_ranges(c, &c->s->visits[id]);
		c->s->nr_visits++;
	}
	memset(c->chunks + c->lo, 0, n * sizeof(*c->chunks));
	c->unit = INDEX_NONE;
	add_item(c, id);
}

static void run_block(struct condenser *c, uint32_t block)
{
	const struct place_of *p = &c->places[block];

	if (p->user) {
		end_visit(c);
		c->in_user = true;
		add_item(c, SEQ_USER | p->user_page);
		return;
	}
	if (p->unit == INDEX_NONE)
		return;
	if (c->in_user) {
		end_segment(c);
		c->in_user = false;
	}
	if (p->unit != c->unit) {
		end_visit(c);
		c->unit = p->unit;
		c->lo = p->first_chunk / 32;
		c->hi = p->last_chunk / 32 + 1;
	}
	if (p->first_chunk / 32 < c->lo)
		c->lo = p->first_chunk / 32;
	if (p->last_chunk / 32 + 1 > c->hi)
		c->hi = p->last_chunk / 32 + 1;
	for (uint32_t i = p->first_chunk; i <= p->last_chunk; i++)
		c->chunks[i / 32] |= 1u << i % 32;
}

/* How long symbols[at..] goes on repeating its first `period`, in whole repetitions. */
static size_t repetitions(const struct condenser *c, size_t at, size_t period)
{
	const uint32_t *s = c->symbols;
	size_t i = at;

	while (i + period < c->nr_symbols && s[i] == s[i + period])
		i++;
	return (i - at) / period + 1;
}

struct folder {
	struct index bodies;	/* {segment ids} */
	struct seq_body {
		uint32_t first, nr;	/* items */
	} *body;		/* [body] */
	uint32_t nr_bodies, alloc_bodies;
	struct index pairs;	/* {body before, body} -> stride */
};

static uint32_t add_body(struct condenser *c, struct folder *f, size_t at, size_t period)
{
	struct sequence *s = c->s;
	uint32_t id = index_add(&f->bodies, c->symbols + at, period * sizeof(*c->symbols));

	if (id < f->nr_bodies)
		return id;
	ALLOC_GROW(f->body, id + 1, f->alloc_bodies);
	f->body[id] = (struct seq_body){ s->nr_items, 0 };
	f->nr_bodies++;
	for (size_t i = 0; i < period; i++) {
		const struct index_key *k = &c->segments.keys[c->symbols[at + i]];
		uint32_t n = k->len / (uint32_t)sizeof(uint32_t);

		ALLOC_GROW(s->items, s->nr_items + n, s->alloc_items);
		memcpy(s->items + s->nr_items, k->data, k->len);
		s->nr_items += n;
	}
	f->body[id].nr = s->nr_items - f->body[id].first;
	return id;
}

/* Fold the symbols into strides: at each place take the period that covers most. */
static void fold(struct condenser *c)
{
	struct sequence *s = c->s;
	struct folder f = { 0 };
	uint32_t before = INDEX_NONE, before_stride = INDEX_NONE;

	for (size_t at = 0; at < c->nr_symbols;) {
		size_t best_period = 1, best_times = repetitions(c, at, 1);

		for (size_t period = 2; period <= MAX_PERIOD && at + period < c->nr_symbols; period++) {
			/* A run that begins here must repeat its first segment one period on. */
			if (c->symbols[at] != c->symbols[at + period])
				continue;
			size_t times = repetitions(c, at, period);
			if (times > 1 && times * period > best_times * best_period) {
				best_period = period;
				best_times = times;
			}
		}
		uint32_t body = add_body(c, &f, at, best_period);
		uint32_t key[2] = { before, body };
		uint32_t id = index_add(&f.pairs, key, sizeof(key));
		if (id == s->nr_strides) {
			ALLOC_GROW(s->strides, id + 1, s->alloc_strides);
			s->strides[id] = (struct seq_stride){ f.body[body].first, f.body[body].nr,
				before_stride == INDEX_NONE ? id : before_stride, 0, 0 };
			s->nr_strides++;
		}
		ALLOC_GROW(s->runs, s->nr_runs + 1, s->alloc_runs);
		s->runs[s->nr_runs++] = (struct seq_run){ id, best_times };
		s->strides[id].entered++;
		s->strides[id].again += best_times - 1;
		before = body;
		before_stride = id;
		at += best_times * best_period;
	}
	index_release(&f.bodies);
	index_release(&f.pairs);
	free(f.body);
}

static int read_trace(struct condenser *c)
{
	struct fetch_event ev;
	int ret;

	while ((ret = fetch_next(&c->fetch, &ev)) > 0) {
		if (ev.kind != FETCH_EV_RUN)
			continue;
		if (ev.block >= c->nr_places)
			place_blocks(c);
		run_block(c, ev.block);
	}
	end_visit(c);
	end_segment(c);
	return ret;
}

int sequence_init(struct sequence *s, const char *path, const struct image *img, uint32_t user_page)
{
	struct condenser c = { .s = s, .img = img, .unit = INDEX_NONE };
	uint32_t max_words = 1;
	int ret = -1;

	memset(s, 0, sizeof(*s));
	while (1u << c.page_shift < user_page)
		c.page_shift++;
	struct input *in = input_open(path);
	if (!in)
		return -1;
	if (fetch_init(&c.fetch, in))
		goto out;
	for (uint32_t i = 0; i < img->nr_units; i++)
		if (img->units[i].size / (CHUNK * 32) + 1 > max_words)
			max_words = img->units[i].size / (CHUNK * 32) + 1;
	c.chunks = xcalloc(max_words, sizeof(*c.chunks));
	c.key = xcalloc(max_words + 2, sizeof(*c.key));
	c.segment = xcalloc(MAX_SEGMENT, sizeof(*c.segment));
	forget_recent(&c);
	ret = read_trace(&c);
	if (!ret) {
		fold(&c);
		s->nr_user_pages = c.user_pages.nr_keys;
		s->nr_segments = c.nr_symbols;
		s->nr_blocks = c.fetch.nr_events;
	}
	free(c.places);
	free(c.chunks);
	free(c.key);
	free(c.segment);
	free(c.symbols);
	index_release(&c.user_pages);
	index_release(&c.visits);
	index_release(&c.segments);
	fetch_release(&c.fetch);
out:
	input_close(in);
	if (ret)
		sequence_release(s);
	return ret;
}

void sequence_release(struct sequence *s)
{
	free(s->ranges);
	free(s->visits);
	free(s->items);
	free(s->strides);
	free(s->runs);
	memset(s, 0, sizeof(*s));
}
