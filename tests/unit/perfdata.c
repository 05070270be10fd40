/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of perf.data on files built here: byte orders, modes, fields, records, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "collect/perf/perfdata.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/input.h"
#include "lib/symtab.h"
#include "perfdata_build.h"

#define SLIDE 0x2000000ull
#define TEXT 0xffffffff81000000ull
#define ENTRY (TEXT + 0x1000 + SLIDE)	/* do_syscall_64 */
#define READ (TEXT + 0x2000 + SLIDE)	/* __x64_sys_read */
#define COPY (TEXT + 0x3000 + SLIDE)	/* copy */
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_GUEST_KERNEL ((uint64_t)-2176)

static struct symtab syms;
static char dir[] = "/tmp/hottext-perfdata-XXXXXX";
static char path[64];

static void write_file(const char *name, const void *data, size_t size)
{
	FILE *fp = fopen(name, "wb");

	assert_non_null(fp);
	assert_int_equal(fwrite(data, 1, size, fp), size);
	assert_int_equal(fclose(fp), 0);
}

static int set_up(void **state)
{
	static const char text[] =
		"ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81001000 T do_syscall_64\n"
		"ffffffff81002000 T __x64_sys_read\nffffffff81003000 t copy\nffffffff81004000 t other\n"
		"ffffffff81005000 T _etext\n";

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/perf.data", dir);
	char *names = path_join(dir, "kallsyms");
	write_file(names, text, sizeof(text) - 1);
	int ret = symtab_read_kallsyms(&syms, names);
	unlink(names);
	free(names);
	syms.build_id_size = 20;
	memset(syms.build_id, 0xab, 20);
	return ret;
}

static int tear_down(void **state)
{
	(void)state;
	symtab_release(&syms);
	unlink(path);
	return rmdir(dir);
}

struct result {
	int ret;
	struct profile_source totals;
	char host[16];
	char *text;	/* of the profile without its sources */
};

static void drop_sources(char *text)
{
	char *s;

	while ((s = strstr(text, "\nsource "))) {
		char *end = strchr(s + 1, '\n');

		memmove(s, end, strlen(end) + 1);
	}
}

static struct result run_reader(const char *event, bool force)
{
	struct collect_options opts = { .syms = &syms, .vmlinux = "vmlinux", .event = event, .force = force };
	struct profile p = { 0 };
	struct result r = { 0 };
	size_t len;

	r.ret = collect_file(path, &opts, &p);
	r.totals = profile_totals(&p);
	if (p.nr_sources)
		snprintf(r.host, sizeof(r.host), "%s", p.sources[0].host);
	FILE *fp = open_memstream(&r.text, &len);
	profile_write(&p, fp);
	fclose(fp);
	drop_sources(r.text);
	profile_release(&p);
	return r;
}

static struct result read_build(struct build *f, const char *event, bool force)
{
	struct bytes out;

	build(&out, f);
	write_file(path, out.p, out.n);
	free(out.p);
	return run_reader(event, force);
}

/* attr.sample_type */
enum { IP = 1, TID = 2, TIME = 4, CHAIN = 1 << 5, ID = 1 << 6, BRANCHES = 1 << 11 };

/* A sample of IP, TID, TIME, CHAIN, and ID between when it is not 0. */
static void put_sample(struct bytes *b, uint16_t misc, uint64_t id, uint64_t time, const uint64_t *chain, size_t nr)
{
	struct bytes body = { .big = b->big };

	put64(&body, chain[1]);
	put32(&body, 7);
	put32(&body, 8);
	put64(&body, time);
	if (id)
		put64(&body, id);
	put64(&body, nr);
	for (size_t i = 0; i < nr; i++)
		put64(&body, chain[i]);
	put_record(b, 9, misc, &body);
	free(body.p);
}

static const uint64_t read_chain[] = {
	CONTEXT_KERNEL, COPY + 0x20, READ + 0x45, ENTRY + 0x85, CONTEXT_USER, 0x401000
};
static const uint64_t user_chain[] = { CONTEXT_USER, 0x401000 };

static void put_kernel(struct bytes *b)
{
	put_mmap(b, 1, TEXT + SLIDE, 0x5000, TEXT + SLIDE, "[kernel.kallsyms]_text");
}

static void put_usual(struct bytes *b, uint64_t id)
{
	put_kernel(b);
	put_sample(b, 1, id, 1000, read_chain, 6);
	put_sample(b, 2, id, 2000, user_chain, 2);
	put_sample(b, 1, id, 3000, read_chain, 6);
}

static struct build usual(bool big, bool pipe)
{
	struct build f = {
		.big = big, .pipe = pipe, .arch = "x86_64", .nr_events = 1,
		.events = { { .type = 1, .sample_type = IP | TID | TIME | CHAIN, .name = "cpu-clock" } },
	};

	f.records.big = big;
	put_usual(&f.records, 0);
	return f;
}

