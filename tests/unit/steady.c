/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths over made-up units: alone, in a mix, under another layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "analyze/tlb/steady.h"

enum { NR_UNITS = 6 };

static struct unit units[NR_UNITS];
static struct span spans[NR_UNITS];
static struct image img = { .units = units, .nr_units = NR_UNITS };

/* Path 0 runs units 0 to 3, path 1 units 4 and 5; each unit lies on a page of its own. */
static struct callgraph_path paths[2] = {
	{ .kind = PATH_INTERRUPT, .first_span = 0, .nr_spans = 4, .weight = 1 },
	{ .kind = PATH_INTERRUPT, .first_span = 4, .nr_spans = 2, .weight = 1 },
};
static struct callgraph_next nexts[2] = { { 0, 1, 5 }, { 1, 0, 5 } };
static struct callgraph cg = {
	.image = &img, .spans = spans, .nr_spans = NR_UNITS, .paths = paths, .nr_paths = 2,
};

static struct machine lru(uint32_t entries)
{
	return (struct machine){
		.text_page = 4096, .user_page = 4096, .module_page = 4096, .nr_levels = 1,
		.levels = { { .entries = entries, .ways = entries } },
	};
}

static int setup(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NR_UNITS; i++) {
		units[i] = (struct unit){ .addr = 0xc0000000 + 4096 * (uint64_t)i, .size = 64 };
		spans[i] = (struct span){ i, 0, 32 };
	}
	return 0;
}

static void alone(void **state)
{
	(void)state;
	struct machine three = lru(3), four = lru(4);
	struct steady s;

	assert_true(steady_init(&s, &cg, NULL, &three));
	assert_float_equal(s.alone[0], 4, 0);	/* four pages in turn never hit three entries */
	assert_float_equal(s.alone[1], 0, 0);
	steady_release(&s);
	assert_true(steady_init(&s, &cg, NULL, &four));
	assert_float_equal(s.alone[0], 0, 0);
	steady_release(&s);
}

static void mix(void **state)
{
	(void)state;
	struct machine four = lru(4), six = lru(6);
	struct steady s;

	cg.nexts = nexts;
	cg.nr_nexts = 2;
	/* Six pages in turn: (4 + 2) / 2 misses a path but for the rare draws that repeat one. */
	assert_true(steady_init(&s, &cg, NULL, &four));
	assert_true(s.mix > 2.9 && s.mix <= 3);
	steady_release(&s);
	assert_true(steady_init(&s, &cg, NULL, &six));
	assert_float_equal(s.mix, 0, 0);
	steady_release(&s);
	cg.nexts = NULL;
	cg.nr_nexts = 0;
	/* Drawn freely, a path follows itself every other time. */
	assert_true(steady_init(&s, &cg, NULL, &four));
	assert_true(s.mix > 1 && s.mix < 2.5);
	steady_release(&s);
}

static void packed(void **state)
{
	(void)state;
	uint64_t addr[NR_UNITS];
	struct machine two = lru(2);
	struct steady s;

	for (uint32_t i = 0; i < NR_UNITS; i++)
		addr[i] = 0xc0100000 + 64 * (uint64_t)i;
	assert_true(steady_init(&s, &cg, addr, &two));
	assert_float_equal(s.mix, 0, 0);
	steady_release(&s);
}

static void nothing(void **state)
{
	(void)state;
	struct callgraph none = { .image = &img };
	struct machine m = lru(2);
	struct steady s;

	assert_false(steady_init(&s, &none, NULL, &m));
	steady_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone), cmocka_unit_test(mix), cmocka_unit_test(packed), cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
