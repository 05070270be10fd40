/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf.data files as such: modes, byte orders, compression, whose kernel they are of, damage. */
#include <sys/stat.h>
#include <zstd.h>

#include "perfdata_read.h"

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
		cmocka_unit_test(test_stdin), cmocka_unit_test(test_other_kernel), cmocka_unit_test(test_long32),
		cmocka_unit_test(test_directory), cmocka_unit_test(test_truncated), cmocka_unit_test(test_garbled),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
