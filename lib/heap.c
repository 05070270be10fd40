/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	HUGE_PAGE = 2 << 20,	/* of processors with pages of 4 KB */
	FIRST = 32 << 20,	/* twice what reading 50 MB of samples takes; only what is touched is used */
	FURTHER = 1 << 20,
	APART = 24 << 20,	/* so large, an allocation has a mapping of its own, which grows without being copied */
};

/* Fills what lies before the first huge page. malloc() writes beside it, and a page once touched is no part of a huge one. */
static void *volatile filler;

void heap_in_huge_pages(void)
{
	uintptr_t end = (uintptr_t)sbrk(0), start = (end + HUGE_PAGE - 1) & -(uintptr_t)HUGE_PAGE;

	(void)sbrk((intptr_t)(start - end));
	mallopt(M_MMAP_THRESHOLD, APART);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	mallopt(M_TOP_PAD, FIRST);
	filler = malloc(HUGE_PAGE - 4096);
	mallopt(M_TOP_PAD, FURTHER);

	start += HUGE_PAGE;
	end = (uintptr_t)sbrk(0) & -(uintptr_t)HUGE_PAGE;
	if (end > start)
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}
