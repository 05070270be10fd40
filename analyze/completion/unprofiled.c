// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyze/completion/unprofiled.h"

#include <stdio.h>
#include <string.h>

#include "analyze/completion/complete-internal.h"
#include "analyze/image/image.h"
#include "collect/root.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "lib/symtab.h"

static const float MORE_LIKELY_THAN_NOT = 0.5f;

/* Work that every kernel does, but behind a branch seldom taken or a pointer that no root's code names. */
static const struct {
	const char *name;
	enum path_kind kind;
} behind[] = {
	{ "arch_do_signal_or_restart", PATH_SYSCALL }, { "do_signal", PATH_SYSCALL }, { "do_work_pending", PATH_SYSCALL },
	{ "do_notify_resume", PATH_SYSCALL }, { "hrtimer_interrupt", PATH_INTERRUPT },
	{ "tick_handle_periodic", PATH_INTERRUPT }, { "tick_sched_timer", PATH_INTERRUPT },
	{ "run_timer_softirq", PATH_INTERRUPT }, { "net_rx_action", PATH_INTERRUPT },
	{ "net_tx_action", PATH_INTERRUPT }, { "rcu_core", PATH_INTERRUPT }, { "process_one_work", PATH_TASK },
};

/* Whether func begins a path, and of which kind. */
static bool is_root(const char *identity, enum path_kind *kind)
{
	char name[128];		/* longer ones are none */

	switch (root_kind(identity)) {
	case ROOT_SYSCALL:
		*kind = PATH_SYSCALL;
		return true;
	case ROOT_INTERRUPT:
		*kind = PATH_INTERRUPT;
		return true;
	case ROOT_EXCEPTION:
		*kind = PATH_EXCEPTION;
		return true;
	default:
		break;
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(identity, "@#"), identity);
	symbol_normalise(name);
	for (uint32_t i = 0; i < ARRAY_SIZE(behind); i++)
		if (!strcmp(name, behind[i].name)) {
			*kind = behind[i].kind;
			return true;
		}
	return false;
}

/* By what people call it: __x64_sys_read, __ia32_sys_read and ksys_read are one root. */
static uint32_t add_name(struct index *names, const char *identity)
{
	char name[256];

	return index_add_str(names, root_display_name(identity, name, sizeof(name)));
}

/* As the profile spells it, and as the kernel that it matched does. */
static void add_both(struct index *names, const struct completer *c, uint32_t func)
{
	uint32_t matched = c->evidence.image_of[func];

	add_name(names, profile_func_name(c->in, func));
	if (matched != INDEX_NONE)
		add_name(names, c->img->funcs[matched].id);
}

static void add_seen(struct index *names, const struct completer *c)
{
	for (uint32_t i = 0; i < c->in->names.nr_keys; i++)
		if (c->in->funcs[i].samples || c->in->funcs[i].calls)
			add_both(names, c, i);
	for (uint32_t i = 0; i < c->in->paths.nr_keys; i++)
		add_both(names, c, profile_get_path(c->in, i).root);
}

static void add_path(struct completer *c, uint32_t func, enum path_kind kind)
{
	begin_path(c);
	struct activation *act = activation_get(&c->acts, func, NULL, 0);
	if (!act)
		return;
	add_member(c, func, 1)->act = act;
	spread(c);
	emit_path(c, kind, out_func(c, func), 1, MORE_LIKELY_THAN_NOT);
}

int unprofiled_paths(const struct image *img, const char *vmlinux, const struct profile *p, struct profile *out)
{
	struct completer c = { .img = img, .in = p, .out = out };
	struct index names = { 0 };
	int ret = completer_init(&c, vmlinux);

	if (!ret) {
		memset(c.out_of, 0xff, img->nr_funcs * sizeof(*c.out_of));	/* INDEX_NONE: out is not a copy of p */
		add_seen(&names, &c);
	}
	for (uint32_t f = 0; f < img->nr_funcs && !ret; f++) {
		enum path_kind kind;
		uint32_t nr = names.nr_keys;

		if (is_root(img->funcs[f].id, &kind) && add_name(&names, img->funcs[f].id) == nr)
			add_path(&c, f, kind);
	}
	index_release(&names);
	completer_release(&c);
	return ret;
}