static const char usual_text[] =
	"func copy 2 0\n"
	"call __x64_sys_read 0x44 copy 2\n"
	"call do_syscall_64 0x84 __x64_sys_read 2\n";

static void want_line(const char *text, const char *line)
{
	if (strstr(text, line))
		return;
	printf("# no '%s' in\n%s", line, text);
	fail();
}

static void check_usual(struct result r)
{
	assert_int_equal(r.ret, 0);
	assert_int_equal(r.totals.samples, 3);
	assert_int_equal(r.totals.kernel, 2);
	assert_int_equal(r.totals.resolved, 2);
	for (const char *line = usual_text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		char *want = xstrndup(line, (size_t)(end - line));
		want_line(r.text, want);
		free(want);
	}
	assert_non_null(strstr(r.text, "syscall __x64_sys_read 2 "));
}

/* File and pipe mode, both byte orders: one profile. */
static void test_modes(void **state)
{
	char *first = NULL;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct build f = usual(i & 1, i & 2);
		struct result r = read_build(&f, NULL, false);

		check_usual(r);
		if (first)
			assert_string_equal(first, r.text);
		else
			first = xstrdup(r.text);
		free(r.text);
		free(f.records.p);
	}
	free(first);
}

/* The first attr that perf knew, today's, and one longer than any. */
static void test_attr_sizes(void **state)
{
	static const uint32_t sizes[] = { 64, 72, 96, 136, 200 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (int pipe = 0; pipe < 2; pipe++) {
			struct build f = usual(false, pipe);

			f.attr_size = sizes[i];
			struct result r = read_build(&f, NULL, false);
			check_usual(r);
			free(r.text);
			free(f.records.p);
		}
}

/* Compress what there is, cut anywhere, into records of that type. */
static void compress_records(struct bytes *b, uint32_t type, size_t piece)
{
	struct bytes plain = *b;
	ZSTD_CCtx *cctx = ZSTD_createCCtx();
	size_t bound = ZSTD_compressBound(piece) + 64;
	char *buf = xmalloc(bound);

	*b = (struct bytes){ .big = plain.big };
	for (size_t at = 0; at < plain.n; at += piece) {
		size_t n = plain.n - at < piece ? plain.n - at : piece;
		ZSTD_inBuffer ib = { plain.p + at, n, 0 };
		ZSTD_outBuffer ob = { buf, bound, 0 };
		struct bytes body = { .big = plain.big };

		assert_int_equal(ZSTD_compressStream2(cctx, &ob, &ib, ZSTD_e_flush), 0);
		if (type == 83)
			put64(&body, ob.pos);
		put(&body, buf, ob.pos);
		while (type == 83 && body.n % 8)
			put(&body, "", 1);
		put_record(b, type, 0, &body);
		free(body.p);
	}
	free(buf);
	ZSTD_freeCCtx(cctx);
	free(plain.p);
}

static void test_compressed(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct build f = usual(i & 1, i & 2);

		compress_records(&f.records, i & 4 ? 83 : 81, 50);
		struct result r = read_build(&f, NULL, false);
		check_usual(r);
		free(r.text);
		free(f.records.p);
	}
}

/* A stream through a pipe: nothing may seek, and no zstd frame within may be opened on the way. */
static void test_stdin(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct build f = usual(false, i & 1);
		struct collect_options opts = { .syms = &syms };
		struct profile p = { 0 };
		struct bytes out;

		if (i & 2)
			compress_records(&f.records, 81, 1000);
		build(&out, &f);
		int fds[2], saved = dup(0);
		assert_int_equal(pipe(fds), 0);
		assert_int_equal(write(fds[1], out.p, out.n), (ssize_t)out.n);
		close(fds[1]);
		dup2(fds[0], 0);
		assert_int_equal(collect_file("-", &opts, &p), 0);
		dup2(saved, 0);
		close(saved);
		close(fds[0]);
		assert_int_equal(profile_totals(&p).resolved, 2);
		profile_release(&p);
		free(out.p);
		free(f.records.p);
	}
}

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
	check_usual(read_build(&f, NULL, false));
	free(f.records.p);
	return clock() - begin;
}

