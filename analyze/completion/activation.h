/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one activation of a function runs: its own chunks, and the functions it
 * calls. Computed once for each (function, what was seen of the activation), and kept.
 */
#ifndef ANALYZE_COMPLETION_ACTIVATION_H
#define ANALYZE_COMPLETION_ACTIVATION_H

#include <stdint.h>

#include "analyze/code/branch.h"
#include "analyze/code/targets.h"
#include "lib/index.h"

struct evidence;
struct program;

/* In stop.callee: this block did not run, for its calls are missing from a trace of all calls. */
#define STOP_NEVER (UINT32_MAX - 1)

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
	struct reach *calls;	/* called from here directly, by func, each once; via is this function */
	uint32_t nr_calls;
	float *blocks;		/* [block]: probability */
	double cost;		/* expected bytes run in the function itself, loops counted */
	double below;		/* of one without stops: the same with what it calls, set by activations_learn() */
	double weight;		/* expected weight of the paths in which it stands, for the caller to add up */
	double samples_per_byte;/* expected samples on each byte run, for the caller to add up */
};

struct activations {
	struct program *prog;		/* borrowed */
	const struct evidence *evidence;/* borrowed */
	struct targets targets;		/* of indirect calls; set its live[] before activations_learn() */
	struct branch_model model;
	float min_probability;
	float **prior;			/* [image func]: shares of flow.edges by the model, NULL until wanted */
	float **shares;			/* the same in use: prior, or what was learnt */
	struct activation **plain;	/* [image func]: the one without stops, NULL until wanted */
	struct index keys;		/* {func, stops...} */
	struct activation **items;	/* [keys id] */
	uint32_t alloc_items;
};

void activations_init(struct activations *a, struct program *prog, const struct evidence *e, float min_probability);
void activations_release(struct activations *a);

/*
 * The activation of func that passed these stops (sorted here; may be none). NULL
 * where its code is not at hand. Owned by `a`.
 */
struct activation *activation_get(struct activations *a, uint32_t func, struct stop *stops, uint32_t nr_stops);

/*
 * Weigh what the activations so far expected to see (samples_per_byte) against what
 * was seen: an edge behind which samples should lie and do not is less likely than
 * the model thought. Drops all activations; those made next use the new shares.
 */
void activations_learn(struct activations *a);

#endif
