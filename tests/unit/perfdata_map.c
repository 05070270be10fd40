/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where code outside the image lies, as a perf.data tells: modules, programs, one over the other. */
#include <time.h>

#include "perfdata_read.h"

/* Code outside the image keeps its name, and does not count as resolved. */
static void test_outside(void **state)
{
	struct build f = usual(false, false);
	struct bytes *b = &f.records;

	(void)state;
	/* The same chain before the module is known, and after. */
	uint64_t early[] = { CONTEXT_KERNEL, 0xffffffffc0001001, READ + 0x45, ENTRY + 0x85 };
	put_sample(b, 1, 0, 4000, early, 4);
	put_mmap(b, 1, 0xffffffffc0000000, 0x1000, 0, "/lib/modules/6.1/kernel/fs/ext4/nls-ascii.ko.xz");
	put_mmap(b, 1, 0xffffffffc0001000, 0x1000, 0, "[ext4]");
	put_mmap(b, 4, 0xffffffff81000000, 0x1000, 0xffffffff81000000, "[guest.kernel.kallsyms]_text");
	put_ksymbol(b, 0xffffffffc0002000, 0x100, 1, "bpf_prog_6deef7357e7b4530");
	put_ksymbol(b, 0xffffffffc0003000, 0x100, 2, "kprobe_insn_page");
	put_words(b, 20, 0, (uint64_t[]){ 0xffffffffc0004000, 5 | 5 << 16, 0 }, 3);
	/* Patched kernel text stays its function's. */
	put_words(b, 20, 0, (uint64_t[]){ COPY + 0x20, 5 | 5 << 16, 0 }, 3);
	put_sample(b, 1, 0, 4500, read_chain, 6);
	for (uint64_t i = 0; i < 5; i++) {
		uint64_t chain[] = { CONTEXT_KERNEL, 0xffffffffc0000001 + i * 0x1000, READ + 0x45, ENTRY + 0x85 };

		put_sample(b, 1, 0, 5000 + i, chain, 4);
	}
	uint64_t guest[] = { CONTEXT_GUEST_KERNEL, READ + 1 };
	put_sample(b, 4, 0, 6000, guest, 2);
	uint64_t nowhere[] = { CONTEXT_KERNEL, 0xffffffffd0000000 };
	put_sample(b, 1, 0, 7000, nowhere, 2);
	struct result r = read_build(&f, NULL, false);
	assert_int_equal(r.ret, 0);
	assert_int_equal(r.totals.samples, 12);
	assert_int_equal(r.totals.kernel, 10);
	assert_int_equal(r.totals.resolved, 3);
	assert_int_equal(r.totals.unresolved, 7);
	static const char *const want[] = {
		"func [nls_ascii] 1 0\n", "func [ext4] 1 0\n", "func bpf_prog_6deef7357e7b4530@[bpf] 1 0\n",
		"func kprobe_insn_page@[generated] 1 0\n", "func [text_poke] 1 0\n", "func copy 3 0\n",
		"call __x64_sys_read 0x44 [ext4] 1\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		want_line(r.text, want[i]);
	free(r.text);
	free(f.records.p);
}

/* Ranges announced over each other: the latest that holds an address names it. */
static void test_overlaps(void **state)
{
	enum { BASE_PAGES = 64, NR = 600 };
	struct { uint64_t start, len; unsigned int hits; } ranges[NR] = { 0 };
	struct build f = usual(false, false);
	uint64_t random = 1;
	char name[64];

	(void)state;
	for (unsigned int i = 0; i < NR; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		ranges[i].start = 0xffffffffc0000000 + (random >> 40) % BASE_PAGES * 4096;
		ranges[i].len = 16 + (random >> 33) % (i % 7 ? 4096 : 16 * 4096);
		snprintf(name, sizeof(name), "prog_%u", i);
		put_ksymbol(&f.records, ranges[i].start, (uint32_t)ranges[i].len, 1, name);
		for (unsigned int k = 0; k < i % 5; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			uint64_t chain[] = { CONTEXT_KERNEL, 0xffffffffc0000000 + (random >> 40) % (BASE_PAGES * 4096) };
			unsigned int at = i + 1;

			put_sample(&f.records, 1, 0, 5000, chain, 2);
			while (at && chain[1] - ranges[at - 1].start >= ranges[at - 1].len)
				at--;
			if (at)
				ranges[at - 1].hits++;
		}
	}
	struct result r = read_build(&f, NULL, false);
	assert_int_equal(r.ret, 0);
	for (unsigned int i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "func prog_%u@[bpf] %u 0\n", i, ranges[i].hits);
		if (ranges[i].hits)
			want_line(r.text, name);
	}
	free(r.text);
	free(f.records.p);
}

/* A program within a module's range, and a module over the end of another: what is left keeps its name. */
static void test_parts(void **state)
{
	static const uint64_t offs[] = { 0x1000, 0x6010, 0x6100, 0x6fff, 0x7000, 0x8fff };
	struct build f = usual(false, false);

	(void)state;
	put_mmap(&f.records, 1, 0xffffffffc0000000, 0x8000, 0, "/lib/modules/6.1/kernel/fs/ext4/ext4.ko");
	put_ksymbol(&f.records, 0xffffffffc0006000, 0x100, 1, "bpf_prog_x");
	put_mmap(&f.records, 1, 0xffffffffc0007000, 0x2000, 0, "/lib/modules/6.1/kernel/fs/fat.ko");
	for (size_t i = 0; i < ARRAY_SIZE(offs); i++)
		put_sample(&f.records, 1, 0, 5000, (uint64_t[]){ CONTEXT_KERNEL, 0xffffffffc0000000 + offs[i] }, 2);
	struct result r = read_build(&f, NULL, false);
	assert_int_equal(r.ret, 0);
	want_line(r.text, "func [ext4] 3 0\n");
	want_line(r.text, "func [fat] 2 0\n");
	want_line(r.text, "func bpf_prog_x@[bpf] 1 0\n");
	free(r.text);
	free(f.records.p);
}

/* Processor time for many ranges, upwards or downwards. */
static clock_t time_of_flood(bool down)
{
	enum { NR = 150000 };
	struct build f = usual(false, false);

	for (uint64_t i = 0; i < NR; i++)
		put_ksymbol(&f.records, 0xffffffffc0000000 + (down ? NR - i : i) * 64, 32, 1, "prog");
	clock_t begin = clock();
	struct result r = read_build(&f, NULL, false);
	check_usual(r);
	free(r.text);
	free(f.records.p);
	return clock() - begin;
}

static void test_flood(void **state)
{
	clock_t up = time_of_flood(false);

	(void)state;
	assert_true(time_of_flood(true) < 5 * up + CLOCKS_PER_SEC / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outside), cmocka_unit_test(test_overlaps), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
