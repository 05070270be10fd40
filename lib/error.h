/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One reporter for the whole program: every message to stderr goes through here. */
#ifndef LIB_ERROR_H
#define LIB_ERROR_H

#include <stdio.h>

/* Exit statuses of every command. */
enum exit_status {
	EXIT_DONE = 0,	/* did what was asked */
	EXIT_FAILED = 1,/* could not: a message said why, nothing was half-written */
	EXIT_USAGE = 2,	/* the command line is wrong */
	EXIT_NO = 3,	/* ran fine, and the answer is no */
};

/* Where messages go; NULL: to stderr. For a process whose stderr others write to as well. */
extern FILE *error_stream;

/* Set from -v and -q: verbosity 0 is normal, each -v adds one, -q makes it -1. */
extern int verbosity;

/*
 * Print "hottext: MESSAGE" and return -1, so that a caller can `return error(...)`.
 * Text: lower case, no full stop, the subject quoted, the cause last.
 * The layer that knows file and offset prints, once; callers pass -1 up in silence.
 */
int error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print "hottext: warning: MESSAGE"; the work goes on. Silent under -q. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print MESSAGE unless -q: results in prose, totals. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print MESSAGE under -v only: what was decided, and why. */
void detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print and exit(EXIT_FAILED). For programs and allocators only, never for modules. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* An invariant of ours is broken: print where, abort. */
#define BUG_ON(cond) do { if (cond) bug(__FILE__, __LINE__, #cond); } while (0)
void bug(const char *file, int line, const char *cond) __attribute__((noreturn));

#endif
