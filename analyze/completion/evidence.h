/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile in a kernel's terms: which blocks, call sites and call targets it saw. */
#ifndef ANALYZE_COMPLETION_EVIDENCE_H
#define ANALYZE_COMPLETION_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/profile.h"

struct image;
struct program;

struct evidence_call {
	uint32_t caller, callee;	/* image funcs */
	uint32_t site;			/* in the caller's flow.calls; FLOW_NONE when the offset is not one's */
	uint32_t off;			/* as in the profile */
	uint64_t weight;
	uint32_t first_hop, nr_hops;	/* in hops: jumps between the call's target and the callee */
};

/* A function that was called and left by a tail call before anyone looked. */
struct evidence_hop {
	uint32_t func, site;	/* image func; its tail call in flow.calls, FLOW_NONE when it is not known which */
	uint32_t callee;	/* where that leads */
};

struct evidence_touch {
	uint32_t func, chunk;
	uint64_t weight;
};

struct evidence {
	const struct profile *profile;	/* borrowed */
	uint32_t *image_of;		/* [profile func]: image func, INDEX_NONE */
	uint32_t *profile_of;		/* [image func]: profile func, INDEX_NONE */
	struct evidence_call *calls;	/* sorted by (caller, off, callee) */
	uint32_t nr_calls;
	uint32_t *first_call;		/* [image func], and one past the last */
	uint32_t *callers;		/* calls by callee */
	uint32_t *first_caller;		/* [image func], and one past the last */
	struct evidence_hop *hops;
	uint32_t nr_hops, alloc_hops;
	double *hop_weights;		/* [hop]: of the calls that took it */
	uint32_t *hop_of_func;		/* [image func]: a hop of it, INDEX_NONE; the others through next_hop[hop] */
	uint32_t *next_hop;
	struct evidence_touch *touches;	/* sorted by (func, chunk) */
	uint32_t nr_touches;
	uint32_t *first_touch;		/* [image func], and one past the last */
};

void evidence_init(struct evidence *e, struct program *prog, const struct profile *p);
void evidence_release(struct evidence *e);

/* Weight seen in each block of an image function, calls from it included; true when there is any. */
bool evidence_block_weights(const struct evidence *e, struct program *prog, uint32_t func, float *weights);

/* The distinct blocks that overlap chunk. Returns how many; at most PROFILE_CHUNK. */
uint32_t blocks_of_chunk(struct program *prog, uint32_t func, uint32_t chunk, uint32_t *blocks);

#endif
