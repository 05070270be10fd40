/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/tlb/tlb.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/tlb/machine.h"
#include "lib/mem.h"

/* The low bits of a tag: two where they are 0, else three. A tag of 0 is an empty way. */
enum kind { KIND_USER, KIND_TEXT, KIND_DATA, KIND_MODULE, KIND_EDGE = 5, NR_KINDS };

enum { NO_SLOT = UINT32_MAX };

/* One set-associative array; slots of a set are consecutive. */
struct array {
	uint32_t ways, sets;	/* sets: a power of two; 0 ways: absent */
	enum tlb_policy policy;
	uint64_t *tags;		/* [slot] */
	struct hint {		/* [hash of a tag] */
		uint32_t slot;	/* where such a tag was last; checked before it is believed */
		uint32_t live;	/* tags of this hash in the array: 0 proves a miss without a scan */
	} *hints;
	uint32_t hint_shift;
	uint16_t *prev, *next;	/* [slot]: ways in order of use (lru) or arrival (fifo), newest at the head */
	uint16_t *head, *tail;	/* [set] */
	uint16_t *used;		/* [set]: ways filled */
	uint16_t *turn;		/* [set]: next way, round-robin */
	uint64_t *tree;		/* [set]: plru, bit n for inner node n, 1 the root; set: go right */
	uint64_t random;
};

struct level {
	struct array small, large;
	uint32_t shift[NR_KINDS];
	bool unified;
};

struct l1i {
	uint64_t *tags;		/* [set * ways], most recent first */
	uint32_t ways, sets, shift;
	uint64_t last;		/* line touched last */
};

struct tlb {
	/* The page touched last: a fetch within it changes nothing. hot_bytes is 0 where that needs a look. */
	uint64_t hot_start, hot_bytes;
	bool hot_kernel;
	bool plain;		/* no cache, no data side, no flush but by tlb_switch: only pages matter */

	struct level levels[MACHINE_MAX_LEVELS];
	uint32_t nr_levels;
	uint64_t last;		/* page key touched last at the nearest level; no key is all ones */
	uint64_t text_start, text_end;
	uint64_t blocks_start, blocks_end;	/* of that, in whole text pages (struct machine) */
	uint64_t space;		/* address-space number, from 1 */
	bool edges, pinned, flush, flush_global, flush_on_mode;
	bool in_kernel;		/* the last fetch was the kernel's */
	bool data;		/* there is a data side */
	uint32_t data_every, data_set, data_new;
	uint32_t data_next;	/* page of the recurring set */
	int64_t data_left, new_left;	/* bytes until the next touch */
	uint64_t nr_new;
	struct l1i l1i;
	struct tlb_counts counts;
};

static uint32_t log2_of(uint32_t v)
{
	return v ? 31 - (uint32_t)__builtin_clz(v) : 0;
}

static void array_init(struct array *a, uint32_t entries, uint32_t ways, enum tlb_policy policy,
		       uint64_t seed)
{
	a->ways = ways;
	a->sets = entries / ways;
	a->policy = policy;
	a->tags = xcalloc(entries, sizeof(*a->tags));
	/* Eight hints an entry keep collisions rare. */
	uint32_t bits = log2_of(entries) + 3;
	a->hints = xcalloc((size_t)1 << bits, sizeof(*a->hints));
	a->hint_shift = 64 - bits;
	a->prev = xcalloc(entries, sizeof(*a->prev));
	a->next = xcalloc(entries, sizeof(*a->next));
	a->head = xcalloc(a->sets, sizeof(*a->head));
	a->tail = xcalloc(a->sets, sizeof(*a->tail));
	a->used = xcalloc(a->sets, sizeof(*a->used));
	a->turn = xcalloc(a->sets, sizeof(*a->turn));
	a->tree = xcalloc(a->sets, sizeof(*a->tree));
	a->random = 0x9e3779b97f4a7c15u + seed;
	for (uint32_t s = 0; s < a->sets; s++) {
		/* Any order will do while all are empty. */
		for (uint32_t w = 0; w < ways; w++) {
			a->prev[s * ways + w] = (uint16_t)(w - 1);
			a->next[s * ways + w] = (uint16_t)(w + 1);
		}
		a->tail[s] = (uint16_t)(ways - 1);
	}
}

