/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/order.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "lib/mem.h"
#include "reorder/layout.h"

const struct algorithm algorithms[] = {
	{ "pack", "distinct pages for paths in a row, under exact addresses", order_pack },
	{ "link", "the linker's own order", order_link },
	{ "density", "samples per byte, densest first", order_density },
	{ "ph", "Pettis-Hansen: join along the heaviest edge", order_ph },
	{ "c3", "call-chain clustering (hfsort)", order_c3 },
	{ "cdsort", "cache-directed sort, as in LLVM 19", order_cdsort },
	{ NULL, NULL, NULL },
};

const struct algorithm *algorithm_find(const char *name)
{
	for (const struct algorithm *a = algorithms; a->name; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}

uint32_t *hot_units(const struct callgraph *cg, uint32_t *nr)
{
	const struct image *img = cg->image;
	uint32_t *units = xcalloc(img->nr_units, sizeof(*units));

	*nr = 0;
	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct callgraph_node *n = &cg->nodes[i];

		if (img->units[i].movable && (n->samples || n->calls || n->touched))
			units[(*nr)++] = i;
	}
	return units;
}

/* Nothing is moved: the hot region stays empty. */
void order_link(const struct callgraph *cg, const struct order_options *opts, struct layout *l)
{
	(void)cg;
	(void)opts;
	(void)l;
}

static int compare_dense(const void *pa, const void *pb)
{
	const struct dense *a = pa, *b = pb;

	if (a->density != b->density)
		return a->density > b->density ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

void sort_dense(struct dense *d, uint32_t nr)
{
	sort_array(d, nr, sizeof(*d), compare_dense);
}

uint32_t *dense_units(const struct callgraph *cg, uint32_t *nr)
{
	uint32_t *units = hot_units(cg, nr);
	struct dense *d = xcalloc(*nr, sizeof(*d));

	for (uint32_t i = 0; i < *nr; i++)
		d[i] = (struct dense){ units[i], (double)cg->nodes[units[i]].samples / cg->image->units[units[i]].size };
	sort_dense(d, *nr);
	for (uint32_t i = 0; i < *nr; i++)
		units[i] = d[i].unit;
	free(d);
	return units;
}

void order_density(const struct callgraph *cg, const struct order_options *opts, struct layout *l)
{
	uint32_t nr, *units = dense_units(cg, &nr);

	(void)opts;
	for (uint32_t i = 0; i < nr; i++)
		layout_append(l, units[i], 0);
	free(units);
}
