/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings cut at every byte (a long one at some): one clear message, or, where the cut leaves a whole file, none;
 * with --force what can be read before the cut, the more the later it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/symtab.h"
#include "tests/unit/tracedat_build.h"

static int input, messages, true_stderr;
static char path[64];
static struct symtab syms;

static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81001000 T do_syscall_64\n"
	"ffffffff81002000 T __x64_sys_read\nffffffff81003000 t copy\nffffffff81003800 t copy\n"
	"ffffffff81004000 t vfs_read\nffffffff81005000 T _etext\n";

static void put(const char *data, size_t size)
{
	assert_int_equal(ftruncate(input, 0), 0);
	assert_int_equal(pwrite(input, data, size, 0), size);
}

static int set_up(void **state)
{
	(void)state;
	input = memfd_create("input", MFD_CLOEXEC);
	messages = memfd_create("messages", MFD_CLOEXEC);
	true_stderr = dup(STDERR_FILENO);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", input);
	put(kallsyms, sizeof(kallsyms) - 1);
	verbosity = -1;
	return symtab_read_kallsyms(&syms, path);
}

static int tear_down(void **state)
{
	(void)state;
	symtab_release(&syms);
	return close(input) | close(messages) | close(true_stderr);
}

/* Lines that reading it said; *taken is what it gave, samples or events, or -1 when it was refused. */
static int read_it(bool force, int64_t *taken)
{
	struct collect_options opts = { .syms = &syms, .vmlinux = "vmlinux", .force = force };
	struct profile p = { 0 };
	char said[4096];
	int lines = 0;

	assert_int_equal(ftruncate(messages, 0), 0);
	lseek(messages, 0, SEEK_SET);
	dup2(messages, STDERR_FILENO);
	int ret = collect_file(path, &opts, &p);
	fflush(stderr);
	dup2(true_stderr, STDERR_FILENO);
	ssize_t n = pread(messages, said, sizeof(said), 0);

	for (ssize_t i = 0; i < n; i++)
		lines += said[i] == '\n';
	struct profile_source t = profile_totals(&p);
	*taken = ret ? -1 : (int64_t)t.samples;
	profile_release(&p);
	return lines;
}

enum cut {
	CUT_IS_SEEN,	/* no prefix of a file is a file */
	CUT_MAY_END,	/* some are: of a stream of records or lines */
};

/* Within padding, cuts need not be so close. */
static size_t next_cut(const struct mapfile *m, size_t len, size_t step)
{
	static const char zeros[64];

	return len + (m->size - len > sizeof(zeros) && !memcmp(m->data + len, zeros, sizeof(zeros)) ? 64 : step);
}

/* Every step-th prefix of the file, and the whole. */
static void cut_file(const char *name, size_t step, enum cut kind)
{
	struct mapfile m;
	int64_t whole, taken, best = 0;
	unsigned int nr = 0, used = 0;

	assert_int_equal(mapfile_init(&m, name), 0);
	put(m.data, m.size);
	assert_int_equal(read_it(false, &whole), 0);
	assert_true(whole > 0);
	for (size_t len = 0; len < m.size; len = next_cut(&m, len, step), nr++) {
		put(m.data, len);
		int lines = read_it(false, &taken);

		if (taken < 0 ? lines != 1 : kind == CUT_IS_SEEN || lines)
			fail_msg("%s cut to %zu bytes: %d messages, %lld taken", name, len, lines, (long long)taken);
		lines = read_it(true, &taken);
		if (lines > 1 || taken > whole || (taken >= 0 && taken < best))
			fail_msg("%s cut to %zu bytes, forced: %d messages, %lld taken", name, len, lines, (long long)taken);
		used += taken > 0;
		best = taken > best ? taken : best;
	}
	printf("# %s: %u cuts, %u of them usable by force\n", name, nr, used);
	assert_true(used > 0);
	mapfile_release(&m);
}

static void test_perf_data(void **state)
{
	(void)state;
	cut_file("tests/corpus/perfdata/unit-000", 1, CUT_IS_SEEN);
	cut_file("tests/corpus/perfdata/unit-002", 1, CUT_MAY_END);
}

/* Of version 7, in which where each CPU's records are stands behind the records. */
static void test_trace_dat(void **state)
{
	(void)state;
	static struct tb_file f;
	char name[64];
	int fd = memfd_create("trace.dat", MFD_CLOEXEC);

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	for (int packed = 0; packed < 2; packed++) {
		tb_build(&f, "tests/data/ftrace/graph.dat", packed);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, f.bytes, f.size, 0), f.size);
		cut_file(name, packed ? 1 : 61, CUT_IS_SEEN);
	}
	close(fd);
}

static void test_fetch(void **state)
{
	(void)state;
	cut_file("tests/corpus/fetch/end", 1, CUT_IS_SEEN);
}

static void test_profile(void **state)
{
	(void)state;
	cut_file("tests/data/collect/chains.hot", 1, CUT_MAY_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf_data),
		cmocka_unit_test(test_trace_dat),
		cmocka_unit_test(test_fetch),
		cmocka_unit_test(test_profile),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
