/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clustering by use: who is joined first, what capacity and anchors forbid, what filling adds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/mem.h"
#include "reorder/pack/cluster.h"

static struct use use;
static struct clustering c;

/* Items of 100 bytes; each mask says which of 64 samples use it. */
static void items(const uint64_t *masks, uint32_t nr)
{
	use_init(&use, nr, 64);
	clustering_init(&c, nr);
	for (uint32_t i = 0; i < nr; i++) {
		*use_of(&use, i) = masks[i];
		c.bytes[i] = 100;
	}
}

static void release(void)
{
	use_release(&use);
	clustering_release(&c);
}

static bool together(uint32_t a, uint32_t b)
{
	return cluster_leader(&c, a) == cluster_leader(&c, b);
}

static void test_counts(void **state)
{
	(void)state;
	use_init(&use, 2, 192);
	for (uint32_t s = 0; s < 192; s += 3)
		use_set(&use, 0, s);
	for (uint32_t s = 0; s < 192; s += 2)
		use_set(&use, 1, s);
	assert_int_equal(use_count(&use, 0), 64);
	assert_int_equal(use_count(&use, 1), 96);
	assert_int_equal(use_common(&use, 0, 1), 32);
	struct use copy;
	use_copy(&copy, &use);
	use_set(&copy, 0, 1);
	assert_int_equal(use_count(&copy, 0), 65);
	assert_int_equal(use_count(&use, 0), 64);
	use_release(&copy);
	use_release(&use);
}

static void test_most_alike_first(void **state)
{
	/* 0 and 2 are the same, 1 shares half of each: with room for two, 1 stays alone. */
	static const uint64_t masks[] = { 0x0f, 0x3c, 0x0f };

	(void)state;
	items(masks, 3);
	cluster(&c, &use, 200, false);
	assert_true(together(0, 2));
	assert_false(together(0, 1));
	release();
	items(masks, 3);
	cluster(&c, &use, 300, false);
	assert_true(together(0, 1) && together(0, 2));
	uint32_t leader = cluster_leader(&c, 0);
	assert_int_equal(c.bytes[leader], 300);
	assert_int_equal(*use_of(&use, leader), 0x3f);
	release();
}

static void test_capacity(void **state)
{
	uint64_t masks[10];

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(masks); i++)
		masks[i] = 0xff;
	for (uint32_t capacity = 99; capacity <= 500; capacity += 100) {
		items(masks, ARRAY_SIZE(masks));
		cluster(&c, &use, capacity, true);
		for (uint32_t i = 0; i < ARRAY_SIZE(masks); i++)
			assert_true(c.bytes[cluster_leader(&c, i)] <= (capacity < 100 ? 100 : capacity));
		release();
	}
}

static void test_anchors(void **state)
{
	static const uint64_t masks[] = { 0xff, 0xff, 0xff };

	(void)state;
	items(masks, 3);
	c.anchored[0] = c.anchored[1] = true;
	cluster(&c, &use, 1000, true);
	assert_false(together(0, 1));
	assert_true(together(2, 0) || together(2, 1));
	release();
}

static void test_fill(void **state)
{
	/* Nothing in common: joined only where filling is asked for. */
	static const uint64_t masks[] = { 0x01, 0x02, 0x04, 0x08 };

	(void)state;
	items(masks, 4);
	cluster(&c, &use, 200, false);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(cluster_leader(&c, i), i);
	cluster(&c, &use, 200, true);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(c.bytes[cluster_leader(&c, i)], 200);
	release();
}

/* The obvious way: all pairs looked at for each join. group[i]: the lowest item of i's cluster. */
static void join_plainly(struct use *u, uint32_t *bytes, uint32_t *group, uint32_t capacity, bool fill)
{
	for (;;) {
		double most = 0;
		uint32_t a = 0, b = 0;

		for (uint32_t i = 0; i < u->nr; i++)
			for (uint32_t k = i + 1; k < u->nr; k++) {
				if (group[i] != i || group[k] != k || bytes[i] + bytes[k] > capacity)
					continue;
				uint32_t common = use_common(u, i, k);
				double score = fill ? common + (bytes[i] + bytes[k]) / (capacity + 1.0) :
					(double)common / (use_count(u, i) + use_count(u, k) - common);
				if (score > most) {
					most = score;
					a = i;
					b = k;
				}
			}
		if (most <= 0)
			return;
		for (uint32_t w = 0; w < u->words; w++)
			use_of(u, a)[w] |= use_of(u, b)[w];
		bytes[a] += bytes[b];
		for (uint32_t i = 0; i < u->nr; i++)
			if (group[i] == b)
				group[i] = a;
	}
}

/* Uses of every density, over so many samples that no two pairs score the same; clusters grow dense themselves. */
static void test_best_pair(void **state)
{
	enum { NR = 60, SAMPLES = 4096, CAPACITY = 1500 };
	uint32_t seed = 1, bytes[NR], group[NR];
	struct use plain;

	(void)state;
	use_init(&use, NR, SAMPLES);
	clustering_init(&c, NR);
	for (uint32_t i = 0; i < NR; i++) {
		for (uint32_t s = 0; s < SAMPLES; s++) {
			seed = seed * 1664525 + 1013904223;
			if ((seed >> 16) % NR < i / 4)
				use_set(&use, i, s);
		}
		seed = seed * 1664525 + 1013904223;
		c.bytes[i] = bytes[i] = 50 + (seed >> 16) % 500;
		group[i] = i;
	}
	use_copy(&plain, &use);
	cluster(&c, &use, CAPACITY, true);
	join_plainly(&plain, bytes, group, CAPACITY, false);
	join_plainly(&plain, bytes, group, CAPACITY, true);
	for (uint32_t i = 0; i < NR; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_int_equal(together(i, k), group[i] == group[k]);
	use_release(&plain);
	release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),	cmocka_unit_test(test_most_alike_first), cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_anchors), cmocka_unit_test(test_fill),
		cmocka_unit_test(test_best_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
