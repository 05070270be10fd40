/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chain.h"

#include <stdlib.h>
#include <string.h>

#include "collect/root.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"

enum {
	NR_PLACES = 1 << 13,
	NEXTS_BITS = 14,
	NR_NEXTS = 1 << NEXTS_BITS,
	NEAR_BITS = 8,
	NR_NEAR = 1 << NEAR_BITS,
	/* of distinct chains held back; past it they are added and forgotten */
	SEEN_MAX_BYTES = 32 << 20,
	MAX_STRAIGHT = 1 << 14,		/* bytes: code that runs straight between two branches is shorter */
	ONLY_NAME = 1 << 7,		/* in roots[]: syms do not have it */
};

struct chain_place {
	uint64_t addr;
	struct chain_frame frame;
	uint32_t state;		/* 0: empty; else 1 + is_return */
};

/* One distinct chain: what of it was not yet added, and the path that nexts lead to. */
struct chain_seen {
	uint64_t pending;
	uint32_t path;
	bool resolved;		/* its innermost frame is in a known function */
};

/* A succession and how often it was met since it was put here. */
struct chain_next {
	uint32_t path, next;
	uint64_t pending;
};

struct chain_near {
	uint64_t task;
	uint32_t id;		/* in tasks, + 1; 0: empty */
};

struct chain_task {
	uint64_t time_ns;
	uint32_t path;
};

void chain_init(struct chain *c, struct profile *p, const struct symtab *syms)
{
	memset(c, 0, sizeof(*c));
	c->profile = p;
	c->syms = syms;
	c->places = xcalloc(NR_PLACES, sizeof(*c->places));
	c->nexts = xcalloc(NR_NEXTS, sizeof(*c->nexts));
	c->near = xcalloc(NR_NEAR, sizeof(*c->near));
	if (syms)
		c->func_of_sym = xcalloc(syms->nr_syms, sizeof(*c->func_of_sym));
}

void chain_release(struct chain *c)
{
	path_walk_release(&c->walk);
	free(c->places);
	free(c->nexts);
	free(c->near);
	free(c->func_of_sym);
	free(c->roots);
	for (int i = 0; i < CHAIN_KINDS; i++) {
		index_release(&c->seen[i]);
		free(c->seen_items[i]);
	}
	free(c->late);
	index_release(&c->tasks);
	free(c->task_items);
	free(c->frames);
	memset(c, 0, sizeof(*c));
}

static struct chain_frame frame_of_sym(struct chain *c, const struct sym *s, uint64_t off)
{
	uint32_t *func = &c->func_of_sym[s - c->syms->syms];

	if (!*func)
		*func = profile_func(c->profile, s->id) + 1;
	return (struct chain_frame){ *func - 1,
				     off < PROFILE_MAX_BYTES ? (uint32_t)off : PROFILE_OFF_UNKNOWN };
}

struct chain_frame chain_resolve(struct chain *c, uint64_t addr, bool is_return)
{
	struct chain_place *pl = &c->places[(addr * 0x9e3779b97f4a7c15u >> 32) % NR_PLACES];

	if (pl->addr == addr && pl->state == 1u + is_return)
		return pl->frame;
	uint64_t at = addr - is_return;
	const struct sym *s = c->syms ? symtab_find(c->syms, at) : NULL;
	pl->addr = addr;
	pl->state = 1u + is_return;
	pl->frame = s ? frame_of_sym(c, s, at - s->addr)
		      : (struct chain_frame){ INDEX_NONE, PROFILE_OFF_UNKNOWN };
	return pl->frame;
}

static unsigned char *root_slot(struct chain *c, uint32_t func)
{
	if (func >= c->alloc_roots) {
		uint32_t had = c->alloc_roots;

		ALLOC_GROW(c->roots, (size_t)func + 1, c->alloc_roots);
		memset(c->roots + had, 0, c->alloc_roots - had);
	}
	return &c->roots[func];
}

