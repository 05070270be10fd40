/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fetch traces: the format, hostile ones, what the paths made of them say; the ITLB simulation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "collect/fetch/fetch.h"
#include "collect/profile.h"
#include "collect/qemu/decode.h"
#include "collect/qemu/format.h"
#include "collect/qemu/sim.h"
#include "collect/reader.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/symtab.h"

extern const struct reader fetch_reader;

#define BASE 0xffffffff81000000u

/* A trace being written, word by word. */
struct trace {
	uint32_t words[4096];
	uint32_t nr;
};

static void put(struct trace *t, uint32_t w)
{
	assert_true(t->nr < ARRAY_SIZE(t->words));
	t->words[t->nr++] = w;
}

static void begin(struct trace *t)
{
	memcpy(t->words, FETCH_MAGIC, 8);
	t->nr = 2;
	put(t, FETCH_VERSION);
	put(t, 62);
	put(t, 2);
	put(t, 0);
	put(t, 0x80000000u);
	for (int i = 0; i < 8; i++)
		put(t, 0);
}

static void define(struct trace *t, uint64_t addr, uint32_t bytes, uint32_t insns)
{
	put(t, FETCH_DEFINE);
	put(t, (uint32_t)addr);
	put(t, (uint32_t)(addr >> 32));
	put(t, bytes);
	put(t, insns);
}

static void end(struct trace *t, uint32_t runs, uint32_t insns)
{
	put(t, FETCH_END);
	put(t, runs);
	put(t, 0);
	put(t, insns);
	put(t, 0);
}

/* One of everything. */
static void make_small(struct trace *t)
{
	begin(t);
	define(t, BASE, 16, 4);
	put(t, 0);
	put(t, FETCH_REPEAT);
	put(t, 9);
	put(t, FETCH_SWITCH);
	put(t, FETCH_CPU);
	put(t, 1);
	define(t, 0x400000, 5, 2);
	put(t, 1);
	put(t, 0);
	put(t, FETCH_MARK);
	put(t, 0);
	put(t, FETCH_MARK);
	put(t, 1);
	put(t, 1);
	end(t, 13, 48);
}

static char *write_temp(const void *data, size_t size, const char *name)
{
	char *path = xasprintf("/tmp/hottext-test-%d-%s", getpid(), name);
	FILE *fp = fopen(path, "w");

	assert_non_null(fp);
	assert_int_equal(fwrite(data, 1, size, fp), size);
	assert_int_equal(fclose(fp), 0);
	return path;
}

/* Read all events; the last result of fetch_next or fetch_init. */
static int read_bytes(const void *data, size_t size, struct fetch_event *events, unsigned int *nr)
{
	char *path = write_temp(data, size, "trace");
	struct input *in = input_open(path);
	struct fetch_event ev;
	struct fetch f;
	int ret = fetch_init(&f, in);

	*nr = 0;
	if (!ret) {
		while ((ret = fetch_next(&f, &ev)) > 0)
			if (events && *nr < 64)
				events[(*nr)++] = ev;
		if (!ret)
			assert_true(f.ended);
	}
	fetch_release(&f);
	input_close(in);
	unlink(path);
	free(path);
	return ret;
}

static int read_words(const struct trace *t, struct fetch_event *events, unsigned int *nr)
{
	return read_bytes(t->words, t->nr * sizeof(*t->words), events, nr);
}

static void check_small(const struct fetch_event *ev, unsigned int nr)
{
	static const struct fetch_event want[] = {
		{ FETCH_EV_RUN, 0, 1 }, { FETCH_EV_RUN, 0, 9 }, { FETCH_EV_SWITCH, 0, 0 }, { FETCH_EV_CPU, 1, 0 },
		{ FETCH_EV_RUN, 1, 1 }, { FETCH_EV_RUN, 0, 1 }, { FETCH_EV_MARK, 0, 0 }, { FETCH_EV_MARK, 1, 0 },
		{ FETCH_EV_RUN, 1, 1 },
	};

	assert_int_equal(nr, ARRAY_SIZE(want));
	for (unsigned int i = 0; i < nr; i++) {
		assert_int_equal(ev[i].kind, want[i].kind);
		assert_int_equal(ev[i].block, want[i].block);
		assert_int_equal(ev[i].count, want[i].count);
	}
}

