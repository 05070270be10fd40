/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile in a kernel's terms: which blocks, call sites and call targets it saw. */
#ifndef ANALYZE_EVIDENCE_H
#define ANALYZE_EVIDENCE_H

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
