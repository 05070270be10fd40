/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guard of roots on a hand-made kernel: every entry can be counted by eye. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "lib/mem.h"
#include "reorder/guard.h"
#include "reorder/layout.h"

enum { PAGE = 4096, READ, STAT, PIPE, NR_FUNCS };

/*
 * Eight units of half a page each, two to a page in link order:
 *
 *   page    0      1      2      3
 *   unit  0  1   2  3   4  5   6  7
 */
static struct unit units[8];
static struct func funcs[] = {
	[READ] = { .id = "__x64_sys_read" }, [STAT] = { .id = "__x64_sys_stat" }, [PIPE] = { .id = "__x64_sys_pipe" },
};
static struct image img = { .units = units, .nr_units = 8, .funcs = funcs, .nr_funcs = NR_FUNCS, .text_start = 0x10000,
			    .text_end = 0x14000 };

static const struct span seen_spans[] = { { 1, 0, 2048 }, { 4, 0, 2048 }, { 1, 0, 16 }, { 0, 0, 16 }, { 1, 0, 16 } };
static const struct callgraph_path seen_paths[] = {
	{ PATH_SYSCALL, READ, 0, 2, 90, 0 }, { PATH_SYSCALL, READ, 2, 1, 10, 0 }, { PATH_SYSCALL, PIPE, 3, 2, 1, 0 },
};
static const struct callgraph seen = { .image = &img, .spans = (struct span *)seen_spans, .nr_spans = 5,
				       .paths = (struct callgraph_path *)seen_paths, .nr_paths = 3 };

/*
 * stat runs the hot unit 4 and the cold one beside it. The other goes by a name that was
 * profiled, as with a profile of another build: it counts for nothing.
 */
static const struct span unseen_spans[] = { { 4, 0, 16 }, { 5, 0, 16 }, { 6, 0, 16 } };
static const struct callgraph_path unseen_paths[] = {
	{ PATH_SYSCALL, STAT, 0, 2, 1, 0 }, { PATH_SYSCALL, READ, 2, 1, 1, 0 },
};
static const struct callgraph unseen = { .image = &img, .spans = (struct span *)unseen_spans, .nr_spans = 3,
					 .paths = (struct callgraph_path *)unseen_paths, .nr_paths = 2 };

static const struct machine machine = { .text_page = PAGE };

struct kernel {
	struct layout before, after;
	struct guard guard;
};

/* The order: 1 and 4, which read runs; the rest as before. */
static int setup(void **state)
{
	struct kernel *k = xcalloc(1, sizeof(*k));

	for (uint32_t i = 0; i < 8; i++)
		units[i] = (struct unit){ .section = ".text.f", .addr = 0x10000 + i * 2048, .size = 2048, .align = 16,
					  .group = GROUP_MAIN, .movable = true };
	layout_init(&k->before, &img);
	layout_assign(&k->before);
	layout_init(&k->after, &img);
	layout_append(&k->after, 1, PAGE);
	layout_append(&k->after, 4, 0);
	layout_assign(&k->after);
	guard_init(&k->guard, &seen, &unseen, &k->before, &machine);
	guard_measure(&k->guard, &k->after);
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	struct kernel *k = *state;

	guard_release(&k->guard);
	layout_release(&k->before);
	layout_release(&k->after);
	free(k);
	return 0;
}

static void test_entries(void **state)
{
	struct kernel *k = *state;
	const struct guard_root *r = k->guard.roots;

	assert_int_equal(k->guard.names.nr_keys, 3);
	assert_int_equal(k->guard.nr_profiled, 2);
	assert_string_equal(guard_root_name(&k->guard, 0), "read");
	assert_true(r[0].profiled && r[1].profiled && !r[2].profiled);
	/* read: 90 of two pages, 10 of one; all of one page after */
	assert_true(r[0].mean[0] == 1.9 && r[0].p95[0] == 2 && r[0].mean[1] == 1 && r[0].p95[1] == 1);
	/* pipe: units 0 and 1 lay on one page */
	assert_true(r[1].mean[0] == 1 && r[1].mean[1] == 2);
	/* stat: so did 4 and 5 */
	assert_true(r[2].mean[0] == 1 && r[2].mean[1] == 2);
}

static void test_worse(void **state)
{
	struct kernel *k = *state;

	assert_false(guard_is_worse(&k->guard.roots[0]));
	assert_int_equal(guard_count(&k->guard, true, guard_is_worse), 1);
	assert_int_equal(guard_count(&k->guard, false, guard_is_worse), 1);
	assert_int_equal(guard_count(&k->guard, true, guard_is_worse_by_less), 0);

	struct guard_root part = { .mean = { 2, 2.5 }, .p95 = { 3, 3 } }, tail = { .mean = { 2, 2.5 }, .p95 = { 3, 4 } };
	assert_true(guard_is_worse_by_less(&part) && !guard_is_worse(&part));
	assert_true(guard_is_worse(&tail) && !guard_is_worse_by_less(&tail));
}

/* The one root that is worse gets the mean root's weight; what is not worse keeps its own. */
static void test_raise(void **state)
{
	struct kernel *k = *state;
	struct callgraph_path paths[3];

	memcpy(paths, seen_paths, sizeof(paths));
	guard_raise(&k->guard, paths);
	assert_int_equal(paths[0].weight, 90);
	assert_int_equal(paths[1].weight, 10);
	assert_int_equal(paths[2].weight, 1 + 101 / 2);
}

/* Unit 5 goes behind 1 and 4: a page further than 4, so that stat is not better off, but no unit is taken twice. */
static void test_gather(void **state)
{
	struct kernel *k = *state;

	guard_gather(&k->guard, &k->after);
	assert_int_equal(k->guard.nr_units, 1);
	assert_int_equal(k->guard.units[0].unit, 5);
	assert_int_equal(k->guard.units[0].root, 2);
	assert_int_equal(k->after.nr_hot, 3);
	assert_int_equal(k->after.hot[2].unit, 5);
	assert_int_equal(k->after.addr[5], k->after.hot_start + 4096);
	assert_true(k->guard.roots[2].mean[1] == 2);
}

/* Where the hot units leave room on their last page, the root is as well off as before. */
static void test_gather_helps(void **state)
{
	struct kernel *k = *state;

	units[1].size = 1024;
	layout_assign(&k->after);
	guard_gather(&k->guard, &k->after);
	assert_int_equal(k->guard.nr_units, 1);
	assert_int_equal(k->after.addr[5], k->after.hot_start + 1024 + 2048);
	assert_true(k->guard.roots[2].mean[1] == 1);
	assert_int_equal(guard_count(&k->guard, false, guard_is_worse), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_entries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_worse, setup, teardown),
		cmocka_unit_test_setup_teardown(test_raise, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gather, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gather_helps, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
