/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text symbols of a kernel, from its vmlinux (libelf) or from kallsyms or
 * System.map text, and what identifies the kernel they belong to.
 *
 * A function's *identity* is its name where that name is unique in the kernel;
 * else name@file (the STT_FILE name, or the object path when a link map gave
 * one); else, or where that repeats too, name#N, the N-th of that name by
 * address, counted from 1. Aliases of one address share the identity of the first.
 */
#ifndef LIB_SYMTAB_H
#define LIB_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sym_flags {
	SYM_FUNC = 1,		/* STT_FUNC; else an assembler label */
	SYM_GLOBAL = 2,		/* global or weak binding */
	SYM_ALIAS = 4,		/* an earlier entry has the same address */
	SYM_SIZED = 8,		/* size stood in the ELF; else it reaches to the next symbol */
	SYM_WEAK = 16,		/* of the global ones */
};

struct sym {
	uint64_t addr;		/* link-time virtual address */
	uint64_t size;		/* bytes, never 0 but for aliases at a section's end */
	const char *name;
	const char *id;		/* identity, see above */
	const char *file;	/* source file name from STT_FILE, NULL when unknown or global */
	const char *section;	/* output section name, NULL from kallsyms */
	uint32_t flags;
	uint32_t name_hash;
};

enum { BUILD_ID_MAX = 32 };

struct symtab {
	/* functions, sorted by address, then functions before labels, strong, weak, local, name */
	struct sym *syms;
	uint32_t nr_syms;
	uint16_t e_machine;	/* EM_*, 0 from kallsyms */
	bool is_64, big_endian;
	uint64_t text_addr;	/* _text */
	uint64_t stext_addr, etext_addr;	/* _stext, _etext */
	unsigned char build_id[BUILD_ID_MAX];
	uint32_t build_id_size;	/* bytes; 0 when there is none */
	char *release;		/* "6.1.192", from the banner; NULL when not found */
	struct symtab_names *names;	/* every symbol by name, for symtab_value */
};

/*
 * Read a linked kernel. Errors, each reported once: unreadable, not ELF, truncated,
 * no .symtab (stripped), no _text/_stext (not a kernel).
 */
int symtab_read_vmlinux(struct symtab *st, const char *path);

/* Read `address type name [module]` lines: /proc/kallsyms, System.map, nm. Module symbols are left out. */
int symtab_read_kallsyms(struct symtab *st, const char *path);
void symtab_release(struct symtab *st);

/* The function whose [addr, addr + size) holds addr, never an alias; NULL when none. */
const struct sym *symtab_find(const struct symtab *st, uint64_t addr);

/* The function of that identity or NULL. */
const struct sym *symtab_find_id(const struct symtab *st, const char *id);

/* The value of any symbol, by bare name, boundary symbols too; false when absent. */
bool symtab_value(const struct symtab *st, const char *name, uint64_t *value);

/* Whether a function of st goes by that name: its own, an alias's, or that of a label at start. */
bool symtab_goes_by(const struct symtab *st, const struct sym *sym, const char *name, uint64_t start);

/* Build-id as hex into buf of at least 2 * BUILD_ID_MAX + 1; "-" when there is none. Returns buf. */
const char *build_id_hex(const unsigned char *id, uint32_t size, char *buf);

/* "x86_64", "ppc", "arm64", "arm", "riscv64"...: the name used in machines, traces and plans. */
const char *symtab_arch(const struct symtab *st);

/* Whether an identity is that of a loadable module's function, NAME@MODULE.ko: never one of vmlinux. */
bool identity_is_module(const char *identity);

/*
 * Strip what compilers append to a function's name, in place: .isra.N, .constprop.N,
 * .part.N, .cold, .llvm.N, .lto_priv.N, and the __pfx_ prefix. True when something went.
 * The one place that knows these.
 */
bool symbol_normalise(char *name);

#endif
