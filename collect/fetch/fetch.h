/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading fetch traces (collect/qemu/format.h), as a stream in bounded memory. */
#ifndef COLLECT_FETCH_FETCH_H
#define COLLECT_FETCH_FETCH_H

#include <stdbool.h>
#include <stdint.h>

struct input;

struct fetch_block {
	uint64_t addr;		/* guest virtual address of its first instruction */
	uint32_t bytes;
	uint32_t insns;
};

enum fetch_kind {
	FETCH_EV_RUN,		/* block ran count times in a row */
	FETCH_EV_SWITCH,	/* address space switched */
	FETCH_EV_CPU,		/* what follows ran on this cpu (block = its number) */
	FETCH_EV_MARK,		/* recording went on (block = 1) or off (0) */
};

struct fetch_event {
	enum fetch_kind kind;
	uint32_t block;
	uint32_t count;
};

struct fetch {
	struct input *in;
	struct fetch_block *blocks;	/* defined so far; grows while reading */
	uint32_t nr_blocks, alloc_blocks;
	uint16_t e_machine;
	uint32_t nr_cpus;
	uint64_t kernel_base;		/* addresses at or above are the kernel's */
	unsigned char build_id[32];
	bool has_build_id;
	uint64_t nr_events, nr_insns;	/* read so far; FETCH_EV_RUN counts each repeat */
	bool ended;			/* the end mark was seen */
	uint32_t pending_block;		/* decoder state: what a repeat refers to, UINT32_MAX: nothing */
	const unsigned char *next, *limit;	/* words decoded next, inside in's buffer from base on */
	const unsigned char *base;
};

/* Whether head begins a fetch trace. */
bool fetch_probe(const char *head, unsigned long len);

/* Begin reading; the input stays the caller's. Errors are reported. */
int fetch_init(struct fetch *f, struct input *in);
void fetch_release(struct fetch *f);

/*
 * The next event: 1, 0 at the end, -1 on a damaged or truncated trace (reported).
 * Repeats may come as several runs of one block in a row.
 */
int fetch_next(struct fetch *f, struct fetch_event *ev);

/*
 * Whether a block runs in the kernel with translation on. On PowerPC 40x and
 * 8xx exception handlers run at real addresses below 0x8000 and need no TLB:
 * they are kernel text, but never miss.
 */
static inline bool fetch_is_kernel(const struct fetch *f, uint64_t addr)
{
	return addr >= f->kernel_base;
}

#endif
