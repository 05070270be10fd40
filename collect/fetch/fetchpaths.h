/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Follows a fetch trace through the kernel: which path each block belongs to, and
 * who called whom.
 *
 *   user | entry code  f  g  h | entry code | g h ... entry code | user
 *        |                     \ interrupt /                     |
 *        `- path begins         a path of its own                `- and ends
 *
 * The trace holds addresses alone, so a hardware entry is told from a return into
 * entry code by what was seen before: a place behind a call out of entry code is
 * where returns come to; a block of entry code that once led into the middle of a
 * function, or to user mode, ends in a return from interrupt.
 */
#ifndef COLLECT_FETCH_FETCHPATHS_H
#define COLLECT_FETCH_FETCHPATHS_H

#include <stdint.h>

#include "fetchmap.h"
#include "collect/profile.h"
#include "lib/index.h"

struct fetch;
struct fetch_event;

enum { FETCH_MAX_DEPTH = 8 };	/* interrupts nested in each other; an outer path that is pushed out ends */

/* One path being walked. */
struct fetch_frame {
	struct path_walk walk;
	uint32_t *stamps;	/* [block]: serial of the path that touched it last */
	uint32_t alloc_stamps;
	uint32_t *called;	/* [func of the map]: serial of the path that called it, while root is sought */
	uint32_t alloc_called;
	uint32_t serial;
	enum path_kind kind;
	bool has_kind;		/* a function met said what kind it is */
	bool root_is_entry;	/* root is entry code: a C function of known kind replaces it */
	uint32_t root;		/* func of the map, INDEX_NONE until known */
	uint32_t first;		/* func met first, outside entry code if possible; INDEX_NONE */
	uint32_t resume;	/* block that ran before the interrupt; INDEX_NONE */
};

struct fetch_cpu {
	struct fetch_frame frames[FETCH_MAX_DEPTH];
	uint32_t depth;		/* frames in use; 0 in user mode */
	uint32_t prev;		/* block that ran last, thunks and real vectors left out; INDEX_NONE */
	bool vectored;		/* a vector ran since */
	uint32_t last_path;	/* UINT32_MAX: none */
};

struct fetch_paths {
	struct fetch_map map;
	const struct fetch *fetch;	/* borrowed */
	struct profile *profile;	/* borrowed */
	struct fetch_cpu *cpus;
	uint32_t nr_cpus, cpu;
	uint32_t *func_ids;		/* [func of the map]: func of the profile */
	uint32_t nr_func_ids, alloc_func_ids;
	uint64_t *runs;			/* [block] */
	uint64_t *entries;		/* [block]: its function was entered through it */
	bool *returns;			/* [block]: ends in a return from interrupt */
	uint32_t nr_blocks, alloc_runs, alloc_entries, alloc_returns;
	struct index return_points;	/* addresses */
	struct index edges;		/* {block, block} */
	uint64_t *edge_counts;
	uint32_t alloc_edges;
};

/* fetch must have been begun, syms be of its kernel; all three outlive the walk. */
void fetch_paths_init(struct fetch_paths *w, const struct fetch *f, const struct symtab *syms,
		      struct profile *p);
void fetch_paths_release(struct fetch_paths *w);
void fetch_paths_event(struct fetch_paths *w, const struct fetch_event *ev);

/* End open paths; add samples, entries and calls to the profile, instructions to the source. */
void fetch_paths_finish(struct fetch_paths *w, struct profile_source *s);

#endif