static void reads_every_event(void **state)
{
	struct trace t;
	struct fetch_event ev[64];
	unsigned int nr;

	(void)state;
	make_small(&t);
	assert_int_equal(read_words(&t, ev, &nr), 0);
	check_small(ev, nr);
}

static void reads_zstd(void **state)
{
	struct trace t;
	struct fetch_event ev[64];
	char packed[8192];
	unsigned int nr;

	(void)state;
	make_small(&t);
	size_t size = ZSTD_compress(packed, sizeof(packed), t.words, t.nr * 4, 3);
	assert_false(ZSTD_isError(size));
	assert_int_equal(read_bytes(packed, size, ev, &nr), 0);
	check_small(ev, nr);
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(read_bytes(packed, cut, ev, &nr), -1);
}

static void rejects_every_cut(void **state)
{
	struct trace t;
	unsigned int nr;

	(void)state;
	make_small(&t);
	for (uint32_t words = 0; words < t.nr; words++)
		for (uint32_t odd = 0; odd < 4; odd++)
			assert_int_equal(read_bytes(t.words, words * 4 + odd, NULL, &nr), -1);
}

/* No change of one word may do more than be reported. */
static void survives_every_change(void **state)
{
	static const uint32_t values[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0xffffff00, 0xffffff01, 0xffffff02,
					   0xffffff03, 0xffffff04, 0xffffff05, 0xffffff06, 0xffffffff };
	struct trace t;
	unsigned int nr;

	(void)state;
	make_small(&t);
	for (uint32_t i = 0; i < t.nr; i++) {
		uint32_t was = t.words[i];

		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			t.words[i] = values[v];
			read_words(&t, NULL, &nr);
		}
		t.words[i] = was;
	}
}

static void rejects(void (*spoil)(struct trace *t))
{
	struct trace t;
	unsigned int nr;

	begin(&t);
	spoil(&t);
	assert_int_equal(read_words(&t, NULL, &nr), -1);
}

static void spoil_version(struct trace *t) { t->words[2] = 2; end(t, 0, 0); }
static void spoil_cpus(struct trace *t) { t->words[4] = 0; end(t, 0, 0); }
static void spoil_undefined(struct trace *t) { put(t, 0); end(t, 1, 1); }
static void spoil_empty_block(struct trace *t) { define(t, BASE, 0, 1); end(t, 0, 0); }
static void spoil_wrap(struct trace *t) { define(t, UINT64_MAX - 2, 16, 4); end(t, 0, 0); }
static void spoil_repeat(struct trace *t) { define(t, BASE, 4, 1); put(t, FETCH_REPEAT); put(t, 3); }
static void spoil_cpu(struct trace *t) { put(t, FETCH_CPU); put(t, 2); end(t, 0, 0); }
static void spoil_mark(struct trace *t) { put(t, FETCH_MARK); put(t, 2); end(t, 0, 0); }
static void spoil_totals(struct trace *t) { define(t, BASE, 4, 1); put(t, 0); end(t, 2, 1); }
static void spoil_tail(struct trace *t) { end(t, 0, 0); put(t, 0); }

static void rejects_nonsense(void **state)
{
	(void)state;
	rejects(spoil_version);
	rejects(spoil_cpus);
	rejects(spoil_undefined);
	rejects(spoil_empty_block);
	rejects(spoil_wrap);
	rejects(spoil_repeat);
	rejects(spoil_cpu);
	rejects(spoil_mark);
	rejects(spoil_totals);
	rejects(spoil_tail);
}

