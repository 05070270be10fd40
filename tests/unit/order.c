/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orders of graphs so small that the right one can be worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/order.h"

enum { MAX_UNITS = 11 };

static struct unit units[MAX_UNITS];
static struct callgraph_node nodes[MAX_UNITS];
static struct image img;
static struct machine machine;

/* Movable units of these sizes, each sampled once, one behind the other. */
static struct callgraph graph(const uint32_t *sizes, uint32_t nr, struct callgraph_edge *edges, uint32_t nr_edges)
{
	uint64_t addr = 0x100000;

	memset(nodes, 0, sizeof(nodes));
	for (uint32_t i = 0; i < nr; i++) {
		units[i] = (struct unit){ .section = ".text.x", .addr = addr, .size = sizes[i], .align = 16,
					  .group = GROUP_MAIN, .movable = true };
		nodes[i] = (struct callgraph_node){ 1, 0, sizes[i] };
		addr += (sizes[i] + 15) & ~15u;
	}
	img = (struct image){ .units = units, .nr_units = nr, .text_start = 0x100000, .text_end = addr };
	return (struct callgraph){ .image = &img, .nodes = nodes, .edges = edges, .nr_edges = nr_edges };
}

/* The order as letters: unit 0 is a. */
static const char *order(const struct callgraph *cg, const char *algorithm)
{
	static char text[MAX_UNITS + 1];
	struct order_options o = { &machine, 3 };
	struct layout l;

	layout_init(&l, &img);
	algorithm_find(algorithm)->run(cg, &o, &l);
	assert_true(l.nr_hot <= MAX_UNITS);
	for (uint32_t i = 0; i < l.nr_hot; i++)
		text[i] = (char)('a' + l.hot[i].unit);
	text[l.nr_hot] = '\0';
	layout_release(&l);
	return text;
}

static const uint32_t small[MAX_UNITS] = { 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16 };

static void test_names(void **state)
{
	(void)state;
	assert_null(algorithm_find("best"));
	for (const struct algorithm *a = algorithms; a->name; a++)
		assert_ptr_equal(algorithm_find(a->name), a);
}

static void test_density(void **state)
{
	static const uint32_t sizes[] = { 64, 16, 32, 16 };
	struct callgraph cg = graph(sizes, 4, NULL, 0);

	(void)state;
	nodes[2].samples = 10;
	assert_string_equal(order(&cg, "density"), "cbda");
	nodes[1] = (struct callgraph_node){ 0 };	/* never ran */
	assert_string_equal(order(&cg, "density"), "cda");
	units[2].movable = false;
	assert_string_equal(order(&cg, "density"), "da");
	assert_string_equal(order(&cg, "link"), "");
}

static void test_c3_follows_callers(void **state)
{
	/* d calls c 100 times and b 10 times, c calls a 90 times. */
	struct callgraph_edge edges[] = { { 2, 0, 90, 0, 0 }, { 3, 1, 10, 0, 0 }, { 3, 2, 100, 0, 0 } };
	struct callgraph cg = graph(small, 4, edges, 3);

	(void)state;
	assert_string_equal(order(&cg, "c3"), "dcab");
}

static void test_c3_limits(void **state)
{
	/* d calls a, a hardly ever b; the pair e c is between them in density. lld 19 has the same orders. */
	struct callgraph_edge edges[] = { { 0, 1, 10, 0, 0 }, { 3, 0, 1000, 0, 0 }, { 4, 2, 20, 0, 0 } };
	static const uint32_t large[] = { 16, 4096, 16, 16, 16 };
	struct callgraph cg = graph(small, 5, edges, 3);

	(void)state;
	assert_string_equal(order(&cg, "c3"), "dabec");
	cg = graph(large, 5, edges, 3);	/* b would thin d's cluster by more than eight */
	assert_string_equal(order(&cg, "c3"), "daecb");
}

static void test_c3_probability(void **state)
{
	/* A unit is clustered to its heaviest caller, and only when that has more than a tenth of its calls. */
	struct callgraph_edge edges[] = { { 0, 2, 2, 0, 0 }, { 1, 2, 18, 0, 0 } }, many[10];
	struct callgraph cg = graph(small, 3, edges, 2);

	(void)state;
	assert_string_equal(order(&cg, "c3"), "bca");
	units[1].movable = false;	/* whose calls are none then */
	assert_string_equal(order(&cg, "c3"), "ac");
	for (uint32_t i = 0; i < 10; i++)
		many[i] = (struct callgraph_edge){ i, 9, 1, 0, 0 };
	cg = graph(small, 10, many, 9);
	assert_string_equal(order(&cg, "c3"), "ajbcdefghi");
	for (uint32_t i = 0; i < 10; i++)
		many[i].to = 10;
	cg = graph(small, 11, many, 10);
	assert_string_equal(order(&cg, "c3"), "kabcdefghij");
}

