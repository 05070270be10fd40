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
struct modules;
struct profile;
struct symtab;

struct collect_options {
	const struct symtab *syms;	/* of the kernel that was profiled; NULL when none was given */
	const char *vmlinux;		/* its file name, for messages; NULL when none */
	const char *event;		/* only this event; NULL: all that are cycles-like */
	struct modules *modules;	/* functions of loadable modules; NULL when none were given */
	bool force;			/* use the readable prefix of damaged input, and say what was lost */
};

struct reader {
	const char *name;	/* as in profile_source.reader */
	const char *tells;	/* one line for the documentation: what it can and cannot tell */
	/* head is NUL-terminated at len: 4 KiB, more where that was not enough; text has no CR before newlines */
	bool (*probe)(const char *head, size_t len);
	/*
	 * Add the whole input to the profile, one profile_source with its totals
	 * included. path is the name to reopen by when random access is needed
	 * ("-" cannot be). Errors are reported; on error the profile is to be dropped.
	 */
	int (*read)(struct input *in, const char *path, const struct collect_options *opts,
		    struct profile *p);
};

/* Read any input, recognised by content; "-" is stdin. */
int collect_file(const char *path, const struct collect_options *opts, struct profile *p);

/* What would read an input; NULL after reporting. */
const struct reader *collect_recognise(const char *path);

/* Whether it reads addresses alone, which say nothing without the symbols of the kernel that was profiled. */
bool collect_needs_symbols(const struct reader *r);

/* collect_file() for each path, in this order; stops at the first that fails. */
int collect_files(const char *const *paths, unsigned int nr, const struct collect_options *opts,
		  struct profile *p);

/* One line to stderr: "N samples, K kernel, R resolved, U unresolved, L lost". */
void collect_print_totals(const struct profile *p);

/*
 * For readers of text, behind the last line: 0 where the input ended. Where it broke
 * off, which was reported, -1; but 0 and a warning where it is forced and any of it
 * was read.
 */
int collect_rest(const struct input *in, const struct collect_options *opts, bool any);

/* Warn that another recording stands behind the one that was read: cat(1) merges profiles, but not recordings. */
void collect_tell_second(const char *name);

struct profile_source;

/* Name the kernel that syms describe as the source's. */
void source_set_kernel(struct profile_source *s, const struct symtab *syms);

/* Each reader is one file; a new one needs a line here and one in reader.c. */
extern const struct reader hot_reader;
extern const struct reader perfdata_reader;
extern const struct reader tracedat_reader;
extern const struct reader fetch_reader;
extern const struct reader perfscript_reader;
extern const struct reader ftracetext_reader;
extern const struct reader folded_reader;
extern const struct reader bpftrace_reader;
extern const struct reader fdata_reader;
extern const struct reader autofdo_reader;
extern const struct reader readprofile_reader;
extern const struct reader procprofile_reader;

/* NULL-terminated list of all readers, in the order they are probed. */
extern const struct reader *const readers[];

#endif
