/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a new profile or kernel changed: two plans side by side. */
#include "report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "lib/index.h"
#include "lib/json_text.h"
#include "lib/mem.h"
#include "lib/utf8.h"
#include "reorder/plan/plan.h"
#include "style.h"

enum { ROWS = 15 };

struct pair {			/* a path or a function in either plan; INDEX_NONE: not there */
	uint32_t a, b;
	const char *name;
	double order;		/* larger is told first */
};

struct diff {
	const struct plan *a, *b;
	struct pair *paths;	/* in both: by the change that its share of b makes of it */
	struct pair *news, *gone;	/* functions hot in one only, by heat */
	uint32_t nr_paths, nr_news, nr_gone;
	uint32_t nr_both;	/* units hot in both */
	double drift;		/* share of path weight that went elsewhere, 0..1 */
};

static double share(const struct plan *p, uint32_t path)
{
	return path == INDEX_NONE || !p->path_weight ? 0
						     : (double)p->paths[path].weight / (double)p->path_weight;
}

static int by_order(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->order > y->order ? -1 : x->order < y->order ? 1 : strcmp(x->name, y->name);
}

static uint32_t path_key(struct index *x, const struct plan_path *path)
{
	char *key = xasprintf("%s\n%s", path->kind, path->symbol);
	uint32_t id = index_add_str(x, key);

	free(key);
	return id;
}

/* Entries per path that the change of this path alone costs or saves. */
static double path_change(const struct diff *d, const struct pair *pr)
{
	return (d->b->paths[pr->b].entries_after - d->a->paths[pr->a].entries_after) * share(d->b, pr->b);
}

static void match_paths(struct diff *d)
{
	struct index keys = { 0 };
	uint32_t nr = d->a->nr_paths + d->b->nr_paths;
	struct pair *all = xcalloc(nr, sizeof(*all));

	for (uint32_t i = 0; i < nr; i++)
		all[i].a = all[i].b = INDEX_NONE;
	for (uint32_t i = 0; i < d->a->nr_paths; i++)
		all[path_key(&keys, &d->a->paths[i])].a = i;
	for (uint32_t i = 0; i < d->b->nr_paths; i++)
		all[path_key(&keys, &d->b->paths[i])].b = i;
	for (uint32_t i = 0; i < keys.nr_keys; i++) {
		d->drift += fabs(share(d->a, all[i].a) - share(d->b, all[i].b)) / 2;
		if (all[i].a == INDEX_NONE || all[i].b == INDEX_NONE)
			continue;
		all[d->nr_paths] = all[i];
		all[d->nr_paths].name = d->b->paths[all[i].b].symbol;
		all[d->nr_paths].order = fabs(path_change(d, &all[i]));
		d->nr_paths++;
	}
	sort_array(all, d->nr_paths, sizeof(*all), by_order);
	d->paths = all;
	index_release(&keys);
}

static bool is_hot(const struct plan_unit *u)
{
	return u->path_weight || u->weight || u->touched;
}

/* Functions hot in p, with the other plan's in the index. */
static struct pair *only_here(const struct plan *p, const struct index *other, uint32_t *nr, uint32_t *both)
{
	struct pair *list = xcalloc(p->nr_units, sizeof(*list));

	*both = 0;
	for (uint32_t i = 0; i < p->nr_units; i++) {
		if (!is_hot(&p->units[i]))
			continue;
		if (index_find_str(other, p->units[i].name) != INDEX_NONE)
			++*both;
		else
			list[(*nr)++] = (struct pair){ i, i, p->units[i].name, plan_heat(p, &p->units[i]) };
	}
	if (*nr)
		qsort(list, *nr, sizeof(*list), by_order);
	return list;
}

static void index_units(struct index *x, const struct plan *p)
{
	for (uint32_t i = 0; i < p->nr_units; i++)
		if (is_hot(&p->units[i]))
			index_add_str(x, p->units[i].name);
}

static void diff_init(struct diff *d, const struct plan *a, const struct plan *b)
{
	struct index in_a = { 0 }, in_b = { 0 };

	memset(d, 0, sizeof(*d));
	d->a = a;
	d->b = b;
	match_paths(d);
	index_units(&in_a, a);
	index_units(&in_b, b);
	d->gone = only_here(a, &in_b, &d->nr_gone, &d->nr_both);
	d->news = only_here(b, &in_a, &d->nr_news, &d->nr_both);
	index_release(&in_a);
	index_release(&in_b);
}

