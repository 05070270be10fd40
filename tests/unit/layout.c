/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of layouts: against sums done by hand, and the bundled kernel in link order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/image/image.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/layout_read.h"
#include "sample.h"

/*
 * Addresses as ld gives them one after the other:
 * head 0x28 bytes, to 16 ->  0x30; a 0x11, to 16 -> 0x50; b 0x40, to 32 -> 0xa0; c 5; d at once; sched to 256.
 */
static struct unit units[] = {
	{ .addr = 0x10000, .size = 0x28, .align = 16, .group = GROUP_HEAD },
	{ .addr = 0x10030, .size = 0x11, .align = 16, .group = GROUP_MAIN, .movable = true },
	{ .addr = 0x10050, .size = 0x40, .align = 16, .group = GROUP_MAIN, .movable = true },
	{ .addr = 0x100a0, .size = 0x05, .align = 32, .group = GROUP_MAIN, .movable = true },
	{ .addr = 0x100a5, .size = 0x1b, .align = 1, .group = GROUP_MAIN, .movable = true },
	{ .addr = 0x10100, .size = 0x20, .align = 16, .group = GROUP_SCHED },
	{ .addr = 0x20000, .size = 0x20, .align = 16, .group = GROUP_INIT },
};
static struct image_group groups[] = { { GROUP_SCHED, 0x10100, 0x10120, 256 } };
static const struct image img = {
	.units = units,
	.nr_units = ARRAY_SIZE(units),
	.groups = groups,
	.nr_groups = ARRAY_SIZE(groups),
	.text_start = 0x10000,
	.text_end = 0x10120,
};

static void test_link_order(void **state)
{
	struct layout l;

	(void)state;
	layout_init(&l, &img);
	layout_assign(&l);
	for (uint32_t i = 0; i < img.nr_units; i++)
		assert_int_equal(l.addr[i], units[i].addr);
	assert_int_equal(l.hot_start, l.hot_end);
	assert_int_equal(l.text_end, img.text_end);
	layout_release(&l);
}

static void test_hot_units(void **state)
{
	struct layout l;

	(void)state;
	layout_init(&l, &img);
	layout_append(&l, 3, 0);
	layout_append(&l, 1, 64);
	layout_assign(&l);
	assert_int_equal(l.addr[0], 0x10000);
	assert_int_equal(l.addr[3], 0x10040);	/* 0x28 up to 32 */
	assert_int_equal(l.addr[1], 0x10080);	/* 0x45 up to 64 */
	assert_int_equal(l.hot_start, 0x10040);
	assert_int_equal(l.hot_end, 0x10091);
	assert_int_equal(l.addr[2], 0x100a0);
	assert_int_equal(l.addr[4], 0x100e0);
	assert_int_equal(l.addr[5], 0x10100);	/* 0xfb up to 256 */
	assert_int_equal(l.addr[6], 0x20000);	/* not of the text */
	assert_int_equal(l.text_end, 0x10120);
	layout_release(&l);
}

static void test_group_is_pushed(void **state)
{
	struct layout l;

	(void)state;
	layout_init(&l, &img);
	layout_append(&l, 4, 0x80);
	layout_append(&l, 2, 0x80);
	layout_assign(&l);
	assert_int_equal(l.addr[4], 0x10080);
	assert_int_equal(l.addr[2], 0x10100);
	assert_int_equal(l.addr[1], 0x10140);
	assert_int_equal(l.addr[3], 0x10160);
	assert_int_equal(l.addr[5], 0x10200);
	assert_int_equal(l.text_end, 0x10220);
	layout_release(&l);
}

static void test_who_can_be_hot(void **state)
{
	(void)state;
	assert_false(layout_can_take(&img, 0));
	assert_true(layout_can_take(&img, 1));
	assert_false(layout_can_take(&img, 5));	/* its boundary symbols are not known */
	assert_false(layout_can_take(&img, 6));
	/* Even a unit that nothing holds stays outside of text. */
	units[6].movable = true;
	assert_false(layout_can_take(&img, 6));
	units[6].movable = false;
}

static void test_sample_in_link_order(void **state)
{
	struct layout l;

	(void)state;
	assert_true(sample.exact_units);
	layout_init(&l, &sample);
	layout_assign(&l);
	for (uint32_t i = 0; i < sample.nr_units; i++)
		assert_int_equal(l.addr[i], sample.units[i].addr);
	layout_release(&l);
}

static const struct layout *sorting;

