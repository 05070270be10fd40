/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ITLB misses that a CPU sampled, page by page, into the plan. */
#include "plan.h"

#include <stdlib.h>

#include "analyze/image/image.h"
#include "analyze/tlb/measured.h"
#include "lib/mem.h"

void plan_set_measured(struct plan *p, const struct image *img, const struct measured *x)
{
	struct plan_measured *m = &p->measured;
	uint32_t *pages, nr = measured_pages(x, &pages);

	m->page_bytes = x->page_bytes;
	m->in_text = x->total;
	m->elsewhere = x->elsewhere;
	m->predicted = x->predicted ? x->predicted_total : PLAN_UNKNOWN;
	m->same_pages = x->predicted ? measured_overlap(x) : -1;
	m->nr_pages = 0;
	ALLOC_GROW(m->pages, nr, m->alloc_pages);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t page = pages[i], f = x->func[page];

		m->pages[m->nr_pages++] = (struct plan_missed){
			.addr = x->start + page * x->page_bytes,
			.sampled = x->misses[page],
			.predicted = x->predicted ? x->predicted[page] : PLAN_UNKNOWN,
			.function = f == INDEX_NONE ? NULL : plan_string(p, img->funcs[f].id),
		};
	}
	free(pages);
}
