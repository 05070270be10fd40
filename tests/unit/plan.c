/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans: written and read back, hostile files, hostile names, page counting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/tlb/pageset.h"
#include "lib/mem.h"
#include "reorder/plan/plan.h"
#include "reorder/report/format.h"
#include "reorder/report/report.h"

#define HOSTILE "a\"b<c>&d\\e\nf{|}'g\xc3\xa9\x80 </script>"

static void add_unit(struct plan *p, const char *name, uint32_t size, bool moved)
{
	ALLOC_GROW(p->units, p->nr_units + 1, p->alloc_units);
	struct plan_unit *u = &p->units[p->nr_units++];

	memset(u, 0, sizeof(*u));
	u->name = plan_string(p, name);
	u->section = plan_string(p, ".text.x");
	u->group = plan_string(p, "main");
	u->why = plan_string(p, "run by 50 % of paths");
	u->addr_before = p->text_start + 0x10000 * p->nr_units;
	u->addr = p->text_start + 0x400 * p->nr_units;
	u->page_before = plan_entry_of(p, u->addr_before, p->text_start);
	u->page = plan_entry_of(p, u->addr, p->text_start);
	u->size = size;
	u->align = 16;
	u->weight = u->calls = u->path_weight = 10;
	u->touched = size / 2;
	u->moved = moved;
	ALLOC_GROW(p->functions, p->nr_functions + 1, p->alloc_functions);
	u->first_function = p->nr_functions;
	p->functions[p->nr_functions++] = (struct plan_function){ u->name, 0, size, "seen" };
	u->nr_functions = 1;
	ALLOC_GROW(p->ranges, p->nr_ranges + 1, p->alloc_ranges);
	u->first_range = p->nr_ranges;
	p->ranges[p->nr_ranges++] = (struct plan_range){ 0, size / 2, 10 };
	u->nr_ranges = 1;
}

static void make_plan(struct plan *p)
{
	plan_init(p);
	p->algorithm = plan_string(p, "pack");
	p->effort = 3;
	p->vmlinux.build_id = plan_string(p, "0123abcd");
	p->vmlinux.release = plan_string(p, HOSTILE);
	p->vmlinux.arch = plan_string(p, "x86_64");
	p->text_start = 0xffffffff81000000;
	p->path_weight = 20;
	p->after.misses = 12;
	p->machine.block_bytes = 0x10000;
	p->machine.blocks_start = 0xffffffff81010000;
	p->machine.blocks_end = 0xffffffff81040000;
	p->machine.nr_levels = 1;
	p->machine.levels[0].entries = p->machine.levels[0].ways = 32;
	p->machine.levels[0].policy = plan_string(p, "lru");
	add_unit(p, HOSTILE, 300, true);
	add_unit(p, "vfs_read@read_write.c", 500, false);
	ALLOC_GROW(p->uses, 2, p->alloc_uses);
	p->uses[0] = (struct plan_use){ 0, 20 };
	p->uses[1] = (struct plan_use){ 1, 10 };
	p->nr_uses = 2;
	ALLOC_GROW(p->pages, 2, p->alloc_pages);
	p->pages[0] = (struct plan_page){ -3, 20 };
	p->pages[1] = (struct plan_page){ 7, 20 };
	p->nr_pages = 2;
	ALLOC_GROW(p->paths, 1, p->alloc_paths);
	p->paths[p->nr_paths++] = (struct plan_path){
		.root = plan_string(p, HOSTILE),
		.symbol = plan_string(p, HOSTILE),
		.kind = plan_string(p, "syscall"),
		.weight = 20,
		.variants = 2,
		.entries_before = 3.5,
		.entries_after = 1.25,
		.max_before = 4,
		.max_after = 2,
		.touched = 400,
		.nr_uses = 2,
		.nr_before = 1,
		.first_after = 1,
		.nr_after = 1,
	};
	ALLOC_GROW(p->edges, 1, p->alloc_edges);
	p->edges[p->nr_edges++] = (struct plan_edge){ 0, 1, 33 };
}

/* Not inlined: GCC 12 takes the text that open_memstream() returns for the variable that points to it. */
static __attribute__((noinline)) char *to_json(const struct plan *p)
{
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	plan_write_json(p, fp);
	fclose(fp);
	return text;
}

/* Read a plan from text; the caller releases it when 0 comes back. */
static int from_text(struct plan *p, const char *text)
{
	char path[] = "/tmp/hottext-plan-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	int ret = plan_read_json(p, path);
	unlink(path);
	return ret;
}

