/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fetch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collect/qemu/format.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"

/*
 * The limits are far above what QEMU makes (a block has at most 512 instructions
 * and spans at most two pages); they bound what a hostile trace can claim.
 */
enum { MAX_BLOCKS = 1 << 24, MAX_BLOCK_BYTES = 1 << 16, MAX_CPUS = 4096, WORD = 4, BATCH = 1 << 16 };

static uint32_t get_word(const unsigned char *p)
{
	uint32_t w;

	memcpy(&w, p, WORD);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? w : __builtin_bswap32(w);
}

bool fetch_probe(const char *head, unsigned long len)
{
	return len >= 8 && !memcmp(head, FETCH_MAGIC, 8);
}

static int damaged(const struct fetch *f, const char *what)
{
	uint64_t off = input_offset(f->in) + (uint64_t)(f->next - f->base);

	return error("cannot read '%s': %s at byte %" PRIu64 " of the decompressed trace", input_name(f->in), what,
		     off);
}

/* Have at least nr words at f->next; false when the trace ends before. */
static bool refill(struct fetch *f, unsigned int nr)
{
	size_t avail;

	input_skip(f->in, (size_t)(f->next - f->base));
	f->base = f->next = input_peek(f->in, BATCH, &avail);
	f->limit = f->base + avail;
	return avail >= nr * WORD;
}

static inline bool have_words(struct fetch *f, unsigned int nr)
{
	return (size_t)(f->limit - f->next) >= nr * WORD || refill(f, nr);
}

static int ends_early(const struct fetch *f)
{
	if (input_failed(f->in))
		return -1;
	return damaged(f, "trace ends early: no end mark (was the emulator killed?)");
}

int fetch_init(struct fetch *f, struct input *in)
{
	size_t avail;

	memset(f, 0, sizeof(*f));
	f->in = in;
	f->pending_block = UINT32_MAX;
	f->base = f->next = f->limit = input_peek(in, 0, &avail);
	if (!have_words(f, 2 + FETCH_HEADER_WORDS) || memcmp(f->next, FETCH_MAGIC, 8)) {
		if (input_failed(in))
			return -1;
		return error("cannot read '%s': not a fetch trace, or cut in its header", input_name(in));
	}
	const unsigned char *h = f->next + 8;
	uint32_t machine = get_word(h + 4);

	if (get_word(h) != FETCH_VERSION)
		return error("cannot read '%s': fetch trace of version %" PRIu32 ", only %d is known",
			     input_name(in), get_word(h), FETCH_VERSION);
	f->nr_cpus = get_word(h + 8);
	if (machine > UINT16_MAX || !f->nr_cpus || f->nr_cpus > MAX_CPUS)
		return damaged(f, "bad header");
	f->e_machine = (uint16_t)machine;
	f->kernel_base = get_word(h + 12) | (uint64_t)get_word(h + 16) << 32;
	memcpy(f->build_id, h + 20, sizeof(f->build_id));
	for (size_t i = 0; i < sizeof(f->build_id); i++)
		f->has_build_id |= f->build_id[i] != 0;
	f->next += (2 + FETCH_HEADER_WORDS) * WORD;
	return 0;
}

void fetch_release(struct fetch *f)
{
	free(f->blocks);
	memset(f, 0, sizeof(*f));
}

static int define(struct fetch *f)
{
	struct fetch_block b;

	if (!have_words(f, 4))
		return ends_early(f);
	b.addr = get_word(f->next) | (uint64_t)get_word(f->next + 4) << 32;
	b.bytes = get_word(f->next + 8);
	b.insns = get_word(f->next + 12);
	if (!b.bytes || b.bytes > MAX_BLOCK_BYTES || !b.insns || b.insns > b.bytes ||
	    b.addr + b.bytes - 1 < b.addr)
		return damaged(f, "bad block definition");
	if (f->nr_blocks == MAX_BLOCKS)
		return damaged(f, "too many block definitions");
	f->next += 4 * WORD;
	ALLOC_GROW(f->blocks, f->nr_blocks + 1, f->alloc_blocks);
	f->blocks[f->nr_blocks++] = b;
	return 0;
}

static int run(struct fetch *f, struct fetch_event *ev, uint32_t block, uint32_t count)
{
	f->nr_events += count;
	f->nr_insns += (uint64_t)f->blocks[block].insns * count;
	*ev = (struct fetch_event){ FETCH_EV_RUN, block, count };
	return 1;
}

static int finish(struct fetch *f)
{
	size_t avail;

	if (!have_words(f, 4))
		return ends_early(f);
	uint64_t runs = get_word(f->next) | (uint64_t)get_word(f->next + 4) << 32;
	uint64_t insns = get_word(f->next + 8) | (uint64_t)get_word(f->next + 12) << 32;

	f->next += 4 * WORD;
	if (runs != f->nr_events || insns != f->nr_insns)
		return damaged(f, "totals do not match what was read");
	f->ended = true;
	refill(f, 0);
	input_peek(f->in, 1, &avail);
	if (avail)
		return damaged(f, "data after the end mark");
	return input_failed(f->in) ? -1 : 0;
}

/* A control word with one operand. */
static int operand(struct fetch *f, struct fetch_event *ev, uint32_t control)
{
	if (!have_words(f, 1))
		return ends_early(f);
	uint32_t n = get_word(f->next);

	switch (control) {
	case FETCH_REPEAT:
		if (f->pending_block == UINT32_MAX || !n)
			return damaged(f, "repeat of nothing");
		f->next += WORD;
		return run(f, ev, f->pending_block, n);
	case FETCH_CPU:
		if (n >= f->nr_cpus)
			return damaged(f, "bad cpu number");
		*ev = (struct fetch_event){ FETCH_EV_CPU, n, 0 };
		break;
	default:
		if (n > 1)
			return damaged(f, "bad mark");
		*ev = (struct fetch_event){ FETCH_EV_MARK, n, 0 };
	}
	f->next += WORD;
	f->pending_block = UINT32_MAX;
	return 1;
}

int fetch_next(struct fetch *f, struct fetch_event *ev)
{
	if (f->ended)
		return 0;
	for (;;) {
		if (!have_words(f, 1))
			return ends_early(f);
		uint32_t w = get_word(f->next);

		if (w < f->nr_blocks) {
			f->next += WORD;
			f->pending_block = w;
			return run(f, ev, w, 1);
		}
		switch (w) {
		case FETCH_DEFINE:
			f->next += WORD;
			f->pending_block = UINT32_MAX;
			if (define(f))
				return -1;
			break;
		case FETCH_SWITCH:
			f->next += WORD;
			f->pending_block = UINT32_MAX;
			*ev = (struct fetch_event){ FETCH_EV_SWITCH, 0, 0 };
			return 1;
		case FETCH_REPEAT:
		case FETCH_CPU:
		case FETCH_MARK:
			f->next += WORD;
			return operand(f, ev, w);
		case FETCH_END:
			f->next += WORD;
			return finish(f);
		default:
			return damaged(f, w < FETCH_CONTROL ? "undefined block" : "unknown control word");
		}
	}
}
