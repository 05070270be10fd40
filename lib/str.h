/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the C library's strings lack. */
#ifndef LIB_STR_H
#define LIB_STR_H

#include <stdbool.h>
#include <string.h>

static inline bool str_ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

#endif
