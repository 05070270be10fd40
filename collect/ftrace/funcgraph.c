/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "funcgraph.h"

#include <stdlib.h>
#include <string.h>

#include "collect/root.h"
#include "lib/mem.h"

enum {
	MAX_DEPTH = 1024,	/* far above the kernel's return stack */
	MAX_CPUS = 1 << 16,	/* and NR_CPUS */
	MAX_PIECES = 16,
	MAX_AGAIN = 1 << 22,	/* takes a second; further ones are in no path of their own */
};

/* What a function's name says of the path it is met in. */
enum trait {
	TRAIT_NONE = 1,
	TRAIT_SYSCALL_ENTRY,	/* the system call's own function follows */
	TRAIT_SYSCALL,
	TRAIT_IRQ_ENTER,	/* the handler follows */
	TRAIT_INTERRUPT,
	TRAIT_IRQ_EXIT,		/* still of the interrupt before it */
	TRAIT_EXCEPTION,
	TRAIT_FAULT,		/* outermost: of an exception whose entry is not traced */
	TRAIT_TASK,
	TRAIT_USER_EXIT,	/* on the way back to user mode: still of the path before it */
	TRAIT_DEATH,		/* nothing above it in the stack will be left */
};

struct fg_frame {
	uint32_t func;		/* INDEX_NONE: its entry was not seen */
	bool begins_path;
};

struct fg_path {
	struct path_walk walk;
	enum path_kind kind;
	uint32_t root;
	bool seeking;		/* root is entry code: a better one may follow */
	bool nested;		/* in another path */
	bool broken;
	bool returning;		/* saw work on the way back to user mode */
	uint32_t pieces;	/* outermost functions that make it up */
};

struct fg_task {
	struct fg_frame *frames;	/* outermost first */
	uint32_t nr_frames, alloc_frames;
	struct fg_path **paths;		/* open, outermost first */
	uint32_t nr_paths, alloc_paths;
	struct fg_path *ended;		/* left last, may go on at ended_depth; NULL: none */
	uint32_t ended_depth;
	uint32_t cpu;			/* where it ran last */
	uint64_t losses;		/* there, when it did */
	bool dying;			/* what is open is whole */
};

struct fg_cpu {
	uint32_t last;		/* path that ended last here; UINT32_MAX: none */
	uint32_t task;		/* that ran last here; INDEX_NONE: none */
	uint64_t losses;	/* times that events of it were lost */
};

/* Entry code proper is not traced; these are what a tracer sees first. '*' ends a prefix. */
static const struct { const char *name; enum trait trait; } traced[] = {
	{ "irq_enter*", TRAIT_IRQ_ENTER }, { "irq_exit*", TRAIT_IRQ_EXIT }, { "__irq_exit_rcu", TRAIT_IRQ_EXIT },
	{ "__sysvec_*", TRAIT_INTERRUPT }, { "__common_interrupt", TRAIT_INTERRUPT },
	{ "handle_irq", TRAIT_INTERRUPT },
	{ "__do_irq", TRAIT_INTERRUPT }, { "__do_IRQ", TRAIT_INTERRUPT }, { "gic_handle_irq", TRAIT_INTERRUPT },
	{ "generic_handle_arch_irq", TRAIT_INTERRUPT }, { "do_user_addr_fault", TRAIT_EXCEPTION },
	{ "__do_page_fault", TRAIT_EXCEPTION }, { "handle_mm_fault", TRAIT_FAULT },
	{ "schedule_tail", TRAIT_TASK }, { "process_one_work", TRAIT_TASK },
	{ "worker_thread", TRAIT_TASK }, { "do_idle", TRAIT_TASK }, { "do_task_dead", TRAIT_DEATH },
	{ "exit_to_user_mode*", TRAIT_USER_EXIT }, { "syscall_exit*", TRAIT_USER_EXIT },
	{ "irqentry_exit*", TRAIT_USER_EXIT }, { "prepare_exit_to_usermode", TRAIT_USER_EXIT },
	{ "syscall_return_slowpath", TRAIT_USER_EXIT }, { "do_notify_resume", TRAIT_USER_EXIT },
	{ "syscall_trace_leave", TRAIT_USER_EXIT }, { "do_work_pending", TRAIT_USER_EXIT },
	{ "syscall_enter_from_user_mode*", TRAIT_SYSCALL_ENTRY }, { "syscall_trace_enter*", TRAIT_SYSCALL_ENTRY },
};

