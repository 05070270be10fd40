/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions as tracers name them: an address of the traced kernel with the name
 * its kallsyms gives, or a name alone. Both lead to identities of the symbol table,
 * by address where the two kernels are found to agree, else by name.
 */
#ifndef COLLECT_FTRACE_FTRACE_NAMES_H
#define COLLECT_FTRACE_FTRACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/index.h"

struct profile;
struct symtab;

struct ftrace_place {
	uint32_t func;		/* of the profile; INDEX_NONE: no name for it */
	uint32_t off;		/* PROFILE_OFF_UNKNOWN when only the name is known */
	bool resolved;		/* found in the symbol table, or there is none and it has a name */
};

struct ftrace_names {
	const struct modules *modules;	/* borrowed; NULL when none were given */
	const struct symtab *syms;	/* NULL: names are taken as they are */
	struct profile *p;
	bool placed;			/* slide is known */
	uint64_t slide;			/* traced address - address in syms */
	uint64_t agreed, differed;	/* addresses whose name in syms is, is not the recording's */
	struct index addrs;		/* u64 */
	struct ftrace_place *places;	/* [addrs id] */
	uint32_t alloc_places;
	struct ftrace_place last;
	struct index strings;		/* names */
	struct ftrace_place *named;	/* [strings id] */
	uint32_t alloc_named;
};

void ftrace_names_init(struct ftrace_names *n, const struct symtab *syms, struct profile *p);
void ftrace_names_release(struct ftrace_names *n);

/*
 * The place of an address whose function is called name and starts at start, as the
 * recording says; name NULL when it does not know. Valid until the next call.
 */
const struct ftrace_place *ftrace_names_addr(struct ftrace_names *n, uint64_t addr, const char *name,
					     uint64_t start);

/* The place found before, NULL when the address is new. */
const struct ftrace_place *ftrace_names_seen(const struct ftrace_names *n, uint64_t addr);

/* The place of a name, "name [module]" and "name+0x1c/0x80" included. */
const struct ftrace_place *ftrace_names_text(struct ftrace_names *n, const char *name);

/* Warn when the symbols seem to be of another kernel; what names the recording. */
void ftrace_names_report(const struct ftrace_names *n, const char *what);

#endif
