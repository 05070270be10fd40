/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of pages: those used together come to lie together, so that larger
 * pages (16K, 64K ... of a machine that maps text so) and the sets of a cache
 * are served as well as the 4K frames.
 */
#ifndef REORDER_PACK_PAGE_ORDER_H
#define REORDER_PACK_PAGE_ORDER_H

#include <stdint.h>

struct pages;
struct use;

/* A single page, or the consecutive pages of a large unit. */
struct page_run {
	uint32_t first, nr;
};

/*
 * All pages that hold anything, in their order; slots: which samples use each
 * slot. The caller frees; *nr says how many.
 */
struct page_run *order_pages(const struct pages *p, const struct use *slots, uint32_t *nr);

#endif
