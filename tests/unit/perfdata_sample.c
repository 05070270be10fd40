/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples in a perf.data: their fields and events, losses, callchains and branches. */
#include "collect/perf/perfdata.h"
#include "collect/perf/perfdata_events.h"
#include "perfdata_read.h"

/* Every field that a sample can have, each with its own value. */
static void test_fields(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct perfdata_attr a = {
			.sample_type = (1 << 25) - 1, .read_format = 8 | 4 | 16 | 1, .regs_user = 7, .regs_intr = 3,
			.branch_sample_type = 1 << 17 | 1 << 19,
		};
		struct bytes b = { .big = big };

		put64(&b, 100);				/* identifier */
		put64(&b, 101);				/* ip */
		put32(&b, 102), put32(&b, 103);		/* pid, tid */
		put64(&b, 104);				/* time */
		put64(&b, 105);				/* addr */
		put64(&b, 106);				/* id */
		put64(&b, 107);				/* stream id */
		put32(&b, 108), put32(&b, 0);		/* cpu */
		put64(&b, 109);				/* period */
		put64(&b, 2), put64(&b, 0);		/* read: group of two, time enabled, */
		for (int i = 0; i < 6; i++)		/* {value, id, lost} */
			put64(&b, 0);
		put64(&b, 1), put64(&b, 110);		/* chain */
		put32(&b, 4), put32(&b, 0);		/* raw */
		put64(&b, 1), put64(&b, 5);		/* branches, hw index */
		put64(&b, 111), put64(&b, 112), put64(&b, 0);
		put64(&b, 0);				/* counters */
		put64(&b, 2), put64(&b, 0), put64(&b, 0), put64(&b, 0);	/* user registers */
		put64(&b, 8), put64(&b, 0), put64(&b, 8);		/* user stack */
		put64(&b, 113);				/* weight */
		put64(&b, 114);				/* data source */
		put64(&b, 115);				/* transaction */
		put64(&b, 0);				/* no registers at the interrupt */
		put64(&b, 116);				/* physical address */
		put64(&b, 117);				/* cgroup */
		put64(&b, 118);				/* data page size */
		put64(&b, 119);				/* code page size */
		put64(&b, 8), put64(&b, 0);		/* aux */
		struct perfdata_record rec = { 9, 1, b.p, b.n };
		struct perfdata_sample s;
		assert_true(perfdata_sample_parse(&a, &rec, big, &s));
		assert_int_equal(s.ip, 101);
		assert_int_equal(s.pid, 102);
		assert_int_equal(s.tid, 103);
		assert_int_equal(s.time, 104);
		assert_int_equal(s.addr, 105);
		assert_int_equal(s.id, 106);
		assert_int_equal(s.stream_id, 107);
		assert_int_equal(s.cpu, 108);
		assert_int_equal(s.period, 109);
		assert_int_equal(s.nr_chain, 1);
		assert_int_equal(perfdata_u64(s.chain, big), 110);
		assert_int_equal(s.nr_branches, 1);
		assert_int_equal(perfdata_u64(s.branches, big), 111);
		assert_int_equal(perfdata_u64(s.branches + 8, big), 112);
		assert_int_equal(s.weight, 113);
		assert_int_equal(s.data_src, 114);
		assert_int_equal(s.transaction, 115);
		assert_int_equal(s.phys_addr, 116);
		assert_int_equal(s.cgroup, 117);
		assert_int_equal(s.data_page_size, 118);
		assert_int_equal(s.code_page_size, 119);
		/* One byte less, and the last field is not all there. */
		for (rec.size = 0; rec.size < b.n; rec.size++)
			assert_false(perfdata_sample_parse(&a, &rec, big, &s));
		free(b.p);
	}
}

static void test_events(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct build f = { .big = big, .arch = "x86_64", .nr_events = 3 };
		uint64_t type = IP | TID | TIME | ID | CHAIN;

		f.records.big = big;
		f.events[0] = (struct build_event){ 0, 0, type, 0, 0, 11, "cycles:P" };
		f.events[1] = (struct build_event){ 1, 9, type, 0, 0, 12, "dummy:HG" };
		f.events[2] = (struct build_event){ 3, 0x10004, type, 0, 0, 13, "iTLB-load-misses" };
		put_kernel(&f.records);
		put_sample(&f.records, 1, 11, 1, read_chain, 6);
		put_sample(&f.records, 1, 13, 2, read_chain, 6);
		put_sample(&f.records, 1, 13, 3, read_chain, 6);
		put_sample(&f.records, 1, 99, 4, read_chain, 6);	/* of no event: lost */
		struct result r = read_build(&f, NULL, false);
		assert_int_equal(r.ret, 0);
		assert_int_equal(r.totals.samples, 1);
		assert_int_equal(r.totals.lost, 1);
		free(r.text);
		r = read_build(&f, "iTLB-load-misses", false);
		assert_int_equal(r.totals.samples, 2);
		free(r.text);
		r = read_build(&f, "cycles", false);
		assert_int_equal(r.totals.samples, 1);
		free(r.text);
		r = read_build(&f, "branches", false);
		assert_int_equal(r.ret, -1);
		free(r.text);
		free(f.records.p);
	}
}

