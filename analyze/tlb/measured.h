/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ITLB misses that a CPU's own event sampled, by page of kernel text, beside those
 * that a replayed trace predicts: whether the machine model misses where the CPU does.
 */
#ifndef ANALYZE_TLB_MEASURED_H
#define ANALYZE_TLB_MEASURED_H

#include <stdint.h>

struct image;
struct machine;

struct measured {
	uint64_t start, page_bytes;	/* what an entry maps of text, or 4 KB where that is more than 64 KB */
	uint32_t nr_pages;
	uint64_t *misses;		/* [page]: samples of the event */
	uint64_t *predicted;		/* [page]: misses of the trace; NULL without one */
	uint32_t *func;			/* [page]: func of the image that missed most there, INDEX_NONE when none did */
	uint64_t total, elsewhere;	/* samples in text, and in other kernel code */
	uint64_t predicted_total;
};

/*
 * Read the iTLB-miss events of perfdata, a recording of this very kernel, and, when
 * trace is not NULL, predict with m. Errors are reported: a recording without such
 * events among them.
 */
int measured_init(struct measured *x, const char *perfdata, const struct image *img, const char *vmlinux,
		  const struct machine *m, const char *trace);
void measured_release(struct measured *x);

/* The share of misses that fall on the same pages, measured and predicted: 1 when all do. */
double measured_overlap(const struct measured *x);

/* The pages with misses, sampled or predicted, those with most samples first; the caller frees the array. */
uint32_t measured_pages(const struct measured *x, uint32_t **pages);

#endif
