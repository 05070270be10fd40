/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Partitioning: what is used together shares pages, pages hold what they can, refining undoes a bad start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/pack/cluster.h"
#include "reorder/pack/pages.h"
#include "reorder/pack/partition.h"
#include "reorder/pack/windows.h"

/* Slots of 100 bytes, four to a page; slot i belongs to kind i % KINDS, each of which samples of its own use. */
enum { KINDS = 5, EACH = 8, NR = KINDS * EACH, PAGE = 400, SAMPLES = 320, ENTRIES = 2 };

static struct slot slots[NR + 1];
static struct windows w = { .page = PAGE, .slots = slots, .nr_free = NR, .nr_slots = NR + 1, .tail = INDEX_NONE };
static struct use use;
static struct pages pages;
static const struct partition_options options = { 8, ENTRIES };

/* The last slot is a page of fixed text that all samples use. */
static int set_up(void **state)
{
	(void)state;
	use_init(&use, NR + 1, SAMPLES);
	for (uint32_t i = 0; i < NR; i++) {
		slots[i] = (struct slot){ i, 0, 100 };
		for (uint32_t s = i % KINDS; s < SAMPLES; s += KINDS)
			use_set(&use, i, s);
	}
	slots[NR] = (struct slot){ INDEX_NONE, 0, 0 };
	for (uint32_t s = 0; s < SAMPLES; s++)
		use_set(&use, NR, s);
	pages_init(&pages, &w);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pages_release(&pages);
	use_release(&use);
	return 0;
}

/* Every slot on a page, none too full; how many pages hold slots of more than one kind. */
static uint32_t mixed_pages(void)
{
	uint32_t fill[NR] = { 0 }, kinds[NR] = { 0 }, n = 0;

	assert_true(pages.nr_pages <= NR);
	for (uint32_t i = 0; i < NR; i++) {
		assert_true(pages.page_of[i] < pages.nr_pages);
		fill[pages.page_of[i]] += slots[i].bytes;
		kinds[pages.page_of[i]] |= 1u << i % KINDS;
	}
	for (uint32_t p = 0; p < pages.nr_pages; p++) {
		assert_true(fill[p] <= PAGE);
		assert_int_equal(fill[p], pages.fill[p]);
		n += (kinds[p] & (kinds[p] - 1)) != 0;
	}
	return n;
}

static void test_together(void **state)
{
	(void)state;
	partition(&pages, &w, &use, &options);
	assert_int_equal(mixed_pages(), 0);
	assert_int_equal(pages.nr_pages, NR / 4);
}

static void exchange(uint32_t a, uint32_t b)
{
	uint32_t page = pages.page_of[a];

	pages_put(&pages, a, pages.page_of[b]);
	pages_put(&pages, b, page);
}

/* Two of each kind among those of the next: all pages are full, so only swaps can help. */
static void test_refine(void **state)
{
	(void)state;
	partition(&pages, &w, &use, &options);
	double least = partition_cost(&pages, &w, &use, ENTRIES);
	for (uint32_t i = 0; i < 2 * KINDS; i += 2)
		exchange(i, i + 1);
	assert_true(mixed_pages() >= KINDS);
	assert_true(partition_cost(&pages, &w, &use, ENTRIES) > least * 1.1);
	refine(&pages, &w, &use, &options);
	assert_int_equal(mixed_pages(), 0);
	double cost = partition_cost(&pages, &w, &use, ENTRIES);
	assert_true(cost > least * 0.99999 && cost < least * 1.00001);
}

/* Two pages of its kind and the fixed one in each sample: 1/(1 + (2/n)^3) for the n-th page. */
static void test_cost(void **state)
{
	(void)state;
	partition(&pages, &w, &use, &options);
	double want = SAMPLES * (1 / 9.0 + 1 / 2.0 + 27 / 35.0), cost = partition_cost(&pages, &w, &use, ENTRIES);
	assert_true(cost > want * 0.99999 && cost < want * 1.00001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_together, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refine, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cost, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
