/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The weighted call graph of one kernel under one profile, and its paths, over
 * the image's units: what reorder/ works on. Every touched byte range is in the
 * image's terms, so a layout's addresses turn it into pages by addition alone.
 */
#ifndef ANALYZE_CALLGRAPH_H
#define ANALYZE_CALLGRAPH_H

#include <stdint.h>

#include "collect/profile.h"

struct image;

struct callgraph_node {		/* one per unit of the image, same index */
	uint64_t samples;	/* time: samples, or instructions of a trace */
	uint64_t calls;		/* times entered */
	uint32_t touched;	/* bytes known to run (in chunks of PROFILE_CHUNK), 0 for a cold unit */
};

struct callgraph_edge {		/* direct or indirect calls between two units */
	uint32_t from, to;	/* units, never equal */
	uint64_t weight;
	uint32_t from_off, to_off;	/* mean offsets of the call and of its target in the units, bytes */
};

/* Bytes [start, end) of a unit that ran together. */
struct span {
	uint32_t unit;
	uint32_t start, end;
};

struct callgraph_path {
	enum path_kind kind;
	uint32_t root;			/* func of the image, INDEX_NONE when it did not match */
	uint32_t first_span, nr_spans;	/* in spans[]; ascending (unit, start), never adjoining */
	uint64_t weight;
	uint32_t module_pages;		/* of 4 KB, which its functions in modules touch; 0 without image.modules */
};

struct callgraph_next {
	uint32_t from, to;	/* paths */
	uint64_t weight;
};

/* How much of the profile's weight (func samples, or calls where there are none) was found in the image. */
struct match_totals {
	uint64_t exact, name, normalized, unmatched;
};

struct callgraph {
	const struct image *image;	/* borrowed; outlives the graph */
	struct callgraph_node *nodes;
	struct callgraph_edge *edges;	/* sorted by (from, to) */
	uint32_t nr_edges;
	struct span *spans;
	uint32_t nr_spans;
	struct callgraph_path *paths;
	uint32_t nr_paths;
	struct callgraph_next *nexts;
	uint32_t nr_nexts;
	struct match_totals match;
};

int callgraph_init(struct callgraph *cg, const struct image *img, const struct profile *p);
void callgraph_release(struct callgraph *cg);

#endif
