/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one activation of a function runs: its own chunks, and the functions it
 * calls, they in turn included. Computed once for each (function, what was seen of
 * the activation), and kept.
 */
#ifndef ANALYZE_ACTIVATION_H
#define ANALYZE_ACTIVATION_H

#include <stdint.h>

#include "analyze/branch.h"
#include "lib/index.h"

struct evidence;
struct program;

/* A place that ran: a block, and when it was left by a known call, that. */
struct stop {
	uint32_t block;
	uint32_t site;		/* in flow.calls, FLOW_NONE */
	uint32_t callee;	/* image func called there, INDEX_NONE */
};

struct reach {
	uint32_t func;		/* image func */
	float probability;	/* that it runs at least once; exactly 1: proved */
	uint32_t via, via_off;	/* its likeliest caller and the offset of the call in that */
};

struct activation {
	uint32_t func;
	float *chunks;		/* [chunk]: probability; exactly 1: proved */
	uint32_t nr_chunks;
	struct reach *calls;	/* called from here directly, by (func, via_off); via is this function */
	uint32_t nr_calls;
	struct reach *reach;	/* called, directly or not, by func */
	uint32_t nr_reach;
	double weight;		/* expected weight of the paths in which it stands, for the caller's use */
};

struct activations {
	struct program *prog;		/* borrowed */
	const struct evidence *evidence;/* borrowed */
	struct branch_model model;
	float min_probability;
	float **shares;			/* [image func]: of flow.edges, NULL until wanted */
	struct index keys;		/* {func, stops...} */
	struct activation **items;	/* [keys id] */
	uint32_t alloc_items;
	unsigned char *busy;		/* [image func]: being computed: it recurses */
};

void activations_init(struct activations *a, struct program *prog, const struct evidence *e, float min_probability);
void activations_release(struct activations *a);

/*
 * The activation of func that passed these stops (sorted here; may be none). NULL
 * where its code is not at hand. Owned by `a`.
 */
struct activation *activation_get(struct activations *a, uint32_t func, struct stop *stops, uint32_t nr_stops);

#endif
