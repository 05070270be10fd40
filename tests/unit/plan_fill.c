/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan filled from a hand-made kernel: every figure can be counted by eye. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/plan/plan.h"

/*
 *   unit   before    after     touched
 *   a      0x11000   0x11000   [0, 16) by both variants of read, [16, 32) by the first
 *   b      0x13000   0x11100   all of its 256 bytes by the first variant
 *   c      0x14ff0   0x15000   32 bytes by the page fault: two pages before, one after
 *   d      0x18000   0x18000   nothing
 */
static struct func funcs[] = {
	{ .id = "__x64_sys_read", .addr = 0x11000, .size = 32, .unit = 0 },
	{ .id = "vfs_read", .addr = 0x13000, .size = 256, .unit = 1 },
	{ .id = "asm_exc_page_fault", .addr = 0x14ff0, .size = 32, .unit = 2 },
	{ .id = "cold", .addr = 0x18000, .size = 64, .unit = 3 },
};

static struct unit units[] = {
	{ .section = ".text.__x64_sys_read", .object = "fs/read.o", .addr = 0x11000, .size = 32, .align = 16,
	  .group = GROUP_MAIN, .movable = true, .first_func = 0, .nr_funcs = 1 },
	{ .section = ".text.vfs_read", .object = "fs/read.o", .addr = 0x13000, .size = 256, .align = 16,
	  .group = GROUP_MAIN, .movable = true, .first_func = 1, .nr_funcs = 1 },
	{ .section = ".entry.text", .object = "entry.o", .addr = 0x14ff0, .size = 32, .align = 16,
	  .group = GROUP_ENTRY, .why_fixed = "entry text", .first_func = 2, .nr_funcs = 1 },
	{ .section = ".text.cold", .addr = 0x18000, .size = 64, .align = 16, .group = GROUP_MAIN, .movable = true,
	  .first_func = 3, .nr_funcs = 1 },
};

static struct callgraph_node nodes[] = {
	{ .samples = 5, .calls = 4, .touched = 32 },
	{ .samples = 7, .calls = 3, .touched = 256 },
	{ .samples = 1, .calls = 1, .touched = 32 },
	{ 0 },
};

static struct span spans[] = {
	{ 0, 0, 32 }, { 1, 0, 256 },	/* read, weight 3 */
	{ 0, 0, 16 },			/* read, weight 1 */
	{ 2, 0, 32 },			/* page fault, weight 1 */
};

static struct callgraph_path paths[] = {
	{ .kind = PATH_SYSCALL, .root = 0, .first_span = 0, .nr_spans = 2, .weight = 3 },
	{ .kind = PATH_EXCEPTION, .root = 2, .first_span = 3, .nr_spans = 1, .weight = 1 },
	{ .kind = PATH_SYSCALL, .root = 0, .first_span = 2, .nr_spans = 1, .weight = 1 },
};

static struct callgraph_edge edges[] = { { .from = 0, .to = 1, .weight = 3 }, { .from = 1, .to = 3, .weight = 9 } };

static void fill_for(struct plan *p, struct machine m)
{
	struct image img = { .units = units, .nr_units = 4, .funcs = funcs, .nr_funcs = 4, .text_start = 0x10800,
			     .text_end = 0x19000 };
	struct callgraph cg = { .image = &img, .nodes = nodes, .edges = edges, .nr_edges = 2, .spans = spans,
				.nr_spans = 4, .paths = paths, .nr_paths = 3, .match = { .exact = 13 } };
	uint64_t addr_before[] = { 0x11000, 0x13000, 0x14ff0, 0x18000 };
	uint64_t addr_after[] = { 0x11000, 0x11100, 0x15000, 0x18000 };
	struct place hot[] = { { .unit = 0 }, { .unit = 1 } };
	struct layout before = { .image = &img, .addr = addr_before, .text_end = 0x19000 };
	struct layout after = { .image = &img, .addr = addr_after, .hot = hot, .nr_hot = 2, .hot_start = 0x11000,
				.hot_end = 0x11200, .text_end = 0x19200 };
	struct profile profile = { 0 };

	plan_init(p);
	if (m.edge_page)
		machine_map_text(&m, img.text_start, img.text_end);
	plan_fill(p, &img, &cg, &before, &after, &m, &profile);
}

static void fill(struct plan *p)
{
	fill_for(p, (struct machine){ .name = (char *)"m", .text_page = 4096, .nr_levels = 1,
				      .levels = { { .entries = 32, .ways = 32, .policy = TLB_LRU } } });
}

