/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine: what its instruction TLB holds and what a miss costs. Machines are
 * small text files (doc/hottext-machine.5); those shipped are built in.
 */
#ifndef ANALYZE_TLB_MACHINE_H
#define ANALYZE_TLB_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

struct symtab;

enum tlb_policy { TLB_LRU, TLB_FIFO, TLB_RANDOM, TLB_ROUND_ROBIN, TLB_PLRU };

struct tlb_level {
	uint32_t entries;
	uint32_t ways;		/* == entries: fully associative */
	enum tlb_policy policy;
	bool unified;		/* shared with data */
	uint32_t max_page;	/* bytes: larger mappings are held in granules of this; 0: no cap */
	uint32_t locked;	/* entries taken away from replacement */
	uint32_t large_entries;	/* pages above 4 KB have this array of their own; 0: all sizes share */
	uint32_t large_ways;
};

enum {
	MACHINE_MAX_LEVELS = 3,
	MACHINE_VERSION = 1,	/* of the file format */
};

struct machine {
	char *name;
	char *about;		/* one line */
	char *arch;		/* as symtab_arch(), or "any" */
	struct tlb_level levels[MACHINE_MAX_LEVELS];	/* nearest the core first */
	uint32_t nr_levels;
	uint32_t text_page;	/* bytes: the page size that maps kernel text */
	uint32_t edge_page;	/* bytes, less: where text fills no whole aligned text_page; 0: text_page maps that, too */
	uint64_t blocks_start, blocks_end;	/* the whole text_pages of the kernel at hand; machine_init: all there is */
	uint32_t user_page;	/* bytes: of user text */
	uint32_t module_page;	/* bytes: of kernel addresses outside the kernel image (tlb_set_text) */
	bool pinned_text;	/* kernel text never misses */
	bool flush_on_switch;	/* an address-space switch empties user entries (no ASIDs) */
	bool flush_global;	/* and the kernel's entries too */
	bool flush_on_mode;	/* so does each change between user and kernel mode (PTI without PCID) */
	uint32_t miss_cycles_min, miss_cycles_max;	/* cost of one miss of the last level, cycles */
	double clock_hz;	/* 0: unknown */
	uint32_t l1i_bytes, l1i_ways, l1i_line;		/* 0: not modelled */
	/*
	 * The data side of unified levels, in bytes of code fetched between two touches: of
	 * the next of data_set pages, round and round, and of a page never seen before.
	 */
	uint32_t data_every, data_set;	/* 0: never */
	uint32_t data_new;		/* 0: never */
};

/* A shipped machine by name, else a file of that path. Errors are reported. */
int machine_init(struct machine *m, const char *name);

/* The default for a kernel: from its architecture, and from what its symbols say of its configuration. */
int machine_init_for(struct machine *m, const struct symtab *st);
void machine_release(struct machine *m);

/* Names of the shipped machines, sorted, NULL-terminated. */
const char *const *machine_names(void);

/* The file of a shipped machine, as text; NULL when there is none of that name. */
const char *machine_text(const char *name);

/* What so many misses cost. False when the machine's miss cost or clock is not known. */
bool machine_miss_seconds(const struct machine *m, uint64_t misses, double *min, double *max);

/*
 * How this kernel's text is mapped: [start, end) is _stext.._etext. Without it no text is at the edges.
 *
 *   _stext           |          |          |      _etext
 *      [ edge_pages  |text_page |text_page | edge_pages ]
 */
void machine_map_text(struct machine *m, uint64_t start, uint64_t end);

static inline bool machine_has_edges(const struct machine *m)
{
	return m->edge_page && m->blocks_end != UINT64_MAX;
}

/*
 * Bytes of kernel text that one entry maps in the level that maps the least: text_page, edge_page if there are
 * edges, or a granule of it.
 */
uint32_t machine_entry_bytes(const struct machine *m);

/* The same of whole text pages. */
uint32_t machine_block_bytes(const struct machine *m);

/*
 * Why an order of functions saves no ITLB entries on this machine ("kernel text is
 * pinned" ...), as a static string; NULL when it can. Kernel text is [text_start, text_end).
 */
const char *machine_why_no_saving(const struct machine *m, uint64_t text_start, uint64_t text_end);

#endif