static void test_round_trip(void **state)
{
	struct plan p, q;
	(void)state;

	make_plan(&p);
	char *first = to_json(&p);
	assert_int_equal(from_text(&q, first), 0);
	char *second = to_json(&q);
	assert_string_equal(first, second);
	assert_true(q.before.misses == PLAN_UNKNOWN);
	assert_int_equal(q.after.misses, 12);
	assert_int_equal(q.pages[0].page, -3);
	assert_int_equal(q.machine.blocks_end, 0xffffffff81040000);
	assert_string_equal(q.units[0].name, "a\"b<c>&d\\e\nf{|}'g\xc3\xa9\xef\xbf\xbd </script>");
	free(first);
	free(second);
	plan_release(&p);
	plan_release(&q);
}

/* Replace the first a in text by b. */
static char *replaced(const char *text, const char *a, const char *b)
{
	const char *at = strstr(text, a);

	assert_non_null(at);
	return xasprintf("%.*s%s%s", (int)(at - text), text, b, at + strlen(a));
}

static void test_hostile_files(void **state)
{
	static const char *const changes[][2] = {
		{ "\"schema\": 1", "\"schema\": 99" },
		{ "\"schema\": 1", "\"schema\": \"1\"" },
		{ "[0,1,33]", "[0,2,33]" },
		{ "[0,1,33]", "[0,-1,33]" },
		{ "\"uses\":[[0,20]", "\"uses\":[[4000000000,20]" },
		{ "\"ranges\":[[0,150,10]]", "\"ranges\":[[0,301,10]]" },
		{ "\"ranges\":[[0,150,10]]", "\"ranges\":[[5,5,1]]" },
		{ "\"size\":300", "\"size\":-300" },
		{ "\"size\":300", "\"size\":4294967296" },
		{ "\"page_bytes\":4096", "\"page_bytes\":0" },
		{ "\"page_bytes\":4096", "\"page_bytes\":4097" },
		{ "\"block_bytes\":65536", "\"block_bytes\":4096" },
		{ "\"block_bytes\":65536", "\"block_bytes\":65537" },
		{ "\"block_bytes\":65536", "\"block_bytes\":2199023255552" },
		{ "\"blocks_start\":\"0xffffffff81010000\"", "\"blocks_start\":\"0xffffffff81050000\"" },
		{ "\"addr\":\"0x", "\"addr\":\"zz" },
		{ "\"page\":0", "\"page\":9223372036854775807" },
		{ "\"kind\":\"syscall\"", "\"kind\":7" },
		{ "\"paths\"", "\"pahts\"" },
		{ "\"units\": [", "\"units\": [7," },
		{ "]\n}", "]\n" },
	};
	struct plan p, q;
	(void)state;

	make_plan(&p);
	char *text = to_json(&p);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		char *bad = replaced(text, changes[i][0], changes[i][1]);

		assert_int_equal(from_text(&q, bad), -1);
		free(bad);
	}
	assert_int_equal(from_text(&q, ""), -1);
	assert_int_equal(from_text(&q, "[]"), -1);
	assert_int_equal(plan_read_json(&q, "/nonexistent/plan.json"), -1);
	free(text);
	plan_release(&p);
}

/* Pages of 4 KB, but three blocks of 64 KB from the 16th. */
static void test_blocks(void **state)
{
	struct plan p;
	(void)state;

	make_plan(&p);
	uint64_t text = p.text_start;
	assert_int_equal(plan_entry_of(&p, text + 0xffff, text), 15);
	assert_int_equal(plan_entry_of(&p, text + 0x1ffff, text), 16);
	assert_int_equal(plan_entry_of(&p, text + 0x20000, text), 32);
	assert_int_equal(plan_entry_of(&p, text + 0x3ffff, text), 48);
	assert_int_equal(plan_entry_of(&p, text + 0x41000, text), 65);
	assert_int_equal(plan_entry_of(&p, text - 1, text), -1);
	assert_int_equal(plan_entries(&p, text, text + 0x1000), 1);
	assert_int_equal(plan_entries(&p, text + 0xfff, text + 0x1001), 2);
	assert_int_equal(plan_entries(&p, text + 0x11000, text + 0x20000), 1);
	assert_int_equal(plan_entries(&p, text + 0x1f000, text + 0x21000), 2);
	assert_int_equal(plan_entries(&p, text, text + 0x42000), 16 + 3 + 2);
	assert_int_equal(plan_entries(&p, text + 0x3f000, text + 0x42000), 1 + 2);
	/* None. */
	p.machine.block_bytes = 0;
	assert_int_equal(plan_entry_of(&p, text + 0x1ffff, text), 31);
	assert_int_equal(plan_entries(&p, text, text + 0x42000), 0x42);
	plan_release(&p);
}

