/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a fetch trace (format.h): words gathered in a buffer, compressed when it
 * is full. Plain C without the program's lib/: it is linked into the plugin.
 */
#ifndef COLLECT_QEMU_WRITER_H
#define COLLECT_QEMU_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format.h"

enum { WRITER_WORDS = 1 << 16 };

struct ZSTD_CCtx_s;

struct writer {
	FILE *fp;
	struct ZSTD_CCtx_s *cctx;
	char *out;
	unsigned long out_size;
	uint32_t nr_words;
	uint32_t words[WRITER_WORDS];
	uint32_t last_block, repeats;	/* runs of last_block not yet in words */
	uint64_t nr_runs, nr_insns;	/* of the whole trace */
	bool failed;			/* said so once; everything after is dropped */
};

struct writer_header {
	uint16_t e_machine;
	uint32_t nr_cpus;
	uint64_t kernel_base;
	unsigned char build_id[32];
};

/* False after a message. */
bool writer_init(struct writer *w, const char *path, const struct writer_header *h);

/* Totals, last frame, close. False after a message. */
bool writer_close(struct writer *w);
void writer_flush(struct writer *w, bool end);

static inline void writer_word(struct writer *w, uint32_t word)
{
	if (w->nr_words == WRITER_WORDS)
		writer_flush(w, false);
	w->words[w->nr_words++] = word;
}

/* Put the folded repeats of the last block into the stream. */
static inline void writer_settle(struct writer *w)
{
	/* One repeat is a word as it stands, two with the control word. */
	if (w->repeats == 1) {
		writer_word(w, w->last_block);
	} else if (w->repeats) {
		writer_word(w, FETCH_REPEAT);
		writer_word(w, w->repeats);
	}
	w->repeats = 0;
}

static inline void writer_run(struct writer *w, uint32_t block, uint32_t insns)
{
	w->nr_runs++;
	w->nr_insns += insns;
	if (block == w->last_block && w->repeats < UINT32_MAX) {
		w->repeats++;
		return;
	}
	if (w->repeats)
		writer_settle(w);
	w->last_block = block;
	writer_word(w, block);
}

/* A control word with its operands; ends a run of repeats. */
void writer_control(struct writer *w, uint32_t control, unsigned int nr, const uint32_t *operands);

#endif
