/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracedat_damage.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <zstd.h>

#include "lib/input.h"
#include "lib/mem.h"
#include "tracedat7.h"
#include "tracedat_repair7.h"

static void patch(struct tracedat_damage *d, uint64_t off, uint64_t value, uint32_t size)
{
	ALLOC_GROW(d->patches, d->nr_patches + 1, d->alloc_patches);
	d->patches[d->nr_patches++] = (struct tracedat_patch){ off, value, size };
}

/* A CPU's records; size_off: where the buffer's option has their size, without the count before them. */
static void look(struct tracedat_damage *d, const struct tracedat7 *t, uint64_t off, uint64_t size, uint64_t size_off,
		 ZSTD_DCtx *decoder)
{
	struct tracedat_chunks c;

	if (!size || off > t->size || t->size - off < 4 || size > t->size - off - 4)
		return;
	tracedat7_chunks(t, off, off + 4 + size, decoder, &c);
	d->pages += c.pages;
	d->all += size;
	if (c.whole == c.nr)
		return;
	d->lost += off + 4 + size - c.end;
	patch(d, off, c.whole, 4);
	if (!c.whole)
		patch(d, size_off, 0, 8);
}

/* Past a string that ends with 0. */
static bool skip_string(const struct tracedat7 *t, uint64_t *at)
{
	uint64_t c;

	do {
		if (!tracedat7_number(t, *at, 1, &c))
			return false;
		++*at;
	} while (c);
	return true;
}

static void look_at_buffer(struct tracedat_damage *d, const struct tracedat7 *t, const struct tracedat_option *o,
			   ZSTD_DCtx *decoder)
{
	uint64_t section, nr, off, size, at = o->off + 8, end = o->off + o->size;
	struct tracedat_section s;

	if (!tracedat7_number(t, o->off, 8, &section) || !tracedat7_section(t, section, &s) ||
	    !(s.flags & TRACEDAT_COMPRESSED) || !skip_string(t, &at) || !skip_string(t, &at) ||
	    !tracedat7_number(t, at + 4, 4, &nr))
		return;
	/* u32 CPU, u64 offset, u64 size */
	for (at += 8; nr && at <= end && end - at >= 20; nr--, at += 20)
		if (tracedat7_number(t, at + 4, 8, &off) && tracedat7_number(t, at + 12, 8, &size))
			look(d, t, off, size, at + 12, decoder);
}

bool tracedat_damage_find(struct tracedat_damage *d, int fd, bool decode)
{
	struct tracedat7 t;
	struct stat st;
	uint64_t at, last = 0, next;

	*d = (struct tracedat_damage){ 0 };
	if (fstat(fd, &st) || !tracedat7_init(&t, fd, (uint64_t)st.st_size) || !t.zstd)
		return false;
	d->big = t.big;
	d->page = t.page;
	ZSTD_DCtx *decoder = decode ? input_decoder() : NULL;
	for (at = t.first_options; at > last; last = at, at = next) {
		struct tracedat_option o = { .off = at + TRACEDAT_SECTION_HEAD };
		struct tracedat_section s;

		next = last;	/* what has no end is cut */
		if (!tracedat7_options(&t, at, &s))
			break;
		while (tracedat7_option(&t, at + TRACEDAT_SECTION_HEAD + s.size, &o)) {
			if (o.id == TRACEDAT_OPTION_BUFFER)
				look_at_buffer(d, &t, &o, decoder);
			if (o.id == TRACEDAT_OPTION_DONE && o.size >= 8 && tracedat7_number(&t, o.off, 8, &next))
				break;
		}
	}
	ZSTD_freeDCtx(decoder);
	return at == 0 && d->all;
}

void tracedat_damage_release(struct tracedat_damage *d)
{
	free(d->patches);
	*d = (struct tracedat_damage){ 0 };
}
