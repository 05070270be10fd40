/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of report.html: columns rather than objects, to keep 10,000 functions small. */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "pagemap.h"
#include "reorder/plan/plan.h"

enum {
	MAX_USES = 200,		/* functions listed of one path */
	MAX_EDGES = 12000,	/* heaviest calls */
	BLOCK = 4096,
	BIG_UNIT = 16384,	/* as in pagemap.c: of larger units only what runs is shown */
};

static void put_string(FILE *fp, const char *s)
{
	fputc('"', fp);
	put_script(fp, s);
	fputc('"', fp);
}

#define PUT_COLUMN(fp, p, key, format, ...) \
	do { \
		fprintf(fp, ",\n\"%s\":[", key); \
		for (uint32_t i = 0; i < (p)->nr_units; i++) { \
			const struct plan_unit *u = &(p)->units[i]; \
			fprintf(fp, "%s" format, i ? "," : "", __VA_ARGS__); \
		} \
		fputc(']', fp); \
	} while (0)

/* Each distinct string once under "KEYs", and a column of indices. */
static void put_strings(const struct plan *p, FILE *fp, const char *key, const char *list, bool objects)
{
	struct index x = { 0 };

	fprintf(fp, ",\n\"%s\":[", key);
	for (uint32_t i = 0; i < p->nr_units; i++) {
		const char *s = objects ? p->units[i].object : p->units[i].why;

		fprintf(fp, "%s%" PRIu32, i ? "," : "", index_add_str(&x, s ? s : ""));
	}
	fprintf(fp, "],\n\"%s\":[", list);
	for (uint32_t i = 0; i < x.nr_keys; i++) {
		fputs(i ? "," : "", fp);
		put_string(fp, index_str(&x, i));
	}
	fputc(']', fp);
	index_release(&x);
}

static void put_names(const struct plan *p, FILE *fp)
{
	fputs(",\n\"n\":[", fp);
	for (uint32_t i = 0; i < p->nr_units; i++) {
		fputs(i ? "," : "", fp);
		put_string(fp, p->units[i].name);
	}
	fputs("],\n\"r\":[", fp);
	for (uint32_t i = 0; i < p->nr_units; i++) {
		const struct plan_unit *u = &p->units[i];

		fputs(i ? ",[" : "[", fp);
		for (uint32_t j = u->first_range, last = j + u->nr_ranges; j < last; j++) {
			fprintf(fp, "%s%" PRIu32 ",", j > u->first_range ? "," : "", p->ranges[j].start);
			while (j + 1 < last && p->ranges[j + 1].start == p->ranges[j].end)
				j++;
			fprintf(fp, "%" PRIu32, p->ranges[j].end);
		}
		fputc(']', fp);
	}
	fputc(']', fp);
}

/* A share in ten-thousandths, not 0 unless it is. */
static double scaled(double share)
{
	return share > 0 && share < 1e-4 ? 1 : 1e4 * share;
}

/* Functions of units with several: name, offset, size, heat. */
static void put_functions(const struct plan *p, FILE *fp)
{
	bool any = false;

	fputs(",\n\"f\":{", fp);
	for (uint32_t i = 0; i < p->nr_units; i++) {
		const struct plan_unit *u = &p->units[i];
		uint32_t first = u->first_function;

		if (!u->nr_functions || (u->nr_functions == 1 && !strcmp(p->functions[first].name, u->name)))
			continue;
		fprintf(fp, "%s\"%" PRIu32 "\":[", any ? "," : "", i);
		any = true;
		for (uint32_t j = first; j < first + u->nr_functions; j++) {
			fputs(j > first ? ",[" : "[", fp);
			put_string(fp, p->functions[j].name);
			fprintf(fp, ",%" PRIu32 ",%" PRIu32 ",%.0f]", p->functions[j].off,
				p->functions[j].size, scaled(function_heat(p, u, j)));
		}
		fputc(']', fp);
	}
	fputc('}', fp);
}

/* In thousandths, at least one. */
static unsigned int share(uint64_t part, uint64_t whole)
{
	if (part >= whole)	/* also of a damaged plan */
		return part ? 1000 : 0;
	unsigned int n = (unsigned int)(1000.0 * (double)part / (double)whole + 0.5);
	return part && !n ? 1 : n;
}

