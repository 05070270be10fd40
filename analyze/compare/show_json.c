/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/compare/show.h"

#include <jansson.h>

#include "analyze/compare/cost.h"
#include "analyze/compare/figures.h"
#include "analyze/compare/judge.h"
#include "analyze/compare/kernels.h"
#include "lib/json_text.h"

static void put(FILE *fp, json_t *out)
{
	json_dumpf(out, fp, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	putc('\n', fp);
	json_decref(out);
}

static json_t *range(double min, double max)
{
	return json_pack("[ff]", min, max);
}

static json_t *spread_json(const struct spread *s)
{
	return json_pack("{si sf sf sf}", "runs", (int)s->runs, "median", s->median, "min", s->min, "max",
			 s->max);
}

static json_t *judgement_json(const struct figures *f, const struct judgement *g)
{
	static const char *const better[] = { "unknown", "smaller", "bigger" };
	const struct figure *fig = &f->figures[g->figure];

	return json_pack("{so so so ss so so sf sf sf sf sf ss}", "table", json_text(fig->table), "name",
			 json_text(fig->name), "unit", json_text(fig->unit), "better", better[fig->better], "base",
			 spread_json(&g->base), "other", spread_json(&g->other), "difference",
			 g->other.median - g->base.median, "percent", judgement_percent(g), "p", g->p,
			 "p_corrected", g->corrected, "p_smallest", g->least_free, "verdict",
			 verdict_names[g->verdict]);
}

static json_t *cost_json(const struct figures *f, const struct pair *p, const struct miss_price *price)
{
	struct miss_cost c = miss_cost(f, p, price);
	json_t *out;

	if (!c.have_misses)
		return json_null();
	out = json_pack("{sf sf sf}", "base", c.base_misses, "other", c.other_misses, "difference", c.misses);
	if (c.have_seconds) {
		json_object_set_new(out, "cycles_a_miss", range(price->min_cycles, price->max_cycles));
		json_object_set_new(out, "seconds", range(c.min_seconds, c.max_seconds));
		json_object_set_new(out, "cycles",
				    range(c.min_seconds * price->clock_hz, c.max_seconds * price->clock_hz));
	}
	if (c.have_run)
		json_object_set_new(out, "measured_seconds", range(c.min_longer, c.max_longer));
	if (c.have_implied)
		json_object_set_new(out, "implied_cycles_a_miss", range(c.min_implied, c.max_implied));
	return out;
}

static json_t *pair_json(const struct figures *f, const struct pair *p, const struct miss_price *price)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < p->nr_figures; i++)
		json_array_append_new(list, judgement_json(f, &p->figures[i]));
	return json_pack("{so so so so}", "base", json_text(f->sides[p->base].label), "other",
			 json_text(f->sides[p->other].label), "figures", list, "tlb_misses",
			 cost_json(f, p, price));
}

static json_t *ambiguous_json(const struct figures *f)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < f->nr_ambiguous; i++) {
		const struct ambiguous *a = &f->ambiguous[i];

		json_array_append_new(list, json_pack("{so sI so so si si}", "file", json_text(a->path), "line",
						      (json_int_t)a->line, "table", json_text(a->table), "host",
						      json_text(a->host), "cells", (int)a->cells, "columns",
						      (int)a->columns));
	}
	return list;
}

void show_figures_json(FILE *fp, const struct figures *f, const struct judged *j,
		       const struct miss_price *price)
{
	json_t *pairs = json_array();

	for (uint32_t i = 0; i < j->nr_pairs; i++)
		json_array_append_new(pairs, pair_json(f, &j->pairs[i], price));
	put(fp, json_pack("{sf si so so si si}", "alpha", j->alpha, "corrected_for", (int)j->nr_tests,
			  "comparisons", pairs, "ambiguous", ambiguous_json(f), "without_result",
			  (int)f->not_counted, "lines_not_understood", (int)f->not_understood));
}

/* Negative: not known. */
static json_t *known(double v)
{
	return v < 0 ? json_null() : json_real(v);
}

void show_kernels_json(FILE *fp, const struct kernels *k)
{
	json_t *sides = json_array(), *paths = json_array();

	for (uint32_t i = 0; i < k->nr_sides; i++) {
		const struct kernel_side *s = &k->sides[i];

		json_array_append_new(sides,
				      json_pack("{so so so sf sI s{sf sf sf} so}", "label", json_text(s->label),
						"release", json_text(s->release), "build_id", json_text(s->build_id),
						"matched", s->matched, "pages", (json_int_t)s->pages,
						"entries_per_path", "mean", s->mean, "p95", s->p95, "max",
						s->max, "misses_per_path", known(s->misses)));
	}
	for (uint32_t i = 0; i < k->nr_paths; i++) {
		const struct kernel_path *p = &k->paths[i];
		json_t *entries = json_array();

		for (uint32_t s = 0; s < k->nr_sides; s++)
			json_array_append_new(entries, known(p->entries[s]));
		json_array_append_new(paths, json_pack("{so ss sI so}", "root", json_text(p->root), "kind",
						       path_kind_names[p->kind], "weight",
						       (json_int_t)p->weight, "entries", entries));
	}
	put(fp, json_pack("{so so sf so so}", "machine", json_text(k->machine.name), "why_no_saving",
			  json_text(k->why_none), "left_out", k->left_out, "kernels", sides, "paths", paths));
}
