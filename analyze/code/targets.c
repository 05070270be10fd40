// SPDX-License-Identifier: GPL-3.0-or-later
/* Scoring the tables that an indirect call may go through. */
#include "analyze/code/targets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/code/flow.h"
#include "analyze/code/program.h"
#include "analyze/completion/evidence.h"
#include "analyze/image/image.h"
#include "lib/mem.h"

enum {
	MAX_TABLE = 1024,	/* bytes; larger objects are arrays: the system call table, the trap table */
	OBSERVED_FILE = 1u << 31,
	NEIGHBOURS = 16,	/* functions before and behind one in the text */
};

static const float ALMOST = 0.999f;	/* a guess and a proportion are no proof */

/*
 * Scores, as logarithms of odds against any other candidate. Their order of size
 * comes from comparing candidates with the targets in a fetch trace: the same
 * directory and the same kind of table tell most.
 */
static const float SAME_DIRECTORY = 4.5f, SHARED_DIRECTORIES = 1.2f;
static const float KIND_OF_CALLER = 5, KIND_OF_FILE = 2.5f;
static const float LIVE_TABLE = 2, LIVE_NEAR = 2, LIVE_FUNCTION = 1.5f;
static const float SOMETHING_ELSE = 5;	/* pointers made at run time */
static const float LEAST_SHARE = 0.02f;

static uint32_t file_of(struct targets *t, uint32_t func)
{
	const struct image *img = t->prog->img;
	uint32_t unit = img->funcs[func].unit;

	if (unit == INDEX_NONE || !img->units[unit].object)
		return INDEX_NONE;
	return index_add_str(&t->files, img->units[unit].object);
}

static void note_observed(struct targets *t, uint32_t whose, uint64_t size)
{
	uint32_t key[2] = { whose, (uint32_t)size };

	index_add(&t->observed, key, sizeof(key));
}

static bool was_observed(const struct targets *t, uint32_t whose, uint64_t size)
{
	uint32_t key[2] = { whose, (uint32_t)size };

	return index_find(&t->observed, key, sizeof(key)) != INDEX_NONE;
}

/* A call seen to reach a function: the tables that hold it at the call's slot are of the kind used there. */
static void observe(struct targets *t, const struct evidence_call *c)
{
	const struct flow *f = c->site == FLOW_NONE ? NULL : program_flow(t->prog, c->caller);

	if (!f || f->calls[c->site].target || f->calls[c->site].slot < 0)
		return;
	uint32_t end, i = pointers_at(&t->pointers, (uint32_t)f->calls[c->site].slot, &end);
	for (; i < end; i++) {
		const struct pointer *p = &t->pointers.items[t->pointers.by_slot[i]];
		uint64_t size = t->pointers.objects[p->object].size;
		if (p->func != c->callee || size > MAX_TABLE)
			continue;
		note_observed(t, c->caller, size);
		if (t->file[c->caller] != INDEX_NONE)
			note_observed(t, t->file[c->caller] | OBSERVED_FILE, size);
	}
}

void targets_init(struct targets *t, struct program *prog, const struct evidence *e)
{
	uint32_t nr = prog->img->nr_funcs;

	memset(t, 0, sizeof(*t));
	t->prog = prog;
	t->evidence = e;
	pointers_init(&t->pointers, &prog->text, prog->img);
	t->live = xcalloc((size_t)nr + 1, sizeof(*t->live));
	t->file = xcalloc((size_t)nr + 1, sizeof(*t->file));
	for (uint32_t f = 0; f < nr; f++) {
		t->file[f] = file_of(t, f);
		t->live[f] = e->profile_of[f] != INDEX_NONE;
	}
	t->near_live = xcalloc((size_t)nr + 1, sizeof(*t->near_live));
	t->object_live = xcalloc((size_t)t->pointers.nr_objects + 1, sizeof(*t->object_live));
	for (uint32_t i = 0; i < e->nr_calls; i++)
		observe(t, &e->calls[i]);
	targets_refresh(t);
}

void targets_release(struct targets *t)
{
	pointers_release(&t->pointers);
	free(t->live);
	free(t->file);
	free(t->near_live);
	free(t->object_live);
	free(t->site_items);
	free(t->items);
	index_release(&t->files);
	index_release(&t->observed);
	index_release(&t->sites);
	memset(t, 0, sizeof(*t));
}

/* Static functions of one purpose stand together in their source file. */
static uint32_t count_near(const struct targets *t, uint32_t func)
{
	uint32_t first = func > NEIGHBOURS ? func - NEIGHBOURS : 0, n = 0;

	for (uint32_t f = first; f <= func + NEIGHBOURS && f < t->prog->img->nr_funcs; f++)
		n += t->live[f] && t->file[f] == t->file[func];
	return n;
}

void targets_refresh(struct targets *t)
{
	index_release(&t->sites);
	t->nr_items = 0;
	memset(t->object_live, 0, ((size_t)t->pointers.nr_objects + 1) * sizeof(*t->object_live));
	for (uint32_t f = 0; f < t->prog->img->nr_funcs; f++)
		t->near_live[f] = count_near(t, f);
	for (uint32_t i = 0; i < t->pointers.nr_items; i++)
		t->object_live[t->pointers.items[i].object] += t->live[t->pointers.items[i].func];
}

static void add_target(struct targets *t, uint32_t func, float share)
{
	ALLOC_GROW(t->items, t->nr_items + 1, t->alloc_items);
	t->items[t->nr_items++] = (struct target){ func, share };
}

