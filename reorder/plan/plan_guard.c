/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the guard of an order found, into the plan. */
#include <stdlib.h>

#include "lib/mem.h"
#include "plan.h"
#include "reorder/guard.h"
#include "reorder/layout.h"

/* A unit that none of the paths runs moved for a root's sake: say whose. */
static void explain_units(struct plan *p, const struct guard *g, const struct layout *after)
{
	for (uint32_t i = 0; i < g->nr_units; i++) {
		char *why = xasprintf("keeps %s, which was never profiled, on few pages", guard_root_name(g, g->units[i].root));

		for (uint32_t u = 0; u < p->nr_units; u++)
			if (p->units[u].addr == after->addr[g->units[i].unit] && !p->units[u].path_weight && p->units[u].moved)
				p->units[u].why = plan_string(p, why);
		free(why);
	}
}

void plan_set_guard(struct plan *p, const struct guard *g, const struct layout *after)
{
	uint32_t unseen = g->names.nr_keys - g->nr_profiled;
	double sum[2] = { 0, 0 };

	for (uint32_t i = g->nr_profiled; i < g->names.nr_keys; i++)
		for (int side = 0; side < 2; side++)
			sum[side] += g->roots[i].mean[side];
	p->guard = (struct plan_guard){
		.known = true,
		.roots = g->nr_profiled,
		.worse = guard_count(g, true, guard_is_worse),
		.worse_by_less = guard_count(g, true, guard_is_worse_by_less),
		.unseen_roots = unseen,
		.unseen_worse = guard_count(g, false, guard_is_worse),
		.unseen_before = unseen ? sum[0] / unseen : 0,
		.unseen_after = unseen ? sum[1] / unseen : 0,
		.units = g->nr_units,
	};
	explain_units(p, g, after);
}