static void array_release(struct array *a)
{
	free(a->tags);
	free(a->hints);
	free(a->prev);
	free(a->next);
	free(a->head);
	free(a->tail);
	free(a->used);
	free(a->turn);
	free(a->tree);
}

static void move_to_head(struct array *a, uint32_t set, uint32_t way)
{
	uint32_t base = set * a->ways;

	if (a->head[set] == way)
		return;
	uint16_t p = a->prev[base + way], n = a->next[base + way];
	a->next[base + p] = n;
	if (a->tail[set] == way)
		a->tail[set] = p;
	else
		a->prev[base + n] = p;
	a->next[base + way] = a->head[set];
	a->prev[base + a->head[set]] = (uint16_t)way;
	a->head[set] = (uint16_t)way;
}

/* Turn the tree's bits on the way to this leaf to the other side. */
static void plru_touch(struct array *a, uint32_t set, uint32_t way)
{
	uint64_t tree = a->tree[set];

	for (uint32_t node = 1, half = a->ways >> 1; half; half >>= 1) {
		bool right = way & half;

		tree = right ? tree & ~(1ull << node) : tree | 1ull << node;
		node = 2 * node + right;
	}
	a->tree[set] = tree;
}

static uint32_t plru_victim(const struct array *a, uint32_t set)
{
	uint32_t way = 0;

	for (uint32_t node = 1, half = a->ways >> 1; half; half >>= 1) {
		bool right = a->tree[set] >> node & 1;

		way |= right ? half : 0;
		node = 2 * node + right;
	}
	return way;
}

static struct hint *hint_of(const struct array *a, uint64_t tag)
{
	return &a->hints[tag * 0x9e3779b97f4a7c15u >> a->hint_shift];
}

static uint32_t array_find(struct array *a, uint64_t tag, uint32_t set)
{
	struct hint *h = hint_of(a, tag);
	uint32_t base = set * a->ways;

	if (!h->live)
		return NO_SLOT;
	if (a->tags[h->slot] == tag)
		return h->slot;
	for (uint32_t w = 0; w < a->ways; w++)
		if (a->tags[base + w] == tag) {
			h->slot = base + w;
			return base + w;
		}
	return NO_SLOT;
}

static void array_use(struct array *a, uint32_t set, uint32_t slot)
{
	if (a->policy == TLB_LRU)
		move_to_head(a, set, slot - set * a->ways);
	else if (a->policy == TLB_PLRU)
		plru_touch(a, set, slot - set * a->ways);
}

static uint32_t victim(struct array *a, uint32_t set)
{
	uint32_t base = set * a->ways, way;

	if (a->policy == TLB_ROUND_ROBIN) {
		way = a->turn[set];
		a->turn[set] = (uint16_t)(way + 1 == a->ways ? 0 : way + 1);
		return way;
	}
	if (a->used[set] < a->ways)
		for (way = 0; way < a->ways; way++)
			if (!a->tags[base + way])
				return way;
	switch (a->policy) {
	case TLB_RANDOM:
		a->random ^= a->random << 13;
		a->random ^= a->random >> 7;
		a->random ^= a->random << 17;
		return (uint32_t)(a->random % a->ways);
	case TLB_PLRU:
		return plru_victim(a, set);
	default:
		return a->tail[set];
	}
}

static void array_fill(struct array *a, uint64_t tag, uint32_t set)
{
	uint32_t way = victim(a, set), slot = set * a->ways + way;

	struct hint *h = hint_of(a, tag);

	if (a->tags[slot])
		hint_of(a, a->tags[slot])->live--;
	else
		a->used[set]++;
	a->tags[slot] = tag;
	h->slot = slot;
	h->live++;
	if (a->policy == TLB_LRU || a->policy == TLB_FIFO)
		move_to_head(a, set, way);
	else if (a->policy == TLB_PLRU)
		plru_touch(a, set, way);
}

