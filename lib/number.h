/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one parser of numbers: rejects trailing junk, overflow and signs. */
#ifndef LIB_NUMBER_H
#define LIB_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Whole string s in the given base (10 or 16; 0 also takes 0x) to *out. False leaves *out alone. */
bool parse_u64(const char *s, int base, uint64_t *out);

/* As parse_u64, within [min, max]. */
bool parse_u64_range(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/* A byte size: decimal digits with an optional K, M or G (powers of 1024), e.g. "4K". */
bool parse_size(const char *s, uint64_t *out);

/* A finite decimal number, whole string. */
bool parse_double(const char *s, double *out);

/* Scan an unsigned hex or decimal number at *p, advance past it; false when there is no digit or it overflows. */
bool scan_hex(const char **p, uint64_t *out);
bool scan_dec(const char **p, uint64_t *out);

/* Counts stop at the top instead of wrapping, which keeps their addition associative and commutative. */
static inline void add_count(uint64_t *to, uint64_t n)
{
	uint64_t sum;

	*to = __builtin_add_overflow(*to, n, &sum) ? UINT64_MAX : sum;
}

#endif
