/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the reader and the writer of the profile's text format share. */
#ifndef COLLECT_PROFILE_TEXT_H
#define COLLECT_PROFILE_TEXT_H

#include <stdint.h>

#define PROFILE_MAGIC "hottext-profile "
#define PROFILE_VERSION "1"

/*
 * A path's id is the hash of its line without id and weight, "KIND ROOT FOOT...":
 * FNV-1a with 64 bits (offset basis 14695981039346656037, prime 1099511628211,
 * http://www.isthe.com/chongo/tech/comp/fnv/).
 */
#define PATH_HASH_START 14695981039346656037u

static inline uint64_t path_hash_add(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

#endif
