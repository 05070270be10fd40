/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where malloc() takes its memory from. */
#ifndef LIB_HEAP_H
#define LIB_HEAP_H

/*
 * Have malloc() take memory from the kernel in large pieces, and ask that the first of them be in huge pages
 * (transparent_hugepage/enabled: "madvise" or "always"; else nothing changes but the sizes). A program that fills some
 * megabytes once and ends spends up to half of its time on the first touch of each page. To be called before other
 * memory is allocated. Cannot fail.
 */
void heap_in_huge_pages(void);

#endif
