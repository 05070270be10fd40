/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fetchpaths.h"

#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"

void fetch_paths_init(struct fetch_paths *w, const struct fetch *f, const struct symtab *syms,
		      struct profile *p)
{
	memset(w, 0, sizeof(*w));
	fetch_map_init(&w->map, syms);
	w->fetch = f;
	w->profile = p;
	w->nr_cpus = f->nr_cpus;
	w->cpus = xcalloc(w->nr_cpus, sizeof(*w->cpus));
	for (uint32_t i = 0; i < w->nr_cpus; i++) {
		w->cpus[i].prev = INDEX_NONE;
		w->cpus[i].last_path = UINT32_MAX;
	}
}

void fetch_paths_release(struct fetch_paths *w)
{
	for (uint32_t i = 0; i < w->nr_cpus; i++) {
		for (uint32_t d = 0; d < FETCH_MAX_DEPTH; d++) {
			path_walk_release(&w->cpus[i].frames[d].walk);
			free(w->cpus[i].frames[d].stamps);
			free(w->cpus[i].frames[d].called);
		}
	}
	free(w->cpus);
	fetch_map_release(&w->map);
	free(w->func_ids);
	free(w->runs);
	free(w->entries);
	free(w->returns);
	index_release(&w->return_points);
	index_release(&w->edges);
	free(w->edge_counts);
	memset(w, 0, sizeof(*w));
}

#define GROW_ZEROED(x, had, nr, alloc) \
	do { \
		ALLOC_GROW(x, nr, alloc); \
		memset((x) + (had), 0, ((nr) - (had)) * sizeof(*(x))); \
	} while (0)

static void grow(struct fetch_paths *w)
{
	uint32_t nr = w->fetch->nr_blocks, had = w->nr_blocks;

	if (had == nr)
		return;
	fetch_map_grow(&w->map, w->fetch);
	GROW_ZEROED(w->runs, had, nr, w->alloc_runs);
	GROW_ZEROED(w->entries, had, nr, w->alloc_entries);
	GROW_ZEROED(w->returns, had, nr, w->alloc_returns);
	w->nr_blocks = nr;
	ALLOC_GROW(w->func_ids, w->map.nr_funcs, w->alloc_func_ids);
	for (; w->nr_func_ids < w->map.nr_funcs; w->nr_func_ids++)
		w->func_ids[w->nr_func_ids] = profile_func(w->profile, w->map.funcs[w->nr_func_ids].sym->id);
}

static const struct fetch_piece *first_piece(const struct fetch_paths *w, uint32_t block)
{
	return &w->map.pieces[w->map.blocks[block].first_piece];
}

static const struct fetch_piece *last_piece(const struct fetch_paths *w, uint32_t block)
{
	return first_piece(w, block) + w->map.blocks[block].nr_pieces - 1;
}

static void begin_path(struct fetch_cpu *c, enum path_kind kind)
{
	if (c->depth == FETCH_MAX_DEPTH)
		return;
	struct fetch_frame *fr = &c->frames[c->depth++];

	fr->serial++;
	fr->kind = kind;
	fr->has_kind = fr->root_is_entry = false;
	fr->root = fr->first = fr->resume = INDEX_NONE;
}

/* End the innermost path. */
static void end_path(struct fetch_paths *w, struct fetch_cpu *c)
{
	struct fetch_frame *fr = &c->frames[--c->depth];
	uint32_t root = fr->root != INDEX_NONE ? fr->root : fr->first;

	if (root == INDEX_NONE)
		return;
	uint32_t path = path_walk_end(&fr->walk, w->profile, fr->kind, w->func_ids[root], 1);
	if (path == UINT32_MAX)
		return;
	if (c->last_path != UINT32_MAX)
		profile_add_next(w->profile, c->last_path, path, 1);
	c->last_path = path;
}

static void end_all_paths(struct fetch_paths *w, struct fetch_cpu *c)
{
	while (c->depth)
		end_path(w, c);
}

static enum path_kind path_kind_of(enum root_kind kind)
{
	return kind == ROOT_SYSCALL ? PATH_SYSCALL : kind == ROOT_INTERRUPT ? PATH_INTERRUPT : PATH_EXCEPTION;
}

