/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile: what ran, who called whom, which functions ran together. Everything
 * is keyed by function identity (lib/symtab.h), never by address, so that a
 * profile outlives the kernel it was taken on; within a function, offsets count
 * from its first byte in chunks of PROFILE_CHUNK bytes.
 *
 *   source ---- where samples came from, with their totals
 *   func   ---- identity -> samples (time) and calls (entries)
 *   touch  ---- (func, chunk) -> samples at that chunk
 *   call   ---- (caller, offset of the call, callee) -> count
 *   foot   ---- (func, set of chunks): one function's footprint in one path
 *   path   ---- (kind, root, set of feet) -> weight: what ran between a kernel
 *               entry and its exit, a hyperedge
 *   next   ---- (path, path) -> how often the second followed the first on one
 *               task or CPU
 *
 * Merging adds weights of equal keys: associative and commutative. Memory is
 * bounded by distinct items.
 */
#ifndef COLLECT_PROFILE_H
#define COLLECT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/index.h"

struct input;

enum {
	/* bytes; the least alignment compilers give functions, half a small cache line */
	PROFILE_CHUNK = 16,
	PROFILE_MAX_BYTES = 1 << 20,	/* offsets from here on count as unknown: no function is that large */
};

enum path_kind {
	PATH_SYSCALL,		/* entered from user mode by a system call */
	PATH_INTERRUPT,
	PATH_EXCEPTION,		/* page fault and its kin */
	PATH_TASK,		/* begins with a switch to another task: kernel threads, resumed sleepers */
	/* one sampled callchain or branch stack; root is its outermost kernel function of interest */
	PATH_CHAIN,
	NR_PATH_KINDS
};
/* "syscall", "interrupt", ... as written in files */
extern const char *const path_kind_names[NR_PATH_KINDS];

struct profile_source {
	char *reader;		/* "perf.data", "perf-script", "folded", "fetch", "ftrace", ... */
	char *event;		/* "cpu-clock", "function_graph", "fetch", "-" */
	char *host;		/* "-" when unknown */
	char *release;		/* kernel release or "-" */
	char *build_id;		/* hex or "-" */
	uint64_t samples;	/* all records that are samples (events, for traces) */
	uint64_t kernel;	/* those in the kernel */
	uint64_t resolved;	/* of kernel: attributed to a function */
	uint64_t unresolved;	/* of kernel: not */
	uint64_t lost;		/* said to be lost by the recorder */
};

struct profile_func {
	uint64_t samples;	/* time: samples, or instructions of a trace */
	uint64_t calls;		/* entries through its first instruction; 0 when the source cannot tell */
};

struct profile_foot {
	uint32_t func;
	uint32_t nr_words;	/* of chunks; 0: which bytes is not known */
	const uint32_t *chunks;	/* bitmap, bit i of word i/32: chunk i was fetched; no trailing zero words */
};

struct profile_path {
	enum path_kind kind;
	uint32_t root;		/* func */
	uint32_t nr_feet;
	const uint32_t *feet;	/* ascending foot ids, no function twice */
};

struct profile {
	struct profile_source *sources;
	uint32_t nr_sources, alloc_sources;
	struct index source_keys;	/* of the first nr_settled sources, which are all different */
	uint32_t *source_of_key;	/* [source_keys id]: index in sources */
	uint32_t alloc_source_of_key, nr_settled;

	struct index names;		/* func id = id of its identity */
	struct profile_func *funcs;	/* [func] */
	uint32_t alloc_funcs;

	struct index touches;		/* {func, chunk} */
	uint64_t *touch_weights;
	uint32_t alloc_touches;

	struct index calls;		/* {caller, offset, callee} */
	uint64_t *call_weights;
	uint32_t alloc_calls;

	struct index feet;		/* {func, chunks...} */
	struct index paths;		/* {kind, root, feet...} */
	uint64_t *path_weights;
	uint32_t alloc_paths;

	struct index nexts;		/* {path, path} */
	uint64_t *next_weights;
	uint32_t alloc_nexts;

	/* path ids met in text, so that a known path is read fast; NULL: none */
	struct profile_ids *ids;
};

#define PROFILE_OFF_UNKNOWN UINT32_MAX	/* call offset: not known */

/* A zeroed struct profile is an empty one. */
void profile_release(struct profile *p);

/* Func id of an identity, added when new. */
uint32_t profile_func(struct profile *p, const char *identity);

