/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Damage among the compressed records of a trace.dat of version 7. libtracecmd ends a CPU in silence at a chunk that
 * does not decode, or dies of it.
 */
#ifndef COLLECT_FTRACE_TRACEDAT_DAMAGE_H
#define COLLECT_FTRACE_TRACEDAT_DAMAGE_H

#include <stdbool.h>
#include <stdint.h>

struct tracedat_patch;

struct tracedat_damage {
	uint64_t page, pages;	/* bytes of one; of records, as the file tells */
	uint64_t read;		/* pages that were read, for the reader to count */
	uint64_t all, lost;	/* bytes of records; from a CPU's first bad chunk on */
	struct tracedat_patch *patches;	/* that take the lost ones out */
	uint32_t nr_patches, alloc_patches;
	bool big;		/* the file's byte order */
};

/*
 * Look by the sizes of chunks alone, or, what costs, also whether each decodes. False when the file is
 * not one of those, or is cut; to be released in any case.
 */
bool tracedat_damage_find(struct tracedat_damage *d, int fd, bool decode);
void tracedat_damage_release(struct tracedat_damage *d);

#endif