/*
 * A resumed task's root is the first function, not of the scheduler, that it goes
 * on in: that is returned to. What is called before is the switch's own work.
 */
static bool is_resumed(struct fetch_frame *fr, uint32_t func, bool at_start)
{
	if (func >= fr->alloc_called) {
		uint32_t had = fr->alloc_called;

		ALLOC_GROW(fr->called, (size_t)func + 1, fr->alloc_called);
		memset(fr->called + had, 0, (fr->alloc_called - had) * sizeof(*fr->called));
	}
	if (at_start)
		fr->called[func] = fr->serial;
	return fr->called[func] != fr->serial;
}

static void name_resumed(struct fetch_frame *fr, const struct fetch_func *f, uint32_t func, bool at_start)
{
	bool telling = at_start && f->kind != ROOT_NONE && f->kind != ROOT_SWITCH;

	if (f->is_sched || f->is_thunk || (!telling && !is_resumed(fr, func, at_start)))
		return;
	fr->root = func;
	fr->has_kind = true;
	if (telling && f->kind != ROOT_TASK)
		fr->kind = path_kind_of(f->kind);
}

/* What a function met says of the path: its kind and its root. */
static void name_root(struct fetch_frame *fr, const struct fetch_func *f, uint32_t func, bool is_entry,
		      bool at_start)
{
	if (fr->kind == PATH_TASK) {
		if (!fr->has_kind && !is_entry)
			name_resumed(fr, f, func, at_start);
		return;
	}
	if (!fr->has_kind && f->is_syscall_entry)
		fr->kind = PATH_SYSCALL;
	if (!at_start || f->kind == ROOT_NONE || f->kind == ROOT_TASK || f->kind == ROOT_SWITCH)
		return;
	if (fr->has_kind && (!fr->root_is_entry || is_entry))
		return;
	fr->kind = path_kind_of(f->kind);
	fr->root = func;
	fr->has_kind = true;
	fr->root_is_entry = is_entry;
}

static void count_edge(struct fetch_paths *w, uint32_t from, uint32_t to)
{
	uint32_t key[2] = { from, to };
	uint32_t had = w->edges.nr_keys, id = index_add(&w->edges, key, sizeof(key));

	if (id == had) {
		ALLOC_GROW(w->edge_counts, id + 1, w->alloc_edges);
		w->edge_counts[id] = 0;
	}
	w->edge_counts[id]++;
}

static bool in_entry(const struct fetch_paths *w, uint32_t block)
{
	enum fetch_where where = w->map.blocks[block].where;

	return where == FETCH_ENTRY || where == FETCH_VECTOR;
}

/* The place behind a block that called out of entry code: a return comes there. */
static void learn_return_point(struct fetch_paths *w, uint32_t block)
{
	uint64_t end = w->fetch->blocks[block].addr + w->fetch->blocks[block].bytes;

	index_add(&w->return_points, &end, sizeof(end));
}

static bool is_return_point(const struct fetch_paths *w, uint32_t block)
{
	uint64_t addr = w->fetch->blocks[block].addr;

	return index_find(&w->return_points, &addr, sizeof(addr)) != INDEX_NONE;
}

/* An interrupt or exception in the kernel: a path of its own. */
static void interrupt(struct fetch_paths *w, struct fetch_cpu *c)
{
	if (c->depth == FETCH_MAX_DEPTH)
		end_all_paths(w, c);
	begin_path(c, PATH_EXCEPTION);
	c->frames[c->depth - 1].resume = c->prev;
	c->prev = INDEX_NONE;
}

static bool is_switch(const struct fetch_paths *w, const struct fetch_piece *p)
{
	return w->map.funcs[p->func].kind == ROOT_SWITCH;
}

/* Another task's stack: whatever was under way is cut here. One switch may take several functions. */
static void follow_switch(struct fetch_paths *w, struct fetch_cpu *c, uint32_t block)
{
	if (!w->map.blocks[block].at_start || !is_switch(w, first_piece(w, block)))
		return;
	if (c->prev != INDEX_NONE && w->map.blocks[c->prev].nr_pieces && is_switch(w, last_piece(w, c->prev)))
		return;
	end_all_paths(w, c);
	begin_path(c, PATH_TASK);
}

