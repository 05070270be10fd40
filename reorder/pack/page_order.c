/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/page_order.h"

#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/pack/cluster.h"
#include "reorder/pack/pages.h"
#include "reorder/pack/windows.h"

/* Groups of 4, 16, 64, 256 and 1024 pages: 16K to 4M of 4K frames. */
enum { LEVELS = 5 };

struct run_rank {
	struct page_run run;
	uint32_t rank[LEVELS + 1];	/* of its group, widest first; last its own */
};

struct ranked {
	uint32_t i, used;
};

static int compare_ranked(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->used != b->used)
		return a->used > b->used ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

static int compare_runs(const void *pa, const void *pb)
{
	const struct run_rank *a = pa, *b = pb;

	for (int g = 0; g <= LEVELS; g++)
		if (a->rank[g] != b->rank[g])
			return a->rank[g] < b->rank[g] ? -1 : 1;
	return 0;
}

static struct run_rank *list_runs(const struct pages *p, uint32_t *nr)
{
	struct run_rank *runs = xcalloc(p->nr_pages, sizeof(*runs));

	*nr = 0;
	for (uint32_t i = 0; i < p->nr_pages; i++) {
		if (p->anchor[i] != INDEX_NONE && p->w->slots[p->anchor[i]].part)
			runs[*nr - 1].run.nr++;
		else if (p->fill[i])
			runs[(*nr)++].run = (struct page_run){ i, 1 };
	}
	return runs;
}

/* Rank every run by how much its group, as clustered so far, is used. */
static void rank_groups(struct run_rank *runs, uint32_t nr, const struct clustering *c, const struct use *use, int level)
{
	struct ranked *r = xcalloc(nr, sizeof(*r));
	uint32_t *rank_of = xcalloc(nr, sizeof(*rank_of));

	for (uint32_t i = 0; i < nr; i++)
		r[i] = (struct ranked){ i, cluster_leader(c, i) == i ? use_count(use, i) : 0 };
	qsort(r, nr, sizeof(*r), compare_ranked);
	for (uint32_t i = 0; i < nr; i++)
		rank_of[r[i].i] = i;
	for (uint32_t i = 0; i < nr; i++)
		runs[i].rank[level] = rank_of[cluster_leader(c, i)];
	free(r);
	free(rank_of);
}

struct page_run *order_pages(const struct pages *p, const struct use *slots, uint32_t *nr)
{
	struct run_rank *runs = list_runs(p, nr);
	uint32_t *run_of = xcalloc(p->nr_pages, sizeof(*run_of));
	struct clustering c;
	struct use use;

	use_init(&use, *nr, slots->words * 64);
	clustering_init(&c, *nr);
	for (uint32_t i = 0; i < *nr; i++) {
		c.bytes[i] = runs[i].run.nr;
		for (uint32_t j = 0; j < runs[i].run.nr; j++)
			run_of[runs[i].run.first + j] = i;
	}
	for (uint32_t s = 0; s < p->w->nr_free; s++)
		for (uint32_t j = 0; j < use.words; j++)
			use_of(&use, run_of[p->page_of[s]])[j] |= use_of(slots, s)[j];
	rank_groups(runs, *nr, &c, &use, LEVELS);
	for (int g = 0; g < LEVELS; g++) {
		cluster(&c, &use, 4u << 2 * g, false);
		rank_groups(runs, *nr, &c, &use, LEVELS - 1 - g);
	}
	qsort(runs, *nr, sizeof(*runs), compare_runs);
	struct page_run *out = xcalloc(*nr, sizeof(*out));
	for (uint32_t i = 0; i < *nr; i++)
		out[i] = runs[i].run;
	free(runs);
	free(run_of);
	clustering_release(&c);
	use_release(&use);
	return out;
}