bool chain_is_known(const struct chain *c, uint32_t func)
{
	return func != INDEX_NONE && (func >= c->alloc_roots || !(c->roots[func] & ONLY_NAME));
}

void chain_only_name(struct chain *c, uint32_t func)
{
	*root_slot(c, func) |= ONLY_NAME;
}

struct chain_frame chain_resolve_name(struct chain *c, const char *name, const char *module, uint64_t off,
				      bool is_return)
{
	const struct sym *s = c->syms && !module ? symtab_find_id(c->syms, name) : NULL;
	uint64_t value;

	if (s)
		return chain_resolve(c, s->addr + off, is_return);
	/*
	 * An alias or a place within a function; of a name that several functions
	 * bear, nothing more is known.
	 */
	if (c->syms && !module && symtab_value(c->syms, name, &value)) {
		s = symtab_find(c->syms, value);
		if (s && (s->addr != value || strcmp(s->name, name) != 0))
			return chain_resolve(c, value + off, is_return);
	}
	if (is_return && off)
		off--;
	uint32_t func = module ? profile_module_func(c->profile, name, module) : profile_func(c->profile, name);
	if (c->syms)
		chain_only_name(c, func);
	return (struct chain_frame){ func, off < PROFILE_MAX_BYTES ? (uint32_t)off : PROFILE_OFF_UNKNOWN };
}

static enum root_kind root_of(struct chain *c, uint32_t func)
{
	if (func == INDEX_NONE)
		return ROOT_NONE;
	unsigned char *slot = root_slot(c, func);
	if (!(*slot & ~ONLY_NAME))
		*slot |= (unsigned char)(1 + root_kind(profile_func_name(c->profile, func)));
	return (*slot & ~ONLY_NAME) - 1;
}

/* By an interrupt or exception entry, or what it calls first. */
static bool is_interruption(struct chain *c, uint32_t func)
{
	enum root_kind kind = root_of(c, func);

	return kind == ROOT_INTERRUPT || kind == ROOT_EXCEPTION;
}

bool chain_cuts(struct chain *c, uint32_t inner, uint32_t outer)
{
	return is_interruption(c, inner) && !is_interruption(c, outer);
}

/*
 * Without a function known to be a root: the outermost one behind the entry code.
 * Entry code of system calls only makes it one, of which kind is not known.
 */
static enum path_kind find_unnamed_root(struct chain *c, const struct chain_frame *frames, uint32_t nr,
					uint32_t *root)
{
	enum path_kind kind = PATH_CHAIN;

	*root = INDEX_NONE;
	for (uint32_t i = nr; i-- > 0;) {
		if (frames[i].func == INDEX_NONE)
			continue;
		*root = frames[i].func;
		const char *name = profile_func_name(c->profile, *root);
		if (!root_is_syscall_entry(name))
			break;
		if (!root_is_shared_entry(name))
			kind = PATH_SYSCALL;
	}
	return kind;
}

/* The outermost function of frames[0, nr) whose kind is known, and what it makes of the path. */
static enum path_kind find_root(struct chain *c, const struct chain_frame *frames, uint32_t nr,
				uint32_t *root)
{
	static const enum path_kind kinds[] = {
		[ROOT_SYSCALL] = PATH_SYSCALL, [ROOT_INTERRUPT] = PATH_INTERRUPT,
		[ROOT_EXCEPTION] = PATH_EXCEPTION, [ROOT_TASK] = PATH_TASK,
	};

	for (uint32_t i = nr; i-- > 0;) {
		enum root_kind kind = root_of(c, frames[i].func);

		if (kind == ROOT_NONE || kind == ROOT_SWITCH)
			continue;
		*root = frames[i].func;
		/* Of a kernel thread its own function, within ret_from_fork and kthread. */
		for (; kind == ROOT_TASK && i; i--) {
			if (frames[i - 1].func == INDEX_NONE)
				break;
			*root = frames[i - 1].func;
			if (root_of(c, *root) != ROOT_TASK)
				break;
		}
		return kinds[kind];
	}
	return find_unnamed_root(c, frames, nr, root);
}