/* Whether control came to entry code by an interrupt or exception, rather than by a return or within it. */
static bool is_interrupt(const struct fetch_paths *w, const struct fetch_cpu *c, uint32_t block)
{
	if (c->prev == INDEX_NONE || !in_entry(w, block) || is_return_point(w, block))
		return false;
	/* Where vectors run untranslated first, most only load a TLB entry and go back. */
	if (c->vectored)
		return w->map.blocks[block].where == FETCH_VECTOR &&
		       w->map.blocks[c->prev].where != FETCH_VECTOR;
	return !in_entry(w, c->prev);
}

/* Whether entry code ended here in a return from interrupt; only that leads into the middle of a function. */
static bool is_return(struct fetch_paths *w, const struct fetch_cpu *c, uint32_t block)
{
	if (c->prev == INDEX_NONE || !in_entry(w, c->prev))
		return false;
	if (!in_entry(w, block) && !w->map.blocks[block].at_start)
		w->returns[c->prev] = true;
	return w->returns[c->prev];
}

/* From block c->prev to block: keep track of paths. */
static void follow(struct fetch_paths *w, struct fetch_cpu *c, uint32_t block)
{
	bool to = in_entry(w, block);

	/* The next interrupt may come before what the last one returned to has run. */
	if (c->depth && is_return(w, c, block)) {
		c->prev = c->frames[c->depth - 1].resume;
		end_path(w, c);
	}
	/* Without a path, the interrupt came from user mode, or before the recording or a switch of tasks. */
	if (!c->depth)
		begin_path(c, to ? PATH_EXCEPTION : PATH_TASK);
	else if (is_interrupt(w, c, block))
		interrupt(w, c);
	else if (!to && c->prev != INDEX_NONE && in_entry(w, c->prev))
		learn_return_point(w, c->prev);
	follow_switch(w, c, block);
}

/* Whether the block is an entry into its function, and from where. */
static void count_entry(struct fetch_paths *w, const struct fetch_cpu *c, uint32_t block)
{
	uint32_t func = first_piece(w, block)->func;
	bool known = c->prev != INDEX_NONE && w->map.blocks[c->prev].nr_pieces;

	if (known && last_piece(w, c->prev)->func == func)
		return;
	w->entries[block]++;
	if (known)
		count_edge(w, c->prev, block);
}

static void touch(struct fetch_paths *w, struct fetch_frame *fr, uint32_t block)
{
	const struct fetch_mapped *b = &w->map.blocks[block];
	const struct fetch_piece *p = first_piece(w, block);

	if (block >= fr->alloc_stamps) {
		uint32_t had = fr->alloc_stamps;

		ALLOC_GROW(fr->stamps, w->nr_blocks, fr->alloc_stamps);
		memset(fr->stamps + had, 0, (fr->alloc_stamps - had) * sizeof(*fr->stamps));
	}
	if (fr->stamps[block] == fr->serial)
		return;
	fr->stamps[block] = fr->serial;
	for (uint32_t i = 0; i < b->nr_pieces; i++)
		path_walk_touch(&fr->walk, w->func_ids[p[i].func], p[i].off, p[i].bytes);
	name_root(fr, &w->map.funcs[p->func], p->func, in_entry(w, block), b->at_start);
	/* What names a path whose root stays unknown: where a new task begins, else what ran first. */
	if (b->where == FETCH_TEXT && (fr->first == INDEX_NONE || w->map.funcs[p->func].kind == ROOT_TASK))
		fr->first = p->func;
}

