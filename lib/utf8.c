/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

size_t utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = u[0] < 0x80 ? u[0] != 0 : u[0] >= 0xc2 && u[0] < 0xe0 ? 2 : (u[0] & 0xf0) == 0xe0 ? 3 :
		   u[0] >= 0xf0 && u[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	/* Too long a form, a surrogate, beyond U+10FFFF. */
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return n;
}

size_t utf8_step(const char *s)
{
	size_t n = utf8_length(s);

	return n ? n : *s != '\0';
}

bool utf8_shows(const char *s)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0xf, 0x7 };	/* bits of the first byte, by length */
	size_t n = utf8_length(s);
	uint32_t c = (unsigned char)*s & first[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c >= ' ' && (c < 0x7f || c >= 0xa0) && (c < 0x2028 || c > 0x202e) && (c < 0x2066 || c > 0x2069);
}

size_t utf8_columns(const char *s)
{
	size_t columns = 0;

	for (; *s; s += utf8_step(s))
		columns++;
	return columns;
}

char *utf8_mended(const char *s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *mended = xmalloc(strlen(s) * (sizeof(replacement) - 1) + 1), *out = mended;

	for (; *s; s += utf8_step(s)) {
		size_t n = utf8_length(s), size = n ? n : sizeof(replacement) - 1;

		memcpy(out, n ? s : replacement, size);
		out += size;
	}
	*out = '\0';
	return mended;
}
