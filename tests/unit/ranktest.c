/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rank test against counting every way of dealing the values out, and Holm's correction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/compare/ranktest.h"

static uint64_t seed = 1;
static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* Rank of x among v, ties sharing, by counting. */
static double rank_of(const double *v, uint32_t n, double x)
{
	double below = 0, equal = 0;

	for (uint32_t i = 0; i < n; i++) {
		below += v[i] < x;
		equal += v[i] == x;
	}
	return below + (equal + 1) / 2;
}

struct brute {
	double p, least_p;
};

/* Every subset of na of the n values as a bit mask. */
static struct brute brute_force(const double *v, uint32_t na, uint32_t n)
{
	double ranks[16], mean = na * (n + 1) / 2.0, far = 0, furthest = 0;
	uint32_t all = 0, tail = 0, end = 0;

	for (uint32_t i = 0; i < n; i++)
		ranks[i] = rank_of(v, n, v[i]);
	for (uint32_t i = 0; i < na; i++)
		far += ranks[i];
	far = fabs(far - mean);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t set = 0; set < 1u << n; set++) {
			double sum = 0;

			if ((uint32_t)__builtin_popcount(set) != na)
				continue;
			for (uint32_t i = 0; i < n; i++)
				sum += set >> i & 1 ? ranks[i] : 0;
			sum = fabs(sum - mean);
			if (!pass) {
				furthest = sum > furthest ? sum : furthest;
				continue;
			}
			all++;
			tail += sum >= far;
			end += sum >= furthest;
		}
	return (struct brute){ (double)tail / all, (double)end / all };
}

static void against_brute_force(void **state)
{
	double v[16];

	(void)state;
	for (int round = 0; round < 400; round++) {
		uint32_t na = 1 + rnd(5), nb = 1 + rnd(6), values = 1 + rnd(12);

		for (uint32_t i = 0; i < na + nb; i++)
			v[i] = rnd(values) * 0.25 - 1;
		struct brute want = brute_force(v, na, na + nb);
		struct rank_test got = rank_test(v, na, v + na, nb);
		assert_true(got.exact);
		assert_true(fabs(got.p - want.p) < 1e-12);
		assert_true(fabs(got.least_p - want.least_p) < 1e-12);
	}
}

/* Five and five apart: both extremes of 252; three and three: of 20; one and one: nothing. */
static void smallest_p(void **state)
{
	const double a[] = { 1, 2, 3, 4, 5 }, b[] = { 6, 7, 8, 9, 10 };

	(void)state;
	assert_true(fabs(rank_test(a, 5, b, 5).p - 2.0 / 252) < 1e-12);
	assert_true(fabs(rank_test(b, 3, a, 3).p - 0.1) < 1e-12);
	assert_true(fabs(rank_test(a, 2, b, 2).p - 1.0 / 3) < 1e-12);
	assert_true(rank_test(a, 1, b, 1).p >= 1);
	assert_true(rank_test(a, 5, b, 0).p >= 1);
	assert_true(rank_test(a, 5, a, 5).p >= 1);
}

/* More values than are counted: near what counting gives for almost as many. */
static void many_values(void **state)
{
	double a[80], b[80];

	(void)state;
	for (uint32_t i = 0; i < 80; i++) {
		a[i] = rnd(1000);
		b[i] = rnd(1000) + 100;
	}
	struct rank_test exact = rank_test(a, 30, b, 30), rough = rank_test(a, 31, b, 30);
	assert_true(exact.exact && !rough.exact);
	assert_true(exact.p > 0 && rough.p > 0.3 * exact.p && rough.p < 3 * exact.p);
	assert_true(rough.least_p < 1e-9);
	for (uint32_t i = 0; i < 80; i++)
		a[i] = b[i] = 7;
	assert_true(rank_test(a, 80, b, 80).p >= 1);
}

/* Holm's own steps: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.04 x 1, never falling. */
static void holm(void **state)
{
	double p[] = { 0.04, 0.01, 0.03, 0.02 };
	const double want[] = { 0.06, 0.04, 0.06, 0.06 };

	(void)state;
	holm_correct(p, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(fabs(p[i] - want[i]) < 1e-12);
	double one[] = { 0.6, 0.9 };
	holm_correct(one, 2);
	assert_true(one[0] >= 1 && one[1] >= 1);
	holm_correct(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_brute_force),
		cmocka_unit_test(smallest_p),
		cmocka_unit_test(many_values),
		cmocka_unit_test(holm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