static void put_pages(const struct plan *p, FILE *fp, uint32_t first, uint32_t nr, uint64_t weight)
{
	fputs(",[", fp);
	for (uint32_t i = 0; i < nr; i++)
		fprintf(fp, "%s%" PRId64 ",%u", i ? "," : "", p->pages[first + i].page,
			share(p->pages[first + i].weight, weight));
	fputc(']', fp);
}

static void put_paths(const struct plan *p, FILE *fp)
{
	fputs(",\n\"p\":[", fp);
	for (uint32_t i = 0; i < p->nr_paths; i++) {
		const struct plan_path *path = &p->paths[i];

		fputs(i ? ",\n[" : "[", fp);
		put_string(fp, path->root);
		fputc(',', fp);
		put_string(fp, path->symbol);
		fputc(',', fp);
		put_string(fp, path->kind);
		fprintf(fp, ",%" PRIu64 ",%" PRIu32 ",%.2f,%.2f,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",[",
			path->weight, path->variants, path->entries_before, path->entries_after,
			path->max_before, path->max_after, path->nr_uses);
		for (uint32_t j = 0; j < path->nr_uses && j < MAX_USES; j++)
			fprintf(fp, "%s%" PRIu32 ",%u", j ? "," : "", p->uses[path->first_use + j].unit,
				share(p->uses[path->first_use + j].weight, path->weight));
		fputc(']', fp);
		put_pages(p, fp, path->first_before, path->nr_before, path->weight);
		put_pages(p, fp, path->first_after, path->nr_after, path->weight);
		fputc(']', fp);
	}
	fputc(']', fp);
}

static int heavier(const void *a, const void *b)
{
	const struct plan_edge *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void put_edges(const struct plan *p, FILE *fp)
{
	struct plan_edge *e = xmemdup(p->edges, p->nr_edges * sizeof(*e));

	sort_array(e, p->nr_edges, sizeof(*e), heavier);
	fputs(",\n\"e\":[", fp);
	for (uint32_t i = 0; i < p->nr_edges && i < MAX_EDGES; i++)
		fprintf(fp, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu64, i ? "," : "", e[i].from, e[i].to,
			e[i].weight);
	fputc(']', fp);
	free(e);
}

/* Addresses go by their distance from _stext: JavaScript's numbers hold 53 bits. */
static int64_t distance(const struct plan *p, uint64_t addr)
{
	int64_t d = (int64_t)(addr - p->text_start), far = 1LL << 52;

	return d > far ? far : d < -far ? -far : d;
}

void html_data(const struct plan *p, FILE *fp)
{
	const struct plan_machine *m = &p->machine;
	uint64_t page = m->page_bytes, block = page < BLOCK ? page : BLOCK;

	fprintf(fp,
		"{\"page\":%" PRIu64 ",\"block\":%" PRIu64 ",\"lead\":%" PRIu64 ",\"pagelead\":%" PRIu64
		",\"big\":%d,"
		"\"weight\":%" PRIu64 ",\"limits\":[",
		page, block, p->text_start % block, p->text_start % page, BIG_UNIT,
		p->path_weight ? p->path_weight : 1);
	for (int i = 0; i < HEAT_BINS; i++)
		fprintf(fp, "%s%g", i ? "," : "", heat_limits[i]);
	fputc(']', fp);
	/* Pages from the first to the second go by the first of so many. */
	if (m->block_bytes)
		fprintf(fp, ",\"fold\":[%" PRId64 ",%" PRId64 ",%" PRIu64 "]", plan_page_of(m->blocks_start, p->text_start, page),
			plan_page_of(m->blocks_end, p->text_start, page), m->block_bytes / page);
	put_names(p, fp);
	put_strings(p, fp, "o", "objs", true);
	put_strings(p, fp, "y", "whys", false);
	PUT_COLUMN(fp, p, "b", "%" PRId64, distance(p, u->addr_before));
	PUT_COLUMN(fp, p, "a", "%" PRId64, distance(p, u->addr));
	PUT_COLUMN(fp, p, "s", "%" PRIu32, u->size);
	PUT_COLUMN(fp, p, "t", "%" PRIu32, u->touched);
	PUT_COLUMN(fp, p, "h", "%.0f", scaled(plan_heat(p, u)));
	PUT_COLUMN(fp, p, "m", "%d", u->moved);
	put_functions(p, fp);
	put_paths(p, fp);
	put_edges(p, fp);
	fputc('}', fp);
}
