/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parse_u64(const char *s, int base, uint64_t *out)
{
	char *end;

	if (!isxdigit((unsigned char)*s))
		return false;
	errno = 0;
	unsigned long long v = strtoull(s, &end, base);
	if (errno || end == s || *end)
		return false;
	*out = v;
	return true;
}

bool parse_u64_range(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v;

	if (!parse_u64(s, 10, &v) || v < min || v > max)
		return false;
	*out = v;
	return true;
}

bool parse_size(const char *s, uint64_t *out)
{
	const char *p = s;
	uint64_t v;
	unsigned int shift = 0;

	if (!scan_dec(&p, &v))
		return false;
	switch (*p) {
	case 'K': case 'k': shift = 10; p++; break;
	case 'M': case 'm': shift = 20; p++; break;
	case 'G': case 'g': shift = 30; p++; break;
	}
	if (*p || (v << shift) >> shift != v)
		return false;
	*out = v << shift;
	return true;
}

bool parse_double(const char *s, double *out)
{
	char *end;

	if (!*s || isspace((unsigned char)*s))
		return false;
	errno = 0;
	double v = strtod(s, &end);
	if (errno || end == s || *end || !isfinite(v))
		return false;
	*out = v;
	return true;
}

bool scan_hex(const char **p, uint64_t *out)
{
	const char *s = *p;
	uint64_t v = 0;

	for (; isxdigit((unsigned char)*s); s++) {
		if (v >> 60)
			return false;
		int c = tolower((unsigned char)*s);
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (s == *p)
		return false;
	*p = s;
	*out = v;
	return true;
}

bool scan_dec(const char **p, uint64_t *out)
{
	const char *s = *p;
	uint64_t v = 0;

	for (; isdigit((unsigned char)*s); s++) {
		unsigned int d = (unsigned int)(*s - '0');

		if (v > (UINT64_MAX - d) / 10)
			return false;
		v = v * 10 + d;
	}
	if (s == *p)
		return false;
	*p = s;
	*out = v;
	return true;
}
