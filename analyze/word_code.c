/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "word_code.h"

#include "analyze/image/image.h"
#include "collect/profile.h"

enum {
	WORD = 4,		/* bytes */
	FEW = 64,		/* call sites: by chance, so many of code with instructions of any length have one form at odds of 2^-64 */
	MOST_PERCENT = 90,	/* hand-written functions and tables in text may end anywhere */
};

/* Functions end where an instruction does. */
static bool is_word_kernel(const struct image *img)
{
	uint64_t whole = 0;

	for (uint32_t i = 0; i < img->nr_funcs; i++)
		whole += img->funcs[i].size % WORD == 0;
	return 100 * whole >= MOST_PERCENT * (uint64_t)img->nr_funcs;
}

bool is_other_code(const struct image *img, const struct profile *p)
{
	uint32_t caller, off, callee;
	uint64_t nr = 0, whole = 0;

	for (uint32_t i = 0; i < p->calls.nr_keys; i++) {
		profile_get_call(p, i, &caller, &off, &callee);
		if (off == PROFILE_OFF_UNKNOWN)
			continue;
		nr++;
		/* The call's first byte, or its last. */
		whole += off % WORD == 0 || off % WORD == WORD - 1;
	}
	if (nr < FEW)
		return false;
	return is_word_kernel(img) ? 100 * whole < MOST_PERCENT * nr : whole == nr;
}