/* A little kernel: entry code, a system call that calls two functions, an interrupt, a switch. */
static const char kallsyms[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T __x64_sys_read\n"
	"ffffffff81000100 T vfs_read\n"
	"ffffffff81000200 T copy\n"
	"ffffffff81000300 T do_syscall_64\n"
	"ffffffff81000400 T sysvec_apic_timer_interrupt\n"
	"ffffffff81000500 T __switch_to_asm\n"
	"ffffffff81000600 T pipe_read\n"
	"ffffffff81000700 T __sched_text_start\n"
	"ffffffff81000700 T __schedule\n"
	"ffffffff81000800 T __sched_text_end\n"
	"ffffffff81000800 T last\n"
	"ffffffff81001000 T __entry_text_start\n"
	"ffffffff81001000 T entry_SYSCALL_64\n"
	"ffffffff81001100 T asm_sysvec_apic_timer_interrupt\n"
	"ffffffff81001200 T __entry_text_end\n"
	"ffffffff81001200 T _etext\n";

enum { USER, ENTRY, ENTRY_BACK, DO, DO_BACK, READ, READ_BACK, VFS, VFS_BACK, COPY, COPY_LOOP, IRQ, IRQ_BACK,
       SYSVEC, SCHED, SCHED_BACK, SWITCH, PIPE_BACK };

static void define_kernel(struct trace *t)
{
	define(t, 0x400000, 8, 2);
	define(t, BASE + 0x1000, 32, 8);	/* calls do_syscall_64 */
	define(t, BASE + 0x1020, 16, 4);	/* and returns to user mode */
	define(t, BASE + 0x300, 16, 4);		/* calls __x64_sys_read */
	define(t, BASE + 0x310, 16, 4);
	define(t, BASE, 16, 4);			/* calls vfs_read */
	define(t, BASE + 0x10, 16, 4);
	define(t, BASE + 0x100, 16, 4);		/* calls copy */
	define(t, BASE + 0x110, 16, 4);
	define(t, BASE + 0x200, 16, 4);
	define(t, BASE + 0x220, 32, 8);
	define(t, BASE + 0x1100, 16, 4);	/* calls sysvec_apic_timer_interrupt */
	define(t, BASE + 0x1110, 16, 4);	/* and returns from the interrupt */
	define(t, BASE + 0x400, 16, 4);
	define(t, BASE + 0x700, 16, 4);		/* calls __switch_to_asm */
	define(t, BASE + 0x710, 16, 4);
	define(t, BASE + 0x500, 16, 4);
	define(t, BASE + 0x620, 16, 4);
}

static void run(struct trace *t, const uint32_t *blocks, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		put(t, blocks[i]);
}

/* The profile of a trace made of runs of the little kernel's blocks. */
static void make_profile(struct profile *p, const uint32_t *blocks, size_t nr)
{
	static const uint32_t insns[] = { 2, 8, 4, 4, 4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4 };
	struct collect_options opts = { .vmlinux = "kallsyms" };
	struct symtab st;
	struct trace t;
	uint32_t sum = 0;

	begin(&t);
	define_kernel(&t);
	run(&t, blocks, nr);
	for (size_t i = 0; i < nr; i++)
		sum += insns[blocks[i]];
	end(&t, (uint32_t)nr, sum);
	char *path = write_temp(t.words, t.nr * 4, "kernel");
	char *syms = write_temp(kallsyms, strlen(kallsyms), "kallsyms");
	assert_int_equal(symtab_read_kallsyms(&st, syms), 0);
	opts.syms = &st;
	struct input *in = input_open(path);
	memset(p, 0, sizeof(*p));
	assert_int_equal(fetch_reader.read(in, path, &opts, p), 0);
	input_close(in);
	symtab_release(&st);
	unlink(path);
	unlink(syms);
	free(path);
	free(syms);
}

static uint64_t path_weight(const struct profile *p, enum path_kind kind, const char *root, uint32_t nr_feet)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->paths.nr_keys; i++) {
		struct profile_path q = profile_get_path(p, i);

		if (q.kind == kind && !strcmp(profile_func_name(p, q.root), root) && q.nr_feet == nr_feet)
			sum += p->path_weights[i];
	}
	return sum;
}