static void diff_release(struct diff *d)
{
	free(d->paths);
	free(d->news);
	free(d->gone);
}

static void put_row(FILE *fp, struct text_style st, const char *what, const char *a, const char *b, double va,
		    double vb)
{
	char saving[FORMAT_MAX];

	put_text(fp, what, 36);
	fprintf(fp, "%14s %14s ", a, b);
	if (vb > va)
		worse(fp, st);
	else if (vb < va)
		better(fp, st);
	fprintf(fp, "%9s", format_saving(saving, va, vb));
	plain(fp, st);
	fputc('\n', fp);
}

static void put_count(FILE *fp, struct text_style st, const char *what, uint64_t a, uint64_t b)
{
	char sa[FORMAT_MAX], sb[FORMAT_MAX];
	bool known = a != PLAN_UNKNOWN && b != PLAN_UNKNOWN;

	if (a == PLAN_UNKNOWN && b == PLAN_UNKNOWN)
		return;
	put_row(fp, st, what, format_count(sa, a), format_count(sb, b), known ? (double)a : 0,
		known ? (double)b : 0);
}

static void put_entries(FILE *fp, struct text_style st, const char *what, double a, double b)
{
	char sa[FORMAT_MAX], sb[FORMAT_MAX];

	put_row(fp, st, what, format_entries(sa, a), format_entries(sb, b), a, b);
}

static void put_names(FILE *fp, const char *what, const char *a, const char *b)
{
	put_text(fp, what, 36);
	for (int i = 0; i < 2; i++) {
		const char *s = i ? b : a;
		size_t width = utf8_columns(s);

		fprintf(fp, "%*s", i + (width < 14 ? 14 - (int)width : 0), "");
		put_text(fp, s, width > 14 ? 14 : 0);
	}
	fputc('\n', fp);
}

static void put_totals(const struct diff *d, FILE *fp, struct text_style st)
{
	const struct plan *a = d->a, *b = d->b;
	char text[FORMAT_MAX];

	dim(fp, st);
	fprintf(fp, "%-36s%14s %14s %9s\n", "plans, both after reordering", "A", "B", "saved");
	plain(fp, st);
	put_names(fp, "kernel", a->vmlinux.release, b->vmlinux.release);
	put_names(fp, "machine", a->machine.name, b->machine.name);
	put_count(fp, st, "hot pages", a->after.pages, b->after.pages);
	put_entries(fp, st, "ITLB entries per path, mean", a->after.mean, b->after.mean);
	put_entries(fp, st, "  95th percentile", a->after.p95, b->after.p95);
	put_entries(fp, st, "  worst", a->after.max, b->after.max);
	put_count(fp, st, "kernel ITLB misses, predicted", a->after.misses, b->after.misses);
	put_count(fp, st, "hot functions", a->hot.functions, b->hot.functions);
	fprintf(fp, "\ndrift     %s of the weight of paths went to other paths\n",
		format_percent(text, 100 * d->drift));
	fprintf(fp, "units     %" PRIu32 " hot in both, %" PRIu32 " newly hot, %" PRIu32 " no longer\n",
		d->nr_both, d->nr_news, d->nr_gone);
	if (a->machine.page_bytes != b->machine.page_bytes || a->machine.block_bytes != b->machine.block_bytes)
		fprintf(fp, "machines  differ in page size: entries cannot be compared\n");
}

static void put_paths(const struct diff *d, bool up, FILE *fp, struct text_style st)
{
	char sa[FORMAT_MAX], sb[FORMAT_MAX], sh[2][FORMAT_MAX];
	uint32_t shown = 0, nr = 0;

	for (uint32_t i = 0; i < d->nr_paths; i++) {
		const struct pair *pr = &d->paths[i];
		const struct plan_path *pa = &d->a->paths[pr->a], *pb = &d->b->paths[pr->b];
		double change = path_change(d, pr);

		if (up ? change <= 0 : change >= 0)
			continue;
		nr++;
		if (shown == ROWS)
			continue;
		if (!shown++) {
			dim(fp, st);
			fprintf(fp, "\n%-28s %-10s %8s %8s %8s %8s\n", up ? "paths that cost more entries" :
				"paths that cost fewer", "kind", "A", "B", "share A", "share B");
			plain(fp, st);
		}
		put_text(fp, pb->root, 28);
		fputc(' ', fp);
		put_text(fp, pb->kind, 10);
		fprintf(fp, " %8s %8s %8s %8s\n", format_entries(sa, pa->entries_after),
			format_entries(sb, pb->entries_after),
			format_percent(sh[0], 100 * share(d->a, pr->a)),
			format_percent(sh[1], 100 * share(d->b, pr->b)));
	}
	if (nr > shown)
		fprintf(fp, "and %" PRIu32 " more\n", nr - shown);
}