static void test_sides(void **state)
{
	struct plan p;
	(void)state;

	fill(&p);
	assert_int_equal(p.before.pages, 4);
	assert_int_equal(p.after.pages, 2);
	/* 3 of 2 pages, 1 of 1, 1 of 2 before; all of 1 after. */
	assert_true(p.before.mean == (3 * 2 + 1 + 2) / 5.0);
	assert_true(p.after.mean == 1);
	assert_true(p.before.max == 2 && p.before.p95 == 2 && p.after.max == 1);
	assert_int_equal(p.before.text_bytes, 0x8800);
	assert_int_equal(p.path_weight, 5);
	assert_true(p.before.misses == PLAN_UNKNOWN && p.before.estimate < 0);
	assert_int_equal(p.curve[0].page_bytes, 4096);
	assert_true(p.curve[0].before == p.before.mean && p.curve[0].after == p.after.mean);
	assert_true(p.curve[p.nr_curve - 1].before == 1);
	plan_release(&p);
}

static void test_paths(void **state)
{
	struct plan p;
	(void)state;

	fill(&p);
	assert_int_equal(p.nr_paths, 2);
	assert_string_equal(p.paths[0].root, "read");
	assert_string_equal(p.paths[0].symbol, "__x64_sys_read");
	assert_int_equal(p.paths[0].variants, 2);
	assert_int_equal(p.paths[0].weight, 4);
	assert_int_equal(p.paths[0].touched, 32 + 256);
	assert_true(p.paths[0].entries_before == 7 / 4.0 && p.paths[0].entries_after == 1);
	assert_int_equal(p.paths[0].nr_uses, 2);
	assert_int_equal(p.uses[p.paths[0].first_use].weight, 4);
	assert_string_equal(p.units[p.uses[p.paths[0].first_use].unit].name, "__x64_sys_read");
	assert_int_equal(p.paths[0].nr_before, 2);
	assert_int_equal(p.pages[p.paths[0].first_before].page, 1);
	assert_int_equal(p.pages[p.paths[0].first_before + 1].page, 3);
	assert_string_equal(p.paths[1].root, "page_fault");
	assert_int_equal(p.paths[1].max_before, 2);
	plan_release(&p);
}

static void test_units(void **state)
{
	struct plan p;
	(void)state;

	fill(&p);
	assert_int_equal(p.nr_units, 3);	/* cold is left out, and the call to it */
	assert_int_equal(p.nr_edges, 1);
	assert_int_equal(p.edges[0].weight, 3);
	assert_string_equal(p.units[1].name, "vfs_read");
	assert_true(p.units[1].moved);
	assert_int_equal(p.units[1].page_before, 3);
	assert_int_equal(p.units[1].page, 1);
	assert_int_equal(p.units[1].path_weight, 3);
	assert_string_equal(p.units[2].why, "entry text");
	assert_false(p.units[2].moved);
	/* a: [0, 16) by four, [16, 32) by three. */
	assert_int_equal(p.units[0].nr_ranges, 2);
	assert_int_equal(p.ranges[p.units[0].first_range].weight, 4);
	assert_int_equal(p.ranges[p.units[0].first_range + 1].weight, 3);
	assert_int_equal(p.hot.units, 3);
	assert_int_equal(p.hot.fixed, 1);
	assert_int_equal(p.hot.touched_bytes, 32 + 256 + 32);
	assert_int_equal(p.profile.matched_exact, 13);
	plan_release(&p);
}

/* 0x14000 to 0x18000 is a block: there what of it is touched is one entry, which its first page stands for. */
static void test_blocks(void **state)
{
	struct plan p;
	(void)state;

	fill_for(&p, (struct machine){ .text_page = 0x4000, .edge_page = 0x1000 });
	assert_int_equal(p.machine.page_bytes, 0x1000);
	assert_int_equal(p.machine.block_bytes, 0x4000);
	assert_int_equal(p.machine.blocks_start, 0x14000);
	assert_int_equal(p.machine.blocks_end, 0x18000);
	assert_int_equal(p.before.pages, 3);
	assert_int_equal(p.after.pages, 2);
	assert_int_equal(p.paths[1].max_before, 1);
	assert_int_equal(p.pages[p.paths[1].first_after].page, 4);
	assert_string_equal(p.units[2].name, "asm_exc_page_fault");
	assert_int_equal(p.units[2].addr, 0x15000);
	assert_int_equal(p.units[2].page, 4);
	plan_release(&p);
	/* No whole one is here. */
	fill_for(&p, (struct machine){ .text_page = 0x10000, .edge_page = 0x1000 });
	assert_int_equal(p.machine.block_bytes, 0);
	assert_int_equal(p.units[2].page, 5);
	plan_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
