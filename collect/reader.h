/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The interface behind which every kind of input stands. An input is recognised
 * by its first bytes (after zstd is opened), never by its name.
 */
#ifndef COLLECT_READER_H
#define COLLECT_READER_H

#include <stdbool.h>
#include <stddef.h>

struct input;
struct profile;
struct symtab;

struct collect_options {
	const struct symtab *syms;	/* of the kernel that was profiled; NULL when none was given */
	const char *vmlinux;		/* its file name, for messages; NULL when none */
	const char *event;		/* only this event; NULL: all that are cycles-like */
	bool force;			/* use the readable prefix of damaged input, and say what was lost */
};

struct reader {
	const char *name;	/* as in profile_source.reader */
	const char *tells;	/* one line for the documentation: what it can and cannot tell */
	bool (*probe)(const char *head, size_t len);	/* head is NUL-terminated at len <= 4096 */
	/*
	 * Add the whole input to the profile, one profile_source with its totals
	 * included. path is the name to reopen by when random access is needed
	 * ("-" cannot be). Errors are reported; on error the profile is to be dropped.
	 */
	int (*read)(struct input *in, const char *path, const struct collect_options *opts, struct profile *p);
};

/* Read any input, recognised by content; "-" is stdin. */
int collect_file(const char *path, const struct collect_options *opts, struct profile *p);

/* One line to stderr: "N samples, K kernel, R resolved, U unresolved, L lost". */
void collect_print_totals(const struct profile *p);

/* NULL-terminated list of all readers, in the order they are probed. */
extern const struct reader *const readers[];

#endif
