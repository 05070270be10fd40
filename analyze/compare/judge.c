/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/compare/judge.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/figures.h"
#include "analyze/compare/ranktest.h"
#include "lib/mem.h"

const char *const verdict_names[] = {
	[VERDICT_DIFFERS] = "differs", [VERDICT_ALONE] = "alone", [VERDICT_NOISE] = "noise",
	[VERDICT_FEW_RUNS] = "few runs", [VERDICT_EQUAL] = "equal",
};

static int compare_doubles(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return a < b ? -1 : a > b;
}

struct spread spread_of(double *v, uint32_t nr)
{
	struct spread s = { .runs = nr };

	if (!nr)
		return s;
	qsort(v, nr, sizeof(*v), compare_doubles);
	s.min = v[0];
	s.max = v[nr - 1];
	s.median = nr % 2 ? v[nr / 2] : (v[nr / 2 - 1] + v[nr / 2]) / 2;
	return s;
}

double judgement_percent(const struct judgement *j)
{
	return fabs(j->base.median) > 0 ? 100 * (j->other.median - j->base.median) / fabs(j->base.median) : 0;
}

/* Both extremes of all ways to deal na + nb different values out. */
static double least_of_runs(uint32_t na, uint32_t nb)
{
	double ways = 1;

	for (uint32_t i = 1; i <= na; i++)
		ways *= (double)(nb + i) / i;
	return na && nb ? fmin(1, 2 / ways) : 1;
}

static bool judge_figure(struct judgement *j, const struct figures *f, uint32_t figure, const struct pair *p)
{
	double *a, *b;
	uint32_t na = figures_values(f, figure, p->base, &a), nb = figures_values(f, figure, p->other, &b);

	if (na && nb) {
		struct rank_test t = rank_test(a, na, b, nb);

		*j = (struct judgement){ .figure = figure,
					 .base = spread_of(a, na),
					 .other = spread_of(b, nb),
					 .p = t.p,
					 .corrected = t.p,
					 .least_p = t.least_p,
					 .least_free = least_of_runs(na, nb) };
	}
	free(a);
	free(b);
	return na && nb;
}

static bool is_wanted(const struct figure *fig, const char *const *wanted, uint32_t nr_wanted)
{
	for (uint32_t i = 0; i < nr_wanted; i++)
		if (!fnmatch(wanted[i], fig->name, 0))
			return true;
	return !nr_wanted;
}

static void add_pair(struct judged *j, const struct figures *f, uint32_t base, uint32_t other,
		     const char *const *wanted, uint32_t nr_wanted)
{
	j->pairs = xreallocarray(j->pairs, j->nr_pairs + 1, sizeof(*j->pairs));
	struct pair *p = &j->pairs[j->nr_pairs++];

	*p = (struct pair){ .base = base,
			    .other = other,
			    .figures = xcalloc(f->nr_figures, sizeof(*p->figures)) };
	for (uint32_t i = 0; i < f->nr_figures; i++)
		if (is_wanted(&f->figures[i], wanted, nr_wanted) &&
		    judge_figure(&p->figures[p->nr_figures], f, i, p))
			p->nr_figures++;
}

/* The side of the first operand with that host, UINT32_MAX when there is none. */
static uint32_t same_host_before(const struct figures *f, uint32_t side)
{
	for (uint32_t i = 0; i < f->nr_sides; i++)
		if (!f->sides[i].operand && i != side && f->sides[side].operand && f->sides[i].host[0] &&
		    !strcmp(f->sides[i].host, f->sides[side].host))
			return i;
	return UINT32_MAX;
}

static bool many_hosts(const struct figures *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nr_sides; i++)
		n += !f->sides[i].operand;
	return n > 1;
}

static void make_pairs(struct judged *j, const struct figures *f, uint32_t base, const char *const *wanted,
		       uint32_t nr_wanted)
{
	if (base == UINT32_MAX && many_hosts(f))
		for (uint32_t i = 0; i < f->nr_sides; i++)
			if (same_host_before(f, i) != UINT32_MAX)
				add_pair(j, f, same_host_before(f, i), i, wanted, nr_wanted);
	if (j->nr_pairs)
		return;
	base = base == UINT32_MAX ? 0 : base;
	for (uint32_t i = 0; i < f->nr_sides; i++)
		if (i != base)
			add_pair(j, f, base, i, wanted, nr_wanted);
}

static bool all_equal(const struct judgement *g)
{
	return g->base.min >= g->other.max && g->base.max <= g->other.min;
}

static enum verdict decide(const struct judgement *g, double alpha)
{
	if (all_equal(g))
		return VERDICT_EQUAL;
	if (g->corrected <= alpha)
		return VERDICT_DIFFERS;
	if (g->p <= alpha)
		return VERDICT_ALONE;
	return g->least_free > alpha ? VERDICT_FEW_RUNS : VERDICT_NOISE;
}

void judged_init(struct judged *j, const struct figures *f, uint32_t base, double alpha,
		 const char *const *wanted, uint32_t nr_wanted)
{
	*j = (struct judged){ .alpha = alpha };
	make_pairs(j, f, base, wanted, nr_wanted);
	for (uint32_t i = 0; i < j->nr_pairs; i++)
		j->nr_tests += j->pairs[i].nr_figures;
	double *p = xcalloc(j->nr_tests, sizeof(*p));
	uint32_t n = 0;
	for (uint32_t i = 0; i < j->nr_pairs; i++)
		for (uint32_t k = 0; k < j->pairs[i].nr_figures; k++)
			p[n++] = j->pairs[i].figures[k].p;
	holm_correct(p, j->nr_tests);
	n = 0;
	for (uint32_t i = 0; i < j->nr_pairs; i++)
		for (uint32_t k = 0; k < j->pairs[i].nr_figures; k++) {
			struct judgement *g = &j->pairs[i].figures[k];

			g->corrected = p[n++];
			g->verdict = decide(g, alpha);
		}
	free(p);
}

void judged_release(struct judged *j)
{
	for (uint32_t i = 0; i < j->nr_pairs; i++)
		free(j->pairs[i].figures);
	free(j->pairs);
	*j = (struct judged){ 0 };
}
