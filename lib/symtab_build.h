/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two readers of symbols (symtab_elf.c, symtab_text.c) share with symtab.c; not for others. */
#ifndef LIB_SYMTAB_BUILD_H
#define LIB_SYMTAB_BUILD_H

#include "lib/index.h"
#include "lib/symtab.h"

struct symtab_value {
	const char *name;
	uint64_t value;
	bool global;
	char first;		/* of the name: a search need not follow every pointer */
};

struct symtab_names {
	struct symtab_text *text;	/* owns every name, file and section name */
	struct symtab_value *values;	/* of all symbols, in the order of the file */
	uint32_t nr_values, alloc_values;
	uint32_t nr_searches;	/* through values, before there is an index */
	struct index by_name;	/* of values */
	uint32_t *named;	/* [by_name id]: index in values; NULL before by_name is made */

	struct index ids;	/* identities of the functions, made when one is first sought */
	uint32_t *id_sym;	/* [ids id]: index in syms; NULL before ids is made */

	/* For symtab_find: the functions that are no aliases, by address. */
	uint32_t *primary;	/* [i]: index in syms */
	/* [i]: index in primary of the function around i, INDEX_NONE when there is none */
	uint32_t *parent;
	uint32_t nr_primary;
	/* [(addr - base) >> shift]: the last i that begins at or before the bucket's end */
	uint32_t *bucket;
	uint32_t nr_buckets;
	uint32_t shift;
	uint64_t base;

	uint32_t alloc_syms;
};

void symtab_begin(struct symtab *st);

/* Keep a string as long as the symtab lives. */
const char *symtab_keep(struct symtab *st, const char *s);

/* A copy of size bytes and a NUL that lives as long. */
const char *symtab_keep_bytes(struct symtab *st, const char *bytes, size_t size);

/* Make room for so many values, and as many functions, at once: what is not filled takes no memory. */
void symtab_reserve(struct symtab *st, uint32_t nr);

/* name: kept. */
void symtab_add_value(struct symtab *st, const char *name, uint64_t value, bool global);

/* Append a function; limit is the end of its section (0: none), size 0 when not known. */
void symtab_add_func(struct symtab *st, const struct sym *s);

/* Whether compilers and assemblers made the name for themselves: .L*, $d, $x.1 ... */
bool symtab_is_mapping_name(const char *name);

/*
 * Whether a linker script made it to mark a boundary; unsized says that the ELF
 * gave it no size and no type.
 */
bool symtab_is_boundary_name(const char *name, bool unsized);

/*
 * Sort, find aliases, give sizes and identities, index. section_end(addr) bounds
 * what has no size; also sets text_addr and its kin. -1 when there is no _text or _stext.
 */
int symtab_finish(struct symtab *st, const char *path, uint64_t (*section_end)(void *arg, uint64_t addr),
		  void *arg);

#endif