/* Empty every way whose kind is in the mask. */
static void array_flush(struct array *a, uint32_t kinds)
{
	for (uint32_t s = 0; s < a->sets; s++)
		for (uint32_t w = 0; w < a->ways; w++) {
			uint64_t *tag = &a->tags[s * a->ways + w];

			if (*tag && (kinds >> (*tag & 3 ? *tag & 7 : KIND_USER) & 1)) {
				hint_of(a, *tag)->live--;
				*tag = 0;
				a->used[s]--;
			}
		}
}

static struct array *array_for(struct level *l, enum kind kind)
{
	return l->large.ways && l->shift[kind] > 12 ? &l->large : &l->small;
}

static uint64_t tag_of(const struct tlb *t, uint64_t page, enum kind kind)
{
	/* User pages have 40 bits at most, so the space's number fits above the kind. */
	if (kind == KIND_USER)
		return page << 24 | (t->space & 0x3fffff) << 2;
	return page << 3 | kind;
}

/* The levels behind the nearest, which missed: look the page up in them, fill it where it was not. */
static bool touch_far(struct tlb *t, uint64_t addr, enum kind kind)
{
	uint64_t tag[MACHINE_MAX_LEVELS];
	uint32_t set[MACHINE_MAX_LEVELS], n;
	bool hit = false;

	for (n = 0; n < t->nr_levels; n++) {
		struct level *l = &t->levels[n];
		struct array *a = array_for(l, kind);
		uint64_t page = addr >> l->shift[kind];

		tag[n] = tag_of(t, page, kind);
		set[n] = (uint32_t)page & (a->sets - 1);
		uint32_t slot = n ? array_find(a, tag[n], set[n]) : NO_SLOT;
		if (slot != NO_SLOT) {
			array_use(a, set[n], slot);
			hit = true;
			break;
		}
	}
	while (n-- > 0)
		array_fill(array_for(&t->levels[n], kind), tag[n], set[n]);
	return hit;
}

/*
 * Look an address up, nearest level first, and fill its page where it was not; page is its number in the
 * nearest, further ones may hold smaller pieces. Returns whether some level had it.
 */
static inline bool touch(struct tlb *t, uint64_t addr, uint64_t page, enum kind kind)
{
	struct array *a = array_for(&t->levels[0], kind);
	uint32_t set = (uint32_t)page & (a->sets - 1), slot = array_find(a, tag_of(t, page, kind), set);

	if (slot == NO_SLOT)
		return touch_far(t, addr, kind);
	array_use(a, set, slot);
	return true;
}

/* A data page, in the unified levels only: instruction-only levels do not see it. */
static void touch_data(struct tlb *t, uint64_t page)
{
	bool miss = false;

	for (uint32_t n = 0; n < t->nr_levels; n++) {
		struct array *a = &t->levels[n].small;
		uint64_t tag = tag_of(t, page, KIND_DATA);
		uint32_t set = (uint32_t)page & (a->sets - 1);

		if (!t->levels[n].unified)
			continue;
		uint32_t slot = array_find(a, tag, set);
		miss = slot == NO_SLOT;
		if (miss)
			array_fill(a, tag, set);
		else
			array_use(a, set, slot);
	}
	t->counts.data_misses += miss;
}

/* Pages of the recurring set are numbered below DATA_NEW, pages never seen before from it. */
enum { DATA_NEW = 1 << 20 };

/*
 * Data accesses come with the work done, which an order of functions does not change:
 * so many bytes fetched.
 */
static void advance_data(struct tlb *t, uint32_t len)
{
	for (t->data_left -= len; t->data_every && t->data_left <= 0; t->data_left += t->data_every) {
		touch_data(t, t->data_next);
		t->data_next = t->data_next + 1 == t->data_set ? 0 : t->data_next + 1;
	}
	for (t->new_left -= len; t->data_new && t->new_left <= 0; t->new_left += t->data_new)
		touch_data(t, DATA_NEW + t->nr_new++);
}

