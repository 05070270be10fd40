/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Loops recur after long stretches of other code: the long window is worth more than a higher level. */
enum { LEVEL = 3, WINDOW_LOG = 25 };

static const char *trace_name;

static void writer_fail(struct writer *w, const char *why)
{
	if (!w->failed)
		fprintf(stderr, "hottext: cannot write '%s': %s\n", trace_name, why);
	w->failed = true;
}

static void compress(struct writer *w, const void *data, size_t size, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { w->out, w->out_size, 0 };

		left = ZSTD_compressStream2(w->cctx, &out, &in, how);
		if (ZSTD_isError(left)) {
			writer_fail(w, ZSTD_getErrorName(left));
			return;
		}
		if (out.pos && fwrite(w->out, 1, out.pos, w->fp) != out.pos) {
			writer_fail(w, strerror(errno));
			return;
		}
	} while (how == ZSTD_e_end ? left != 0 : in.pos < in.size);
}

void writer_flush(struct writer *w, bool end)
{
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		for (uint32_t i = 0; i < w->nr_words; i++)
			w->words[i] = __builtin_bswap32(w->words[i]);
	if (!w->failed)
		compress(w, w->words, w->nr_words * sizeof(*w->words), end ? ZSTD_e_end : ZSTD_e_continue);
	w->nr_words = 0;
}

bool writer_init(struct writer *w, const char *path, const struct writer_header *h)
{
	memset(w, 0, sizeof(*w));
	trace_name = path;
	w->last_block = UINT32_MAX;
	w->fp = fopen(path, "we");
	if (!w->fp) {
		writer_fail(w, strerror(errno));
		return false;
	}
	w->cctx = ZSTD_createCCtx();
	w->out_size = ZSTD_CStreamOutSize();
	w->out = malloc(w->out_size);
	if (!w->cctx || !w->out) {
		writer_fail(w, "out of memory");
		return false;
	}
	ZSTD_CCtx_setParameter(w->cctx, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(w->cctx, ZSTD_c_enableLongDistanceMatching, 1);
	ZSTD_CCtx_setParameter(w->cctx, ZSTD_c_windowLog, WINDOW_LOG);
	ZSTD_CCtx_setParameter(w->cctx, ZSTD_c_checksumFlag, 1);

	uint32_t head[2 + FETCH_HEADER_WORDS];

	memcpy(head, FETCH_MAGIC, 8);
	head[2] = FETCH_VERSION;
	head[3] = h->e_machine;
	head[4] = h->nr_cpus;
	head[5] = (uint32_t)h->kernel_base;
	head[6] = (uint32_t)(h->kernel_base >> 32);
	memcpy(head + 7, h->build_id, 32);
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		for (int i = 2; i < 7; i++)
			head[i] = __builtin_bswap32(head[i]);
	compress(w, head, sizeof(head), ZSTD_e_continue);
	return !w->failed;
}

void writer_control(struct writer *w, uint32_t control, unsigned int nr, const uint32_t *operands)
{
	writer_settle(w);
	w->last_block = UINT32_MAX;
	writer_word(w, control);
	for (unsigned int i = 0; i < nr; i++)
		writer_word(w, operands[i]);
}

bool writer_close(struct writer *w)
{
	uint32_t totals[4] = { (uint32_t)w->nr_runs, (uint32_t)(w->nr_runs >> 32),
			       (uint32_t)w->nr_insns, (uint32_t)(w->nr_insns >> 32) };

	if (!w->fp)
		return false;
	writer_control(w, FETCH_END, 4, totals);
	writer_flush(w, true);
	if (fclose(w->fp))
		writer_fail(w, strerror(errno));
	w->fp = NULL;
	ZSTD_freeCCtx(w->cctx);
	free(w->out);
	return !w->failed;
}
