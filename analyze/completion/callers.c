// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What led to a path that was caught without its beginning: a branch stack, a chain
 * cut short. From its outermost function up, callers are drawn from those that the
 * profile saw calling it, in proportion to how often they did.
 *
 *   branch stack    ... shmem_read_iter  copy_page_to_iter ...
 *   drawn           vfs_read  ksys_read  __x64_sys_read  do_syscall_64
 */
#include <stdlib.h>

#include "analyze/completion/complete-internal.h"
#include "analyze/image/image.h"
#include "collect/root.h"
#include "lib/mem.h"

enum { MAX_CALLERS = 64 };	/* drawn in a row: no kernel stack is deeper */

static bool in_path(const struct completer *c, uint32_t func)
{
	return c->in_path[func] == c->stamp || c->member_stamp[func] == c->stamp;
}

/* Whether a function of the path was seen to call this one, sometime. */
static bool is_called_here(const struct completer *c, uint32_t func)
{
	const struct evidence *e = &c->evidence;

	for (uint32_t i = e->first_caller[func]; i < e->first_caller[func + 1]; i++) {
		uint32_t caller = e->calls[e->callers[i]].caller;

		if (caller != func && in_path(c, caller))
			return true;
	}
	return false;
}

/* Paths are begun here, or the profile's callers of it are not on the same stack. */
static bool is_begin(const struct completer *c, uint32_t func)
{
	enum root_kind kind = root_kind(c->img->funcs[func].id);

	return (kind != ROOT_NONE && kind != ROOT_SYSCALL && kind != ROOT_SWITCH) ||
	       root_is_syscall_entry(c->img->funcs[func].id);
}

/* Spread evenly over [0, 1), the same for the same path (the fractions of the golden ratio's multiples). */
static double draw(uint32_t path, uint32_t level)
{
	double x = (path + 1) * 0.6180339887498949 + level * 0.7548776662466927;

	return x - (double)(uint64_t)x;
}

/* A call of func, drawn among those seen; NULL when there are none. */
static const struct evidence_call *draw_call(const struct completer *c, uint32_t func, double at)
{
	const struct evidence *e = &c->evidence;
	double total = 0, reached = 0;
	const struct evidence_call *last = NULL;

	for (uint32_t i = e->first_caller[func]; i < e->first_caller[func + 1]; i++)
		total += (double)e->calls[e->callers[i]].weight;
	for (uint32_t i = e->first_caller[func]; i < e->first_caller[func + 1]; i++) {
		last = &e->calls[e->callers[i]];
		reached += (double)last->weight;
		if (reached > at * total)
			break;
	}
	return last;
}

static void add_caller(struct completer *c, const struct evidence_call *call)
{
	const struct flow *f = program_flow(&c->prog, call->caller);
	struct stop stop = { 0 };
	bool known = f && call->site != FLOW_NONE;

	if (known)
		stop = (struct stop){ f->calls[call->site].block, call->site, call->callee };
	struct activation *act = activation_get(&c->acts, call->caller, &stop, known);
	add_member(c, call->caller, 1)->act = act;
}

static void add_callers_of(struct completer *c, uint32_t func, uint32_t path)
{
	for (uint32_t level = 0; level < MAX_CALLERS && !is_begin(c, func); level++) {
		const struct evidence_call *call = draw_call(c, func, draw(path, level));

		if (!call || in_path(c, call->caller))
			return;
		add_caller(c, call);
		func = call->caller;
	}
}

void add_callers(struct completer *c, uint32_t path)
{
	uint32_t nr = c->nr_members;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t func = c->members[i].reach.func;

		if (!is_begin(c, func) && !is_called_here(c, func))
			add_callers_of(c, func, path);
	}
}