static inline const char *profile_func_name(const struct profile *p, uint32_t func)
{
	return index_str(&p->names, func);
}

/*
 * A function of a loadable module is told apart by its module: its identity is
 * NAME@MODULE.ko. Returns its func id.
 */
uint32_t profile_module_func(struct profile *p, const char *name, const char *module);

/* weight samples at byte offset off of func; PROFILE_OFF_UNKNOWN when only the function is known. */
void profile_add_samples(struct profile *p, uint32_t func, uint32_t off, uint64_t weight);

/* weight at one chunk of func, its samples left alone. */
void profile_add_touch(struct profile *p, uint32_t func, uint32_t chunk, uint64_t weight);

/* count entries into func. */
void profile_add_entries(struct profile *p, uint32_t func, uint64_t count);

/*
 * count calls from byte offset off of caller to callee: a byte of the call
 * instruction, its first where the source knows it, its last where the source is a
 * return address.
 */
void profile_add_call(struct profile *p, uint32_t caller, uint32_t off, uint32_t callee, uint64_t count);

uint32_t profile_foot(struct profile *p, uint32_t func, const uint32_t *chunks, uint32_t nr_words);
uint32_t profile_add_path(struct profile *p, enum path_kind kind, uint32_t root, const uint32_t *feet,
			  uint32_t nr_feet, uint64_t weight);	/* feet in any order; returns the path id */
/* The same for feet of different functions; sorts feet[]. */
uint32_t profile_add_distinct_path(struct profile *p, enum path_kind kind, uint32_t root, uint32_t *feet,
				   uint32_t nr_feet, uint64_t weight);
void profile_add_path_weight(struct profile *p, uint32_t path, uint64_t weight);
void profile_add_next(struct profile *p, uint32_t path, uint32_t next, uint64_t count);

/* Read one item back. */
struct profile_foot profile_get_foot(const struct profile *p, uint32_t foot);
struct profile_path profile_get_path(const struct profile *p, uint32_t path);
void profile_get_touch(const struct profile *p, uint32_t i, uint32_t *func, uint32_t *chunk);
void profile_get_call(const struct profile *p, uint32_t i, uint32_t *caller, uint32_t *off, uint32_t *callee);
void profile_get_next(const struct profile *p, uint32_t i, uint32_t *path, uint32_t *next);

/*
 * Append a source with no counts and "-" for strings; fill it, strings with
 * profile_set(). Valid until the next source is added or merged.
 */
struct profile_source *profile_add_source(struct profile *p, const char *reader);

/* Set a string field of a source to a copy of value; NULL or "" is "-". */
void profile_set(char **field, const char *value);

/* Add the counts of s. */
void profile_add_totals(struct profile_source *to, const struct profile_source *s);

/* Add a source's counts to the one of equal (reader, event, host, release, build_id). */
void profile_merge_source(struct profile *p, const struct profile_source *s);

/* Sum of all sources. */
struct profile_source profile_totals(const struct profile *p);

/* Add everything of src to dst. */
void profile_merge(struct profile *dst, const struct profile *src);

/*
 * Multiply every weight and count but those of the sources, rounded to the nearest;
 * what was not 0 stays at least 1.
 */
void profile_scale(struct profile *p, double factor);

/* The text format (doc/hottext-profile.5). Written sorted by key, so equal profiles give equal bytes. */
int profile_read(struct profile *p, struct input *in);
/* The same of all lines that are whole and sound; warns of what was left out. -1 where there are none. */
int profile_read_damaged(struct profile *p, struct input *in);
void profile_write(const struct profile *p, FILE *fp);

/*
 * Collects one path as it is walked, then adds it:
 *   path_walk_touch() for every fetch, path_walk_end() at the kernel's exit.
 */
struct path_walk {
	struct path_walk_func *funcs;	/* touched so far, in order of first touch */
	uint32_t nr_funcs, alloc_funcs;
	uint32_t *slot;			/* [func]: index in funcs + 1, valid when stamped */
	uint32_t alloc_slot;
};
void path_walk_release(struct path_walk *w);
/* Bytes [off, off + len) of func ran. */
void path_walk_touch(struct path_walk *w, uint32_t func, uint32_t off, uint32_t len);
/* Add the path and start afresh; returns its id, or UINT32_MAX when nothing was touched. */
uint32_t path_walk_end(struct path_walk *w, struct profile *p, enum path_kind kind, uint32_t root,
		       uint64_t weight);

#endif
