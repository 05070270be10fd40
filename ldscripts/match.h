/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which statements of a fragment found their sections, told by the link map. */
#ifndef LDSCRIPTS_MATCH_H
#define LDSCRIPTS_MATCH_H

#include <stdbool.h>
#include <stdint.h>

struct fragment;

struct match_count {
	uint32_t found;			/* patterns that took at least one section */
	uint32_t wanted;		/* patterns of the fragment */
	bool function_sections;		/* the link has .text.NAME sections */
	bool lld;			/* lld wrote the map */
};

/* f may be NULL. Errors (unreadable map) are reported. */
int match_in_map(struct match_count *mc, const struct fragment *f, const char *map);

/* Whether lld wrote the map; a file that cannot be read is none of its. Silent. */
bool map_is_lld(const char *map);

/* Whether a section comes from -ffunction-sections: .text.NAME, but for those the kernel names itself. */
bool is_function_section(const char *name, uint32_t len);

#endif
