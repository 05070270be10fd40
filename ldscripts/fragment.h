/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hottext.ld: the hot region of a layout as statements for the inside of the .text
 * output section, one unit a line, so that a kernel's script can INCLUDE it.
 *
 *   *(.text.vfs_read)                        its name is unique in the kernel
 *   [f]s/pipe.o(.text.helper)                it is not: the object says which
 *   [a]rch/x86/lib/copy_user_64.o(.text)     a whole assembler object
 *   . = ALIGN(4096);
 *
 * The one-character class is there because ld takes a file pattern without a
 * wildcard for one more input file; it matches exactly that object, also in thin
 * archives, where a leading `*` would let *fs/file.o match fs/xfs/file.o.
 *
 * Bounded groups are not statements, since only the script can hold their boundary
 * symbols. They stand in comments that the wrapper obeys:
 *
 *   /+ hottext-group .sched.text after-hot +/
 *   /+ hottext-member [k]ernel/sched/core.o(.sched.text) +/      (with * for +)
 */
#ifndef LDSCRIPTS_FRAGMENT_H
#define LDSCRIPTS_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ldscripts/lds/lds.h"

struct layout;
struct unit;

struct fragment_totals {
	uint32_t units;		/* lines written */
	uint32_t functions;	/* in them */
	uint32_t dropped;	/* units that no pattern can name */
};

/* Stands in the header, and so in scripts that have the fragment in them. */
#define FRAGMENT_TITLE "hot text for the inside of the .text output section"

/*
 * Write the fragment of a layout, as layout_assign() lays it out: groups with members
 * in the hot list stand behind the hot region, those members first. totals may be NULL. The
 * header names the tool's version, the kernel's build-id, and what was dropped and why.
 */
void fragment_write(FILE *fp, const struct layout *l, struct fragment_totals *totals);

/* A fragment read back from a plan. */
struct fragment {
	char *text;			/* the statements, comments included */
	char **patterns;		/* "FILE(SECTION)" of each unit, in order, those of groups included */
	uint32_t nr_patterns, alloc_patterns;
	struct lds_group_order *groups;
	uint32_t nr_groups, alloc_groups;
};

/*
 * Errors are reported: unreadable, something else than input statements and ALIGN, another number of sections than the
 * header says, or no section and no header that says so.
 */
int fragment_read(struct fragment *f, const char *path);
void fragment_release(struct fragment *f);

/*
 * In lld, the name of a thin archive's member has the archive's in front (ARCHIVE:MEMBER, glob
 * patterns as in InputSectionDescription), so that each statement that names an object is
 * repeated as *:[f]s/pipe.o(.text.helper). Patterns stay as they are.
 */
void fragment_for_lld(struct fragment *f);

/*
 * The kernel's script at `in` with .text.* taken in and the fragment's changes (NULL:
 * none), to fp. What the script claims is dropped from the fragment (claims.h). Errors are reported.
 */
int fragment_apply(struct fragment *f, const char *in, FILE *fp);

/* As fragment_write and fragment_read, in memory: for rewriting a script without a plan folder. */
int fragment_from_layout(struct fragment *f, const struct layout *l);

#endif
