/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures in the DOT language, and the program that draws them. */
#ifndef REORDER_REPORT_DOT_H
#define REORDER_REPORT_DOT_H

#include <stdint.h>
#include <stdio.h>

struct plan;
struct view;

enum { DOT_PAGES = 24, DOT_EDGES = 40 };	/* drawn in full, each side */

/*
 * The hot-page graph of a view, before and after side by side: an overview of
 * all pages, and the hottest nr_pages of each side in full with the calls between
 * them. What was left out is said in the picture. Everything is placed here
 * (layout=nop2), so any number of pages is drawn in one pass.
 */
void dot_pages(const struct view *v, uint32_t nr_pages, FILE *fp);

struct callgraph_options {
	const char *focus;	/* only what leads to or from functions with this in their names; NULL: all */
	const char *ignore;	/* leave out functions whose name contains this; NULL: none */
	double node_percent;	/* leave out functions with less of the weight */
	double edge_percent;	/* leave out calls with less of all calls */
	uint32_t nr_nodes;	/* at most so many functions, the heaviest */
};

/* The weighted call graph: area by own weight, width by calls. */
void dot_callgraph(const struct view *v, const struct callgraph_options *o, FILE *fp);

/*
 * Draw the DOT file into path with the program `dot`; the format is that of
 * path's suffix. 0: drawn. 1: dot could not, which is not reported but said in cause; the caller frees it. -1 after
 * reporting.
 */
int dot_draw(const char *dot_file, const char *path, char **cause);

#endif