static void run_block(struct fetch_paths *w, uint32_t block, uint32_t count)
{
	struct fetch_cpu *c = &w->cpus[w->cpu];
	const struct fetch_mapped *b = &w->map.blocks[block];

	w->runs[block] += count;
	if (b->where == FETCH_REAL) {
		c->vectored = true;
		return;
	}
	if (b->where == FETCH_USER) {
		if (c->depth && c->prev != INDEX_NONE && in_entry(w, c->prev))
			w->returns[c->prev] = true;
		end_all_paths(w, c);
		c->prev = INDEX_NONE;
		c->vectored = false;
		return;
	}
	if (b->nr_pieces && w->map.funcs[first_piece(w, block)->func].is_thunk && c->depth) {
		if (b->at_start)
			count_entry(w, c, block);
		touch(w, &c->frames[c->depth - 1], block);
		return;
	}
	follow(w, c, block);
	if (b->nr_pieces) {
		if (b->at_start)
			count_entry(w, c, block);
		touch(w, &c->frames[c->depth - 1], block);
	}
	c->prev = block;
	c->vectored = false;
}

void fetch_paths_event(struct fetch_paths *w, const struct fetch_event *ev)
{
	if (ev->kind == FETCH_EV_RUN) {
		grow(w);
		run_block(w, ev->block, ev->count);
	} else if (ev->kind == FETCH_EV_CPU) {
		w->cpu = ev->block;
	} else if (ev->kind == FETCH_EV_MARK) {
		for (uint32_t i = 0; i < w->nr_cpus; i++) {
			end_all_paths(w, &w->cpus[i]);
			w->cpus[i].prev = INDEX_NONE;
			w->cpus[i].last_path = UINT32_MAX;
		}
	}
}

/* Spread the samples of a piece over its bytes' chunks; cumulative rounding keeps the sum. */
static void add_samples(struct fetch_paths *w, const struct fetch_piece *p, uint64_t samples)
{
	uint32_t end = p->off + p->bytes, at = p->off;
	uint64_t given = 0;

	while (at < end) {
		uint32_t stop = (at / PROFILE_CHUNK + 1) * PROFILE_CHUNK;

		if (stop > end)
			stop = end;
		uint64_t upto = (uint64_t)((unsigned __int128)samples * (stop - p->off) / p->bytes);
		if (upto > given)
			profile_add_samples(w->profile, w->func_ids[p->func], at, upto - given);
		given = upto;
		at = stop;
	}
}

static uint64_t times(uint64_t runs, uint32_t insns)
{
	uint64_t product;

	return __builtin_mul_overflow(runs, insns, &product) ? UINT64_MAX : product;
}

static void finish_block(struct fetch_paths *w, uint32_t block, struct profile_source *s)
{
	const struct fetch_mapped *b = &w->map.blocks[block];
	const struct fetch_piece *p = first_piece(w, block);
	uint64_t insns = times(w->runs[block], w->fetch->blocks[block].insns);

	add_count(&s->samples, insns);
	if (b->where == FETCH_USER)
		return;
	add_count(&s->kernel, insns);
	if (!b->nr_pieces) {
		add_count(&s->unresolved, insns);
		return;
	}
	add_count(&s->resolved, insns);
	for (uint32_t i = 0; i < b->nr_pieces; i++) {
		/* No layout matters to untranslated code: its time counts, its place does not. */
		if (b->where == FETCH_REAL)
			profile_add_samples(w->profile, w->func_ids[p[i].func], PROFILE_OFF_UNKNOWN,
					    times(w->runs[block], p[i].insns));
		else
			add_samples(w, &p[i], times(w->runs[block], p[i].insns));
	}
	if (w->entries[block])
		profile_add_entries(w->profile, w->func_ids[p->func], w->entries[block]);
}

void fetch_paths_finish(struct fetch_paths *w, struct profile_source *s)
{
	for (uint32_t i = 0; i < w->nr_cpus; i++)
		end_all_paths(w, &w->cpus[i]);
	grow(w);
	for (uint32_t i = 0; i < w->nr_blocks; i++)
		if (w->runs[i])
			finish_block(w, i, s);
	for (uint32_t i = 0; i < w->edges.nr_keys; i++) {
		const uint32_t *key = w->edges.keys[i].data;
		const struct fetch_piece *from = last_piece(w, key[0]), *to = first_piece(w, key[1]);

		profile_add_call(w->profile, w->func_ids[from->func], from->off + from->bytes - 1,
				 w->func_ids[to->func], w->edge_counts[i]);
	}
}
