/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the difference in TLB misses is worth in time, said both ways round: from the cost
 * of a miss to seconds, and from the measured seconds to the cost of a miss.
 */
#ifndef ANALYZE_COMPARE_COST_H
#define ANALYZE_COMPARE_COST_H

#include <stdbool.h>

struct figures;
struct pair;

struct miss_price {
	double min_cycles, max_cycles;	/* a miss; 0: not known */
	double clock_hz;		/* 0: not known */
};

struct miss_cost {
	bool have_misses;		/* both sides counted some */
	double misses;			/* other - base, medians added up */
	double base_misses, other_misses;
	bool have_seconds;		/* the price is known */
	double min_seconds, max_seconds;	/* of those misses at that price; signed as misses */
	bool have_run;			/* both sides measured how long the run took */
	double run_seconds;		/* base, median */
	double min_longer, max_longer;	/* other - base over all pairs of runs */
	bool have_implied;
	double min_implied, max_implied; /* cycles a miss, were the misses all that made the difference */
};

struct miss_cost miss_cost(const struct figures *f, const struct pair *p, const struct miss_price *price);

/* "23", or a range "23-140" or "23..140"; false when it is neither. */
bool parse_cycles(const char *text, double *min, double *max);

/* "48MHz", "48 MHz", "2.4GHz", "48000000". */
bool parse_clock(const char *text, double *hz);

#endif
