/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a decoded sample to the profile: its address, the kernel part of its callchain, its branch records. */
#ifndef COLLECT_PERF_PERFDATA_SAMPLE_H
#define COLLECT_PERF_PERFDATA_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/chain.h"

struct perfdata_map;
struct perfdata_sample;

/* One event's samples. */
struct perfdata_lane {
	struct chain chain;
	uint32_t *memos;		/* of chains met before, by hash: where in words, + 1; 0: none */
	uint64_t *words;		/* {ticket, number of frames, frames as they stood in the sample} one by one */
	uint32_t nr_words, alloc_words;
	uint32_t map_changes;		/* of the map, when the memos were begun */
	uint64_t named;		/* at code that has a name, but is no function of the image */
};

struct perfdata_sampler {
	struct profile *p;
	struct perfdata_map *map;	/* borrowed */
	struct perfdata_lane **lanes;	/* [event]; NULL: no sample yet */
	uint32_t nr_lanes;
	uint64_t samples, kernel;
	uint64_t depth;			/* kernel frames of all callchains */
	uint64_t branches;		/* entries of all branch stacks */
	uint64_t *addrs;		/* the exact address of the sample at hand, where it stands apart; its frames */
	struct chain_frame *frames;
	struct chain_branch *entries;
};

void perfdata_sampler_init(struct perfdata_sampler *s, struct perfdata_map *map, struct profile *p);
void perfdata_sampler_release(struct perfdata_sampler *s);

/* misc is the record's; event is the index of its attr. */
void perfdata_sampler_add(struct perfdata_sampler *s, uint32_t event, uint16_t misc, bool swap,
			  const struct perfdata_sample *sample);

/* Complete the profile with an event's samples, and count them in source. */
void perfdata_sampler_finish(struct perfdata_sampler *s, uint32_t event, struct profile_source *source);

#endif