static void touch_line(struct tlb *t, uint64_t line, enum kind kind)
{
	struct l1i *c = &t->l1i;
	uint64_t tag = tag_of(t, line, kind);
	uint64_t *set = c->tags + (line & (c->sets - 1)) * c->ways, old = tag;

	if (set[0] == tag)
		return;
	for (uint32_t w = 0; w < c->ways; w++) {
		uint64_t here = set[w];

		set[w] = old;
		if (here == tag)
			return;
		old = here;
	}
	if (kind == KIND_USER)
		t->counts.l1i_user_misses++;
	else
		t->counts.l1i_kernel_misses++;
}

static void fetch_lines(struct tlb *t, uint64_t first, uint64_t last, enum kind kind)
{
	struct l1i *c = &t->l1i;

	for (uint64_t line = first >> c->shift; line <= last >> c->shift; line++)
		if (line != c->last) {
			touch_line(t, line, kind);
			c->last = line;
		}
}

static void fetch_page(struct tlb *t, uint64_t addr, uint64_t page, enum kind kind)
{
	if (kind == KIND_USER)
		t->counts.user_fetches++;
	else
		t->counts.kernel_fetches++;
	if (!touch(t, addr, page, kind)) {
		if (kind == KIND_USER)
			t->counts.user_misses++;
		else
			t->counts.kernel_misses++;
	}
}

static void flush(struct tlb *t, uint32_t kinds)
{
	for (uint32_t n = 0; n < t->nr_levels; n++) {
		array_flush(&t->levels[n].small, kinds);
		array_flush(&t->levels[n].large, kinds);
	}
	t->last = UINT64_MAX;
}

static void change_mode(struct tlb *t, bool kernel)
{
	t->in_kernel = kernel;
	flush(t, (1u << NR_KINDS) - 1);
}

static void set_hot(struct tlb *t, uint64_t page, uint32_t shift, enum kind kind)
{
	uint64_t start = page << shift, end = start + ((uint64_t)1 << shift) - 1;

	if (!t->plain)
		return;
	/* At text's edges one page is two here, and a fetch can run over from one kind into the other. */
	bool inside = start >= t->text_start && end < t->text_end;
	bool outside = end < t->text_start || start >= t->text_end;
	bool whole = kind == KIND_USER || (kind == KIND_MODULE ? outside : inside);
	t->hot_start = start;
	t->hot_bytes = whole ? end - start + 1 : 0;
	t->hot_kernel = kind != KIND_USER;
}

static enum kind kind_of(const struct tlb *t, uint64_t addr, bool kernel)
{
	if (!kernel)
		return KIND_USER;
	if (addr < t->text_start || addr >= t->text_end)
		return KIND_MODULE;
	return addr >= t->blocks_start && addr < t->blocks_end ? KIND_TEXT : KIND_EDGE;
}

/* Apart from tlb_fetch, so that the frequent case saves no registers. */
static __attribute__((noinline)) void fetch_slow(struct tlb *t, uint64_t addr, uint32_t len, bool kernel)
{
	uint64_t end = addr + (len ? len - 1 : 0);
	enum kind kind = kind_of(t, addr, kernel);
	uint64_t cut = addr < t->blocks_start ? t->blocks_start : t->blocks_end;

	if (end < addr)
		end = addr;
	/* What runs over into the whole pages, or out of them, is fetched from both. */
	if (kernel && addr < cut && end >= cut && t->edges) {
		fetch_slow(t, addr, (uint32_t)(cut - addr), true);
		fetch_slow(t, cut, (uint32_t)(end - cut + 1), true);
		return;
	}
	if (t->l1i.tags)
		fetch_lines(t, addr, end, kind);
	if (t->flush_on_mode && kernel != t->in_kernel)
		change_mode(t, kernel);
	if (t->data)
		advance_data(t, len);
	if ((kind == KIND_TEXT || kind == KIND_EDGE) && t->pinned)
		return;
	uint32_t shift = t->levels[0].shift[kind];
	uint64_t page = addr >> shift, last = end >> shift;
	if (page == last && (page << 3 | kind) == t->last)
		return;
	for (; page <= last; addr = ++page << shift)
		if ((page << 3 | kind) != t->last) {
			fetch_page(t, addr, page, kind);
			t->last = page << 3 | kind;
		}
	set_hot(t, last, shift, kind);
}

