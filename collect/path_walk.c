/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One path while it is walked: the functions met, each with the bytes that ran. */
#include <stdlib.h>
#include <string.h>

#include "collect/profile.h"
#include "lib/mem.h"

struct path_walk_func {
	uint32_t func;
	uint32_t nr_words, alloc_words;
	uint32_t *words;	/* bitmap of chunks; kept for the next path */
};

void path_walk_release(struct path_walk *w)
{
	for (uint32_t i = 0; i < w->alloc_funcs; i++)
		free(w->funcs[i].words);
	free(w->funcs);
	free(w->slot);
	memset(w, 0, sizeof(*w));
}

static struct path_walk_func *add_func(struct path_walk *w, uint32_t func)
{
	if (w->nr_funcs == w->alloc_funcs) {
		uint32_t had = w->alloc_funcs;

		ALLOC_GROW(w->funcs, w->nr_funcs + 1, w->alloc_funcs);
		memset(w->funcs + had, 0, (w->alloc_funcs - had) * sizeof(*w->funcs));
	}
	struct path_walk_func *f = &w->funcs[w->nr_funcs++];
	f->func = func;
	f->nr_words = 0;
	w->slot[func] = w->nr_funcs;
	return f;
}

/* A slot is valid when the entry it names is of this function; so no slot is ever cleared. */
static struct path_walk_func *find_func(struct path_walk *w, uint32_t func)
{
	if (func >= w->alloc_slot) {
		uint32_t had = w->alloc_slot;

		ALLOC_GROW(w->slot, (size_t)func + 1, w->alloc_slot);
		memset(w->slot + had, 0, (w->alloc_slot - had) * sizeof(*w->slot));
	}
	uint32_t i = w->slot[func] - 1;	/* 0 wraps to a value beyond nr_funcs */
	if (i < w->nr_funcs && w->funcs[i].func == func)
		return &w->funcs[i];
	return add_func(w, func);
}

void path_walk_touch(struct path_walk *w, uint32_t func, uint32_t off, uint32_t len)
{
	struct path_walk_func *f = find_func(w, func);

	if (!len || off >= PROFILE_MAX_BYTES)
		return;
	if (len > PROFILE_MAX_BYTES - off)
		len = PROFILE_MAX_BYTES - off;
	uint32_t first = off / PROFILE_CHUNK, last = (off + len - 1) / PROFILE_CHUNK;
	uint32_t words = last / 32 + 1;
	if (words > f->nr_words) {
		ALLOC_GROW(f->words, words, f->alloc_words);
		memset(f->words + f->nr_words, 0, (words - f->nr_words) * sizeof(*f->words));
		f->nr_words = words;
	}
	for (uint32_t c = first; c <= last; c++)
		f->words[c / 32] |= 1u << c % 32;
}

uint32_t path_walk_end(struct path_walk *w, struct profile *p, enum path_kind kind, uint32_t root,
		       uint64_t weight)
{
	uint32_t nr = w->nr_funcs;

	if (!nr)
		return UINT32_MAX;
	uint32_t small[256], *feet = nr <= ARRAY_SIZE(small) ? small : xcalloc(nr, sizeof(*feet));
	for (uint32_t i = 0; i < nr; i++)
		feet[i] = profile_foot(p, w->funcs[i].func, w->funcs[i].words, w->funcs[i].nr_words);
	uint32_t id = profile_add_distinct_path(p, kind, root, feet, nr, weight);
	if (feet != small)
		free(feet);
	w->nr_funcs = 0;
	return id;
}
