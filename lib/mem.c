/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mem.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

static void *check(void *p, size_t size)
{
	if (!p)
		die("out of memory (%zu bytes wanted)", size);
	return p;
}

/* For the message: too much to be told is all there is. */
static size_t product(size_t a, size_t b)
{
	size_t r;

	return __builtin_mul_overflow(a, b, &r) ? SIZE_MAX : r;
}

void *xmalloc(size_t size)
{
	return check(malloc(size ? size : 1), size);
}

void *xcalloc(size_t nmemb, size_t size)
{
	if (!nmemb || !size)
		nmemb = size = 1;
	return check(calloc(nmemb, size), product(nmemb, size));
}

void *xreallocarray(void *ptr, size_t nmemb, size_t size)
{
	if (!nmemb || !size)
		nmemb = size = 1;
	return check(reallocarray(ptr, nmemb, size), product(nmemb, size));
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *xstrndup(const char *s, size_t n)
{
	n = strnlen(s, n);
	char *p = xmalloc(n + 1);
	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

void *xmemdup(const void *src, size_t size)
{
	void *p = xmalloc(size);

	if (size)
		memcpy(p, src, size);
	return p;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		die("out of memory");
	return s;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

FILE *text_open(char **text, size_t *size)
{
	FILE *fp = open_memstream(text, size);

	if (!fp)
		die("out of memory");
	return fp;
}

void text_close(FILE *fp, char *const *text)
{
	/* Closing shortens the text to what it holds; a lack of memory for that leaves none, and is no error of the stream. */
	bool bad = ferror(fp);

	if (fclose(fp) || bad || !*text)
		die("out of memory");
}

void sort_array(void *base, size_t nr, size_t size, int (*compare)(const void *, const void *))
{
	if (nr)
		qsort(base, nr, size, compare);
}
