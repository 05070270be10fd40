/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order where ITLB entries cannot be saved (machine_why_no_saving): several are
 * made, and the one that misses the instruction cache least in a replay is taken.
 */
#ifndef REORDER_FOR_CACHE_H
#define REORDER_FOR_CACHE_H

struct callgraph;
struct layout;
struct order_options;

/* out: empty, then with addresses. trace: what is replayed. Errors are reported. */
int order_for_cache(const struct callgraph *cg, const struct order_options *opts, const char *trace,
		    struct layout *out);

#endif
