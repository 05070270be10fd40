/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the entries and exits of functions, task by task, to call counts and paths.
 *
 *   task 23:  [ x64_sys_call [ __x64_sys_read [ vfs_read ] [ irq ... ] ] ] [ exit_to_user_mode_prepare ] [ ...
 *             depth 0                                      a path of its own   the same path goes on       next
 *
 * What an outermost function and its exit enclose is one path, with the work on
 * the way back to user mode that follows. A path that lacks an entry or an exit
 * is dropped; its calls stay counted.
 */
#ifndef COLLECT_FTRACE_FUNCGRAPH_H
#define COLLECT_FTRACE_FUNCGRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/profile.h"
#include "lib/index.h"

struct fg_cpu;
struct fg_path;
struct fg_task;

struct funcgraph {
	struct profile *p;
	struct index task_ids;		/* u64: pid; CPU above bit 32 for the idle tasks, which share pid 0 */
	struct fg_task *tasks;		/* [task_ids id] */
	uint32_t alloc_tasks;
	struct fg_cpu *cpus;
	uint32_t nr_cpus;
	struct fg_path **spare;		/* closed paths, to be used again */
	uint32_t nr_spare, alloc_spare;
	uint8_t *traits;		/* [func]: what its name says of paths; 0: not asked yet */
	uint32_t alloc_traits;
	uint32_t again;			/* calls walked, of those that were told as many at once */
	uint64_t paths;			/* whole paths added */
	uint64_t broken;		/* paths dropped: an entry or exit of theirs is missing */
};

void funcgraph_init(struct funcgraph *g, struct profile *p);

/* Settle what is open; paths that were not left are dropped. Call once, before the release. */
void funcgraph_finish(struct funcgraph *g);
void funcgraph_release(struct funcgraph *g);

/*
 * func INDEX_NONE: one that has no name. off: of the call in its caller,
 * PROFILE_OFF_UNKNOWN mostly. depth counts from 0.
 */
void funcgraph_entry(struct funcgraph *g, uint32_t cpu, uint32_t pid, uint32_t depth, uint32_t func,
		     uint32_t off);
void funcgraph_exit(struct funcgraph *g, uint32_t cpu, uint32_t pid, uint32_t depth);

/*
 * From tracers that tell entries and callers but no exits: func was called at off
 * of caller (INDEX_NONE: not known), so many times in a row. Where the caller is
 * among the functions open, those above it have been left.
 */
void funcgraph_call(struct funcgraph *g, uint32_t cpu, uint32_t pid, uint32_t func, uint32_t caller,
		    uint32_t off, uint32_t times);

/* What was taken for pid 0 on that CPU up to now was this task. */
void funcgraph_name_task(struct funcgraph *g, uint32_t cpu, uint32_t pid);

/* Events of that CPU were lost: what is open on it is no longer whole. */
void funcgraph_lost(struct funcgraph *g, uint32_t cpu);

#endif