static void test_names(void **state)
{
	static const char *const names[][2] = {
		{ "__x64_sys_read", "read" }, { "sys_read", "read" }, { "__se_sys_openat", "openat" },
		{ "asm_exc_page_fault", "page_fault" }, { "sys_", "sys_" }, { "-", "-" },
		{ "__arm64_sys_ppoll", "ppoll" },
	};
	struct plan p;
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *name = plan_root_name(names[i][0]);

		assert_string_equal(name, names[i][1]);
		free(name);
	}
	make_plan(&p);
	assert_int_equal(plan_find_function(&p, "vfs_read"), 1);
	assert_int_equal(plan_find_function(&p, "vfs_read@read_write.c"), 1);
	assert_int_equal(plan_find_function(&p, "vfs_rea"), INDEX_NONE);
	plan_release(&p);
}

static void test_pageset(void **state)
{
	struct pageset s;
	(void)state;

	pageset_init(&s, 4096, 0x10800);
	pageset_begin(&s, 2);
	pageset_touch(&s, 0x10fff, 0x11001);	/* two pages, the first is text_start's */
	pageset_touch(&s, 0x11800, 0x11900);
	assert_int_equal(pageset_end(&s), 2);
	pageset_begin(&s, 3);
	pageset_touch(&s, 0x1000, 0x1001);	/* before the start */
	pageset_touch(&s, 0x11000, 0x11000);	/* nothing */
	pageset_touch(&s, 0, UINT64_MAX);	/* too far: not counted */
	assert_int_equal(pageset_end(&s), 1);
	assert_int_equal(pageset_count(&s), 3);
	assert_int_equal(s.weight[0 - s.first], 2);
	assert_int_equal(s.weight[-15 - s.first], 3);
	pageset_clear(&s);
	assert_int_equal(pageset_count(&s), 0);
	pageset_release(&s);
}

static void test_histogram(void **state)
{
	struct histogram h = { 0 };
	(void)state;

	assert_true(histogram_mean(&h) == 0 && histogram_percentile(&h, 95) == 0);
	histogram_add(&h, 10, 94);
	histogram_add(&h, 20, 5);
	histogram_add(&h, 400, 1);
	assert_true(histogram_mean(&h) == (940 + 100 + 400) / 100.0);
	assert_true(histogram_percentile(&h, 95) == 20);
	assert_true(histogram_percentile(&h, 50) == 10);
	assert_true(histogram_percentile(&h, 100) == 400);
	histogram_release(&h);
}

static char *put(void (*f)(FILE *, const char *), const char *s)
{
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	f(fp, s);
	fclose(fp);
	return text;
}

static void put_text_8(FILE *fp, const char *s)
{
	put_text(fp, s, 8);
}

static void test_escapes(void **state)
{
	static const struct {
		void (*f)(FILE *, const char *);
		const char *in, *out;
	} cases[] = {
		{ put_html, "a<b>&\"'\n", "a&lt;b&gt;&amp;&quot;&#39; " },
		{ put_dot, "a\"\\\nb", "\"a\\\"\\\\ b\"" },
		{ put_script, "</script>\"\\\n", "\\u003c/script\\u003e\\\"\\\\\\u000a" },
		{ put_csv, "a,\"b", "\"a,\"\"b\"" },
		{ put_csv, "plain", "plain" },
		{ put_text_8, "\033[2J", "?[2J    " },
		{ put_text_8, "0123456789", "012345.." },
		{ put_text_8, "\xc3\xa9\xc3\xa9", "\xc3\xa9\xc3\xa9      " },
		{ put_text_8, "\xc2\x9b" "1m", "?1m     " },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = put(cases[i].f, cases[i].in);

		assert_string_equal(text, cases[i].out);
		free(text);
	}
}

static void test_numbers(void **state)
{
	char buf[FORMAT_MAX];
	(void)state;

	assert_string_equal(format_count(buf, 0), "0");
	assert_string_equal(format_count(buf, 775541), "775,541");
	assert_string_equal(format_count(buf, PLAN_UNKNOWN), "-");
	assert_string_equal(format_bytes(buf, 4096), "4 KB");
	assert_string_equal(format_bytes(buf, 1500), "1.5 KB");
	assert_string_equal(format_saving(buf, 130324, 156), "99.9 %");
	assert_string_equal(format_saving(buf, 10, 12), "-20 %");
	assert_string_equal(format_saving(buf, 0, 3), "-");
	assert_string_equal(format_percent(buf, 0.01), "<0.1 %");
	assert_string_equal(format_cycles(buf, 0.00034), "340 us");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_hostile_files),
		cmocka_unit_test(test_names),	   cmocka_unit_test(test_pageset),
		cmocka_unit_test(test_histogram),  cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_numbers),	   cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
