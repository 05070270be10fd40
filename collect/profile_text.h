/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the reader and the writer of the profile's text format share. */
#ifndef COLLECT_PROFILE_TEXT_H
#define COLLECT_PROFILE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/index.h"

#define PROFILE_MAGIC "hottext-profile "
#define PROFILE_VERSION "1"
/* A path's id is the hash (lib/fnv.h) of its line without id and weight, "KIND ROOT FOOT...". */

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
