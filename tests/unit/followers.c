/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The groups behind the hot region, of the bundled kernel under paths made up by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/pack/followers.h"
#include "sample.h"

enum { PAGE = 4096 };

static struct callgraph cg;
static struct span spans[16];
static struct callgraph_path paths[8];

static int begin(void **state)
{
	(void)state;
	cg = (struct callgraph){ .image = &sample, .spans = spans, .paths = paths };
	cg.nodes = xcalloc(sample.nr_units, sizeof(*cg.nodes));
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(cg.nodes);
	return 0;
}

static uint32_t unit_of(const char *func)
{
	uint32_t f = index_find_str(&sample.by_id, func);

	assert_true(f < sample.nr_funcs);
	return sample.funcs[f].unit;
}

/* The latest path also runs the first 16 bytes of a function. */
static uint32_t runs(const char *func)
{
	uint32_t f = index_find_str(&sample.by_id, func), unit = unit_of(func);
	uint32_t off = (uint32_t)(sample.funcs[f].addr - sample.units[unit].addr);

	spans[cg.nr_spans++] = (struct span){ unit, off, off + 16 };
	paths[cg.nr_paths - 1].nr_spans++;
	cg.nodes[unit].touched += 16;
	return unit;
}

static void path(uint64_t weight)
{
	paths[cg.nr_paths++] = (struct callgraph_path){ .kind = PATH_SYSCALL, .root = INDEX_NONE, .first_span = cg.nr_spans,
						       .weight = weight };
}

/* What nearly all run is the tail, the shorter first; what few run comes behind it. */
static void test_tail(void **state)
{
	struct followers f;

	(void)state;
	path(10000);
	uint32_t call = runs("do_syscall_64"), enter = runs("syscall_enter_from_user_mode");
	path(100);
	uint32_t fault = runs("exc_page_fault");
	followers_init(&f, &cg, PAGE);
	assert_int_equal(f.nr, 3);
	assert_int_equal(f.nr_tail, 2);
	assert_true(sample.units[call].size < sample.units[enter].size);
	assert_int_equal(f.units[0], call);
	assert_int_equal(f.units[1], enter);
	assert_int_equal(f.units[2], fault);
	assert_true(f.share[0] > 0.9 && f.share[2] < 0.1);
	assert_true(f.tail_bytes >= sample.units[call].size + sample.units[enter].size);
	assert_true(f.tail_bytes <= sample.units[call].size + sample.units[enter].size + MAX_GROUP_ALIGN + 64);
	followers_release(&f);
}

/* Behind a last hot page filled up to the tail's room, the tail lies on that page. */
static void test_tail_fits(void **state)
{
	uint32_t hot[1];
	struct followers f;
	struct layout l;

	(void)state;
	path(10000);
	runs("do_syscall_64");
	uint32_t enter = runs("syscall_enter_from_user_mode");
	followers_init(&f, &cg, PAGE);
	hot[0] = unit_of("vfs_read");
	assert_true(sample.units[hot[0]].movable);
	sample.units[hot[0]].size = PAGE - f.tail_bytes;
	layout_init(&l, &sample);
	layout_append(&l, hot[0], PAGE);
	followers_append(&f, &l);
	layout_assign(&l);
	uint64_t page = l.addr[hot[0]] / PAGE;
	assert_true(l.addr[f.units[0]] >= l.addr[hot[0]] + sample.units[hot[0]].size);
	assert_int_equal(l.addr[f.units[0]] / PAGE, page);
	assert_int_equal((l.addr[enter] + sample.units[enter].size - 1) / PAGE, page);

	struct layout seen;	/* what the search for pages goes by is the same, modulo the page */
	followers_assign(&f, &cg, hot, 1, PAGE, &seen);
	assert_int_equal(seen.addr[f.units[0]] % PAGE, PAGE - f.tail_bytes);
	assert_true((l.addr[f.units[0]] - seen.addr[f.units[0]]) % PAGE < MAX_GROUP_ALIGN);
	layout_release(&seen);
	layout_release(&l);
	followers_release(&f);
}

/* Of a group behind the first, members that run together come to lie on one page. */
static void test_members_together(void **state)
{
	struct followers f;
	struct layout l;

	(void)state;
	path(10000);
	runs("do_syscall_64");
	path(100);
	uint32_t lock = runs("mutex_lock"), timeout = runs("schedule_timeout");
	path(1);
	runs("down_read");
	followers_init(&f, &cg, PAGE);
	assert_int_equal(f.nr, 4);
	assert_int_equal(f.nr_tail, 1);
	followers_assign(&f, &cg, NULL, 0, PAGE, &l);
	assert_int_equal((l.addr[lock] + spans[1].start) / PAGE, (l.addr[timeout] + spans[2].start) / PAGE);
	layout_release(&l);
	followers_release(&f);
}

static void test_nothing_ran(void **state)
{
	struct followers f;

	(void)state;
	path(1);
	runs("vfs_read");
	followers_init(&f, &cg, PAGE);
	assert_int_equal(f.nr, 0);
	assert_int_equal(f.nr_tail, 0);
	assert_int_equal(f.tail_bytes, 0);
	followers_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tail, begin, end),
		cmocka_unit_test_setup_teardown(test_members_together, begin, end),
		cmocka_unit_test_setup_teardown(test_nothing_ran, begin, end),
		cmocka_unit_test_setup_teardown(test_tail_fits, begin, end),	/* resizes a unit */
	};

	return cmocka_run_group_tests(tests, sample_setup, sample_teardown);
}
