/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine: what its instruction TLB holds and what a miss costs. Machines are
 * small text files (doc/hottext-machine.5); those shipped are built in.
 */
#ifndef ANALYZE_MACHINE_H
#define ANALYZE_MACHINE_H

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
};

enum { MACHINE_MAX_LEVELS = 3 };

struct machine {
	char *name;
	char *about;		/* one line */
	char *arch;		/* as symtab_arch(), or "any" */
	struct tlb_level levels[MACHINE_MAX_LEVELS];	/* nearest the core first */
	uint32_t nr_levels;
	uint32_t text_page;	/* bytes: the page size that maps kernel text */
	uint32_t user_page;	/* bytes: of user text */
	bool pinned_text;	/* kernel text never misses */
	bool flush_on_switch;	/* an address-space switch empties user entries (no ASIDs) */
	bool flush_global;	/* and the kernel's entries too */
	uint32_t miss_cycles_min, miss_cycles_max;	/* cost of one miss of the last level, cycles */
	double clock_hz;	/* 0: unknown */
	uint32_t l1i_bytes, l1i_ways, l1i_line;		/* 0: not modelled */
};

/* A shipped machine by name, else a file of that path. Errors are reported. */
int machine_init(struct machine *m, const char *name);

/* The default for a kernel: from its architecture, and its configuration where it is embedded or beside it. */
int machine_init_for(struct machine *m, const struct symtab *st);
void machine_release(struct machine *m);

/* Names of the shipped machines, sorted, NULL-terminated. */
const char *const *machine_names(void);

#endif