static uint64_t call_weight(const struct profile *p, const char *from, const char *to, uint32_t want_off)
{
	for (uint32_t i = 0; i < p->calls.nr_keys; i++) {
		uint32_t caller, off, callee;

		profile_get_call(p, i, &caller, &off, &callee);
		if (!strcmp(profile_func_name(p, caller), from) && !strcmp(profile_func_name(p, callee), to) &&
		    off == want_off)
			return p->call_weights[i];
	}
	return 0;
}

static const uint32_t plain_read[] = {
	USER, ENTRY, DO, READ, VFS, COPY, COPY_LOOP, COPY_LOOP, VFS_BACK, READ_BACK, DO_BACK, ENTRY_BACK, USER,
};

static void walks_a_syscall(void **state)
{
	struct profile p;

	(void)state;
	make_profile(&p, plain_read, ARRAY_SIZE(plain_read));
	struct profile_source s = profile_totals(&p);
	assert_int_equal(s.samples, 60);
	assert_int_equal(s.kernel, 56);
	assert_int_equal(s.resolved, 56);
	assert_int_equal(p.paths.nr_keys, 1);
	assert_int_equal(path_weight(&p, PATH_SYSCALL, "__x64_sys_read", 5), 1);
	assert_int_equal(call_weight(&p, "__x64_sys_read", "vfs_read", 15), 1);
	assert_int_equal(call_weight(&p, "vfs_read", "copy", 15), 1);
	assert_int_equal(call_weight(&p, "entry_SYSCALL_64", "do_syscall_64", 31), 1);
	assert_int_equal(p.calls.nr_keys, 4);
	assert_int_equal(p.funcs[profile_func(&p, "copy")].samples, 20);
	assert_int_equal(p.funcs[profile_func(&p, "copy")].calls, 1);
	profile_release(&p);
}

/* The interrupted path goes on; the interrupt is one of its own, and nobody's call. */
static void walks_an_interrupt(void **state)
{
	static const uint32_t blocks[] = {
		USER, ENTRY, DO, READ, VFS, COPY, IRQ, SYSVEC, IRQ_BACK, COPY_LOOP, VFS_BACK,
		IRQ, SYSVEC, IRQ_BACK, READ_BACK, DO_BACK, ENTRY_BACK, USER,
	};
	struct profile p;

	(void)state;
	make_profile(&p, blocks, ARRAY_SIZE(blocks));
	assert_int_equal(path_weight(&p, PATH_SYSCALL, "__x64_sys_read", 5), 1);
	assert_int_equal(path_weight(&p, PATH_INTERRUPT, "sysvec_apic_timer_interrupt", 2), 2);
	assert_int_equal(p.paths.nr_keys, 2);
	assert_int_equal(p.calls.nr_keys, 5);
	assert_int_equal(call_weight(&p, "asm_sysvec_apic_timer_interrupt", "sysvec_apic_timer_interrupt", 15), 2);
	profile_release(&p);
}

/* Interrupted right before a call arrived: the call counts, once, and not as the interrupt's. */
static void keeps_an_interrupted_call(void **state)
{
	static const uint32_t blocks[] = {
		USER, ENTRY, DO, READ, VFS, COPY, IRQ, SYSVEC, IRQ_BACK, COPY_LOOP, VFS_BACK,
		READ_BACK, DO_BACK, ENTRY_BACK, USER,
		USER, ENTRY, DO, READ, VFS, IRQ, SYSVEC, IRQ_BACK, COPY, COPY_LOOP, VFS_BACK,
		READ_BACK, DO_BACK, ENTRY_BACK, USER,
	};
	struct profile p;

	(void)state;
	make_profile(&p, blocks, ARRAY_SIZE(blocks));
	assert_int_equal(path_weight(&p, PATH_SYSCALL, "__x64_sys_read", 5), 2);
	assert_int_equal(call_weight(&p, "vfs_read", "copy", 15), 2);
	assert_int_equal(p.funcs[profile_func(&p, "copy")].calls, 2);
	assert_int_equal(p.calls.nr_keys, 5);
	profile_release(&p);
}