static uint32_t add_segment(struct chain *c, const struct chain_frame *frames, uint32_t nr, uint64_t weight)
{
	uint32_t root;
	enum path_kind kind = find_root(c, frames, nr, &root);

	for (uint32_t i = 0; i < nr; i++) {
		const struct chain_frame *f = &frames[i];

		if (f->func != INDEX_NONE)
			path_walk_touch(&c->walk, f->func, f->off, f->off != PROFILE_OFF_UNKNOWN);
		if (i && f->func != INDEX_NONE && frames[i - 1].func != INDEX_NONE)
			profile_add_call(c->profile, f->func, f->off, frames[i - 1].func, weight);
	}
	return path_walk_end(&c->walk, c->profile, kind, root, weight);
}

/* Add the chain; returns its outermost path. A lone frame says nothing of what ran together. */
static uint32_t add_frames(struct chain *c, const struct chain_frame *frames, uint32_t nr, bool apart,
			   uint64_t weight)
{
	uint32_t outermost = UINT32_MAX, last = UINT32_MAX;

	if (frames[0].func != INDEX_NONE)
		profile_add_samples(c->profile, frames[0].func, frames[0].off, weight);
	frames += apart;
	nr -= apart;
	uint32_t end = nr;
	if (nr < 2)
		return UINT32_MAX;
	for (uint32_t i = nr - 1; i < nr; i--) {
		if (i && !chain_cuts(c, frames[i - 1].func, frames[i].func))
			continue;
		uint32_t path = add_segment(c, frames + i, end - i, weight);
		end = i;
		if (path == UINT32_MAX)
			continue;
		if (outermost == UINT32_MAX)
			outermost = path;
		if (last != UINT32_MAX)
			profile_add_next(c->profile, last, path, weight);
		last = path;
	}
	return outermost;
}

/* Resolve addrs into c->frames. */
static void resolve_addrs(struct chain *c, const uint64_t *addrs, uint32_t nr, bool apart)
{
	ALLOC_GROW(c->frames, nr, c->alloc_frames);
	for (uint32_t i = 0; i < nr; i++) {
		c->frames[i] = chain_resolve(c, addrs[i], i > apart);
		if (i > apart && chain_cuts(c, c->frames[i - 1].func, c->frames[i].func))
			c->frames[i] = chain_resolve(c, addrs[i], false);
	}
}

static void flush_seen(struct chain *c)
{
	for (int kind = 0; kind < CHAIN_KINDS; kind++) {
		struct index *x = &c->seen[kind];

		for (uint32_t i = 0; i < x->nr_keys; i++) {
			uint32_t nr = x->keys[i].len / (uint32_t)sizeof(uint64_t);
			uint64_t weight = c->seen_items[kind][i].pending;
			const struct chain_frame *frames = x->keys[i].data;

			if (!weight)
				continue;
			if (kind & CHAIN_ADDRS) {
				resolve_addrs(c, x->keys[i].data, nr, kind & CHAIN_APART);
				frames = c->frames;
			}
			add_frames(c, frames, nr, kind & CHAIN_APART, weight);
		}
		index_release(x);
	}
	c->seen_bytes = 0;
	c->nr_flushes++;
}

static void flush_next(struct chain *c, struct chain_next *n)
{
	if (n->pending)
		profile_add_next(c->profile, n->path, n->next, n->pending);
	n->pending = 0;
}

static uint32_t next_slot(uint32_t path, uint32_t next)
{
	uint64_t both = (uint64_t)path << 32 | next;

	return (uint32_t)((both ^ both >> 29) * 0x9e3779b97f4a7c15u >> (64 - NEXTS_BITS));
}

