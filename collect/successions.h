/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples that wait to be put in order of time. A recorder writes processor by
 * processor, so that a task that moved has its later samples before earlier ones;
 * what follows what in a task is only known of sorted samples.
 */
#ifndef COLLECT_SUCCESSIONS_H
#define COLLECT_SUCCESSIONS_H

#include <stddef.h>
#include <stdint.h>

struct succession {
	uint64_t time_ns;
	uint32_t task, path;	/* as the caller numbers them */
};

/* Sort nr of them by time; those of equal times keep their order. Cheap where they come as few ascending runs. */
void successions_sort(struct succession *s, size_t nr);

#endif
