/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small trace.dat files of version 7, made of a recording of one CPU that has such a
 * beginning: its header, page format and ftrace's own event formats as they are, and
 * some of its pages, cut after a few records, as those of two CPUs.
 */
#ifndef TESTS_UNIT_TRACEDAT_BUILD_H
#define TESTS_UNIT_TRACEDAT_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lib/file.h"
#include "lib/mem.h"

enum {
	TB_PAGE = 4096, TB_PAGES = 2,	/* of each CPU */
	TB_HEAD = 16,			/* of a section */
	TB_DATA = 16,			/* of a page: time, and how much is used */
	TB_OPTIONS_OFF = 29,		/* where the header tells the first options, "zstd", "1.5.4" being the names */
};

struct tb_file {
	unsigned char bytes[1 << 16];
	size_t size;
};

static inline uint64_t tb_get(const unsigned char *p, unsigned int size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return v;
}

static inline void tb_put(struct tb_file *f, uint64_t v, unsigned int size)
{
	memcpy(f->bytes + f->size, &v, size);
	f->size += size;
}

/* A page that ends after some of its records, the rest zeros. */
static inline void tb_shorten(unsigned char *page, unsigned int records)
{
	size_t at = TB_DATA, end = TB_DATA + (size_t)(tb_get(page + 8, 8) & 0xfff);

	while (records-- && at < end) {
		uint64_t type = page[at] & 31;

		at += type == 0 ? 4 + tb_get(page + at + 4, 4) : type <= 28 ? 4 + 4 * type : 8;
	}
	memset(page + at, 0, TB_PAGE - at);
	uint64_t used = at - TB_DATA;
	memcpy(page + 8, &used, sizeof(used));
}

/* The pages of the recording's buffer, a section, as one chunk holds them; to be freed. */
static inline unsigned char *tb_pages(const struct mapfile *m, size_t buffer)
{
	const unsigned char *d = (const unsigned char *)m->data;
	size_t at = (buffer + TB_HEAD + TB_PAGE - 1) / TB_PAGE * TB_PAGE + 4;
	size_t plain = (size_t)tb_get(d + at + 4, 4);
	unsigned char *pages = xmalloc(plain);

	if (plain < 2 * TB_PAGES * TB_PAGE || ZSTD_decompress(pages, plain, d + at + 8, tb_get(d + at, 4)) != plain)
		abort();
	return pages;
}

/* One CPU's pages, every other one; their offset and size into where. */
static inline void tb_cpu(struct tb_file *f, const unsigned char *pages, bool packed, uint64_t where[2])
{
	f->size = (f->size + TB_PAGE - 1) / TB_PAGE * TB_PAGE;
	where[0] = f->size;
	if (packed)
		tb_put(f, TB_PAGES, 4);
	for (int i = 0; i < TB_PAGES; i++, pages += 2 * TB_PAGE) {
		unsigned char *to = f->bytes + f->size;

		if (!packed) {
			memcpy(to, pages, TB_PAGE);
			f->size += TB_PAGE;
			continue;
		}
		size_t n = ZSTD_compress(to + 8, TB_PAGE, pages, TB_PAGE, 3);
		tb_put(f, n, 4);
		tb_put(f, TB_PAGE, 4);
		f->size += n;
	}
	where[1] = f->size - where[0] - (packed ? 4 : 0);
}

/* A section begins; the place of its size. */
static inline size_t tb_section(struct tb_file *f, unsigned int id, bool packed)
{
	tb_put(f, id, 2);
	tb_put(f, packed, 2);
	tb_put(f, 0, 4);
	tb_put(f, 0, 8);
	return f->size - 8;
}

static inline void tb_end(struct tb_file *f, size_t size_off)
{
	uint64_t size = f->size - size_off - 8;

	memcpy(f->bytes + size_off, &size, sizeof(size));
}