/* Successions repeat: count them here, each in one of two places, before they go to the profile. */
static inline void count_next(struct chain *c, uint32_t path, uint32_t next)
{
	uint32_t at = next_slot(path, next);
	struct chain_next *first = &c->nexts[at], *second = &c->nexts[at ^ 1];
	/* Which of the two is a toss-up for the processor: no branch. */
	struct chain_next *n = (second->path ^ path) | (second->next ^ next) ? first : second;

	if (n->path == path && n->next == next) {
		n->pending++;
		return;
	}
	if (first->pending) {
		flush_next(c, second);
		*second = *first;
	}
	*first = (struct chain_next){ path, next, 1 };
}

/* They wait until the few that came before are counted: by then memory has brought their places. */
static void add_next(struct chain *c, uint32_t path, uint32_t next)
{
	struct chain_wait *w = &c->waiting[c->nr_waits++ % ARRAY_SIZE(c->waiting)];
	struct chain_wait old = *w;

	__builtin_prefetch(&c->nexts[next_slot(path, next)], 1);
	*w = (struct chain_wait){ path, next };
	if (c->nr_waits > ARRAY_SIZE(c->waiting))
		count_next(c, old.path, old.next);
}

static void flush_nexts(struct chain *c)
{
	uint32_t nr = c->nr_waits < ARRAY_SIZE(c->waiting) ? (uint32_t)c->nr_waits : (uint32_t)ARRAY_SIZE(c->waiting);

	for (uint32_t i = 0; i < nr; i++)
		count_next(c, c->waiting[i].path, c->waiting[i].next);
	c->nr_waits = 0;
	for (uint32_t i = 0; i < NR_NEXTS; i++)
		flush_next(c, &c->nexts[i]);
}

/* What is seldom needed stands in functions of its own, so that the others are short. */
static __attribute__((noinline)) uint32_t add_task(struct chain *c, struct chain_near *near, uint64_t task)
{
	uint32_t had = c->tasks.nr_keys;

	*near = (struct chain_near){ task, index_add(&c->tasks, &task, sizeof(task)) + 1 };
	ALLOC_GROW(c->task_items, c->tasks.nr_keys, c->alloc_tasks);
	if (near->id == had + 1)
		c->task_items[had] = (struct chain_task){ 0, UINT32_MAX };
	return near->id - 1;
}

static inline uint32_t find_task(struct chain *c, uint64_t task)
{
	/* pid and tid are the same for most. */
	struct chain_near *near = &c->near[task * 0x9e3779b97f4a7c15u >> (64 - NEAR_BITS)];

	return near->id && near->task == task ? near->id - 1 : add_task(c, near, task);
}

/* What this follows in its task closely; UINT32_MAX: nothing. */
static inline uint32_t follow(struct chain *c, struct succession s)
{
	struct chain_task *t = &c->task_items[s.task];
	uint32_t path = t->path;
	uint64_t after = s.time_ns - t->time_ns;

	if (path != UINT32_MAX && !after)	/* the callchain and the branch stack of one sample */
		return UINT32_MAX;
	*t = (struct chain_task){ s.time_ns, s.path };
	return after <= CHAIN_NEAR_NS ? path : UINT32_MAX;
}

/* Those that wait, but for as many of the latest as keep: what is yet to come may precede them. */
static void link_late(struct chain *c, uint32_t keep)
{
	uint32_t done = c->nr_late - keep;

	successions_sort(c->late, c->nr_late);
	for (uint32_t i = 0; i < done; i++) {
		uint32_t path = follow(c, c->late[i]);

		if (path != UINT32_MAX)
			count_next(c, path, c->late[i].path);
	}
	memcpy(c->late, c->late + done, keep * sizeof(*c->late));
	c->nr_late = keep;
}

/* There is no room for it: samples are not to be sorted, or those that wait are too many. */
static __attribute__((noinline)) void link_full(struct chain *c, struct succession s)
{
	if (!c->late) {
		uint32_t path = follow(c, s);

		if (path != UINT32_MAX)
			add_next(c, path, s.path);
		return;
	}
	if (c->nr_late == CHAIN_WINDOW)
		link_late(c, CHAIN_WINDOW / 2);
	else	/* at once: what is not filled takes no memory, what grows by parts is copied */
		ALLOC_GROW(c->late, CHAIN_WINDOW, c->alloc_late);
	c->late[c->nr_late++] = s;
}

