/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a trace.dat of version 7 that was cut short lacks:
 *
 *   header | sections: formats ... | options | buffer: CPU 0 | CPU 1 .. (cut here) | options: where each CPU is
 *                                        DONE ------------------------------------->
 *
 * The records of a buffer stand, CPU by CPU, at page boundaries: as chunks whose sizes
 * precede them, or, not compressed, as pages that begin with their time. So they can be
 * found without the table, and a table is made of what is whole.
 */
#ifndef COLLECT_FTRACE_TRACEDAT_REPAIR7_H
#define COLLECT_FTRACE_TRACEDAT_REPAIR7_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number to be written over one in the file, in the file's byte order. */
struct tracedat_patch {
	uint64_t off, value;
	uint32_t size;		/* bytes */
};

struct tracedat_mend {
	uint64_t keep;		/* bytes of the file that are of use; tail comes behind them */
	bool big;		/* the file's byte order */
	struct tracedat_patch patches[3];
	uint32_t nr_patches;
	unsigned char *tail;	/* options; the caller frees. NULL: nothing is to be added */
	size_t tail_size;
	uint64_t used, all;	/* bytes of the buffer that was cut: usable, and all; 0: not told */
};

/* False when the file is whole, no version 7, or cut before its records: nothing to free then. */
bool tracedat_mend7(int fd, uint64_t size, struct tracedat_mend *m);

#endif
