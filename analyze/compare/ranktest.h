/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is the difference of two small sets of measurements more than noise? The rank test
 * of Mann and Whitney, exact: the values keep their ranks (equal values share theirs)
 * and are dealt out to the two sides in every possible way; p is the share of the
 * ways whose rank sum lies as far from its mean as the measured one, or further.
 */
#ifndef ANALYZE_COMPARE_RANKTEST_H
#define ANALYZE_COMPARE_RANKTEST_H

#include <stdbool.h>
#include <stdint.h>

struct rank_test {
	double p;		/* two-sided, 0..1; 1 when a side is empty */
	double least_p;		/* the smallest that these values could give in any way of dealing them out */
	bool exact;		/* false: too many values to count, the normal approximation with ties */
};

enum { RANK_TEST_MAX_EXACT = 60 }; /* values of both sides together; further ones cost more than they tell */

struct rank_test rank_test(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b);

/*
 * Correct p values for their number, in place (Holm 1979): with these, the chance that
 * any one of all is below alpha by noise alone stays below alpha.
 */
void holm_correct(double *p, uint32_t nr);

#endif
