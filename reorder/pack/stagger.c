/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/stagger.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "lib/mem.h"

/* How much of a page's load is left to the page after it: what lies near runs together more often. */
static const double fading = 0.9;

void stagger_init(struct stagger *s, const struct callgraph *cg, uint32_t page)
{
	memset(s, 0, sizeof(*s));
	s->cg = cg;
	s->nr_load = page / PROFILE_CHUNK;
	s->load = xcalloc(s->nr_load, sizeof(*s->load));
	s->heat = xcalloc(cg->image->nr_units, sizeof(*s->heat));
	for (uint32_t i = 0; i < cg->nr_paths; i++) {
		const struct callgraph_path *p = &cg->paths[i];

		for (uint32_t j = 0; j < p->nr_spans; j++) {
			const struct span *span = &cg->spans[p->first_span + j];
			uint32_t size = cg->image->units[span->unit].size / PROFILE_CHUNK + 1;
			float **heat = &s->heat[span->unit];

			if (!*heat)
				*heat = xcalloc(size, sizeof(**heat));
			for (uint32_t c = span->start / PROFILE_CHUNK; c <= (span->end - 1) / PROFILE_CHUNK; c++)
				(*heat)[c] += (float)p->weight;
		}
	}
}

void stagger_release(struct stagger *s)
{
	for (uint32_t i = 0; i < s->cg->image->nr_units; i++)
		free(s->heat[i]);
	free(s->heat);
	free(s->load);
	memset(s, 0, sizeof(*s));
}

/* Lay units[(first + i) % nr] out from offset off on: what that meets, or with add what it leaves. */
static double lay(struct stagger *s, const uint32_t *units, uint32_t nr, uint32_t first, uint64_t off, bool add)
{
	const struct image *img = s->cg->image;
	double cost = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const struct unit *u = &img->units[units[(first + i) % nr]];
		const float *heat = s->heat[units[(first + i) % nr]];

		off = (off + u->align - 1) & ~(uint64_t)(u->align - 1);
		for (uint32_t c = 0; heat && c < u->size / PROFILE_CHUNK + 1; c++) {
			double *load = &s->load[(off / PROFILE_CHUNK + c) % s->nr_load];

			if (add)
				*load += heat[c];
			else
				cost += heat[c] * *load;
		}
		off += u->size;
	}
	return cost;
}

static uint64_t bytes_of(const struct stagger *s, const uint32_t *units, uint32_t nr)
{
	uint64_t off = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const struct unit *u = &s->cg->image->units[units[i]];

		off = ((off + u->align - 1) & ~(uint64_t)(u->align - 1)) + u->size;
	}
	return off;
}

void stagger_page(struct stagger *s, uint32_t *units, uint32_t nr, uint32_t nr_fixed)
{
	uint32_t turn = nr - nr_fixed, best = 0;
	uint64_t off = bytes_of(s, units, nr_fixed);
	double best_cost = -1;

	for (uint32_t i = 0; i < s->nr_load; i++)
		s->load[i] *= fading;
	for (uint32_t i = 0; i < turn; i++) {
		double cost = lay(s, units + nr_fixed, turn, i, off, false);

		if (best_cost < 0 || cost < best_cost) {
			best_cost = cost;
			best = i;
		}
	}
	lay(s, units, nr_fixed, 0, 0, true);
	if (!turn)
		return;
	lay(s, units + nr_fixed, turn, best, off, true);
	uint32_t *turned = xcalloc(turn, sizeof(*turned));
	for (uint32_t i = 0; i < turn; i++)
		turned[i] = units[nr_fixed + (best + i) % turn];
	memcpy(units + nr_fixed, turned, turn * sizeof(*turned));
	free(turned);
}
