/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reader of perf.data on files that perfdata_build.h builds: group setup and teardown, samples of a small kernel, and
 * what is to come of them.
 */
#ifndef TESTS_UNIT_PERFDATA_READ_H
#define TESTS_UNIT_PERFDATA_READ_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/file.h"
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

static inline void write_file(const char *name, const void *data, size_t size)
{
	/* A file that is cut to nothing and written anew, ext4 puts on the disk at once. */
	unlink(name);
	FILE *fp = fopen(name, "wb");
	assert_non_null(fp);
	assert_int_equal(fwrite(data, 1, size, fp), size);
	assert_int_equal(fclose(fp), 0);
}

static inline int set_up(void **state)
{
	static const char text[] =
		"ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81001000 T do_syscall_64\n"
		"ffffffff81002000 T __x64_sys_read\nffffffff81003000 t copy\nffffffff81004000 t other\n"
		"ffffffff81005000 T _etext\n";

	(void)state;
	/* Thousands of errors are provoked; bats looks at their texts. */
	verbosity = -1;
	if (!freopen("/dev/null", "w", stderr) || !mkdtemp(dir))
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

static inline int tear_down(void **state)
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

static inline void drop_sources(char *text)
{
	char *s;

	while ((s = strstr(text, "\nsource "))) {
		char *end = strchr(s + 1, '\n');

		memmove(s, end, strlen(end) + 1);
	}
}

static inline struct result run_reader(const char *event, bool force)
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

static inline struct result read_build(struct build *f, const char *event, bool force)
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
static inline void put_sample(struct bytes *b, uint16_t misc, uint64_t id, uint64_t time, const uint64_t *chain, size_t nr)
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

static inline void put_kernel(struct bytes *b)
{
	put_mmap(b, 1, TEXT + SLIDE, 0x5000, TEXT + SLIDE, "[kernel.kallsyms]_text");
}

static inline void put_usual(struct bytes *b, uint64_t id)
{
	put_kernel(b);
	put_sample(b, 1, id, 1000, read_chain, 6);
	put_sample(b, 2, id, 2000, user_chain, 2);
	put_sample(b, 1, id, 3000, read_chain, 6);
}

static inline struct build usual(bool big, bool pipe)
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

static inline void want_line(const char *text, const char *line)
{
	if (strstr(text, line))
		return;
	printf("# no '%s' in\n%s", line, text);
	fail();
}

static inline void check_usual(struct result r)
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

#endif
