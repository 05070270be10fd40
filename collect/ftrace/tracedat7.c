/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracedat7.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/mem.h"

enum {
	ENDIAN_OFF = 12,	/* behind magic and "7\0" */
	PAGE_SIZE_OFF = 14,
	NAMES_OFF = 18,		/* name and version of the compression, each ended by 0; then u64: first options */
	MAX_NAMES = 256,
	MAX_CHUNK = 64 << 20,	/* bytes; trace-cmd packs ten pages together */
};
static const char version_7[] = "\027\010\104tracing7";

uint64_t tracedat7_decode(const struct tracedat7 *t, const unsigned char *p, unsigned int size)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < size; i++)
		v = v << 8 | p[t->big ? i : size - 1 - i];
	return v;
}

bool tracedat7_get(const struct tracedat7 *t, uint64_t off, void *buf, size_t n)
{
	return off <= t->size && n <= t->size - off &&
	       TEMP_FAILURE_RETRY(pread(t->fd, buf, n, (off_t)off)) == (ssize_t)n;
}

bool tracedat7_number(const struct tracedat7 *t, uint64_t off, unsigned int size, uint64_t *v)
{
	unsigned char buf[8];

	if (!tracedat7_get(t, off, buf, size))
		return false;
	*v = tracedat7_decode(t, buf, size);
	return true;
}

bool tracedat7_init(struct tracedat7 *t, int fd, uint64_t size)
{
	unsigned char head[NAMES_OFF + MAX_NAMES + 1] = { 0 };
	size_t have = size < sizeof(head) - 1 ? (size_t)size : sizeof(head) - 1, at = NAMES_OFF;

	*t = (struct tracedat7){ .fd = fd, .size = size };
	if (have <= NAMES_OFF || !tracedat7_get(t, 0, head, have) || memcmp(head, version_7, sizeof(version_7)) != 0)
		return false;
	t->big = head[ENDIAN_OFF];
	t->zstd = !strcmp((char *)head + NAMES_OFF, "zstd");
	t->page = tracedat7_decode(t, head + PAGE_SIZE_OFF, 4);
	for (int i = 0; i < 2 && at < have; i++)
		at += strnlen((char *)head + at, have - at) + 1;
	t->first_section = at + 8;
	return t->page >= 1024 && t->page <= 1 << 20 && !(t->page & (t->page - 1)) &&
	       tracedat7_number(t, at, 8, &t->first_options);
}

bool tracedat7_section(const struct tracedat7 *t, uint64_t off, struct tracedat_section *s)
{
	unsigned char head[TRACEDAT_SECTION_HEAD];

	if (!tracedat7_get(t, off, head, sizeof(head)))
		return false;
	s->off = off;
	s->id = (uint32_t)tracedat7_decode(t, head, 2);
	s->flags = (uint32_t)tracedat7_decode(t, head + 2, 2);
	s->size = tracedat7_decode(t, head + 8, 8);
	return true;
}

bool tracedat7_is_whole(const struct tracedat7 *t, const struct tracedat_section *s)
{
	return s->size <= t->size - s->off - TRACEDAT_SECTION_HEAD;
}


/* The head of the chunk at off, before end. */
static bool chunk_head(const struct tracedat7 *t, uint64_t off, uint64_t end, uint64_t *packed, uint64_t *plain)
{
	unsigned char head[8];

	if (end - off < sizeof(head) || !tracedat7_get(t, off, head, sizeof(head)))
		return false;
	*packed = tracedat7_decode(t, head, 4);
	*plain = tracedat7_decode(t, head + 4, 4);
	return *packed && *packed <= end - off - sizeof(head) && *plain && !(*plain % t->page);
}

static bool decodes(const struct tracedat7 *t, uint64_t off, uint64_t packed, uint64_t plain, ZSTD_DCtx *decoder)
{
	if (plain > MAX_CHUNK || packed > MAX_CHUNK)
		return false;
	unsigned char *from = xmalloc(packed), *to = xmalloc(plain);
	bool good = tracedat7_get(t, off, from, packed) &&
		    ZSTD_decompressDCtx(decoder, to, plain, from, packed) == plain;

	free(from);
	free(to);
	return good;
}

void tracedat7_chunks(const struct tracedat7 *t, uint64_t off, uint64_t end, ZSTD_DCtx *decoder,
		      struct tracedat_chunks *c)
{
	uint64_t packed, plain;

	*c = (struct tracedat_chunks){ .end = off + 4 };
	if (off > end || end - off < 4 || !tracedat7_number(t, off, 4, &c->nr))
		return;
	for (; c->whole < c->nr && chunk_head(t, c->end, end, &packed, &plain); c->whole++) {
		if (decoder && !decodes(t, c->end + 8, packed, plain, decoder))
			break;
		c->pages += plain / t->page;
		c->end += 8 + packed;
	}
}

bool tracedat7_options(const struct tracedat7 *t, uint64_t off, struct tracedat_section *s)
{
	return tracedat7_section(t, off, s) && s->id == TRACEDAT_OPTIONS && !(s->flags & TRACEDAT_COMPRESSED) &&
	       tracedat7_is_whole(t, s);
}

bool tracedat7_option(const struct tracedat7 *t, uint64_t end, struct tracedat_option *o)
{
	uint64_t at = o->off + o->size;

	if (at > end || end - at < TRACEDAT_OPTION_HEAD || !tracedat7_number(t, at, 2, &o->id) ||
	    !tracedat7_number(t, at + 2, 4, &o->size))
		return false;
	o->off = at + TRACEDAT_OPTION_HEAD;
	return o->size <= end - o->off;
}
