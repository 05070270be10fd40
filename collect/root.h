/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions begin a path: what is known of a kernel's entries by name alone,
 * on x86, PowerPC, arm, arm64, riscv and s390, in kernels from 2.6 on.
 */
#ifndef COLLECT_ROOT_H
#define COLLECT_ROOT_H

#include <stdbool.h>
#include <stddef.h>

enum root_kind {
	ROOT_NONE,
	ROOT_SYSCALL,		/* the function of one system call: __x64_sys_read, sys_read, ksys_read */
	ROOT_INTERRUPT,		/* an entry or the first C function of an interrupt or NMI */
	ROOT_EXCEPTION,		/* the same of a fault or trap */
	ROOT_TASK,		/* where a new task begins: ret_from_fork, kthread */
	ROOT_SWITCH,		/* switches to another task: __switch_to */
};

/* Of a function identity; what follows '@' or '#', and compiler suffixes, do not matter. */
enum root_kind root_kind(const char *identity);

/*
 * Entry code that every system call passes, before what it calls is known:
 * entry_SYSCALL_64, do_syscall_64, el0_svc, system_call_exception ...
 */
bool root_is_syscall_entry(const char *identity);

/* Of those, one that faults pass as well: el0t_64_sync, handle_exception ... */
bool root_is_shared_entry(const char *identity);

/*
 * What people call a root: "__x64_sys_read" -> "read"; others stay as they are.
 * Copied into buf, cut at size.
 */
const char *root_display_name(const char *identity, char *buf, size_t size);

#endif
