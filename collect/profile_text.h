/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the reader and the writer of the profile's text format share. */
#ifndef COLLECT_PROFILE_TEXT_H
#define COLLECT_PROFILE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/index.h"

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

static inline uint64_t path_hash_bytes(uint64_t h, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 1099511628211u;
	return h;
}

/* The path ids that a profile's texts have named so far. */
struct profile_ids {
	struct index ids;	/* 8 bytes each */
	struct profile_id {
		uint32_t path;	/* UINT32_MAX: only a next has named it */
		uint32_t input;	/* the last that held the path */
	} *items;		/* [ids id] */
	uint32_t alloc_items;
	uint32_t input;		/* the one that is being read, from 1 */
};

#endif
