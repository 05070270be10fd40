/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text part of a GNU ld link map (`-Map`): which input section of which object
 * went where, and what the linker script did in between. The map may be compressed.
 *
 *   .text           0xffffffff81000000   0x600c10          -> output
 *                   0xffffffff81000000     _stext = .      -> mark (symbol)
 *    .head.text     0xffffffff81000000   0x254 head_64.o   -> section
 *                   0xffffffff81000670     . = ALIGN (0x8) -> mark (align 8)
 *    *fill*         0xffffffff81000669   0x7 cccc             (implied by the addresses)
 *    .text.unlikely.sanitize_boot_params.constprop.0
 *                   0xffffffff81000670    0x7e head64.o    -> section, its name wrapped
 *                   0xffffffff810006f0     early_setup_idt -> symbol
 *
 * Only output sections of code are kept: their names begin with ".text" or end in ".text".
 * lld's maps, which look otherwise and say the same, are read too (linkmap_lld.h).
 */
#ifndef ANALYZE_IMAGE_LINKMAP_H
#define ANALYZE_IMAGE_LINKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/index.h"

struct linkmap_output {
	const char *name;
	uint64_t addr, size;
	uint32_t first_section, nr_sections;
};

struct linkmap_section {
	const char *name;	/* ".text.vfs_read" */
	const char *object;	/* as ld spells it: "fs/read_write.o", "lib/lib.a(string.o)" */
	uint64_t addr;
	uint64_t size;		/* bytes without padding; 0 is kept: an empty section aligns too */
	uint32_t output;
	bool fused;		/* its object has another section of this name in this output */
};

/* Something the script did before section `before` (an index, nr_sections when after the last). */
struct linkmap_mark {
	uint32_t before, output;
	uint64_t addr;		/* of `.` afterwards, or of the symbol */
	uint64_t align;		/* `. = ALIGN(align)`; 0: not an alignment */
	const char *symbol;	/* `symbol = .`; NULL: another assignment to `.` or an alignment */
};

struct linkmap_symbol {		/* global symbols inside the sections, in order of the map */
	const char *name;
	uint64_t addr;
};

struct linkmap {
	struct linkmap_output *outputs;
	uint32_t nr_outputs, alloc_outputs;
	struct linkmap_section *sections;
	uint32_t nr_sections, alloc_sections;
	struct linkmap_mark *marks;
	uint32_t nr_marks, alloc_marks;
	struct linkmap_symbol *symbols;
	uint32_t nr_symbols, alloc_symbols;
	struct index strings;	/* owns every name */
};

/* Read a map whole. Errors are reported: unreadable, no map of GNU ld or lld, cut off, or a broken line. */
int linkmap_read(struct linkmap *m, const char *path);
void linkmap_release(struct linkmap *m);	/* a zeroed one is fine */

#endif
