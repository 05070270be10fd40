/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * FNV-1a with 64 bits (offset basis 14695981039346656037, prime 1099511628211,
 * http://www.isthe.com/chongo/tech/comp/fnv/): the same everywhere, so it may stand
 * in files. Tells apart what differs by accident, not by malice.
 */
#ifndef LIB_FNV_H
#define LIB_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_START 14695981039346656037u

/* The hash of all that h is of, and of these bytes after it. */
static inline uint64_t fnv_bytes(uint64_t h, const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		h = (h ^ (unsigned char)data[i]) * 1099511628211u;
	return h;
}

static inline uint64_t fnv_text(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

#endif