/* LOST has an id before its count; LOST_SAMPLES that a BPF filter dropped are not lost. */
static void test_lost(void **state)
{
	struct build f = usual(false, false);

	(void)state;
	put_words(&f.records, 2, 0, (uint64_t[]){ 1, 30 }, 2);
	put_words(&f.records, 13, 0, (uint64_t[]){ 5 }, 1);
	put_words(&f.records, 13, 1 << 15, (uint64_t[]){ 1000 }, 1);
	put_words(&f.records, 200, 0, (uint64_t[]){ 1, 2, 3 }, 3);	/* of a kernel to come */
	struct result r = read_build(&f, NULL, false);
	check_usual(r);
	assert_int_equal(r.totals.lost, 35);
	free(r.text);
	/* With read_format LOST perf counts the same losses twice. */
	f.events[0].read_format = 16;
	r = read_build(&f, NULL, false);
	assert_int_equal(r.totals.lost, 30);
	free(r.text);
	free(f.records.p);
}

/*
 * Where LOST_SAMPLES tells the event, those of events left out are not ours, and LOST,
 * which counts all, is not needed.
 */
static void test_lost_by_event(void **state)
{
	static const struct { uint64_t type; unsigned int nr, id; } cases[] = {
		{ IP | TID | TIME | ID | CHAIN, 3, 2 }, { IP | TID | TIME | ID | CHAIN | 1 << 7 | 1 << 9, 5, 2 },
		{ 1 << 16 | IP | TID | TIME | CHAIN | 1 << 7, 4, 3 },
	};

	(void)state;
	for (size_t i = 0; i < 4 * ARRAY_SIZE(cases); i++) {
		bool counted = i & 1, big = i & 2;
		uint64_t type = cases[i / 4].type, words[6] = { 0 };
		unsigned int nr = cases[i / 4].nr, id = 1 + cases[i / 4].id;
		struct build f = { .big = big, .arch = "x86_64", .nr_events = 2 };

		f.records.big = big;
		f.events[0] = (struct build_event){ 0, 0, type, counted ? 16 : 0, 0, 11, "cycles" };
		f.events[1] = (struct build_event){ 2, 372, type, counted ? 16 : 0, 0, 12, "sched:sched_switch" };
		put_kernel(&f.records);
		put_words(&f.records, 2, 0, (uint64_t[]){ 11, 1000 }, 2);
		words[0] = 5;
		words[id] = 11;
		put_words(&f.records, 13, 0, words, 1 + nr);
		words[0] = 70;
		words[id] = 12;
		put_words(&f.records, 13, 0, words, 1 + nr);
		struct result r = read_build(&f, NULL, false);
		assert_int_equal(r.totals.lost, counted ? 5 : 1005);
		free(r.text);
		r = read_build(&f, "sched:sched_switch", false);
		assert_int_equal(r.totals.lost, counted ? 70 : 1070);
		free(r.text);
		/* Nothing behind it tells, or of no event that is known: it may be ours. */
		put_words(&f.records, 13, 0, (uint64_t[]){ 300 }, 1);
		words[0] = 600;
		words[id] = 99;
		put_words(&f.records, 13, 0, words, 1 + nr);
		r = read_build(&f, NULL, false);
		assert_int_equal(r.totals.lost, counted ? 905 : 1905);
		free(r.text);
		free(f.records.p);
	}
}

/* A task that moves between two processors, whose samples stand one after the other's. */
static void test_order(void **state)
{
	static const uint64_t a[] = { CONTEXT_KERNEL, COPY + 0x20, READ + 0x45 },
			      b[] = { CONTEXT_KERNEL, COPY + 0x30, READ + 0x55 },
			      c[] = { CONTEXT_KERNEL, COPY + 0x40, READ + 0x65 };
	char *first = NULL;

	(void)state;
	for (int turn = 0; turn < 5; turn++) {
		struct build f = usual(turn & 1, turn == 4);
		bool sorted = turn < 2;

		f.records.n = 0;
		put_kernel(&f.records);
		put_sample(&f.records, 1, 0, 1000, a, 3);
		if (sorted)
			put_sample(&f.records, 1, 0, 2000, b, 3);
		put_sample(&f.records, 1, 0, 3000, c, 3);
		if (!sorted)
			put_sample(&f.records, 1, 0, 2000, b, 3);
		put_sample(&f.records, 1, 0, 4000, a, 3);
		struct result r = read_build(&f, NULL, false);
		assert_int_equal(r.ret, 0);
		if (first)
			assert_string_equal(first, r.text);
		else
			first = xstrdup(r.text);
		free(r.text);
		free(f.records.p);
	}
	assert_non_null(strstr(first, "\nnext "));
	free(first);
}

