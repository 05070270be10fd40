/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A kernel's linker script as text: read into statements that remember where they
 * stand, and written again with a few of them changed. What is not changed comes
 * out byte by byte as it went in.
 *
 *   SECTIONS {
 *     .text : AT(...) {                      struct lds_section
 *       _stext = .;                            struct lds_stmt, LDS_ASSIGN
 *       KEEP(*(.head.text))                    LDS_INPUT
 *                                            <-- the hot region goes here
 *       . = ALIGN(8);  *(.text.hot ...)        first statement of the main text
 *       *(.text .text.fixup)                   the main statement takes .text.* in
 *       __sched_text_start = .; *(.sched.text) __sched_text_end = .;    struct lds_group
 *     } :text =0xcccc
 *   }
 */
#ifndef LDSCRIPTS_LDS_LDS_H
#define LDSCRIPTS_LDS_LDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum lds_kind {
	LDS_ASSIGN,	/* symbol or `.`, PROVIDE and its kin included */
	LDS_INPUT,	/* FILE(SECTIONS...), in KEEP() or not */
	LDS_OTHER,	/* ASSERT, BYTE, CONSTRUCTORS, a lone `;` ... */
};

struct lds_stmt {
	enum lds_kind kind;
	size_t start, end;	/* bytes of the text, the closing `;` included */
	char *symbol;		/* LDS_ASSIGN: what is assigned; else NULL */
	char *file;		/* LDS_INPUT: the file pattern, without the archive's; else NULL */
	char **patterns;	/* LDS_INPUT: section patterns, without SORT and EXCLUDE_FILE around them */
	unsigned int nr_patterns, alloc_patterns;
	size_t patterns_end;	/* LDS_INPUT: where one more pattern can stand */
	bool any_file;		/* LDS_INPUT: the file pattern is a bare `*` */
};

struct lds_section {
	char *name;
	size_t body_start, body_end;	/* between the braces */
	struct lds_stmt *stmts;
	unsigned int nr_stmts, alloc_stmts;
};

struct lds {
	char *name;		/* for messages */
	char *text;		/* own copy, NUL-terminated */
	size_t size;
	struct lds_section *sections;	/* output sections in script order, those in OVERLAY left out */
	unsigned int nr_sections, alloc_sections;
};

/* Members of one bounded group that come first in it, and whether the group moves. */
struct lds_group_order {
	char *section;		/* input section of the group, e.g. ".sched.text" */
	char *members;		/* input statements, one a line; may be empty, not NULL */
	bool after_hot;		/* stand right behind the hot region */
};

struct lds_changes {
	const char *hot;	/* statements of the hot region; NULL or empty: none */
	bool take_in;		/* take .text.[0-9a-zA-Z_]* into the main text */
	const struct lds_group_order *groups;	/* those after_hot stand there in this order */
	unsigned int nr_groups;
};

/* Whether the text defines what only a kernel's own script does: _stext, and init or scheduler text. Never fails. */
bool lds_is_kernel(const char *text, size_t size);

/* Read a script; name is for messages. Errors (unbalanced braces, endless strings ...) are reported. */
int lds_init(struct lds *l, const char *name, const char *text, size_t size);
void lds_release(struct lds *l);

/*
 * Write the script with the changes. Errors, reported before anything is written: no
 * .text output section, no main text in it, a group that is not there or not whole.
 */
int lds_rewrite(const struct lds *l, const struct lds_changes *c, FILE *fp);

/*
 * The patterns that match what `.text.[0-9a-zA-Z_]*` matches but for the sections that
 * another statement of the script names (.text.unlikely, .text.unlikely.* ...), so
 * that those keep their own places although ld gives a section to the first statement
 * that matches. Separated by blanks; the caller frees.
 */
char *lds_main_patterns(const struct lds *l, const struct lds_stmt *main_stmt);

/*
 * What the kernel calls its functions' text by, wherever it puts it: .text, .text.hot, .text.unlikely.* ..., but not the
 * sections of other things that it names .text.X, such as x86's .text.__x86.indirect_thunk.
 */
bool lds_is_main_pattern(const char *pattern);

/*
 * Whether the script gives a section to a statement of its own, outside of main text: between boundary symbols, to init
 * text, or away. object: as a link map spells it; NULL: any.
 */
bool lds_claims(const struct lds *l, const char *object, const char *section);

#endif