static enum trait find_trait(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(traced); i++) {
		size_t n = strlen(traced[i].name) - 1;

		if (traced[i].name[n] == '*' ? !strncmp(name, traced[i].name, n) : !strcmp(name, traced[i].name))
			return traced[i].trait;
	}
	if (root_is_syscall_entry(name))
		return TRAIT_SYSCALL_ENTRY;
	switch (root_kind(name)) {
	case ROOT_SYSCALL: return TRAIT_SYSCALL;
	case ROOT_INTERRUPT: return TRAIT_INTERRUPT;
	case ROOT_EXCEPTION: return TRAIT_EXCEPTION;
	case ROOT_TASK: return TRAIT_TASK;
	default: return TRAIT_NONE;
	}
}

static enum trait trait_of(struct funcgraph *g, uint32_t func)
{
	if (func == INDEX_NONE)
		return TRAIT_NONE;
	if (func >= g->alloc_traits) {
		uint32_t had = g->alloc_traits;

		ALLOC_GROW(g->traits, func + (size_t)1, g->alloc_traits);
		memset(g->traits + had, 0, g->alloc_traits - had);
	}
	if (!g->traits[func])
		g->traits[func] = (uint8_t)find_trait(profile_func_name(g->p, func));
	return g->traits[func];
}

static enum path_kind kind_of(enum trait trait)
{
	switch (trait) {
	case TRAIT_SYSCALL_ENTRY:
	case TRAIT_SYSCALL: return PATH_SYSCALL;
	case TRAIT_IRQ_ENTER:
	case TRAIT_INTERRUPT:
	case TRAIT_IRQ_EXIT: return PATH_INTERRUPT;
	case TRAIT_EXCEPTION: return PATH_EXCEPTION;
	case TRAIT_TASK: return PATH_TASK;
	default: return PATH_CHAIN;
	}
}

void funcgraph_init(struct funcgraph *g, struct profile *p)
{
	memset(g, 0, sizeof(*g));
	g->p = p;
}

static struct fg_cpu *get_cpu(struct funcgraph *g, uint32_t cpu)
{
	if (cpu >= MAX_CPUS)
		cpu = MAX_CPUS - 1;
	if (cpu >= g->nr_cpus) {
		g->cpus = xreallocarray(g->cpus, cpu + (size_t)1, sizeof(*g->cpus));
		while (g->nr_cpus <= cpu)
			g->cpus[g->nr_cpus++] = (struct fg_cpu){ UINT32_MAX, INDEX_NONE, 0 };
	}
	return &g->cpus[cpu];
}

static void put_path(struct funcgraph *g, struct fg_path *path)
{
	path->walk.nr_funcs = 0;
	ALLOC_GROW(g->spare, g->nr_spare + 1, g->alloc_spare);
	g->spare[g->nr_spare++] = path;
}

/* The path left last will not go on: add it, behind the one that ended before it on this CPU. */
static void settle(struct funcgraph *g, struct fg_task *t)
{
	struct fg_path *path = t->ended;

	if (!path)
		return;
	t->ended = NULL;
	uint32_t id = path_walk_end(&path->walk, g->p, path->kind, path->root, 1);
	g->paths++;
	if (id != UINT32_MAX && !path->nested) {
		struct fg_cpu *c = get_cpu(g, t->cpu);

		if (c->last != UINT32_MAX)
			profile_add_next(g->p, c->last, id, 1);
		c->last = id;
	}
	put_path(g, path);
}

static uint32_t task_id(struct funcgraph *g, uint32_t cpu, uint32_t pid)
{
	uint64_t key = pid ? pid : (uint64_t)cpu << 32;
	uint32_t had = g->task_ids.nr_keys, id = index_add(&g->task_ids, &key, sizeof(key));

	if (id == had) {
		ALLOC_GROW(g->tasks, had + 1, g->alloc_tasks);
		memset(&g->tasks[id], 0, sizeof(g->tasks[id]));
	}
	return id;
}

void funcgraph_name_task(struct funcgraph *g, uint32_t cpu, uint32_t pid)
{
	uint32_t from = task_id(g, cpu, 0), to = task_id(g, cpu, pid);

	if (from == to || g->tasks[to].nr_frames || g->tasks[to].ended)
		return;
	struct fg_task spare = g->tasks[to];
	g->tasks[to] = g->tasks[from];
	g->tasks[from] = spare;
	if (get_cpu(g, cpu)->task == from)
		get_cpu(g, cpu)->task = to;
}

