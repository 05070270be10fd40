/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A kernel's text as the linker put it together.
 *
 *   group    |<- head ->|<------- main ------->|<-noinstr->|<-sched->| ... |<-entry->|
 *   unit     |  head.o  | .text.a | .text.b |..|  one per object     |     |         |
 *   function | f  g  h  |    a    |    b    |  | ...
 *
 * A unit is an input section, the thing ld can move: (object, section name), with
 * the size and alignment of the section. Units come from a link map where there is
 * one (exact), else they are inferred: each function of main text is a unit, and
 * the functions of a bounded group form one fixed unit.
 */
#ifndef ANALYZE_IMAGE_IMAGE_H
#define ANALYZE_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/index.h"
#include "lib/symtab.h"

/* Where a unit lives; the order is not that of addresses. */
enum group {
	GROUP_HEAD,		/* .head.text: boot code at _text */
	GROUP_MAIN,		/* free: .text, .text.*, .text.unlikely.* ... */
	GROUP_NOINSTR,		/* between __noinstr_text_start/end */
	GROUP_SCHED,
	GROUP_LOCK,
	GROUP_KPROBES,
	GROUP_ENTRY,		/* mapped into user page tables under KPTI: never moves */
	GROUP_IRQENTRY,
	GROUP_SOFTIRQENTRY,
	GROUP_CPUIDLE,
	GROUP_STATIC_CALL,
	GROUP_THUNK,		/* x86 .text..__x86.*: retpolines and return thunks */
	GROUP_REF,		/* .text..refcount, .ref.text and other .text..* of their own pattern */
	GROUP_INIT,		/* .init.text, .exit.text: outside _stext.._etext or discarded */
	NR_GROUPS
};
extern const char *const group_names[NR_GROUPS];

struct unit {
	const char *section;	/* input section name; inferred: ".text.NAME" */
	const char *object;	/* as the link map spells it, e.g. "fs/read_write.o"; NULL when not known */
	uint64_t addr;		/* in this image */
	uint32_t size;		/* bytes, without padding */
	uint32_t align;		/* bytes, a power of two */
	enum group group;
	bool movable;		/* may go into the hot region on its own */
	const char *why_fixed;	/* static string: why not; NULL when movable */
	uint32_t first_func, nr_funcs;	/* its functions, consecutive */
};

struct func {
	const char *id;		/* identity */
	uint64_t addr;
	uint32_t size;
	uint32_t unit;		/* INDEX_NONE when outside all units */
};

/*
 * A stretch between boundary symbols or an ALIGN in the linker script, where addresses
 * re-align. A group can have several; an empty section that aligns begins one, too.
 */
struct image_group {
	enum group group;
	uint64_t start, end;	/* from the boundary symbols; end is its last unit's */
	uint32_t align;		/* what the script aligns its start to, at least 1 */
};

struct modules;

struct image {
	struct symtab symtab;
	struct modules *modules;	/* borrowed, set by who has them; NULL: what paths need of modules is not known */
	struct unit *units;		/* sorted by address; none overlap */
	uint32_t nr_units, alloc_units;
	struct func *funcs;		/* sorted by address */
	uint32_t nr_funcs;
	struct image_group *groups;	/* sorted by address */
	uint32_t nr_groups;
	bool exact_units;		/* from a link map; else inferred from symbols */
	bool exact_align;		/* alignments read from the objects; else inferred from addresses */
	uint64_t text_start, text_end;	/* _stext.._etext */
	struct index strings;		/* owns section and object names */
	struct index by_id;		/* func = by_id id, first nr_funcs entries */
	struct index by_name;		/* bare names, of aliases too */
	uint32_t *name_func;		/* [by_name id]: func, INDEX_NONE when several share it */
	struct index by_normal;		/* normalised names, for matching; cold parts keep a ".cold" */
	uint32_t *normal_func;		/* [by_normal id]: func, INDEX_NONE when several share it */
};

struct image_options {
	const char *map;	/* GNU ld link map, NULL: VMLINUX.map beside it when it is of this link, else none */
	const char *objects;	/* folder that the map's object names are relative to; NULL: the map's */
	bool infer;		/* do not look for a map */
};

/* Read a kernel. Errors are reported. */
int image_init(struct image *img, const char *vmlinux, const struct image_options *opts);
void image_release(struct image *img);

/* Function or unit that holds an address; INDEX_NONE when none. */
uint32_t image_find_func(const struct image *img, uint64_t addr);
uint32_t image_find_unit(const struct image *img, uint64_t addr);

/* How an identity from a profile was found here. */
enum match { MATCH_NONE, MATCH_NORMALIZED, MATCH_NAME, MATCH_EXACT };

/*
 * Find a profile's identity in this image: the very identity, else by bare name
 * (the object or ordinal apart), else by normalised name, each only where it
 * leads to one function.
 */
uint32_t image_match(const struct image *img, const char *identity, enum match *how);

#endif
