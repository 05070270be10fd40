/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/compare/ranktest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

struct ranks {
	uint32_t nr;
	uint32_t *doubled;	/* [value, ascending]: twice its rank, so that shared ranks stay whole */
	double ties;		/* sum of t^3 - t over groups of t equal values */
};

static int compare_doubles(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return a < b ? -1 : a > b;
}

/* Ranks of the values, and twice the rank sum of a's. */
static uint64_t rank_values(struct ranks *r, const double *a, uint32_t nr_a, const double *b, uint32_t nr_b)
{
	double *all = xcalloc((size_t)nr_a + nr_b, sizeof(*all));
	uint64_t sum = 0;

	memcpy(all, a, nr_a * sizeof(*all));
	memcpy(all + nr_a, b, nr_b * sizeof(*all));
	r->nr = nr_a + nr_b;
	r->doubled = xcalloc(r->nr, sizeof(*r->doubled));
	r->ties = 0;
	qsort(all, r->nr, sizeof(*all), compare_doubles);
	for (uint32_t i = 0, end; i < r->nr; i = end) {
		for (end = i + 1; end < r->nr && all[end] <= all[i]; end++)
			;
		double t = end - i;
		r->ties += t * t * t - t;
		for (uint32_t k = i; k < end; k++)
			r->doubled[k] = i + 1 + end;
		for (uint32_t k = 0; k < nr_a; k++)
			sum += a[k] >= all[i] && a[k] <= all[i] ? i + 1 + end : 0;
	}
	free(all);
	return sum;
}

/* In how many ways do nr_a of the values have each rank sum: ways[sum], up to limit. The caller frees. */
static double *count_ways(const struct ranks *r, uint32_t nr_a, uint32_t limit)
{
	size_t width = (size_t)limit + 1;
	double *ways = xcalloc((nr_a + 1) * width, sizeof(*ways));

	ways[0] = 1;
	for (uint32_t i = 0; i < r->nr; i++)
		for (uint32_t n = nr_a; n-- > 0;)
			for (uint32_t s = 0; s + r->doubled[i] <= limit; s++)
				ways[(n + 1) * width + s + r->doubled[i]] += ways[n * width + s];
	double *last = xmemdup(ways + nr_a * width, width * sizeof(*ways));
	free(ways);
	return last;
}

static struct rank_test test_exactly(const struct ranks *r, uint32_t nr_a, uint64_t sum)
{
	uint32_t limit = r->nr * (r->nr + 1), furthest = 0;
	int64_t mean = (int64_t)nr_a * (r->nr + 1);	/* twice the mean rank sum, as all sums here are */
	int64_t far = llabs((int64_t)sum - mean);
	double *ways = count_ways(r, nr_a, limit);
	double all = 0, tail = 0, end = 0;

	for (uint32_t s = 0; s <= limit; s++)
		if (ways[s] > 0 && llabs((int64_t)s - mean) > furthest)
			furthest = (uint32_t)llabs((int64_t)s - mean);
	for (uint32_t s = 0; s <= limit; s++) {
		int64_t d = llabs((int64_t)s - mean);

		all += ways[s];
		tail += d >= far ? ways[s] : 0;
		end += d >= furthest ? ways[s] : 0;
	}
	free(ways);
	return (struct rank_test){ tail / all, end / all, true };
}

/* Two-sided tail of the normal distribution beyond so many half rank steps from the mean. */
static double normal_tail(double far, double sigma)
{
	double z = (far / 2 - 0.5) / sigma;	/* continuity: sums are whole numbers */

	return sigma <= 0 || z <= 0 ? 1 : erfc(z / sqrt(2));
}

static struct rank_test test_roughly(const struct ranks *r, uint32_t nr_a, uint64_t sum)
{
	double n = r->nr, a = nr_a, b = n - a;
	double sigma = sqrt(a * b / 12 * (n + 1 - r->ties / (n * (n - 1))));

	return (struct rank_test){ normal_tail(fabs((double)sum - a * (n + 1)), sigma),
				   normal_tail(a * b, sigma), false };
}

struct rank_test rank_test(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b)
{
	struct ranks r;

	if (!nr_a || !nr_b)
		return (struct rank_test){ 1, 1, true };
	uint64_t sum = rank_values(&r, a, nr_a, b, nr_b);
	struct rank_test t =
		r.nr <= RANK_TEST_MAX_EXACT ? test_exactly(&r, nr_a, sum) : test_roughly(&r, nr_a, sum);
	free(r.doubled);
	return t;
}

static const double *sorting;
static int compare_p(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	if (sorting[a] < sorting[b] || sorting[a] > sorting[b])
		return sorting[a] < sorting[b] ? -1 : 1;
	return a < b ? -1 : 1;
}

void holm_correct(double *p, uint32_t nr)
{
	uint32_t *order = xcalloc(nr, sizeof(*order));
	double least = 0;

	for (uint32_t i = 0; i < nr; i++)
		order[i] = i;
	sorting = p;
	qsort(order, nr, sizeof(*order), compare_p);
	for (uint32_t i = 0; i < nr; i++) {
		double v = p[order[i]] * (nr - i);

		v = v > 1 ? 1 : v;
		least = v > least ? v : least;
		p[order[i]] = least;
	}
	free(order);
}
