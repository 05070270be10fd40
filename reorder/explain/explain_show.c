/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain.h"

#include <inttypes.h>
#include <jansson.h>

#include "lib/json_text.h"
#include "lib/mem.h"
#include "reorder/plan/plan.h"
#include "reorder/report/format.h"

enum { SHOWN = 8, NAME_COLUMN = 36 };

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Weights of a trace are instructions; a source of samples cannot always tell entries. */
static void put_heat(const struct explanation *e, FILE *fp)
{
	const struct plan *p = e->plan;
	const struct plan_unit *u = &p->units[e->at.unit];
	const char *evidence = e->at.function == INDEX_NONE ? NULL : p->functions[e->at.function].evidence;
	char a[FORMAT_MAX], b[FORMAT_MAX];

	fprintf(fp, "  evidence  ");
	put_text(fp, evidence ? evidence : "not recorded in this plan", 0);
	fprintf(fp, "\n  samples   %s%s", format_count(a, e->samples), plan_is_traced(p) ? " instructions" : "");
	if (e->calls)
		fprintf(fp, ", entered %s times", format_count(b, e->calls));
	fputc('\n', fp);
	fprintf(fp, "  heat      on %s of all paths; %" PRIu32 " of %" PRIu32 " bytes known to run\n",
		format_percent(a, share(u->path_weight, p->path_weight)), u->touched, u->size);
}

static void put_place(const struct explanation *e, FILE *fp)
{
	const struct plan *p = e->plan;
	const struct plan_unit *u = &p->units[e->at.unit];
	char page[FORMAT_MAX];
	uint64_t off = e->at.function == INDEX_NONE ? 0 : p->functions[e->at.function].off;
	uint64_t before = u->addr_before + off, after = u->addr + off;

	fprintf(fp, "  unit      ");
	put_text(fp, u->section, 0);
	if (u->object) {
		fprintf(fp, " of ");
		put_text(fp, u->object, 0);
	}
	fprintf(fp, ", %" PRIu32 " bytes, aligned to %" PRIu32 ", group ", u->size, u->align);
	put_text(fp, u->group ? u->group : "-", 0);
	fprintf(fp, "\n  before    0x%" PRIx64 ", page %" PRId64 " (of %s, from _stext)\n", before,
		plan_entry_of(p, before, p->text_start), format_page_size(page, &p->machine));
	fprintf(fp, "  after     0x%" PRIx64 ", page %" PRId64 "\n", after, plan_entry_of(p, after, p->text_start));
	fprintf(fp, "  %-9s ", u->moved ? "moved" : "not moved");
	put_text(fp, u->why, 0);
	fputc('\n', fp);
}

static void put_calls(const struct explanation *e, const char *what, const struct explain_call *calls, uint32_t nr,
		      bool all, FILE *fp)
{
	const struct plan *p = e->plan;
	uint64_t sum = 0;
	char count[FORMAT_MAX], percent[FORMAT_MAX];

	for (uint32_t i = 0; i < nr; i++)
		sum += calls[i].count;
	for (uint32_t i = 0; i < nr && (all || i < SHOWN); i++) {
		uint32_t unit = plan_find_function(p, calls[i].name);

		fprintf(fp, "  %-9s ", i ? "" : what);
		put_text(fp, calls[i].name, NAME_COLUMN);
		fprintf(fp, " %14s  %7s", format_count(count, calls[i].count), format_percent(percent, share(calls[i].count, sum)));
		if (unit != INDEX_NONE)
			fprintf(fp, "  page %" PRId64, p->units[unit].page);
		fputc('\n', fp);
	}
	if (!all && nr > SHOWN)
		fprintf(fp, "  %-9s and %" PRIu32 " more (--all)\n", "", nr - SHOWN);
	if (!nr)
		fprintf(fp, "  %-9s none known\n", what);
}

/* Which paths need it, and so pull it near the rest of theirs. */
static void put_paths(const struct explanation *e, bool all, FILE *fp)
{
	const struct plan *p = e->plan;
	char percent[FORMAT_MAX];

	for (uint32_t i = 0; i < e->nr_paths && (all || i < SHOWN); i++) {
		const struct plan_path *path = &p->paths[e->paths[i].path];

		fprintf(fp, "  %-9s ", i ? "" : "pulled by");
		put_text(fp, path->root, NAME_COLUMN - 12);
		fprintf(fp, " %-11s %7s of its runs; entries %.1f -> %.1f\n", path->kind,
			format_percent(percent, share(e->paths[i].weight, path->weight)), path->entries_before,
			path->entries_after);
	}
	if (!all && e->nr_paths > SHOWN)
		fprintf(fp, "  %-9s and %" PRIu32 " more (--all)\n", "", e->nr_paths - SHOWN);
	if (!e->nr_paths)
		fprintf(fp, "  %-9s no recorded path\n", "pulled by");
}

void explanation_text(const struct explanation *e, bool all, FILE *fp)
{
	put_text(fp, e->name, 0);
	fputc('\n', fp);
	put_heat(e, fp);
	put_place(e, fp);
	put_calls(e, "callers", e->callers, e->nr_callers, all, fp);
	put_calls(e, "calls", e->callees, e->nr_callees, all, fp);
	put_paths(e, all, fp);
}

static json_t *calls_json(const struct explain_call *calls, uint32_t nr)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < nr; i++)
		json_array_append_new(a, json_pack("{s:o, s:I}", "name", json_text(calls[i].name), "count", (json_int_t)calls[i].count));
	return a;
}

static json_t *paths_json(const struct explanation *e)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < e->nr_paths; i++) {
		const struct plan_path *path = &e->plan->paths[e->paths[i].path];

		json_array_append_new(a, json_pack("{s:o, s:o, s:I, s:I, s:f, s:f}", "root", json_text(path->root), "kind", json_text(path->kind),
						   "weight", (json_int_t)e->paths[i].weight, "of",
						   (json_int_t)path->weight, "entries_before", path->entries_before,
						   "entries_after", path->entries_after));
	}
	return a;
}

json_t *explanation_json(const struct explanation *e)
{
	const struct plan *p = e->plan;
	const struct plan_unit *u = &p->units[e->at.unit];
	const char *evidence = e->at.function == INDEX_NONE ? NULL : p->functions[e->at.function].evidence;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o}",
			 "name", json_text(e->name), "evidence", json_text(evidence), "object", json_text(u->object), "section",
			 json_text(u->section), "group", json_text(u->group), "size", (int)u->size, "touched_bytes", (int)u->touched, "samples",
			 (json_int_t)e->samples, "calls", (json_int_t)e->calls, "path_weight", (json_int_t)u->path_weight,
			 "of", (json_int_t)p->path_weight, "page_before", (json_int_t)u->page_before, "page",
			 (json_int_t)u->page, "moved", u->moved, "why", json_text(u->why), "callers",
			 calls_json(e->callers, e->nr_callers), "callees", calls_json(e->callees, e->nr_callees), "paths",
			 paths_json(e));
}
