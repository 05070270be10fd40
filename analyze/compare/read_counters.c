/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters as kernels print them, "NAME: NUMBER" a line: /proc/tlbmiss of the 8xx. */
#include "analyze/compare/readers.h"

#include <string.h>

#include "analyze/compare/figures.h"
#include "lib/number.h"

bool counter_take(struct reading *r, char *line)
{
	char *colon = strrchr(line, ':'), *value, *end;
	char *name = line + strspn(line, " \t");
	uint64_t n;

	if (!colon || colon == name)
		return false;
	value = colon + 1 + strspn(colon + 1, " \t");
	end = value + strcspn(value, " \t");
	if (end[strspn(end, " \t")])
		return false;
	*end = *colon = '\0';
	if (!parse_u64(value, 10, &n))
		return false;
	bool tlb = strcasestr(name, "tlb") && strcasestr(name, "miss");
	struct figure like = { .table = "", .name = name, .unit = "", .tlb_misses = tlb,
			       .better = strcasestr(name, "miss") ? BETTER_SMALLER : BETTER_UNKNOWN };
	figures_add(r->f, figures_figure(r->f, &like), figures_side(r->f, r->operand, ""), (double)n);
	return true;
}
