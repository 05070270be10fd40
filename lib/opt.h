/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Command-line options. One table per command drives the parser, --help and the
 * bash completion, so that the three cannot disagree.
 */
#ifndef LIB_OPT_H
#define LIB_OPT_H

#include <stdbool.h>
#include <stdint.h>

enum opt_kind {
	OPT_END,	/* closes a table */
	OPT_FLAG,	/* bool *value, set true */
	OPT_COUNT,	/* int *value, incremented */
	OPT_QUIET,	/* int *value, set to -1 */
	OPT_STRING,	/* const char **value; points into argv */
	OPT_UINT,	/* unsigned int *value, within [min, max] */
	OPT_DOUBLE,	/* double *value */
	OPT_LIST,	/* struct opt_list *value, appended at each use */
};

struct opt_list {
	const char **items;	/* point into argv */
	unsigned int nr;
};

struct opt {
	char letter;		/* 0: long form only */
	const char *name;	/* long name without dashes */
	const char *arg;	/* what --help calls the value; NULL for flags */
	const char *help;	/* one line, lower case, no full stop */
	enum opt_kind kind;
	void *value;
	unsigned int min, max;	/* of OPT_UINT; max 0 means UINT_MAX */
};

/* What every command takes. */
extern bool opt_force;		/* --force: go on where a check would stop, and say so */
extern bool opt_json;		/* --json: results as JSON on stdout */
#define OPT_COMMON \
	{ 'v', "verbose", NULL, "say what was decided and why; twice for more", OPT_COUNT, &verbosity, 0, 0 }, \
	{ 'q', "quiet", NULL, "errors only", OPT_QUIET, &verbosity, 0, 0 }, \
	{ 'h', "help", NULL, "print this help", OPT_FLAG, NULL, 0, 0 }, \
	{ 0, NULL, NULL, NULL, OPT_END, NULL, 0, 0 }
#define OPT_JSON { 'j', "json", NULL, "results as JSON on standard output", OPT_FLAG, &opt_json, 0, 0 }
#define OPT_FORCE { 0, "force", NULL, "go on where a check would stop, and say so", OPT_FLAG, &opt_force, 0, 0 }

struct command {
	const char *name;
	const char *args;	/* what follows the options in the usage line */
	const char *summary;	/* one line */
	const char *details;	/* a paragraph for --help, or NULL */
	const char *example;	/* a runnable command line */
	const struct opt *opts;	/* NULL: arguments are handed over unparsed */
	const struct command *const *parts;	/* NULL, or what the first operand chooses among; closed by NULL */
	bool options_first;	/* stop at the first operand: what follows belongs to another program */
	int (*run)(int argc, char **argv);	/* operands only; returns an exit status */
};

/*
 * Parse argv[1..] by the command's table, run it, return the exit status.
 * --help prints to stdout and returns 0; a wrong option prints one line and
 * "try 'hottext NAME --help'", and returns EXIT_USAGE.
 */
int command_run(const struct command *cmd, int argc, char **argv);

/* Report a usage error of cmd; returns EXIT_USAGE. */
int usage_error(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
