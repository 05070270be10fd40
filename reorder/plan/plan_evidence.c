/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What completion said of each function, into the plan: reports and `explain` have no kernel to ask. */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/completion/complete.h"
#include "analyze/image/image.h"
#include "collect/profile.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "plan.h"

/* [func of the image]: func of the profile that names it best, INDEX_NONE. */
static uint32_t *match_functions(const struct image *img, const struct profile *profile)
{
	uint32_t *of = xcalloc((size_t)img->nr_funcs + 1, sizeof(*of));
	enum match *best = xcalloc((size_t)img->nr_funcs + 1, sizeof(*best));

	for (uint32_t f = 0; f < img->nr_funcs; f++)
		of[f] = INDEX_NONE;
	for (uint32_t i = 0; i < profile->names.nr_keys; i++) {
		enum match how;
		uint32_t f = image_match(img, profile_func_name(profile, i), &how);

		if (f == INDEX_NONE || how <= best[f])
			continue;
		best[f] = how;
		of[f] = i;
	}
	free(best);
	return of;
}

static const char *phrase(struct plan *p, const struct profile *profile, const struct completion *report, uint32_t func)
{
	char *text;
	size_t size;

	if (func >= report->nr_funcs)
		return plan_string(p, "seen");
	if (report->funcs[func].reason == COMPLETION_UNSEEN)
		return NULL;
	FILE *fp = text_open(&text, &size);

	completion_explain(report, profile, func, fp);
	text_close(fp, &text);
	const char *kept = plan_string(p, text);
	free(text);
	return kept;
}

void plan_set_evidence(struct plan *p, const struct image *img, const struct profile *profile,
		       const struct completion *report)
{
	uint32_t *of = match_functions(img, profile);

	for (uint32_t i = 0; i < p->nr_functions; i++) {
		uint32_t f = index_find_str(&img->by_id, p->functions[i].name);

		if (f != INDEX_NONE && f < img->nr_funcs && of[f] != INDEX_NONE)
			p->functions[i].evidence = phrase(p, profile, report, of[f]);
	}
	free(of);
}