/* The callchain is of the interrupt, the sampled address exact: in the same function, in another, in user mode. */
static void test_exact(void **state)
{
	static const struct { uint64_t ip; const char *lines[4]; } cases[] = {
		{ COPY + 0x20, { "func copy 3 0\n", "touch copy 0x20 3\n", " copy:4 " } },
		{ COPY + 0x10, { "func copy 3 0\n", "touch copy 0x10 3\n", " copy:2 " } },
		{ READ + 0x40, { "func __x64_sys_read 3 0\n", "touch __x64_sys_read 0x40 3\n", " copy:4 " } },
		{ READ, { "func __x64_sys_read 3 0\n", "touch __x64_sys_read 0x0 3\n", " copy:4 " } },
		{ 0x401000, { "func copy 3 0\n", "touch copy 0x20 3\n", " copy:4 " } },
		{ 0, { "func copy 3 0\n", "touch copy 0x20 3\n", " copy:4 " } },
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		bool big = i & 1;
		struct build f = usual(big, false);

		f.records.n = 0;
		put_kernel(&f.records);
		for (uint64_t time = 1000; time < 4000; time += 1000) {
			size_t at = f.records.n + 8;
			struct bytes ip = { .big = big };

			put_sample(&f.records, 1, 0, time, read_chain, 6);
			put64(&ip, cases[i / 2].ip);
			memcpy(f.records.p + at, ip.p, 8);
			free(ip.p);
		}
		struct result r = read_build(&f, NULL, false);
		assert_int_equal(r.ret, 0);
		assert_int_equal(r.totals.resolved, 3);
		for (const char *const *line = cases[i / 2].lines; *line; line++)
			want_line(r.text, *line);
		want_line(r.text, "call __x64_sys_read 0x44 copy 3\n");
		want_line(r.text, "call do_syscall_64 0x84 __x64_sys_read 3\n");
		want_line(r.text, "syscall __x64_sys_read 3 ");
		free(r.text);
		free(f.records.p);
	}
}

