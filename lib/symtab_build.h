/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two readers of symbols (symtab_elf.c, symtab_text.c) share with symtab.c; not for others. */
#ifndef LIB_SYMTAB_BUILD_H
#define LIB_SYMTAB_BUILD_H

#include "lib/index.h"
#include "lib/symtab.h"

struct symtab_names {
	struct index strings;	/* owns every name, file and section name */
	struct index names;	/* all symbols by name */
	uint64_t *values;	/* [names id] */
	bool *global;		/* [names id]: values[] is that of a global symbol */
	uint32_t alloc_values, alloc_global;

	struct index ids;	/* identities of the functions */
	uint32_t *id_sym;	/* [ids id]: index in syms */

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