static void test_flood(void **state)
{
	clock_t up = time_of_flood(false);

	(void)state;
	assert_true(time_of_flood(true) < 5 * up + CLOCKS_PER_SEC / 4);
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
	for (int i = 0; i < 4; i++) {
		struct build f = {
			.big = i & 1, .arch = "x86_64", .nr_events = 1,
			.events = { { .type = 0, .sample_type = IP | TID | TIME | BRANCHES, .name = "cycles",
				      .branch_type = i & 2 ? 1 << 17 | 1 << 19 : 0 } },
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

/* Of another kernel, wherever the build-id stands; of another architecture. */
static void test_other_kernel(void **state)
{
	unsigned char same[20], other[20] = { 1, 2, 3 };

	(void)state;
	memset(same, 0xab, sizeof(same));
	for (int i = 0; i < 8; i++) {
		struct build f = usual(i & 1, i & 2);
		const unsigned char *id = i & 4 ? other : same;

		f.build_id = id;
		struct result r = read_build(&f, NULL, false);
		assert_int_equal(r.ret, i & 4 ? -1 : 0);
		free(r.text);
		r = read_build(&f, NULL, true);
		check_usual(r);
		free(r.text);
		f.build_id = NULL;
		put_mmap2(&f.records, TEXT + SLIDE, 0x5000, id, "[kernel.kallsyms]_text");
		r = read_build(&f, NULL, false);
		assert_int_equal(r.ret, i & 4 ? -1 : 0);
		free(r.text);
		free(f.records.p);
	}
	struct build f = usual(false, false);
	f.arch = "ppc64le";
	syms.e_machine = 62;	/* x86-64 */
	struct result r = read_build(&f, NULL, false);
	syms.e_machine = 0;
	assert_int_equal(r.ret, -1);
	free(r.text);
	free(f.records.p);
}

/* The header's feature bits are unsigned longs of the recorder. */
static void test_long32(void **state)
{
	static const unsigned char other[20] = { 1, 2, 3 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct build f = usual(i & 1, false);

		f.host = "board";
		f.long32 = i & 2;
		f.build_id = other;
		struct result r = read_build(&f, NULL, false);
		assert_int_equal(r.ret, -1);
		free(r.text);
		f.build_id = syms.build_id;
		r = read_build(&f, NULL, false);
		check_usual(r);
		assert_string_equal(r.host, "board");
		free(r.text);
		free(f.records.p);
	}
}

static void test_directory(void **state)
{
	struct build f = usual(true, false);
	struct collect_options opts = { .syms = &syms };
	struct bytes main_file, more = { .big = true };
	struct profile p = { 0 };
	char name[3][80];

	(void)state;
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	build(&main_file, &f);
	put_sample(&more, 1, 0, 9000, read_chain, 6);
	for (int i = 0; i < 3; i++)
		snprintf(name[i], sizeof(name[i]), i ? "%s/data.%d" : "%s/data", path, i - 1);
	write_file(name[0], main_file.p, main_file.n);
	write_file(name[1], more.p, more.n);
	write_file(name[2], more.p, more.n);
	assert_int_equal(collect_file(path, &opts, &p), 0);
	assert_int_equal(profile_totals(&p).kernel, 4);
	profile_release(&p);
	for (int i = 0; i < 3; i++)
		unlink(name[i]);
	rmdir(path);
	free(main_file.p);
	free(more.p);
	free(f.records.p);
}

/* Cut anywhere, a file is an error; with --force a prefix of its samples is used, or it is an error still. */
static void test_truncated(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct build f = usual(i & 1, i & 2);
		struct bytes out;
		uint64_t most = 0;

		if (i & 4)
			compress_records(&f.records, 81, 100);
		build(&out, &f);
		for (size_t n = 0; n <= out.n; n++) {
			write_file(path, out.p, n);
			struct result r = run_reader(NULL, false);
			/* A stream may end after any record. */
			if (!f.pipe && n < out.n)
				assert_int_equal(r.ret, -1);
			free(r.text);
			r = run_reader(NULL, true);
			if (!r.ret) {
				assert_true(r.totals.samples >= most && r.totals.samples <= 3);
				most = r.totals.samples;
			}
			free(r.text);
		}
		assert_int_equal(most, 3);
		free(out.p);
		free(f.records.p);
	}
}

/* Any byte wrong: no crash, and never more samples than there can be. */
static void test_garbled(void **state)
{
	static const unsigned char values[] = { 0, 0xff };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct build f = usual(i & 1, i & 2);
		struct bytes out;

		build(&out, &f);
		for (size_t n = 0; n < out.n; n++)
			for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
				unsigned char had = out.p[n];

				out.p[n] = values[k];
				write_file(path, out.p, out.n);
				struct result r = run_reader(NULL, true);
				assert_true(r.ret || r.totals.samples <= 3);
				free(r.text);
				out.p[n] = had;
			}
		free(out.p);
		free(f.records.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes), cmocka_unit_test(test_attr_sizes), cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_stdin), cmocka_unit_test(test_fields), cmocka_unit_test(test_events),
		cmocka_unit_test(test_repeats), cmocka_unit_test(test_long32), cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_parts), cmocka_unit_test(test_flood),
		cmocka_unit_test(test_lost), cmocka_unit_test(test_outside), cmocka_unit_test(test_branches),
		cmocka_unit_test(test_other_kernel), cmocka_unit_test(test_directory), cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_garbled),
	};

	/* Thousands of errors are provoked; bats looks at their texts. */
	verbosity = -1;
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
