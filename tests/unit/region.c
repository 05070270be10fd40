/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hot region on one large page: where it is aligned, where it need not be, and where it cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/region.h"

/* Head text up to 0x1fc00, of a page of 0x20000 bytes; then a and b, which fit into what is left, or do not; much cold. */
static struct unit units[] = {
	{ .addr = 0x100000, .size = 0x1fc00, .align = 16, .group = GROUP_HEAD },
	{ .addr = 0x11fc00, .size = 0x300, .align = 16, .group = GROUP_MAIN, .movable = true },
	{ .addr = 0x11ff00, .size = 0x300, .align = 16, .group = GROUP_MAIN, .movable = true },
	{ .addr = 0x120200, .size = 0x20000, .align = 16, .group = GROUP_MAIN, .movable = true },
};
static struct image img = {
	.units = units, .nr_units = ARRAY_SIZE(units), .text_start = 0x100000, .text_end = 0x140200,
};

enum { PAGE = 0x20000 };

static const struct machine whole = { .text_page = PAGE };

static void lay_out(struct layout *l, uint32_t a, uint32_t b)
{
	layout_init(l, &img);
	layout_append(l, a, 0);
	layout_append(l, b, 0);
	layout_assign(l);
}

static void test_aligned(void **state)
{
	struct layout l;
	struct region r;

	(void)state;
	lay_out(&l, 2, 1);
	region_init(&r, &l, &whole);
	assert_int_equal(r.pages, 2);
	assert_true(region_fit(&l, &whole, &r));
	assert_int_equal(l.hot[0].align, PAGE);
	assert_int_equal(l.addr[2], 0x120000);
	assert_int_equal(l.addr[1], 0x120300);
	assert_int_equal(l.hot_start, 0x120000);
	assert_int_equal(r.start, 0x120000);
	assert_int_equal(r.end, 0x120600);
	assert_int_equal(r.pages, 1);
	assert_int_equal(r.growth, 0x400);	/* the gap */
	assert_int_equal(l.text_end, 0x140600);
	layout_release(&l);
}

static void test_growth_is_bounded(void **state)
{
	struct layout l;
	struct region r;

	(void)state;
	units[0].size = 0x18000;	/* the gap would be of 0x8000 bytes */
	units[1].size = 0x7f00;
	lay_out(&l, 1, 2);
	uint64_t text_end = l.text_end;
	assert_false(region_fit(&l, &whole, &r));
	assert_int_equal(r.pages, 2);
	assert_int_equal(r.growth, 0);
	assert_int_equal(l.hot[0].align, 0);
	assert_int_equal(l.text_end, text_end);
	layout_release(&l);
	units[0].size = 0x1fc00;
	units[1].size = 0x300;
}

static void test_fits_already(void **state)
{
	struct layout l;
	struct region r;

	(void)state;
	lay_out(&l, 1, 2);
	assert_true(region_fit(&l, &(struct machine){ .text_page = 1 << 20 }, &r));
	assert_int_equal(l.hot[0].align, 0);
	assert_int_equal(r.growth, 0);
	layout_release(&l);
}

static void test_cannot_fit(void **state)
{
	struct layout l;
	struct region r;

	(void)state;
	lay_out(&l, 1, 3);
	assert_false(region_fit(&l, &whole, &r));
	assert_int_equal(l.hot[0].align, 0);
	assert_int_equal(r.pages, 2);
	assert_int_equal(r.end - r.start, 0x20300);
	layout_release(&l);
}

/* Behind the head text a block of one page, at whose edges pages are of 0x200 bytes. */
static void test_blocks(void **state)
{
	struct machine m = { .text_page = PAGE, .edge_page = 0x200, .blocks_start = 0x120000, .blocks_end = 0x140000 };
	struct layout l;
	struct region r;

	(void)state;
	lay_out(&l, 2, 1);
	region_init(&r, &l, &m);
	assert_int_equal(r.pages, 3);	/* two of the edge, and the block */
	assert_true(region_fit(&l, &m, &r));
	assert_int_equal(l.addr[2], 0x120000);
	assert_int_equal(r.pages, 1);
	layout_release(&l);
	/* No block is where it could go. */
	m.blocks_start = m.blocks_end;
	lay_out(&l, 2, 1);
	assert_false(region_fit(&l, &m, &r));
	assert_int_equal(r.pages, 3);
	assert_int_equal(l.hot[0].align, 0);
	layout_release(&l);
	/* One holds it, over borders of the edges' pages: nothing is to be done. */
	m.blocks_start = 0x100000;
	layout_init(&l, &img);
	layout_append(&l, 1, 0);
	layout_assign(&l);
	assert_true(region_fit(&l, &m, &r));
	assert_int_equal(l.hot[0].align, 0);
	layout_release(&l);
}

static void test_nothing_hot(void **state)
{
	struct layout l;
	struct region r;

	(void)state;
	layout_init(&l, &img);
	layout_assign(&l);
	assert_false(region_fit(&l, &whole, &r));
	assert_int_equal(r.pages, 0);
	assert_int_equal(r.start, r.end);
	layout_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aligned),
		cmocka_unit_test(test_growth_is_bounded),
		cmocka_unit_test(test_fits_already),
		cmocka_unit_test(test_cannot_fit),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_nothing_hot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
