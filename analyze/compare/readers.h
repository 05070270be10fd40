/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be compared besides kernels, each format a file of its own. A text is an
 * LMbench summary when it has the title of one of its tables; else each of its lines
 * is offered to the readers of counters in turn, so that one file can hold several
 * kinds, and several runs one after the other.
 */
#ifndef ANALYZE_COMPARE_READERS_H
#define ANALYZE_COMPARE_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct figures;

struct reading {
	struct figures *f;
	const char *path;
	uint32_t operand;
	unsigned long line;	/* number of the line at hand */
	bool in_perf;		/* below "Performance counter stats" */
	char decimal;		/* mark in the numbers of perf's text, see perf_begin() */
	bool in_time;		/* in the list that GNU time -v prints */
};

/*
 * Read a file, or all of a folder in order of names: each file of it is further runs.
 * Errors are reported, among them a file in which nothing was understood.
 */
int read_operand(struct figures *f, uint32_t operand, const char *path);

/* Take one line; false when it is of another format. line may be changed. */
bool time_take(struct reading *r, char *line);		/* bash, POSIX sh, ksh; GNU time, also -v */
bool perf_take(struct reading *r, char *line);		/* perf stat, text, -x, and -x\; */
bool counter_take(struct reading *r, char *line);	/* "NAME: NUMBER" as in /proc/tlbmiss */

/* Before the lines of a file: finds the locale of perf's text. Errors are reported, one where that cannot be told. */
int perf_begin(struct reading *r, char *const *lines, unsigned long nr);

/* perf's "PMU/BASE/MODIFIERS" or "BASE:MODIFIERS"; nr_pmu 0: it names none. Points into name. */
struct event {
	const char *pmu, *base, *modifiers;
	size_t nr_pmu, nr_base;
};
struct event split_event(const char *name);

/* Whether a line is the title of an LMbench table. */
bool lmbench_title(const char *line);

/* A whole summary, 1.9 to 3.x: the lines of path. */
void lmbench_read(struct figures *f, uint32_t operand, const char *path, char **lines,
		  unsigned long nr_lines);

/* Split at blanks and tabs, in place: at most max words, *nr of them; false when there are more. */
bool split_words(char *line, char **words, uint32_t max, uint32_t *nr);

#endif