static void link_task(struct chain *c, uint32_t path, const struct chain_sample *s)
{
	if (s->task == CHAIN_NO_TASK || path == UINT32_MAX)
		return;
	struct succession this = { s->time_ns, find_task(c, s->task), path };
	if (c->nr_late < c->alloc_late)
		c->late[c->nr_late++] = this;
	else
		link_full(c, this);
}

void chain_sort(struct chain *c)
{
	c->alloc_late = 1 << 14;
	c->late = xreallocarray(NULL, c->alloc_late, sizeof(*c->late));
}

static void count_kernel(struct chain *c, bool resolved)
{
	c->samples++;
	c->kernel++;
	if (resolved)
		c->resolved++;
	else
		c->unresolved++;
}

/*
 * The chain's record, made and processed when it is new; else its weight is held
 * back. Returns its id among those of its kind.
 */
static uint32_t add_seen(struct chain *c, int kind, const void *key, uint32_t nr, const struct chain_sample *s)
{
	if (c->seen_bytes > SEEN_MAX_BYTES)
		flush_seen(c);
	struct index *x = &c->seen[kind];
	uint32_t had = x->nr_keys, i = index_add(x, key, nr * sizeof(uint64_t));
	ALLOC_GROW(c->seen_items[kind], x->nr_keys, c->alloc_seen[kind]);
	struct chain_seen *seen = &c->seen_items[kind][i];
	if (i < had) {
		add_count(&seen->pending, s->weight);
	} else {
		const struct chain_frame *frames = key;

		c->seen_bytes += nr * sizeof(uint64_t) + 32;
		if (kind & CHAIN_ADDRS) {
			resolve_addrs(c, key, nr, kind & CHAIN_APART);
			frames = c->frames;
		}
		bool resolved = chain_is_known(c, frames[0].func);
		uint32_t path = add_frames(c, frames, nr, kind & CHAIN_APART, s->weight);
		*seen = (struct chain_seen){ .path = path, .resolved = resolved };
	}
	count_kernel(c, seen->resolved);
	link_task(c, seen->path, s);
	return i;
}

void chain_add_other(struct chain *c)
{
	c->samples++;
}

void chain_add(struct chain *c, const struct chain_frame *frames, uint32_t nr, const struct chain_sample *s)
{
	BUG_ON(!nr);
	add_seen(c, 0, frames, nr, s);
}

void chain_add_apart(struct chain *c, const struct chain_frame *frames, uint32_t nr, const struct chain_sample *s)
{
	BUG_ON(!nr);
	add_seen(c, CHAIN_APART, frames, nr, s);
}

struct chain_ticket chain_add_addrs(struct chain *c, const uint64_t *addrs, uint32_t nr, bool apart,
				    const struct chain_sample *s)
{
	BUG_ON(!nr);
	int kind = CHAIN_ADDRS | (apart ? CHAIN_APART : 0);
	uint32_t id = add_seen(c, kind, addrs, nr, s);
	return (struct chain_ticket){ id * CHAIN_KINDS + (uint32_t)kind, c->nr_flushes + 1 };
}

bool chain_ticket_valid(const struct chain *c, struct chain_ticket t)
{
	return t.stamp == c->nr_flushes + 1;
}

void chain_add_again(struct chain *c, struct chain_ticket t, const struct chain_sample *s)
{
	struct chain_seen *seen = &c->seen_items[t.id % CHAIN_KINDS][t.id / CHAIN_KINDS];

	add_count(&seen->pending, s->weight);
	count_kernel(c, seen->resolved);
	link_task(c, seen->path, s);
}

void chain_finish(struct chain *c, struct profile_source *source)
{
	if (c->late)
		link_late(c, 0);
	flush_seen(c);
	flush_nexts(c);
	add_count(&source->samples, c->samples);
	add_count(&source->kernel, c->kernel);
	add_count(&source->resolved, c->resolved);
	add_count(&source->unresolved, c->unresolved);
}

