/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between complete.c, which writes the completed profile, and expand.c, which completes one path. */
#ifndef ANALYZE_COMPLETION_COMPLETE_INTERNAL_H
#define ANALYZE_COMPLETION_COMPLETE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/code/program.h"
#include "analyze/completion/activation.h"
#include "analyze/completion/evidence.h"

struct completion;
struct image;
struct profile;

enum { MAX_STOPS = 96 };	/* of one function in one path; enough to pin a walk down */

static const float REACH_MIN = 0.05f;		/* chances are followed so far */
static const float LIVE_PROBABILITY = 0.5f;	/* from here on a function's table of operations counts as in use */

/* A function of the path at hand. */
struct member {
	struct reach reach;
	struct activation *act;	/* conditional on what the path saw; NULL: entered, nothing known */
	uint32_t foot;		/* of the input, INDEX_NONE: not seen in this path */
	uint32_t place;		/* in the heap, or SETTLED */
	float best;		/* probability of the likeliest single way into it */
};

#define SETTLED UINT32_MAX

struct completer {
	struct program prog;
	struct evidence evidence;
	struct activations acts;
	const struct image *img;
	const struct profile *in;
	struct profile *out;
	struct completion *report;
	double min_probability;
	uint32_t variants;
	bool proved_only, has_fetch, has_graph;
	bool is_graph;			/* the path at hand is of a function graph */
	struct member *members;		/* of the path at hand */
	uint32_t nr_members, alloc_members;
	uint32_t *heap, nr_heap, alloc_heap;	/* members not settled yet */
	uint32_t stamp;			/* of the path at hand */
	bool *is_loop;			/* [image func]: a thread's first function */
	uint32_t *in_path;		/* [image func] == stamp: in the feet of the path */
	uint32_t *member_stamp;		/* [image func] == stamp: member_of[] holds */
	uint32_t *member_of;		/* [image func]: in members */
	uint32_t *out_of;		/* [image func]: func of out, INDEX_NONE; as in evidence.profile_of at first */
	uint32_t *out_path;		/* [in path * variants + variant]: path of out */
	double *runs;			/* [in path]: its weight in out */
	double graph_scale, whole_scale;	/* make runs in function graphs and fetch traces comparable to those from samples */
	double graph_bytes, sampled_bytes, whole_bytes;	/* run by the paths of each kind, in learn() */
	double *func_runs, all_runs;	/* [image func]: expected runs of paths with it, by the last learn(); of all */
	bool *emitted;			/* [image func]: in a path of out */
	bool *has_path;			/* [in func]: some path holds it */
	uint32_t *words, alloc_words;
	uint32_t *feet, alloc_feet;
	uint32_t *outside, nr_outside, alloc_outside;	/* feet of in that the path at hand has in modules */
	uint32_t alloc_funcs;		/* of report->funcs */
};

/* The parts that need img and in only. Errors are reported; release it then, too. */
int completer_init(struct completer *c, const char *vmlinux);
void completer_release(struct completer *c);

/* The function of out for an image function, added when new. */
uint32_t out_func(struct completer *c, uint32_t image_func);

/* members[] as a path of out, those that are likely enough, their chunks as well. Returns its id. */
uint32_t emit_path(struct completer *c, enum path_kind kind, uint32_t root, uint64_t weight, float at_least);

/* Start a path with no members. */
void begin_path(struct completer *c);
struct member *add_member(struct completer *c, uint32_t func, float probability);

/* What a touched chunk proves, into stop: its block, or where it holds several, what dominates them all. 0: nothing. */
uint32_t chunk_stop(struct completer *c, uint32_t func, uint32_t chunk, struct stop *stop);

/* Fill members[] up with what the functions in it call, and what those call. */
void spread(struct completer *c);

/* Add what led to members[] where the path was caught without its beginning; `path` tells equal draws apart. */
void add_callers(struct completer *c, uint32_t path);

/* Fill members[] with what ran in this path of the input and what probably did. */
void expand(struct completer *c, uint32_t path);

#endif
