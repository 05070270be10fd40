/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands where in a trace.dat of version 7: trace-cmd.dat.v7(5). */
#ifndef COLLECT_FTRACE_TRACEDAT7_H
#define COLLECT_FTRACE_TRACEDAT7_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TRACEDAT_SECTION_HEAD = 16,	/* u16 id, u16 flags, u32 string, u64 size */
	TRACEDAT_OPTIONS = 0, TRACEDAT_BUFFER = 3,
	TRACEDAT_COMPRESSED = 1,	/* flag */
	TRACEDAT_OPTION_HEAD = 6,	/* u16 id, u32 size */
	TRACEDAT_OPTION_DONE = 0,	/* u64: where options go on, 0: nowhere */
	TRACEDAT_OPTION_BUFFER = 3,	/* u64 section, name, clock, u32 page, u32 CPUs, {u32 CPU, u64 off, u64 size} each;
					 * size without the count before compressed records */
};

struct ZSTD_DCtx_s;

struct tracedat7 {
	int fd;			/* borrowed */
	uint64_t size;
	bool big;
	bool zstd;		/* that is its compression */
	uint64_t page, first_options, first_section;
};

struct tracedat_section {
	uint64_t off, size;	/* of its head; without the head */
	uint32_t id, flags;
};

struct tracedat_option {
	uint64_t id, off, size;	/* of what is behind its head */
};

struct tracedat_chunks {
	uint64_t nr;		/* as the count tells */
	uint64_t whole, end, pages;	/* how many are, from the first on, where they end, what they hold */
};

/* False when it is no version 7, or its header does not look right. */
bool tracedat7_init(struct tracedat7 *t, int fd, uint64_t size);

/* n bytes of the file; the number of those at p, or at off. */
bool tracedat7_get(const struct tracedat7 *t, uint64_t off, void *buf, size_t n);
uint64_t tracedat7_decode(const struct tracedat7 *t, const unsigned char *p, unsigned int size);
bool tracedat7_number(const struct tracedat7 *t, uint64_t off, unsigned int size, uint64_t *v);

bool tracedat7_section(const struct tracedat7 *t, uint64_t off, struct tracedat_section *s);

/* Whether the section is there to its end. */
bool tracedat7_is_whole(const struct tracedat7 *t, const struct tracedat_section *s);

/* The options at off; false when they are not whole, or compressed. */
bool tracedat7_options(const struct tracedat7 *t, uint64_t off, struct tracedat_section *s);

/* The option behind o, which begins as { .off = where the first is }; false when none is whole before end. */
bool tracedat7_option(const struct tracedat7 *t, uint64_t end, struct tracedat_option *o);

/*
 * A CPU's compressed records, from off on: a count, then chunks of whole pages, {u32 packed, u32 plain, bytes} each.
 * decoder NULL: those are whole that are there; else they also decode, and t->zstd must be set.
 */
void tracedat7_chunks(const struct tracedat7 *t, uint64_t off, uint64_t end, struct ZSTD_DCtx_s *decoder,
		      struct tracedat_chunks *c);

#endif