/* The branch itself: a call when it enters another function, or this one anew, by its first byte. */
void chain_add_branch(struct chain *c, const struct chain_branch *b, uint64_t weight)
{
	if (b->to.func == INDEX_NONE || b->to.off)
		return;
	profile_add_entries(c->profile, b->to.func, weight);
	if (b->from.func != INDEX_NONE && !chain_cuts(c, b->to.func, b->from.func))
		profile_add_call(c->profile, b->from.func, b->from.off, b->to.func, weight);
}

static void touch(struct chain *c, const struct chain_frame *f)
{
	path_walk_touch(&c->walk, f->func, f->off, f->off != PROFILE_OFF_UNKNOWN);
}

/* Between the target of the older branch and the source of the newer one the code ran straight. */
static void walk_straight(struct chain *c, const struct chain_frame *to, const struct chain_frame *from,
			  uint64_t weight)
{
	if (to->func == from->func && to->off != PROFILE_OFF_UNKNOWN && from->off != PROFILE_OFF_UNKNOWN &&
	    from->off >= to->off && from->off - to->off < MAX_STRAIGHT) {
		path_walk_touch(&c->walk, to->func, to->off, from->off - to->off + 1);
		for (uint32_t k = to->off / PROFILE_CHUNK; k <= from->off / PROFILE_CHUNK; k++)
			profile_add_touch(c->profile, to->func, k, weight);
		return;
	}
	touch(c, to);
	touch(c, from);
}

/* branches[first, end), newest first, all within the kernel: one path. */
static uint32_t add_run(struct chain *c, const struct chain_branch *branches, uint32_t first, uint32_t end,
			uint64_t weight)
{
	uint32_t nr = 0, root;

	/* Oldest last, as in a callchain; the oldest source, then every target. */
	ALLOC_GROW(c->frames, (size_t)(end - first) + 1, c->alloc_frames);
	for (uint32_t i = first; i < end; i++)
		if (branches[i].to.func != INDEX_NONE)
			c->frames[nr++] = branches[i].to;
	if (end > first && branches[end - 1].from.func != INDEX_NONE)
		c->frames[nr++] = branches[end - 1].from;
	if (nr < 2)
		return path_walk_end(&c->walk, c->profile, PATH_CHAIN, nr ? c->frames[0].func : 0, weight);
	enum path_kind kind = find_root(c, c->frames, nr, &root);
	return path_walk_end(&c->walk, c->profile, kind, root, weight);
}

void chain_add_branches(struct chain *c, const struct chain_branch *branches, uint32_t nr, bool every,
			const struct chain_sample *s)
{
	uint32_t end = nr, path;

	for (uint32_t i = nr; i-- > 0;) {
		const struct chain_branch *b = &branches[i];

		/* Entered anew: a filter of the kernel's branches leaves out what left it. */
		if (b->enters && i + 1 < end) {
			if (branches[i + 1].to.func != INDEX_NONE)
				touch(c, &branches[i + 1].to);
			path = add_run(c, branches, i + 1, end, s->weight);
			link_task(c, path, s);
			end = i + 1;
		}
		chain_add_branch(c, b, s->weight);
		if (b->from.func != INDEX_NONE && (i + 1 == end || branches[i + 1].to.func == INDEX_NONE)) {
			touch(c, &b->from);
		} else if (b->from.func != INDEX_NONE && every) {
			walk_straight(c, &branches[i + 1].to, &b->from, s->weight);
		} else if (b->from.func != INDEX_NONE) {
			touch(c, &branches[i + 1].to);
			touch(c, &b->from);
		}
		/* Out of the kernel, or the stack's newest: the path ends here. */
		if (b->to.func != INDEX_NONE && i)
			continue;
		if (b->to.func != INDEX_NONE)
			touch(c, &b->to);
		path = add_run(c, branches, i, end, s->weight);
		link_task(c, path, s);
		end = i;
	}
}