static void cuts_at_a_switch(void **state)
{
	static const uint32_t blocks[] = {
		USER, ENTRY, DO, READ, SCHED, SWITCH, SCHED_BACK, PIPE_BACK, VFS_BACK, DO_BACK, ENTRY_BACK, USER,
	};
	struct profile p;

	(void)state;
	make_profile(&p, blocks, ARRAY_SIZE(blocks));
	assert_int_equal(path_weight(&p, PATH_SYSCALL, "__x64_sys_read", 4), 1);
	assert_int_equal(path_weight(&p, PATH_TASK, "pipe_read", 6), 1);
	assert_int_equal(p.nexts.nr_keys, 1);
	profile_release(&p);
}

static void needs_symbols(void **state)
{
	struct collect_options opts = { .vmlinux = NULL };
	struct profile p = { .names = { 0 } };
	struct trace t;

	(void)state;
	make_small(&t);
	char *path = write_temp(t.words, t.nr * 4, "nosyms");
	struct input *in = input_open(path);
	assert_int_equal(fetch_reader.read(in, path, &opts, &p), -1);
	input_close(in);
	unlink(path);
	free(path);
	profile_release(&p);
}

static void parses_sim_specs(void **state)
{
	static const char *const bad[] = {
		"", "0", "x8", "32x5", "33x8", "24x8", "32:3K", "32:lru:what", "32:4K/", "99999999", "32x",
		"32:flush=some", "8:user=near", "32:4Kx", "-3",
	};
	static const struct { const char *spec, *text; } good[] = {
		{ "32", "32x4K lru" }, { "64:fifo", "64x4K fifo" }, { "128x8:4K:lru", "128x4K 8-way lru" },
		{ "8:2M/4K", "8x2M/4K lru" }, { "64:1K:rr:flush=user", "64x1K rr flush=user" },
		{ "16x16:512K:random:flush=all", "16x512K random flush=all" }, { "1:256M", "1x256M lru" },
		{ "8:2M:user=apart", "8x2M lru user=apart" },
	};
	struct sim_spec spec;
	char buf[96];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(sim_parse(&spec, bad[i]));
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(sim_parse(&spec, good[i].spec));
		sim_describe(&spec, buf, sizeof(buf));
		assert_string_equal(buf, good[i].text);
	}
}

static uint64_t misses_of(const char *text, const unsigned int *pages, size_t nr, bool kernel)
{
	struct sim_spec spec;
	struct sim s;

	assert_true(sim_parse(&spec, text));
	assert_true(sim_init(&s, &spec));
	for (size_t i = 0; i < nr; i++) {
		if (pages[i] == UINT32_MAX)
			sim_switch(&s);
		else
			sim_touch(&s, (uint64_t)pages[i] << 12, ((uint64_t)pages[i] << 12) + 3, kernel);
	}
	uint64_t misses = s.counts.misses[kernel];
	assert_int_equal(s.counts.misses[!kernel], 0);
	sim_release(&s);
	return misses;
}

static void simulates(void **state)
{
	static const unsigned int cycle[] = { 1, 2, 3, 1, 2, 3, 1, 2, 3 };
	static const unsigned int reuse[] = { 1, 2, 1, 3, 1, 4, 1, 5, 1 };
	static const unsigned int sets[] = { 0, 4, 0, 4, 1, 0, 4 };
	static const unsigned int flushed[] = { 1, 2, UINT32_MAX, 1, 2 };

	(void)state;
	assert_int_equal(misses_of("2", cycle, 9, true), 9);	/* LRU's worst case */
	assert_int_equal(misses_of("3", cycle, 9, true), 3);
	assert_int_equal(misses_of("2", reuse, 9, true), 5);	/* 1 stays */
	assert_int_equal(misses_of("2:fifo", reuse, 9, true), 7);	/* 1 goes although it is in use */
	assert_int_equal(misses_of("4x1", sets, 7, true), 7);	/* 0 and 4 share a set of one */
	assert_int_equal(misses_of("4x2", sets, 7, true), 3);
	assert_int_equal(misses_of("4:flush=user", flushed, 5, true), 2);
	assert_int_equal(misses_of("4:flush=user", flushed, 5, false), 4);
	assert_int_equal(misses_of("4:flush=all", flushed, 5, true), 4);
	assert_int_equal(misses_of("4:fifo:flush=all", flushed, 5, true), 4);
	assert_int_equal(misses_of("4:rr", cycle, 9, true), 3);
	assert_int_equal(misses_of("4:2M", cycle, 9, true), 1);
	assert_int_equal(misses_of("4:2M/4K", cycle, 9, false), 3);
}

