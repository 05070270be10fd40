/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/draws.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyze/image/image.h"
#include "collect/fetch/fetch.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"

enum { NR_BRANCHES = 32, MAX_DEPTH = 64 };

struct draw {
	struct fetch f;
	const struct image *img;
	bool chains;			/* else branches */
	FILE *fp;			/* NULL: instructions are only counted */
	uint64_t period, due, insns;	/* of the kernel */
	uint64_t from[NR_BRANCHES], to[NR_BRANCHES];
	uint32_t next, nr;		/* in from and to */
	uint64_t stack[MAX_DEPTH];	/* return addresses */
	uint32_t depth;
};

static void push_branch(struct draw *d, uint64_t from, uint64_t to)
{
	d->from[d->next] = from;
	d->to[d->next] = to;
	d->next = (d->next + 1) % NR_BRANCHES;
	d->nr += d->nr < NR_BRANCHES;
}

static bool returns(struct draw *d, uint64_t to)
{
	for (uint32_t i = d->depth; i--;)
		if (d->stack[i] == to) {
			d->depth = i;
			return true;
		}
	return false;
}

/*
 * Control went from the instruction before `end` to `to`. A jump to a function's start is a call, unless it was the
 * last of its function, which then is left for good; one into the middle of another, which is no return, is a switch.
 */
static void follow(struct draw *d, uint64_t end, uint64_t to)
{
	uint32_t func = image_find_func(d->img, to), caller = image_find_func(d->img, end - 1);

	if (!fetch_is_kernel(&d->f, end - 1) || !fetch_is_kernel(&d->f, to)) {
		d->depth = 0;
		return;
	}
	if (returns(d, to) || func == INDEX_NONE)
		return;
	if (d->img->funcs[func].addr != to) {
		if (func != caller)
			d->depth = 0;
		return;
	}
	if (caller != INDEX_NONE && image_find_func(d->img, end) == caller && d->depth < MAX_DEPTH)
		d->stack[d->depth++] = end;
}

/* As perf names it, where one name says which function it is. On one line with the sample, a 32-bit address needs it. */
static void write_place(const struct draw *d, uint64_t at)
{
	uint32_t func = image_find_func(d->img, at);

	if (func == INDEX_NONE || strpbrk(d->img->funcs[func].id, "@#"))
		fprintf(d->fp, "%" PRIx64 " [unknown] ([kernel.kallsyms]) ", at);
	else
		fprintf(d->fp, "%" PRIx64 " %s+0x%" PRIx64 " ([kernel.kallsyms]) ", at, d->img->funcs[func].id,
			at - d->img->funcs[func].addr);
}

static void write_sample(const struct draw *d, uint64_t at)
{
	fprintf(d->fp, "work 1 [000] %" PRIu64 ".%06" PRIu64 ": 1 cycles: ", d->insns / 1000000, d->insns % 1000000);
	if (d->chains) {
		fprintf(d->fp, "\n\t%" PRIx64 " [unknown] ([kernel.kallsyms])\n", at);
		for (uint32_t i = d->depth; i--;)
			fprintf(d->fp, "\t%" PRIx64 " [unknown] ([kernel.kallsyms])\n", d->stack[i]);
	} else {
		write_place(d, at);
		for (uint32_t i = 1; i <= d->nr; i++) {	/* the latest first */
			uint32_t k = (d->next + NR_BRANCHES - i) % NR_BRANCHES;

			fprintf(d->fp, " 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0 ", d->from[k], d->to[k]);
		}
	}
	fputc('\n', d->fp);
}

static void run_block(struct draw *d, uint64_t end, const struct fetch_event *ev)
{
	const struct fetch_block *b = &d->f.blocks[ev->block];

	if (d->fp && d->chains && end && end != b->addr)
		follow(d, end, b->addr);
	if (d->fp && !d->chains) {
		if (end && end != b->addr)
			push_branch(d, end - 1, b->addr);	/* somewhere in the block's last instruction */
		for (uint32_t i = 1; i < ev->count && i <= NR_BRANCHES; i++)
			push_branch(d, b->addr + b->bytes - 1, b->addr);
	}
	if (!fetch_is_kernel(&d->f, b->addr))
		return;
	d->insns += (uint64_t)b->insns * ev->count;
	for (; d->fp && d->insns >= d->due; d->due += d->period)
		write_sample(d, b->addr);
}

/* One pass over the trace. */
static int pass(struct draw *d, const char *trace)
{
	struct input *in = input_open(trace);
	struct fetch_event ev;
	uint64_t end = 0;
	int ret;

	if (!in || fetch_init(&d->f, in) < 0) {
		input_close(in);
		return -1;
	}
	d->insns = 0;
	d->due = d->period / 2;
	while ((ret = fetch_next(&d->f, &ev)) > 0) {
		if (ev.kind != FETCH_EV_RUN)
			continue;
		run_block(d, end, &ev);
		end = d->f.blocks[ev.block].addr + d->f.blocks[ev.block].bytes;
	}
	fetch_release(&d->f);
	input_close(in);
	return ret;
}

static int draw(const char *trace, const struct image *img, bool chains, uint32_t samples, const char *path)
{
	struct draw d = { .img = img, .chains = chains };

	if (pass(&d, trace))
		return -1;
	d.period = d.insns / samples + 1;
	d.fp = fopen(path, "w");
	if (!d.fp)
		return error("cannot write '%s': %s", path, strerror(errno));
	int ret = pass(&d, trace);
	bool failed = ferror(d.fp);
	if (fclose(d.fp) || failed)
		return error("cannot write '%s': %s", path, strerror(errno));
	return ret;
}

int draw_branches(const char *trace, const struct image *img, uint32_t samples, const char *path)
{
	return draw(trace, img, false, samples, path);
}

int draw_chains(const char *trace, const struct image *img, uint32_t samples, const char *path)
{
	return draw(trace, img, true, samples, path);
}
