/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Knees and populations, the published ones among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/calibrate/knee.h"

/* Column col of a file of numbers; column 0 too where it is wanted. */
static uint32_t column(const char *path, int col, double *out)
{
	FILE *fp = fopen(path, "r");
	char line[256];
	uint32_t nr = 0;

	assert_non_null(fp);
	while (fgets(line, sizeof(line), fp)) {
		double v[3] = { 0 };

		if (line[0] != '#' && sscanf(line, "%lf %lf %lf", &v[0], &v[1], &v[2]) > col)
			out[nr++] = v[col];
	}
	fclose(fp);
	return nr;
}

static void itanium_chase(void **state)
{
	(void)state;
	double pages[64], y[64];
	uint32_t nr = column("tests/data/calibrate/chase.txt", 0, pages);
	struct knee k[4];

	for (int col = 1; col <= 2; col++) {
		assert_int_equal(column("tests/data/calibrate/chase.txt", col, y), nr);
		assert_int_equal(find_knees(y, nr, KNEE_STEP, k, 4), 2);
		assert_float_equal(pages[k[0].before], 30, 0);
		assert_float_equal(pages[k[0].after], 40, 0);
		assert_float_equal(pages[k[1].before], 110, 0);
		assert_float_equal(pages[k[1].after], 120, 0);
	}
}

static void itanium_ticks(void **state)
{
	(void)state;
	double x[64];
	bool apart[64];
	static const double want[] = { 940, 750 };

	for (int col = 0; col < 2; col++) {
		uint32_t nr = column("tests/data/calibrate/ticks.txt", col, x);
		struct populations p = split_populations(x, nr, apart);

		assert_float_equal(p.low, 10, 1);
		assert_float_equal(p.high, want[col], 8);
		assert_true(p.gap > 3);
		assert_int_equal(p.nr_low + p.nr_high + p.nr_apart, nr);
		/* The first touch of all, and what came between. */
		assert_true(apart[2]);
		assert_true(apart[3]);
		assert_int_equal(p.nr_apart, 2);
	}
}

static void flat(void **state)
{
	(void)state;
	static const double y[] = { 5, 4.6, 4.1, 4.4, 9, 4.2, 4.3, 4.9, 5.2, 5.6 };	/* one spike is no knee */
	struct knee k[2];
	bool apart[10];

	assert_int_equal(find_knees(y, 10, KNEE_STEP, k, 2), 0);
	assert_int_equal(find_knees(y, 0, KNEE_STEP, k, 2), 0);
	assert_int_equal(find_knees(y, 1, KNEE_STEP, k, 2), 0);
	assert_true(split_populations(y, 10, apart).gap < 3);
	assert_int_equal(split_populations(y, 1, apart).nr_low, 1);
	assert_int_equal(split_populations(y, 0, apart).nr_low, 0);
}

static void few_touches(void **state)
{
	(void)state;
	static const double one[] = { 3, 3, 3, 3, 3, 3, 30, 31, 30, 29, 30, 900 };	/* an interrupt came */
	static const double two[] = { 900, 3, 3, 3, 700, 3, 30, 31, 30, 29 };
	static const double seven[] = { 3, 3, 3, 3, 30, 30, 900 };
	static const struct {
		const double *x;
		uint32_t nr, low, high, apart;
	} want[] = { { one, 12, 6, 5, 1 }, { two, 10, 4, 4, 2 }, { seven, 7, 4, 2, 1 } };
	bool apart[12];

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct populations p = split_populations(want[i].x, want[i].nr, apart);

		assert_float_equal(p.low, 3, 0);
		assert_float_equal(p.high, 30, 0.6);
		assert_int_equal(p.nr_low, want[i].low);
		assert_int_equal(p.nr_high, want[i].high);
		assert_int_equal(p.nr_apart, want[i].apart);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(itanium_chase), cmocka_unit_test(itanium_ticks), cmocka_unit_test(flat),
		cmocka_unit_test(few_touches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