static bool switches(const char *target, const char *bytes, size_t n)
{
	return guest_find(target)->switches((const unsigned char *)bytes, n);
}

/* Encodings as binutils assembles them. */
static void knows_switches(void **state)
{
	(void)state;
	assert_true(switches("x86_64", "\x0f\x22\xd8", 3));		/* mov %rax,%cr3 */
	assert_true(switches("x86_64", "\x41\x0f\x22\xdc", 4));	/* mov %r12,%cr3 */
	assert_false(switches("x86_64", "\x0f\x22\xe0", 3));		/* mov %rax,%cr4 */
	assert_false(switches("x86_64", "\x0f\x20\xd8", 3));		/* mov %cr3,%rax */
	assert_false(switches("x86_64", "\x0f\x22", 2));
	assert_true(switches("aarch64", "\x00\x20\x18\xd5", 4));	/* msr ttbr0_el1, x0 */
	assert_true(switches("aarch64", "\x3f\x20\x18\xd5", 4));	/* msr ttbr1_el1, xzr */
	assert_false(switches("aarch64", "\x40\x20\x18\xd5", 4));	/* msr tcr_el1, x0 */
	assert_true(switches("arm", "\x10\x0f\x02\xee", 4));		/* mcr p15, 0, r0, c2, c0, 0 */
	assert_true(switches("arm", "\x02\xee\x10\x3f", 4));		/* the same in Thumb, r3 */
	assert_false(switches("arm", "\x12\x2f\x43\xec", 4));		/* mcrr p15, 1, r2, r3, c2 */
	assert_true(switches("arm", "\x02\x2f\x43\xec", 4));		/* mcrr p15, 0, r2, r3, c2 */
	assert_false(switches("arm", "\x30\x0f\x02\xee", 4));		/* mcr p15, 0, r0, c2, c0, 1 */
	assert_true(switches("riscv64", "\x73\x10\x05\x18", 4));	/* csrw satp, a0 */
	assert_false(switches("riscv64", "\x73\x25\x00\x18", 4));	/* csrr a0, satp */
	assert_true(switches("ppc", "\x7c\x71\xeb\xa6", 4));		/* mtspr 945, r3 */
	assert_true(switches("ppc", "\x7c\x70\x0b\xa6", 4));		/* mtpid r3 */
	assert_false(switches("ppc", "\x7c\x71\xea\xa6", 4));		/* mfspr r3, 945 */
	assert_null(guest_find("z80"));
	assert_string_equal(guest_for_kernel(guest_find("x86_64"), 3)->target, "i386");
	assert_string_equal(guest_for_kernel(guest_find("aarch64"), 40)->target, "arm");
	assert_null(guest_for_kernel(guest_find("x86_64"), 20));
	assert_null(guest_for_kernel(guest_find("i386"), 62));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_event),
		cmocka_unit_test(reads_zstd),
		cmocka_unit_test(rejects_every_cut),
		cmocka_unit_test(survives_every_change),
		cmocka_unit_test(rejects_nonsense),
		cmocka_unit_test(walks_a_syscall),
		cmocka_unit_test(walks_an_interrupt),
		cmocka_unit_test(keeps_an_interrupted_call),
		cmocka_unit_test(cuts_at_a_switch),
		cmocka_unit_test(needs_symbols),
		cmocka_unit_test(knows_switches),
		cmocka_unit_test(parses_sim_specs),
		cmocka_unit_test(simulates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