/* What the profile saw of this site, in proportion; false when nothing. */
static bool add_seen(struct targets *t, uint32_t func, uint32_t site)
{
	const struct evidence *e = t->evidence;
	uint64_t sum = 0;

	for (uint32_t i = e->first_call[func]; i < e->first_call[func + 1]; i++)
		if (e->calls[i].site == site)
			sum += e->calls[i].weight;
	for (uint32_t i = e->first_call[func]; sum && i < e->first_call[func + 1]; i++)
		if (e->calls[i].site == site)
			add_target(t, e->calls[i].callee, (float)e->calls[i].weight / (float)sum * ALMOST);
	return sum > 0;
}

/* How much of their folders two object names share: 1 for the same folder, less for a common ancestor. */
static float nearness(const char *a, const char *b)
{
	const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');
	size_t n = 0, common = 0, len_a = end_a ? (size_t)(end_a - a) : 0, len_b = end_b ? (size_t)(end_b - b) : 0;

	if (len_a == len_b && !memcmp(a, b, len_a))
		return SAME_DIRECTORY + SHARED_DIRECTORIES;
	for (; n < len_a && n < len_b && a[n] == b[n]; n++)
		common += a[n] == '/';
	return common || (n && (n == len_a || n == len_b)) ? SHARED_DIRECTORIES : 0;
}

/* Where object names are not known, the linker's order stands for them. */
static float address_nearness(uint64_t a, uint64_t b)
{
	uint64_t distance = a > b ? a - b : b - a;

	if (distance < 1 << 16)
		return SAME_DIRECTORY + SHARED_DIRECTORIES;
	return distance < 1 << 18 ? SHARED_DIRECTORIES * 2 : distance < 1 << 20 ? SHARED_DIRECTORIES : 0;
}

/* 0 for none live, 1 for three, 2 at most. */
static float liveliness(uint32_t live)
{
	float l = log2f(1 + (float)live) / 2;

	return l < 2 ? l : 2;
}

/* -1: no candidate. */
static float score(const struct targets *t, uint32_t caller, const struct pointer *p)
{
	const struct image *img = t->prog->img;
	const struct pointer_object *o = &t->pointers.objects[p->object];
	uint32_t from = t->file[caller], to = t->file[p->func];
	float s = 0;

	if (o->size > MAX_TABLE || (!t->near_live[p->func] && !t->object_live[p->object]) ||
	    (t->prog->traits[p->func] & PROGRAM_COLD))
		return -1;
	s += from != INDEX_NONE && to != INDEX_NONE ?
	     nearness(index_str(&t->files, from), index_str(&t->files, to)) :
	     address_nearness(img->funcs[caller].addr, img->funcs[p->func].addr);
	if (was_observed(t, caller, o->size))
		s += KIND_OF_CALLER;
	else if (from != INDEX_NONE && was_observed(t, from | OBSERVED_FILE, o->size))
		s += KIND_OF_FILE;
	s += LIVE_TABLE * liveliness(t->object_live[p->object]);
	s += LIVE_NEAR * liveliness(t->near_live[p->func]);
	s += t->live[p->func] ? LIVE_FUNCTION : 0;
	return s;
}

static int compare_targets(const void *pa, const void *pb)
{
	const struct target *a = pa, *b = pb;

	if (a->func != b->func)
		return a->func < b->func ? -1 : 1;
	return a->share > b->share ? -1 : a->share < b->share;
}

/* Turn the scores of items from `first` on into shares; a function in several tables counts once. */
static void settle(struct targets *t, uint32_t first)
{
	float sum = expf(SOMETHING_ELSE);
	uint32_t n = first;

	if (n == t->nr_items)
		return;
	sort_array(t->items + first, t->nr_items - first, sizeof(*t->items), compare_targets);
	for (uint32_t i = first; i < t->nr_items; i++) {
		if (n > first && t->items[n - 1].func == t->items[i].func)
			continue;
		t->items[n] = t->items[i];
		t->items[n].share = expf(t->items[n].share);
		sum += t->items[n++].share;
	}
	t->nr_items = first;
	for (uint32_t i = first; i < n; i++)
		if (t->items[i].share / sum >= LEAST_SHARE)
			t->items[t->nr_items++] = (struct target){ t->items[i].func, t->items[i].share / sum };
}

static void add_guesses(struct targets *t, uint32_t func, int32_t slot)
{
	uint32_t first = t->nr_items, end;

	if (slot < 0)
		return;
	for (uint32_t i = pointers_at(&t->pointers, (uint32_t)slot, &end); i < end; i++) {
		const struct pointer *p = &t->pointers.items[t->pointers.by_slot[i]];
		float s = score(t, func, p);
		if (s >= 0)
			add_target(t, p->func, s);
	}
	settle(t, first);
}

uint32_t targets_of(struct targets *t, uint32_t func, uint32_t site, const struct target **list)
{
	uint32_t key[2] = { func, site }, had = t->sites.nr_keys, id = index_add(&t->sites, key, sizeof(key));

	ALLOC_GROW(t->site_items, t->sites.nr_keys, t->alloc_sites);
	if (id == had) {
		uint32_t first = t->nr_items;
		if (!add_seen(t, func, site))
			add_guesses(t, func, program_flow(t->prog, func)->calls[site].slot);
		t->site_items[id].first = first;
		t->site_items[id].nr = t->nr_items - first;
	}
	*list = t->items + t->site_items[id].first;
	return t->site_items[id].nr;
}