void tlb_fetch(struct tlb *t, uint64_t addr, uint32_t len, bool kernel)
{
	uint64_t off = addr - t->hot_start;

	if (off < t->hot_bytes && len <= t->hot_bytes - off && kernel == t->hot_kernel)
		return;
	fetch_slow(t, addr, len, kernel);
}

void tlb_set_text(struct tlb *t, uint64_t start, uint64_t end)
{
	t->text_start = start;
	t->text_end = end;
	t->hot_bytes = 0;
}

void tlb_switch(struct tlb *t)
{
	uint32_t kinds = t->flush_global ? (1u << NR_KINDS) - 1 : 1u << KIND_USER;

	t->space++;
	/* A number that comes round again must not find entries of its first life. */
	bool wrap = !(t->space & 0x3fffff);
	if (wrap)
		t->space++;
	if (t->flush || t->flush_global || wrap)
		flush(t, kinds);
	t->last = UINT64_MAX;
	t->l1i.last = UINT64_MAX;
	t->hot_bytes = 0;
}

struct tlb_counts tlb_get_counts(const struct tlb *t)
{
	return t->counts;
}

static void level_init(struct level *l, const struct tlb_level *tl, const struct machine *m, uint32_t number)
{
	uint32_t pages[NR_KINDS] = {
		[KIND_USER] = m->user_page, [KIND_TEXT] = m->text_page, [KIND_DATA] = 4096, [KIND_MODULE] = m->module_page,
		[KIND_EDGE] = m->edge_page,
	};
	bool full = tl->ways == tl->entries;
	uint32_t entries = tl->entries - tl->locked;

	array_init(&l->small, entries, full ? entries : tl->ways, tl->policy, number);
	if (tl->large_entries)
		array_init(&l->large, tl->large_entries, tl->large_ways, tl->policy, number);
	l->unified = tl->unified;
	for (uint32_t k = 0; k < NR_KINDS; k++) {
		uint32_t page = pages[k] ? pages[k] : 4096;

		l->shift[k] = log2_of(tl->max_page && tl->max_page < page ? tl->max_page : page);
	}
}

struct tlb *tlb_new(const struct machine *m)
{
	struct tlb *t = xcalloc(1, sizeof(*t));

	t->nr_levels = m->nr_levels;
	for (uint32_t n = 0; n < m->nr_levels; n++)
		level_init(&t->levels[n], &m->levels[n], m, n);
	t->last = t->l1i.last = UINT64_MAX;
	t->text_end = t->blocks_end = UINT64_MAX;
	t->edges = machine_has_edges(m);
	if (t->edges) {
		t->blocks_start = m->blocks_start;
		t->blocks_end = m->blocks_end;
	}
	t->space = 1;
	t->pinned = m->pinned_text;
	t->flush = m->flush_on_switch;
	t->flush_global = m->flush_global;
	t->flush_on_mode = m->flush_on_mode;
	t->data_every = m->data_set ? m->data_every : 0;
	t->data_left = t->data_every;
	t->data_set = m->data_set;
	t->data_new = m->data_new;
	t->new_left = t->data_new;
	t->data = t->data_every || t->data_new;
	if (m->l1i_bytes) {
		t->l1i.ways = m->l1i_ways;
		t->l1i.shift = log2_of(m->l1i_line);
		t->l1i.sets = m->l1i_bytes / m->l1i_line / m->l1i_ways;
		t->l1i.tags = xcalloc(m->l1i_bytes / m->l1i_line, sizeof(*t->l1i.tags));
	}
	t->plain = !t->l1i.tags && !t->data && !t->flush_on_mode;
	return t;
}

void tlb_free(struct tlb *t)
{
	if (!t)
		return;
	for (uint32_t n = 0; n < t->nr_levels; n++) {
		array_release(&t->levels[n].small);
		array_release(&t->levels[n].large);
	}
	free(t->l1i.tags);
	free(t);
}
