/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plan: everything `optimize` decided and predicted, as plain numbers and names,
 * so that reports, `verify` and `report --diff` need neither kernel nor profile.
 *
 *   plan --- units[]    hot or moved, with both addresses   <--+--- edges[]  calls between them
 *     |        +- functions[], touched ranges                  |
 *     +----- paths[]    one per (kind, root), with its uses ---+
 *              +- pages it touches, before and after
 *
 * Pages are those of the machine's mapping of kernel text, numbered from the page
 * that holds _stext; before and after count from the same one. An ITLB entry of a
 * path is one distinct page that bytes touched in it lie on.
 *
 * Written and read as plan.json (doc/hottext-plan.5, doc/plan.schema.json).
 */
#ifndef REORDER_PLAN_PLAN_H
#define REORDER_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/index.h"
#include "lib/schema.h"

struct callgraph;
struct completion;
struct guard;
struct image;
struct layout;
struct machine;
struct measured;
struct profile;

#define PLAN_UNKNOWN UINT64_MAX		/* a count that nothing could tell; null in the file */

struct plan_range {		/* bytes [start, end) of a unit, from its start */
	uint32_t start, end;
	uint64_t weight;	/* of the paths that run them */
};

struct plan_function {		/* a function of a listed unit */
	const char *name;	/* identity */
	uint32_t off, size;	/* bytes, within the unit */
	const char *evidence;	/* "seen", "proved: called from f+0x12", "likely 0.62: ..."; NULL when not known */
};

struct plan_unit {
	const char *name;	/* its function's identity, or OBJECT:SECTION when it holds several */
	const char *object;	/* NULL when not known */
	const char *section;	/* input section name */
	const char *group;	/* group_names[] */
	uint64_t addr_before, addr;	/* in link order, in the plan */
	uint32_t size, align;	/* bytes */
	int64_t page_before, page;	/* of the first byte */
	uint64_t weight;	/* samples; instructions of a trace */
	uint64_t calls;		/* times entered */
	uint64_t path_weight;	/* of the paths that touch it: its heat is path_weight / plan.path_weight */
	uint32_t touched;	/* bytes known to run */
	bool moved;		/* listed in the fragment */
	const char *why;	/* why it moved or why not; never NULL */
	uint32_t first_function, nr_functions;	/* in plan.functions */
	uint32_t first_range, nr_ranges;	/* in plan.ranges: what ran, cut where weights change */
};

struct plan_use {		/* of a unit by a path */
	uint32_t unit;		/* in plan.units */
	uint64_t weight;	/* of the path's variants that touch it */
};

struct plan_page {
	int64_t page;
	uint64_t weight;	/* of the path's variants that touch it */
};

/* All paths of one kind and root name; its variants differ in the bytes they touch. */
struct plan_path {
	const char *root;	/* short: "read" for __x64_sys_read */
	const char *symbol;	/* identity of the heaviest variant's root; "-" when not known */
	const char *kind;	/* path_kind_names[] */
	uint64_t weight;	/* times it ran */
	uint32_t variants;
	double entries_before, entries_after;	/* mean over weight */
	uint32_t max_before, max_after;		/* worst variant */
	uint32_t touched;	/* bytes, of all variants together */
	uint32_t first_use, nr_uses;		/* in plan.uses: by weight descending, then unit */
	uint32_t first_before, nr_before;	/* in plan.pages: ascending */
	uint32_t first_after, nr_after;
};

struct plan_edge {		/* calls between listed units */
	uint32_t from, to;	/* in plan.units; sorted by (from, to) */
	uint64_t weight;
};

struct plan_side {		/* one layout: before or after */
	uint64_t text_bytes;	/* _stext.._etext */
	uint64_t pages;		/* distinct, touched by any path */
	double mean, p95, max;	/* ITLB entries per path, over weight */
	uint64_t misses;	/* kernel ITLB misses of the replayed trace; PLAN_UNKNOWN without one */
	uint64_t l1i_misses;
	double estimate;	/* misses a path, from paths drawn by weight; negative: not estimated */
	uint64_t insns;		/* instructions replayed; PLAN_UNKNOWN without a trace */
};

