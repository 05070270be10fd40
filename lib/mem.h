/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation that does not fail: out of memory is one clean message and exit status 1. */
#ifndef LIB_MEM_H
#define LIB_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

void *xmalloc(size_t size);
void *xcalloc(size_t nmemb, size_t size);
void *xreallocarray(void *ptr, size_t nmemb, size_t size);	/* overflow is fatal too */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *src, size_t size);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* A stream into memory, as open_memstream(); the caller frees *text, which is whole once text_close() returns. */
FILE *text_open(char **text, size_t *size);
void text_close(FILE *fp, char *const *text);

/*
 * Make room for element number nr - 1 of the growing array x, whose fill and
 * capacity are kept as nr_x and alloc_x. Grows by half, never shrinks.
 */
#define ALLOC_GROW(x, nr, alloc) \
	do { \
		if ((size_t)(nr) > (size_t)(alloc)) { \
			size_t want_ = ((size_t)(alloc) + 16) * 3 / 2; \
			if (want_ < (size_t)(nr)) \
				want_ = (size_t)(nr); \
			(x) = xreallocarray((x), want_, sizeof(*(x))); \
			(alloc) = (__typeof__(alloc))want_; \
		} \
	} while (0)

/* qsort(), which must not be handed the NULL that an array of nothing is. */
void sort_array(void *base, size_t nr, size_t size, int (*compare)(const void *, const void *));

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