static void break_paths(struct fg_task *t)
{
	for (uint32_t i = 0; i < t->nr_paths; i++)
		t->paths[i]->broken = true;
}

/* What was open when events were lost is not whole. Seen only now: to look at all tasks at each loss takes too long. */
static void mind_losses(struct funcgraph *g, struct fg_task *t)
{
	if (t->losses == get_cpu(g, t->cpu)->losses)
		return;
	break_paths(t);
	for (uint32_t i = 0; i < t->nr_frames; i++)	/* depths may fit by chance: no calls from these */
		t->frames[i].func = INDEX_NONE;
}

static struct fg_task *get_task(struct funcgraph *g, uint32_t cpu, uint32_t pid)
{
	uint32_t id = task_id(g, cpu, pid);
	struct fg_task *t = &g->tasks[id];

	mind_losses(g, t);
	struct fg_cpu *c = get_cpu(g, cpu);
	if (c->task != id) {
		if (c->task != INDEX_NONE && g->tasks[c->task].cpu == cpu)
			settle(g, &g->tasks[c->task]);
		c = get_cpu(g, cpu);
		c->task = id;
	}
	t->cpu = cpu;
	t->losses = c->losses;
	return t;
}

static void push_path(struct fg_task *t, struct fg_path *path)
{
	ALLOC_GROW(t->paths, t->nr_paths + 1, t->alloc_paths);
	t->paths[t->nr_paths++] = path;
}

static void open_path(struct funcgraph *g, struct fg_task *t, uint32_t func, enum trait trait)
{
	struct fg_path *path = g->nr_spare ? g->spare[--g->nr_spare] : xcalloc(1, sizeof(*path));

	path->kind = kind_of(trait);
	path->root = func;
	path->seeking = trait == TRAIT_SYSCALL_ENTRY || trait == TRAIT_IRQ_ENTER;
	path->nested = t->nr_paths > 0;
	path->broken = false;
	path->returning = false;
	path->pieces = 0;
	push_path(t, path);
}

static void close_path(struct funcgraph *g, struct fg_task *t)
{
	struct fg_path *path = t->paths[--t->nr_paths];

	settle(g, t);
	if (path->broken) {
		g->broken++;
		put_path(g, path);
		return;
	}
	t->ended = path;
	t->ended_depth = t->nr_frames;
}

/* Leave frames until depth of them are left. */
static void pop_to(struct funcgraph *g, struct fg_task *t, uint32_t depth)
{
	while (t->nr_frames > depth)
		if (t->frames[--t->nr_frames].begins_path)
			close_path(g, t);
}

static void push_frame(struct fg_task *t, uint32_t func, bool begins_path)
{
	ALLOC_GROW(t->frames, t->nr_frames + 1, t->alloc_frames);
	t->frames[t->nr_frames++] = (struct fg_frame){ func, begins_path };
}

/* Bring the stack to the depth an event claims; what does not fit was lost. */
static void align_stack(struct funcgraph *g, struct fg_task *t, uint32_t depth)
{
	if (t->nr_frames == depth)
		return;
	if (!t->dying)
		break_paths(t);
	t->dying = false;
	pop_to(g, t, depth);
	while (t->nr_frames < depth)
		push_frame(t, INDEX_NONE, false);
}

/* Whether a function entered where a path was just left belongs to it. */
static bool goes_on(const struct fg_path *path, enum trait trait)
{
	switch (trait) {
	case TRAIT_USER_EXIT: return true;
	case TRAIT_IRQ_EXIT: return path->kind == PATH_INTERRUPT;
	case TRAIT_INTERRUPT: return path->kind == PATH_INTERRUPT && path->seeking;
	case TRAIT_SYSCALL_ENTRY:
	case TRAIT_SYSCALL: return path->kind == PATH_SYSCALL && path->seeking;
	case TRAIT_NONE:
	case TRAIT_FAULT:
		/* Entry code that is not traced calls several functions; a kernel thread's loop does without end. */
		return (path->kind == PATH_CHAIN || path->kind == PATH_EXCEPTION) && !path->returning &&
		       path->pieces < MAX_PIECES;
	default: return false;
	}
}