static void test_ph_keeps_heavy_pairs_together(void **state)
{
	struct callgraph_edge edges[] = { { 0, 3, 10, 0, 0 }, { 2, 1, 5, 0, 0 }, { 3, 2, 20, 0, 0 } };
	struct callgraph cg = graph(small, 4, edges, 3);
	const char *got;

	(void)state;
	got = order(&cg, "ph");
	if (strcmp(got, "adcb"))
		assert_string_equal(got, "bcda");
}

static void test_cdsort_pairs(void **state)
{
	/* d calls c 100 times, b calls a 50 times: caller first, the hotter pair first. */
	struct callgraph_edge edges[] = { { 1, 0, 50, 0, 0 }, { 3, 2, 100, 0, 0 } };
	struct callgraph cg = graph(small, 4, edges, 2);

	(void)state;
	assert_string_equal(order(&cg, "cdsort"), "dcba");
}

static void test_cdsort_chain(void **state)
{
	struct callgraph_edge edges[] = { { 0, 2, 100, 0, 0 }, { 2, 1, 100, 0, 0 } };
	struct callgraph cg = graph(small, 3, edges, 2);

	(void)state;
	assert_string_equal(order(&cg, "cdsort"), "acb");
}

/* What lld 19 makes of this graph. */
static void test_as_lld(void **state)
{
	static const uint32_t sizes[] = { 300, 4000, 120, 900, 64, 2500, 700, 50 };
	struct callgraph_edge edges[] = {
		{ 0, 1, 40, 0, 0 }, { 0, 5, 3000, 0, 0 }, { 1, 2, 900, 0, 0 }, { 1, 7, 5, 0, 0 },
		{ 2, 6, 70, 0, 0 }, { 3, 2, 900, 0, 0 }, { 4, 0, 1200, 0, 0 }, { 4, 6, 650, 0, 0 },
		{ 5, 3, 35, 0, 0 }, { 6, 7, 2400, 0, 0 }, { 7, 1, 60, 0, 0 },
	};
	struct callgraph cg = graph(sizes, 8, edges, 11);

	(void)state;
	assert_string_equal(order(&cg, "cdsort"), "eafdcghb");
	assert_string_equal(order(&cg, "c3"), "eafghdbc");
}

/* Units in no call stand last, most samples a byte first. */
static void test_units_without_calls(void **state)
{
	struct callgraph_edge edges[] = { { 3, 2, 1, 0, 0 } };
	struct callgraph cg = graph(small, 4, edges, 1);

	(void)state;
	nodes[1].samples = 9;
	assert_string_equal(order(&cg, "cdsort"), "dcba");
	assert_string_equal(order(&cg, "c3"), "dcba");
	assert_string_equal(order(&cg, "ph"), "dcba");
}

/* Two paths that need two units each: on a page together, whatever link order has. */
static void test_pack_paths(void **state)
{
	static const uint32_t sizes[] = { 1900, 1900, 1900, 1900 };
	struct span spans[] = { { 0, 0, 1900 }, { 2, 0, 1900 }, { 1, 0, 1900 }, { 3, 0, 1900 } };
	struct callgraph_path paths[] = {
		{ PATH_SYSCALL, INDEX_NONE, 0, 2, 10, 0 },
		{ PATH_SYSCALL, INDEX_NONE, 2, 2, 10, 0 },
	};
	struct callgraph cg = graph(sizes, 4, NULL, 0);
	struct order_options o = { &machine, 3 };
	struct layout l;

	(void)state;
	cg.spans = spans;
	cg.nr_spans = 4;
	cg.paths = paths;
	cg.nr_paths = 2;
	layout_init(&l, &img);
	order_pack(&cg, &o, &l);
	assert_int_equal(l.nr_hot, 4);
	layout_assign(&l);
	assert_int_equal(l.addr[0] / 4096, l.addr[2] / 4096);
	assert_int_equal(l.addr[1] / 4096, l.addr[3] / 4096);
	layout_release(&l);
}

static int setup(void **state)
{
	(void)state;
	return machine_init(&machine, "generic-4k-16");
}

static int teardown(void **state)
{
	(void)state;
	machine_release(&machine);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_density),
		cmocka_unit_test(test_c3_follows_callers),
		cmocka_unit_test(test_c3_limits),
		cmocka_unit_test(test_c3_probability),
		cmocka_unit_test(test_ph_keeps_heavy_pairs_together),
		cmocka_unit_test(test_cdsort_pairs),
		cmocka_unit_test(test_cdsort_chain),
		cmocka_unit_test(test_as_lld),
		cmocka_unit_test(test_units_without_calls),
		cmocka_unit_test(test_pack_paths),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
