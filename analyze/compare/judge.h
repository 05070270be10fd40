/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sides set against each other, figure by figure: medians, spread, and whether the
 * difference is more than noise.
 *
 *   pair 0   nopintlb against 2pintlb     null call  stat  fork proc ...
 *   pair 1   nopintlb against largepte    null call  stat  fork proc ...
 *
 * All figures of all pairs are corrected for together, since one looks at all of them.
 */
#ifndef ANALYZE_COMPARE_JUDGE_H
#define ANALYZE_COMPARE_JUDGE_H

#include <stdint.h>

struct figures;

struct spread {
	uint32_t runs;
	double median, min, max;
};

enum verdict {
	VERDICT_DIFFERS,	/* corrected p at most alpha */
	VERDICT_ALONE,		/* only were it the one figure looked at */
	VERDICT_NOISE,		/* noise may do as much */
	VERDICT_FEW_RUNS,	/* whatever had been measured, so few runs could not tell */
	VERDICT_EQUAL,		/* all values are the same */
};
extern const char *const verdict_names[];

struct judgement {
	uint32_t figure;
	struct spread base, other;
	double p, corrected, least_p;	/* least_p: the smallest p that these runs could give */
	double least_free;		/* that so many runs could give were no two values equal */
	enum verdict verdict;
};

struct pair {
	uint32_t base, other;		/* sides */
	struct judgement *figures;	/* those that both measured */
	uint32_t nr_figures;
};

struct judged {
	double alpha;
	struct pair *pairs;
	uint32_t nr_pairs;
	uint32_t nr_tests;	/* corrected for */
};

/*
 * Every other side against base; where several operands name the same hosts, each host
 * against itself in the first operand instead. base: a side, or UINT32_MAX for the first.
 * wanted: patterns of fnmatch(3) for figure names, nr_wanted 0: all.
 */
void judged_init(struct judged *j, const struct figures *f, uint32_t base, double alpha,
		 const char *const *wanted, uint32_t nr_wanted);
void judged_release(struct judged *j);

/* Values in ascending order of *v. */
struct spread spread_of(double *v, uint32_t nr);

/* (other - base) in per cent of base; 0 where base is 0. */
double judgement_percent(const struct judgement *j);

#endif