/* Whether func cuts into the path that is open: what it interrupts is not its caller. */
static bool interrupts(const struct fg_task *t, enum trait trait)
{
	enum path_kind kind = kind_of(trait);
	const struct fg_path *path = t->nr_paths ? t->paths[t->nr_paths - 1] : NULL;

	if (kind == PATH_INTERRUPT)
		return !path || path->kind != PATH_INTERRUPT;
	return kind == PATH_EXCEPTION && (!path || path->kind != PATH_EXCEPTION);
}

static void improve_root(struct fg_path *path, uint32_t func, enum trait trait, bool outermost)
{
	if (path->seeking && (trait == TRAIT_SYSCALL || trait == TRAIT_INTERRUPT)) {
		path->root = func;
		path->seeking = false;
	}
	if (trait == TRAIT_FAULT && outermost && path->kind == PATH_CHAIN) {
		path->root = func;
		path->kind = PATH_EXCEPTION;
	}
}

/* Enter func into the paths; whether its exit ends one. */
static bool enter_path(struct funcgraph *g, struct fg_task *t, uint32_t func)
{
	enum trait trait = trait_of(g, func);
	bool begins;

	if (t->ended && t->ended_depth == t->nr_frames && goes_on(t->ended, trait)) {
		push_path(t, t->ended);
		t->ended = NULL;
		begins = true;
	} else {
		settle(g, t);
		begins = !t->nr_frames || interrupts(t, trait);
		if (begins)
			open_path(g, t, func, trait);
	}
	if (!t->nr_paths)
		return begins;
	struct fg_path *path = t->paths[t->nr_paths - 1];
	path->pieces += begins;
	path->returning |= trait == TRAIT_USER_EXIT && begins;
	improve_root(path, func, trait, begins);
	if (trait == TRAIT_DEATH)
		t->dying = true;
	if (func == INDEX_NONE)
		path->broken = true;
	else
		path_walk_touch(&path->walk, func, 0, 0);
	return begins;
}

void funcgraph_entry(struct funcgraph *g, uint32_t cpu, uint32_t pid, uint32_t depth, uint32_t func,
		     uint32_t off)
{
	struct fg_task *t = get_task(g, cpu, pid);

	if (func != INDEX_NONE)
		profile_add_entries(g->p, func, 1);
	if (depth > MAX_DEPTH)
		return;
	align_stack(g, t, depth);
	bool begins = enter_path(g, t, func);
	uint32_t caller = depth ? t->frames[depth - 1].func : INDEX_NONE;
	if (caller != INDEX_NONE && func != INDEX_NONE && !begins)
		profile_add_call(g->p, caller, off, func, 1);
	push_frame(t, func, begins);
}

void funcgraph_exit(struct funcgraph *g, uint32_t cpu, uint32_t pid, uint32_t depth)
{
	struct fg_task *t = get_task(g, cpu, pid);

	if (depth > MAX_DEPTH)
		return;
	align_stack(g, t, depth + 1);
	settle(g, t);
	pop_to(g, t, depth);
}

/* A function in the innermost path; whole paths end where its work on the way to user mode does. */
static void walk_on(struct funcgraph *g, struct fg_task *t, uint32_t func)
{
	enum trait trait = trait_of(g, func);

	push_frame(t, func, false);
	if (!t->nr_paths || func == INDEX_NONE)
		return;
	struct fg_path *path = t->paths[t->nr_paths - 1];
	path_walk_touch(&path->walk, func, 0, 0);
	improve_root(path, func, trait, t->nr_frames <= 2);
	path->returning |= trait == TRAIT_USER_EXIT;
	if (trait == TRAIT_DEATH)
		t->dying = true;
}

/* func begins a path, on top of the one that it interrupts. */
static void begin(struct funcgraph *g, struct fg_task *t, uint32_t func)
{
	settle(g, t);
	open_path(g, t, func, trait_of(g, func));
	walk_on(g, t, func);
	t->frames[t->nr_frames - 1].begins_path = true;
}

static void leave_all(struct funcgraph *g, struct fg_task *t)
{
	pop_to(g, t, 0);
	t->dying = false;
}