struct plan_curve {		/* entries per path if text were mapped by such pages */
	uint64_t page_bytes;
	double before, after;	/* mean over weight */
};

struct plan_position {		/* of a function among those of its name, by address; see positions.h */
	const char *name;
	const char *function;	/* identity in the kernel that was planned on */
	uint32_t before, after;	/* from 1, never equal */
};

struct plan_missed {		/* a page of text that misses in the ITLB */
	uint64_t addr;
	uint64_t sampled;	/* samples of the CPU's event */
	uint64_t predicted;	/* misses of the replayed trace; PLAN_UNKNOWN without one */
	const char *function;	/* sampled most there; NULL when none was */
};

struct plan_measured {		/* ITLB misses as a CPU sampled them */
	uint64_t page_bytes;	/* 0: nothing was measured, and the rest means nothing */
	uint64_t in_text, elsewhere;	/* samples: in the image's text, in other kernel code */
	uint64_t predicted;	/* misses of the replayed trace; PLAN_UNKNOWN without one */
	double same_pages;	/* share of both that falls on the same pages, 0..1; negative: not predicted */
	struct plan_missed *pages;	/* by sampled descending, then predicted, then ascending addr */
	uint32_t nr_pages, alloc_pages;
};

struct plan_guard {		/* what reorder/guard.h says of the roots */
	bool known;		/* the order was guarded */
	uint32_t roots;		/* that were profiled */
	uint32_t worse, worse_by_less;	/* of these: need an entry or more, or a part of one, more than before */
	uint32_t unseen_roots;	/* never profiled: by what their code says */
	uint32_t unseen_worse;
	double unseen_before, unseen_after;	/* mean of their entries, each root alike */
	uint32_t units;		/* that were moved for their sake */
};

enum { PLAN_MAX_LEVELS = 3 };

struct plan_machine {
	const char *name, *about, *arch;
	uint64_t page_bytes;	/* of kernel text, an ITLB entry; outside the blocks, where there are any */
	uint64_t block_bytes;	/* more: what an entry maps of [blocks_start, blocks_end); 0: there are no blocks */
	uint64_t blocks_start, blocks_end;
	bool pinned_text;
	const char *why_no_saving;	/* of ITLB entries, whatever the order; "": orders save some */
	struct {
		uint32_t entries, ways;
		const char *policy;
		bool unified;
	} levels[PLAN_MAX_LEVELS];
	uint32_t nr_levels;
	uint32_t miss_cycles_min, miss_cycles_max;
	double clock_hz;	/* 0: unknown */
};

struct plan_source {		/* of the profile */
	const char *reader, *event, *host, *release, *build_id;
	uint64_t samples, kernel, resolved, lost;
};

struct plan {
	const char *tool;	/* "hottext 0.1" */
	const char *algorithm;
	uint32_t effort;
	const char *command;	/* how it was made; "" when not known */
	struct {
		const char *build_id, *release, *arch;
	} vmlinux;
	struct plan_machine machine;
	struct {
		uint64_t samples, kernel, resolved, lost;
		uint64_t matched_exact, matched_name, matched_normalized, unmatched;
	} profile;
	struct plan_source *sources;
	uint32_t nr_sources, alloc_sources;
	struct {
		uint64_t functions, bytes, touched_bytes;
		uint64_t units;		/* that run */
		uint64_t fixed;		/* of these: must stay where they are */
	} hot;
	bool exact_units, exact_align;	/* addresses rest on a link map and on the objects, not on guesses */
	uint64_t text_start;	/* _stext */
	uint64_t hot_start, hot_end;	/* the region that the fragment fills */
	uint64_t path_weight;	/* of all paths */
	struct plan_side before, after;
	struct plan_measured measured;	/* in link order, by analyze --misses */
	struct plan_guard guard;
	struct plan_curve *curve;
	uint32_t nr_curve, alloc_curve;
	struct plan_position *positions;	/* those that change where the kernel has livepatching: by name, before */
	uint32_t nr_positions, alloc_positions;
	struct plan_unit *units;	/* by address in the plan */
	uint32_t nr_units, alloc_units;
	struct plan_function *functions;
	uint32_t nr_functions, alloc_functions;
	struct plan_range *ranges;
	uint32_t nr_ranges, alloc_ranges;
	struct plan_path *paths;	/* by weight descending, then kind, then root */
	uint32_t nr_paths, alloc_paths;
	struct plan_use *uses;
	uint32_t nr_uses, alloc_uses;
	struct plan_page *pages;
	uint32_t nr_pages, alloc_pages;
	struct plan_edge *edges;
	uint32_t nr_edges, alloc_edges;
	struct index strings;		/* owns every name above */
};