static void put_functions(const struct plan *p, const struct pair *list, uint32_t nr, const char *title,
			  FILE *fp, struct text_style st)
{
	char text[FORMAT_MAX];

	if (!nr)
		return;
	dim(fp, st);
	fprintf(fp, "\n%-44s %10s %8s %8s\n", title, "in paths", "bytes", "page");
	plain(fp, st);
	for (uint32_t i = 0; i < nr && i < ROWS; i++) {
		const struct plan_unit *u = &p->units[list[i].a];

		put_text(fp, u->name, 44);
		fprintf(fp, " %10s %8" PRIu32 " %8" PRId64 "\n", format_percent(text, 100 * list[i].order),
			u->size, u->page);
	}
	if (nr > ROWS)
		fprintf(fp, "and %" PRIu32 " more\n", nr - ROWS);
}

void report_diff(const struct plan *a, const struct plan *b, FILE *fp, struct text_style st)
{
	struct diff d;

	diff_init(&d, a, b);
	put_totals(&d, fp, st);
	put_paths(&d, true, fp, st);
	put_paths(&d, false, fp, st);
	put_functions(b, d.news, d.nr_news, "newly hot", fp, st);
	put_functions(a, d.gone, d.nr_gone, "no longer hot", fp, st);
	diff_release(&d);
}

static json_t *functions_json(const struct plan *p, const struct pair *list, uint32_t nr)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < nr; i++)
		json_array_append_new(all,
				      json_pack("{s:o, s:f, s:I}", "name", json_text(list[i].name), "share",
						list[i].order, "page", (json_int_t)p->units[list[i].a].page));
	return all;
}

static json_t *side_json(const struct plan *p)
{
	json_t *misses = p->after.misses == PLAN_UNKNOWN ? json_null()
							 : json_integer((json_int_t)p->after.misses);

	return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:{s:f, s:f, s:f}, s:o}", "release",
			 json_text(p->vmlinux.release), "build_id", json_text(p->vmlinux.build_id), "machine",
			 json_text(p->machine.name), "algorithm", json_text(p->algorithm), "functions", (json_int_t)p->hot.functions, "pages",
			 (json_int_t)p->after.pages, "entries_per_path", "mean", p->after.mean, "p95",
			 p->after.p95, "max", p->after.max, "misses", misses);
}

void report_diff_json(const struct plan *a, const struct plan *b, FILE *fp)
{
	json_t *paths = json_array();
	struct diff d;

	diff_init(&d, a, b);
	for (uint32_t i = 0; i < d.nr_paths; i++) {
		const struct pair *pr = &d.paths[i];
		const struct plan_path *pa = &a->paths[pr->a], *pb = &b->paths[pr->b];

		json_array_append_new(paths, json_pack("{s:o, s:o, s:f, s:f, s:f, s:f}", "root",
						       json_text(pb->root), "kind", json_text(pb->kind), "share_a", share(a, pr->a),
						       "share_b", share(b, pr->b), "entries_a",
						       pa->entries_after, "entries_b", pb->entries_after));
	}
	json_t *top = json_pack("{s:i, s:o, s:o, s:f, s:I, s:o, s:o, s:o}", "schema", PLAN_SCHEMA, "a",
				side_json(a), "b", side_json(b), "drift", d.drift, "functions_in_both",
				(json_int_t)d.nr_both, "paths", paths, "newly_hot",
				functions_json(b, d.news, d.nr_news), "no_longer_hot",
				functions_json(a, d.gone, d.nr_gone));
	json_dumpf(top, fp, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	fputc('\n', fp);
	json_decref(top);
	diff_release(&d);
}