/* The caller is none of the functions open: entry code, or one that is not traced. */
static void call_from_outside(struct funcgraph *g, struct fg_task *t, uint32_t func, uint32_t caller)
{
	enum trait of_caller = trait_of(g, caller), of_func = trait_of(g, func);

	if ((t->nr_paths && t->paths[0]->returning) || of_caller == TRAIT_TASK || of_func == TRAIT_TASK ||
	    t->dying || t->nr_frames + 2 > MAX_DEPTH)
		leave_all(g, t);
	if (caller == INDEX_NONE)
		return;
	if (!t->nr_frames || interrupts(t, of_caller))
		begin(g, t, caller);
	else if (!interrupts(t, of_func))
		walk_on(g, t, caller);
}

/* Entry code at the bottom of the stack calls again: in the same path, or in the next. */
static bool calls_anew(struct funcgraph *g, const struct fg_task *t, uint32_t func)
{
	return t->nr_paths && (t->paths[0]->returning || trait_of(g, func) == TRAIT_SYSCALL_ENTRY);
}

static void walk_call(struct funcgraph *g, struct fg_task *t, uint32_t func, uint32_t caller)
{
	uint32_t depth = caller == INDEX_NONE ? 0 : t->nr_frames;

	settle(g, t);
	while (depth && t->frames[depth - 1].func != caller)
		depth--;
	if (depth == 1 && calls_anew(g, t, func))
		depth = 0;
	if (depth)
		pop_to(g, t, depth);
	else if (t->nr_frames && t->frames[0].func == caller)
		leave_all(g, t);
	if (!depth)
		call_from_outside(g, t, func, caller);
	if (!t->nr_frames || interrupts(t, trait_of(g, func)))
		begin(g, t, func);
	else
		walk_on(g, t, func);
}

/* Whether the call that was just walked, once more, would leave all as it is; a recursion does where it is too deep. */
static bool is_settled(struct funcgraph *g, const struct fg_task *t, uint32_t func, uint32_t caller)
{
	uint32_t nr = t->nr_frames;

	return !t->ended && nr >= 2 && !t->frames[nr - 1].begins_path && t->frames[nr - 2].func == caller &&
	       caller != INDEX_NONE && (caller != func || nr > MAX_DEPTH + 1) && (nr > 2 || !calls_anew(g, t, func)) &&
	       !interrupts(t, trait_of(g, func));
}

void funcgraph_call(struct funcgraph *g, uint32_t cpu, uint32_t pid, uint32_t func, uint32_t caller,
		    uint32_t off, uint32_t times)
{
	if (!times)
		return;
	struct fg_task *t = get_task(g, cpu, pid);

	if (func == INDEX_NONE) {
		settle(g, t);
		return;
	}
	profile_add_entries(g->p, func, times);
	if (caller != INDEX_NONE)
		profile_add_call(g->p, caller, off, func, times);
	walk_call(g, t, func, caller);
	for (; times > 1 && g->again < MAX_AGAIN && !is_settled(g, t, func, caller); times--, g->again++)
		walk_call(g, t, func, caller);
}

void funcgraph_lost(struct funcgraph *g, uint32_t cpu)
{
	struct fg_cpu *c = get_cpu(g, cpu);

	/* Of the tasks that ran last here, all but the last are settled. */
	if (c->task != INDEX_NONE && g->tasks[c->task].cpu == cpu)
		settle(g, &g->tasks[c->task]);
	c->last = UINT32_MAX;
	c->losses++;
}

void funcgraph_finish(struct funcgraph *g)
{
	for (uint32_t i = 0; i < g->task_ids.nr_keys; i++) {
		struct fg_task *t = &g->tasks[i];

		mind_losses(g, t);
		settle(g, t);
		if (!t->dying)
			break_paths(t);
		pop_to(g, t, 0);
		settle(g, t);
	}
}

void funcgraph_release(struct funcgraph *g)
{
	for (uint32_t i = 0; i < g->task_ids.nr_keys; i++) {
		struct fg_task *t = &g->tasks[i];

		while (t->nr_paths)
			put_path(g, t->paths[--t->nr_paths]);
		if (t->ended)
			put_path(g, t->ended);
		free(t->frames);
		free(t->paths);
	}
	for (uint32_t i = 0; i < g->nr_spare; i++) {
		path_walk_release(&g->spare[i]->walk);
		free(g->spare[i]);
	}
	free(g->spare);
	free(g->tasks);
	free(g->cpus);
	free(g->traits);
	index_release(&g->task_ids);
	memset(g, 0, sizeof(*g));
}
