/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/for_cache.h"

#include "analyze/callgraph.h"
#include "analyze/tlb/machine.h"
#include "analyze/tlb/replay.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/order.h"

/* The first of equals is taken. */
static const char *const candidates[] = { "pack", "cdsort", "c3" };

static uint32_t best_of(const struct tlb_counts *counts)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		detail("'%s' would miss the instruction cache %llu times", candidates[i],
		       (unsigned long long)counts[i].l1i_kernel_misses);
		if (counts[i].l1i_kernel_misses < counts[best].l1i_kernel_misses)
			best = i;
	}
	return best;
}

int order_for_cache(const struct callgraph *cg, const struct order_options *opts, const char *trace,
		    struct layout *out)
{
	struct layout tries[ARRAY_SIZE(candidates)];
	const uint64_t *addrs[ARRAY_SIZE(candidates)];
	struct tlb_counts counts[ARRAY_SIZE(candidates)];

	for (uint32_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		layout_init(&tries[i], cg->image);
		algorithm_find(candidates[i])->run(cg, opts, &tries[i]);
		layout_assign(&tries[i]);
		addrs[i] = tries[i].addr;
	}
	int ret = replay_layouts(trace, cg->image, addrs, ARRAY_SIZE(candidates), &opts->machine, 1, counts);
	uint32_t best = ret ? 0 : best_of(counts);

	for (uint32_t i = 0; i < tries[best].nr_hot && !ret; i++)
		layout_append(out, tries[best].hot[i].unit, tries[best].hot[i].align);
	layout_assign(out);
	for (uint32_t i = 0; i < ARRAY_SIZE(candidates); i++)
		layout_release(&tries[i]);
	return ret;
}