/* An empty plan; sets the tool's name, and every unknown count to PLAN_UNKNOWN. */
void plan_init(struct plan *p);
void plan_release(struct plan *p);

/* A copy of s that lives as long as the plan; invalid UTF-8 is replaced. NULL stays NULL. */
const char *plan_string(struct plan *p, const char *s);

/*
 * Everything that image, graph, layouts and machine tell, into an initialised
 * plan. Left to the caller: algorithm, effort, command, and misses, l1i_misses,
 * estimate and insns of before and after. Borrows nothing.
 */
void plan_fill(struct plan *p, const struct image *img, const struct callgraph *cg,
	       const struct layout *before, const struct layout *after, const struct machine *m,
	       const struct profile *profile);

/*
 * Why each function is among the hot: from what completion made of the profile, by
 * the names in that; a report with no functions means that nothing was completed.
 */
void plan_set_evidence(struct plan *p, const struct image *img, const struct profile *profile,
		       const struct completion *report);

/* ITLB misses as a CPU sampled them in this image. */
void plan_set_measured(struct plan *p, const struct image *img, const struct measured *x);

/* What the guard of the order measured last, and why it moved units, which after (the plan's own) has. */
void plan_set_guard(struct plan *p, const struct guard *g, const struct layout *after);

/*
 * This process's command line as plan->command: the way to the same plan from
 * anywhere, so without -o DIR, and with absolute paths cut to their last part.
 */
void plan_set_command(struct plan *p);

/* "read" for __x64_sys_read, ksys_read and their like; else the identity. The caller frees. */
char *plan_root_name(const char *identity);

/* Number of the page that addr lies on, counted from text_start's. */
int64_t plan_page_of(uint64_t addr, uint64_t text_start, uint64_t page_bytes);

/*
 * The same of the machine's pages; a block goes by the first of its pages, as in plan.pages. text_start: that
 * of the kernel that addr is of.
 */
int64_t plan_entry_of(const struct plan *p, uint64_t addr, uint64_t text_start);

/* How many entries map [start, end), which is not empty. */
uint64_t plan_entries(const struct plan *p, uint64_t start, uint64_t end);

/* The unit with a function of that name (identity, or the part before '@' or '#'); INDEX_NONE when none. */
uint32_t plan_find_function(const struct plan *p, const char *name);

/* Share of path weight that touches the unit, 0..1. */
double plan_heat(const struct plan *p, const struct plan_unit *u);

/* Whether every source watched execution itself, rather than sampled it. */
bool plan_is_traced(const struct plan *p);

/* Saved from before to after in per cent of before; 0 where before is 0. Negative: worse. */
double plan_saving(double before, double after);

/* Write as JSON, one unit, path and edge per line. Check fp afterwards. */
void plan_write_json(const struct plan *p, FILE *fp);

/*
 * Read a plan.json, or the one in a plan folder, into an uninitialised plan.
 * Everything in it is checked, indices too. -1 after reporting; nothing to release then.
 */
int plan_read_json(struct plan *p, const char *path);

#endif