static inline void tb_option(struct tb_file *f, unsigned int id, uint64_t v, unsigned int size)
{
	tb_put(f, id, 2);
	tb_put(f, size, 4);
	tb_put(f, v, size);
}

static inline void tb_buffer_option(struct tb_file *f, uint64_t buffer, uint64_t where[2][2])
{
	tb_put(f, 3, 2);
	tb_put(f, 8 + 1 + 6 + 4 + 4 + 2 * 20, 4);
	tb_put(f, buffer, 8);
	tb_put(f, 0, 1);
	memcpy(f->bytes + f->size, "local", 6);
	f->size += 6;
	tb_put(f, TB_PAGE, 4);
	tb_put(f, 2, 4);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		tb_put(f, cpu, 4);
		tb_put(f, where[cpu][0], 8);
		tb_put(f, where[cpu][1], 8);
	}
}

static inline const unsigned char *tb_unpack(const unsigned char *section, size_t *size)
{
	static unsigned char plain[1 << 16];

	section += TB_HEAD;
	*size = ZSTD_decompress(plain, sizeof(plain), section + 8, tb_get(section, 4));
	if (ZSTD_isError(*size))
		abort();
	return plain;
}

/* Event formats, a section: a count, then the size and the text of each; of function_graph's only. */
static inline void tb_formats(struct tb_file *f, const unsigned char *section)
{
	size_t size, at = 4, len, start = tb_section(f, 17, false), nr_off = f->size;
	const unsigned char *d = tb_unpack(section, &size);

	tb_put(f, 0, 4);
	for (; at < size; at += 8 + len) {
		len = (size_t)tb_get(d + at, 8);
		if (!memmem(d + at + 8, len, "name: funcgraph", 15))
			continue;
		memcpy(f->bytes + f->size, d + at, 8 + len);
		f->size += 8 + len;
		f->bytes[nr_off]++;
	}
	tb_end(f, start);
}

/* Make f of the recording. */
static inline void tb_build(struct tb_file *f, const char *recording, bool packed)
{
	struct mapfile m;
	uint64_t formats[2] = { TB_OPTIONS_OFF + 8 }, where[2][2];

	memset(f, 0, sizeof(*f));
	if (mapfile_init(&m, recording))
		abort();
	/* The header, then page format (16) and event formats (17) are the first sections. */
	const unsigned char *d = (const unsigned char *)m.data;
	formats[1] = formats[0] + TB_HEAD + tb_get(d + formats[0] + 8, 8);
	f->size = formats[1];
	memcpy(f->bytes, d, f->size);
	tb_formats(f, d + formats[1]);
	memcpy(f->bytes + TB_OPTIONS_OFF, &f->size, 8);
	size_t section = tb_section(f, 0, false);
	tb_option(f, 16, formats[0], 8);
	tb_option(f, 17, formats[1], 8);
	tb_option(f, 8, 2, 4);
	tb_option(f, 0, 0, 8);
	size_t done = f->size - 8, at = (size_t)tb_get(d + TB_OPTIONS_OFF, 8);
	tb_end(f, section);
	while (tb_get(d + at, 2) != 3)
		at += TB_HEAD + tb_get(d + at + 8, 8);
	unsigned char *pages = tb_pages(&m, at);
	for (int i = 0; i < 2 * TB_PAGES; i++)
		tb_shorten(pages + (size_t)i * TB_PAGE, 12);
	uint64_t buffer = f->size;
	section = tb_section(f, 3, packed);
	for (int cpu = 0; cpu < 2; cpu++)	/* every other page, so that their times mingle */
		tb_cpu(f, pages + (size_t)cpu * TB_PAGE, packed, where[cpu]);
	tb_end(f, section);
	free(pages);
	memcpy(f->bytes + done, &f->size, 8);
	section = tb_section(f, 0, false);
	tb_buffer_option(f, buffer, where);
	tb_option(f, 0, 0, 8);
	tb_end(f, section);
	mapfile_release(&m);
}

#endif
