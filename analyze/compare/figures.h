/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was measured, by whom: the common form of all that can be compared.
 *
 *   operand  before.txt           after.txt          one file or folder on the command line
 *   side     before.txt           after.txt          or each host that a file tells apart
 *   figure   fork proc   2075 2042 2082   1796 1781 1804      one value a run
 */
#ifndef ANALYZE_COMPARE_FIGURES_H
#define ANALYZE_COMPARE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/index.h"

enum better { BETTER_UNKNOWN, BETTER_SMALLER, BETTER_BIGGER };

struct figure {
	const char *table;	/* "Processor, Processes"; "" where there are no tables */
	const char *name;
	const char *unit;	/* "us", "s", "MB/s"; "" for counts */
	enum better better;
	bool tlb_misses;	/* counts TLB misses */
	bool elapsed;		/* wall-clock time of the run, seconds */
};

struct side {
	const char *label;	/* unique among the sides, once figures_settle() ran */
	const char *host;	/* as the file says; "" where it says nothing */
	uint32_t operand;
};

struct measured {
	uint32_t figure, side;
	uint32_t run;		/* running number over all values */
	double value;
};

/* A row that was left out, because nobody can know which of its columns are empty. */
struct ambiguous {
	const char *path, *table, *host;
	unsigned long line;
	uint32_t cells, columns;
};

struct figures {
	struct index strings;		/* owns every string here */
	struct index figure_keys, side_keys;
	struct figure *figures;		/* in order of first sight */
	uint32_t nr_figures, alloc_figures;
	struct side *sides;
	uint32_t nr_sides, alloc_sides;
	struct measured *values;	/* once settled, by (figure, side, run) */
	uint32_t nr_values, alloc_values;
	struct ambiguous *ambiguous;
	uint32_t nr_ambiguous, alloc_ambiguous;
	uint32_t not_counted;		/* perf's <not counted> and <not supported>, and LMbench's failures */
	uint32_t not_understood;	/* lines */
};

/* A zeroed struct figures is an empty one. */
void figures_release(struct figures *f);

/* Ids, added when new; the strings are copied. */
uint32_t figures_figure(struct figures *f, const struct figure *like);
uint32_t figures_side(struct figures *f, uint32_t operand, const char *host);
void figures_add(struct figures *f, uint32_t figure, uint32_t side, double value);
void figures_add_ambiguous(struct figures *f, const struct ambiguous *row);

/*
 * When all is read: an operand that names one host at most is one side, called by the
 * end of its path; else each host is a side. paths: [operand].
 */
void figures_settle(struct figures *f, const char *const *paths, uint32_t nr_paths);

/* Values of one figure on one side, in order of reading, after figures_settle(); the caller frees *out. */
uint32_t figures_values(const struct figures *f, uint32_t figure, uint32_t side, double **out);

#endif