static int by_address(const void *pa, const void *pb)
{
	uint64_t a = sorting->addr[*(const uint32_t *)pa], b = sorting->addr[*(const uint32_t *)pb];

	return a < b ? -1 : a > b;
}

/* Everything that may move, backwards: aligned, without overlaps, and inside the text's growth. */
static void test_sample_backwards(void **state)
{
	struct layout l;
	uint32_t *order = xcalloc(sample.nr_units, sizeof(*order));

	(void)state;
	layout_init(&l, &sample);
	for (uint32_t i = sample.nr_units; i-- > 0;)
		if (layout_can_take(&sample, i))
			layout_append(&l, i, i % 100 ? 0 : 4096);
	assert_true(l.nr_hot > 10000);
	layout_assign(&l);
	for (uint32_t i = 0; i < sample.nr_units; i++) {
		order[i] = i;
		assert_int_equal(l.addr[i] % sample.units[i].align, 0);
	}
	sorting = &l;
	qsort(order, sample.nr_units, sizeof(*order), by_address);
	for (uint32_t i = 1; i < sample.nr_units; i++)
		assert_true(l.addr[order[i - 1]] + sample.units[order[i - 1]].size <= l.addr[order[i]]);
	layout_release(&l);
	free(order);
}

/* One line each: which unit of named[] it appends, -1 for none. */
static void test_lines_of_orders(void **state)
{
	static struct unit named[] = {
		{ .addr = 0x100, .size = 16, .align = 16, .group = GROUP_MAIN, .movable = true, .section = ".text",
		  .object = "lib/x.a(one.o)" },
		{ .addr = 0x110, .size = 16, .align = 16, .group = GROUP_MAIN, .movable = true, .section = ".text",
		  .object = "my code/two.o" },
		{ .addr = 0x120, .size = 16, .align = 16, .group = GROUP_MAIN, .movable = true, .section = ".text.three",
		  .object = "lib/x.a(three.o)" },
		{ .addr = 0x130, .size = 16, .align = 16, .group = GROUP_MAIN, .movable = true, .section = ".text",
		  .object = "odd (1) 0x5 6.o" },
	};
	static const struct {
		const char *line;
		int unit;
	} lines[] = {
		{ ".text lib/x.a(one.o) 0x100 16", 0 },
		{ ".text lib/x.a(one.o)", 0 },
		{ "lib/x.a(one.o)(.text)", -1 },
		{ "[l]ib/x.a:one.o(.text)", 0 },
		{ "/* hottext-member [l]ib/x.a:one.o(.text) */", 0 },
		{ ".text my code/two.o 0x110 16", 1 },
		{ ".text odd (1) 0x5 6.o 0x130 16", 3 },
		{ ".text.three lib/x.a(three.o) 0x120 16", 2 },
		{ ".text.three lib/y.a(three.o) 0x120 16", 2 },	/* its section alone tells */
		{ "[l]ib/x.a:three.o(.text.three)", 2 },
		{ "*(.text.three)", 2 },
		{ ".text lib/y.a(one.o) 0x100 16", -1 },
		{ ".text - 0x100 16", -1 },
		{ ")(", -1 },
		{ ":(", -1 },
	};
	struct image objects = { .units = named, .nr_units = ARRAY_SIZE(named), .text_start = 0x100, .text_end = 0x140 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char path[] = "/tmp/hottext-order-XXXXXX";
		int fd = mkstemp(path);
		struct layout l;

		assert_true(fd >= 0);
		assert_true(dprintf(fd, "%s\n", lines[i].line) > 0);
		close(fd);
		layout_init(&l, &objects);
		assert_int_equal(layout_read(&l, path), lines[i].unit < 0 ? -1 : 0);
		assert_int_equal(l.nr_hot, lines[i].unit >= 0);
		if (lines[i].unit >= 0)
			assert_int_equal(l.hot[0].unit, lines[i].unit);
		layout_release(&l);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_order),
		cmocka_unit_test(test_hot_units),
		cmocka_unit_test(test_group_is_pushed),
		cmocka_unit_test(test_who_can_be_hot),
		cmocka_unit_test(test_lines_of_orders),
	};
	const struct CMUnitTest sample_tests[] = {
		cmocka_unit_test(test_sample_in_link_order),
		cmocka_unit_test(test_sample_backwards),
	};
	int failed = cmocka_run_group_tests_name("layout", tests, NULL, NULL);

	return failed + cmocka_run_group_tests_name("layout of the sample", sample_tests, sample_setup, sample_teardown);
}