/* A word before a slash is the event's name, or that of a PMU whose event comes behind it. */
static void test_names(void **state)
{
	static const struct { const char *event, *name; bool cycles; } cases[] = {
		{ "cpu-clock/period=1000000/k", "cpu-clock", true }, { "cycles/freq=4000/", "cycles", true },
		{ "cycles/period=1/P", "cycles", true }, { "cycles:P", "cycles", true },
		{ "cpu/cycles/", "cycles", true }, { "cpu_core/cycles/P", "cycles", true },
		{ "cpu/cycles,period=1/", "cycles", true }, { "cpu/event=0x3c,umask=0/", "event=0x3c", false },
		{ "ex_ret_instr/period=7/", "ex_ret_instr", true }, { "ibs_op//", "", true },
		{ "iTLB-load-misses/period=1/u", "iTLB-load-misses", false }, { "cycles_of_ours/x/", "x", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(perfdata_event_is(cases[i].event, cases[i].event));
		assert_true(perfdata_event_is(cases[i].event, cases[i].name));
		assert_int_equal(perfdata_event_is_cycles(cases[i].event), cases[i].cycles);
	}
}

/*
 * Chains that begin alike, are parts of each other, come back into the kernel, or only differ in user mode, again and
 * again and in turn. What is remembered of them is so in our byte order only: the other one is the yardstick.
 */
static void test_repeats(void **state)
{
	static const uint64_t c[][8] = {
		{ CONTEXT_KERNEL, COPY + 0x20, READ + 0x45, ENTRY + 0x85, CONTEXT_USER, 0x401000 },
		{ CONTEXT_KERNEL, COPY + 0x20, READ + 0x45, ENTRY + 0x85, CONTEXT_USER, 0x402000, 0x403000 },
		{ CONTEXT_KERNEL, COPY + 0x20, READ + 0x45, ENTRY + 0x85 },
		{ CONTEXT_KERNEL, COPY + 0x20, READ + 0x45 },
		{ CONTEXT_KERNEL, COPY + 0x20 },
		{ CONTEXT_KERNEL, COPY + 0x20, READ + 0x45, CONTEXT_USER, 0x401000, CONTEXT_KERNEL, ENTRY + 0x85 },
		{ CONTEXT_KERNEL, COPY + 0x20, READ + 0x45, CONTEXT_USER, 0x401000 },
		{ CONTEXT_KERNEL, COPY + 0x20, READ + 0x45, CONTEXT_KERNEL, ENTRY + 0x85 },
		{ CONTEXT_USER, 0x401000, CONTEXT_KERNEL, COPY + 0x20, READ + 0x45, ENTRY + 0x85 },
		{ CONTEXT_KERNEL, READ + 5, READ + 5, READ + 5, READ + 5, READ + 5, READ + 5, ENTRY + 0x85 },
		{ CONTEXT_KERNEL, READ + 5, READ + 5, READ + 5, READ + 5, READ + 5, READ + 5, READ + 5 },
	};
	enum { TURNS = 50, NR = ARRAY_SIZE(c) };
	char *first = NULL;

	(void)state;
	for (int big = 0; big < 2; big++) {
		struct build f = usual(big, false);

		for (uint64_t i = 0; i < TURNS * NR; i++) {
			const uint64_t *chain = c[i % 3 ? i % NR : i / 3 % NR];
			size_t nr = 8;

			while (!chain[nr - 1])
				nr--;
			put_sample(&f.records, 1, 0, 10000 + i, chain, nr);
		}
		struct result r = read_build(&f, NULL, false);
		assert_int_equal(r.ret, 0);
		assert_int_equal(r.totals.kernel, 2 + TURNS * NR);
		assert_int_equal(r.totals.resolved, 2 + TURNS * NR);
		if (first)
			assert_string_equal(first, r.text);
		else
			first = xstrdup(r.text);
		free(r.text);
		free(f.records.p);
	}
	free(first);
}

/* Newest first: copy+0x30 returned into read, which had been called from the entry. */
static void test_branches(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		/* Every branch, or (i & 4) any call. */
		struct build f = {
			.big = i & 1, .arch = "x86_64", .nr_events = 1,
			.events = { { .type = 0, .sample_type = IP | TID | TIME | BRANCHES, .name = "cycles",
				      .branch_type = (i & 2 ? 1 << 17 | 1 << 19 : 0) | (i & 4 ? 1 << 4 : 1 << 3) } },
		};
		static const uint64_t entries[][2] = {
			{ COPY + 0x30, READ + 0x45 }, { READ + 0x40, COPY }, { ENTRY + 0x80, READ },
			{ 0x401000, ENTRY },
		};
		struct bytes body = { .big = i & 1 };

		f.records.big = i & 1;
		put_kernel(&f.records);
		put64(&body, READ + 0x50);
		put32(&body, 7);
		put32(&body, 8);
		put64(&body, 1000);
		put64(&body, 4);
		if (i & 2)
			put64(&body, 3);
		for (int k = 0; k < 4; k++) {
			put64(&body, entries[k][0]);
			put64(&body, entries[k][1]);
			put64(&body, 0);
		}
		for (int k = 0; i & 2 && k < 4; k++)
			put64(&body, 0);
		put_record(&f.records, 9, 1, &body);
		struct result r = read_build(&f, NULL, false);
		assert_int_equal(r.ret, 0);
		static const char *const want[] = {
			"func copy 0 1\n", "func __x64_sys_read 1 1\n", "func do_syscall_64 0 1\n",
			"call do_syscall_64 0x80 __x64_sys_read 1\n", "call __x64_sys_read 0x40 copy 1\n",
		};
		for (size_t k = 0; k < ARRAY_SIZE(want); k++)
			want_line(r.text, want[k]);
		assert_int_equal(!strstr(r.text, "touch do_syscall_64 0x40 1\n"), !!(i & 4));
		free(r.text);
		/* Of a hypervisor or a guest, the addresses mean nothing here. */
		f.records.n = 0;
		put_kernel(&f.records);
		for (uint16_t mode = 3; mode < 6; mode++)
			put_record(&f.records, 9, mode, &body);
		r = read_build(&f, NULL, false);
		assert_int_equal(r.ret, 0);
		assert_int_equal(r.totals.samples, 3);
		assert_int_equal(r.totals.kernel, 0);
		assert_null(strstr(r.text, "func "));
		free(r.text);
		free(body.p);
		free(f.records.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields), cmocka_unit_test(test_events), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_by_event), cmocka_unit_test(test_order), cmocka_unit_test(test_exact),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_repeats), cmocka_unit_test(test_branches),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
