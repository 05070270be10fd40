/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of LMbench's summaries (scripts/getsummary of its releases):
 *
 *   Processor, Processes - times in microseconds - smaller is better      title
 *   ----------------------------------------------------------------
 *   Host                 OS  Mhz null null      open selct ...            header, two lines or three
 *                                call  I/O stat clos TCP   ...
 *   --------- ------------- ---- ---- ---- ---- ---- ----- ...            ruler: where columns end
 *   nopintlb  Linux 2.4.19-  199 1.46 2.73 17.0 25.4 156.8 ...            a row a run
 *
 * A cell without a result is blank. All are aligned to the right end of their column.
 */
#ifndef ANALYZE_COMPARE_LMBENCH_H
#define ANALYZE_COMPARE_LMBENCH_H

#include <stdint.h>

enum { LMBENCH_MAX_COLUMNS = 16 };

struct lmbench_table {
	const char *header;	/* words of the header behind Host and OS, a blank between two */
	/* names of the columns behind Host and OS; "": not a figure of its own; NULL ends */
	const char *columns[LMBENCH_MAX_COLUMNS];
};

/* The column of words such as "No L2 cache?", the last one where there is one. */
#define LMBENCH_GUESSES "?"

/* NULL when no release has such a header. */
const struct lmbench_table *lmbench_table(const char *header);

uint32_t lmbench_nr_columns(const struct lmbench_table *t);

#endif
