/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan's contents from the image, the call graph, both layouts and the machine. */
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/completion/complete.h"
#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "analyze/tlb/pageset.h"
#include "collect/profile.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/plan/positions.h"

/* A growing set of byte ranges, ascending, never adjoining. */
struct rangeset {
	struct plan_range *ranges;
	uint32_t nr_ranges, alloc_ranges;
};

struct fill {
	struct plan *p;
	const struct image *img;
	const struct callgraph *cg;
	const struct layout *before, *after;
	uint32_t *listed;		/* [unit of the image]: index in plan.units, INDEX_NONE */
	int64_t **steps; /* [unit of the image][byte]: change of the weight of paths that run it */
	struct rangeset *own;		/* [unit of the image]: on any variant of the root at hand */
	uint64_t *unit_weight;		/* [unit of the image]: of paths that touch it */
	uint64_t *use_weight;		/* [unit of the image]: of variants of the root at hand */
	uint32_t *used;			/* units with use_weight or own ranges */
	uint32_t nr_used;
	uint64_t *main_weight;		/* [unit of the image]: of the root that touches it most */
	const char **main_root;		/* [unit of the image] */
	const char **root;		/* [path of the graph]: short name of its root, one pointer a name */
	uint32_t *order;		/* paths by (kind, root) */
	struct pageset pages_before, pages_after;	/* of the root at hand */
	struct pageset all_before, all_after;
	struct histogram hist_before, hist_after;
};

static void rangeset_add(struct rangeset *s, uint32_t start, uint32_t end)
{
	uint32_t lo = 0, hi;

	while (lo < s->nr_ranges && s->ranges[lo].end < start)
		lo++;
	if (lo < s->nr_ranges && s->ranges[lo].start <= start && s->ranges[lo].end >= end)
		return;
	for (hi = lo; hi < s->nr_ranges && s->ranges[hi].start <= end; hi++) {
		if (s->ranges[hi].start < start)
			start = s->ranges[hi].start;
		if (s->ranges[hi].end > end)
			end = s->ranges[hi].end;
	}
	ALLOC_GROW(s->ranges, s->nr_ranges + 1, s->alloc_ranges);
	memmove(s->ranges + lo + 1, s->ranges + hi, (s->nr_ranges - hi) * sizeof(*s->ranges));
	s->nr_ranges = s->nr_ranges - (hi - lo) + 1;
	s->ranges[lo] = (struct plan_range){ start, end, 0 };
}

static uint32_t rangeset_bytes(const struct rangeset *s)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < s->nr_ranges; i++)
		sum += s->ranges[i].end - s->ranges[i].start;
	return sum;
}

static const char *root_id(const struct fill *f, const struct callgraph_path *path)
{
	return path->root == INDEX_NONE ? "-" : f->img->funcs[path->root].id;
}

static int by_root(const void *a, const void *b, void *arg)
{
	const struct fill *f = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c;

	if (f->cg->paths[x].kind != f->cg->paths[y].kind)
		return f->cg->paths[x].kind < f->cg->paths[y].kind ? -1 : 1;
	c = strcmp(f->root[x], f->root[y]);
	return c ? c : x < y ? -1 : 1;
}

static void name_roots(struct fill *f)
{
	for (uint32_t i = 0; i < f->cg->nr_paths; i++) {
		char *name = plan_root_name(root_id(f, &f->cg->paths[i]));

		f->root[i] = plan_string(f->p, name);
		free(name);
	}
}

/* The pages of one variant under one layout; returns how many, those of modules with them. */
static uint32_t variant_pages(struct fill *f, const struct callgraph_path *path, const struct layout *l,
			      struct pageset *root, struct pageset *all, struct histogram *hist)
{
	uint32_t nr = layout_path_pages(l, f->cg, path, root) + path->module_pages;
	layout_path_pages(l, f->cg, path, all);
	histogram_add(hist, nr, path->weight);
	return nr;
}

static void variant_uses(struct fill *f, const struct callgraph_path *path)
{
	uint32_t last = INDEX_NONE;

	for (uint32_t i = path->first_span; i < path->first_span + path->nr_spans; i++) {
		const struct span *s = &f->cg->spans[i];

		if (!f->steps[s->unit])
			f->steps[s->unit] = xcalloc((size_t)f->img->units[s->unit].size + 1, sizeof(int64_t));
		f->steps[s->unit][s->start] += (int64_t)path->weight;
		f->steps[s->unit][s->end] -= (int64_t)path->weight;
		if (!f->own[s->unit].nr_ranges)
			f->used[f->nr_used++] = s->unit;
		rangeset_add(&f->own[s->unit], s->start, s->end);
		if (s->unit == last)
			continue;
		last = s->unit;
		f->use_weight[last] += path->weight;
		f->unit_weight[last] += path->weight;
	}
}

static uint32_t put_pages(struct plan *p, const struct pageset *s, uint32_t *first)
{
	*first = p->nr_pages;
	for (uint32_t i = 0; i < s->nr; i++) {
		if (!s->weight[i])
			continue;
		ALLOC_GROW(p->pages, p->nr_pages + 1, p->alloc_pages);
		p->pages[p->nr_pages++] = (struct plan_page){ s->first + (int64_t)i, s->weight[i] };
	}
	return p->nr_pages - *first;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Close the root at hand: its uses, and what it adds to each unit's main root. */
static void put_uses(struct fill *f, struct plan_path *path)
{
	struct plan *p = f->p;

	qsort(f->used, f->nr_used, sizeof(*f->used), compare_u32);
	path->first_use = p->nr_uses;
	path->nr_uses = f->nr_used;
	for (uint32_t i = 0; i < f->nr_used; i++) {
		uint32_t u = f->used[i];

		ALLOC_GROW(p->uses, p->nr_uses + 1, p->alloc_uses);
		p->uses[p->nr_uses++] = (struct plan_use){ u, f->use_weight[u] }; /* image's unit for now */
		path->touched += rangeset_bytes(&f->own[u]);
		if (f->use_weight[u] > f->main_weight[u]) {
			f->main_weight[u] = f->use_weight[u];
			f->main_root[u] = path->root;
		}
		f->use_weight[u] = 0;
		f->own[u].nr_ranges = 0;
	}
	f->nr_used = 0;
}

/* One root: its variants are order[first .. end). */
static void fill_root(struct fill *f, uint32_t first, uint32_t end)
{
	struct plan *p = f->p;
	const struct callgraph_path *head = &f->cg->paths[f->order[first]];
	double sum_before = 0, sum_after = 0;
	uint64_t heaviest = 0;

	ALLOC_GROW(p->paths, p->nr_paths + 1, p->alloc_paths);
	struct plan_path *out = &p->paths[p->nr_paths++];
	memset(out, 0, sizeof(*out));
	out->root = f->root[f->order[first]];
	out->kind = plan_string(p, path_kind_names[head->kind]);
	out->variants = end - first;
	pageset_clear(&f->pages_before);
	pageset_clear(&f->pages_after);
	for (uint32_t i = first; i < end; i++) {
		const struct callgraph_path *v = &f->cg->paths[f->order[i]];
		uint32_t b = variant_pages(f, v, f->before, &f->pages_before, &f->all_before,
					   &f->hist_before);
		uint32_t a = variant_pages(f, v, f->after, &f->pages_after, &f->all_after, &f->hist_after);

		variant_uses(f, v);
		/* Of several functions with one short name, as ksys_read and __x64_sys_read. */
		if (!out->symbol || v->weight > heaviest) {
			out->symbol = plan_string(p, root_id(f, v));
			heaviest = v->weight;
		}
		out->weight += v->weight;
		sum_before += (double)v->weight * b;
		sum_after += (double)v->weight * a;
		out->max_before = b > out->max_before ? b : out->max_before;
		out->max_after = a > out->max_after ? a : out->max_after;
	}
	if (out->weight) {
		out->entries_before = sum_before / (double)out->weight;
		out->entries_after = sum_after / (double)out->weight;
	}
	p->path_weight += out->weight;
	out->nr_before = put_pages(p, &f->pages_before, &out->first_before);
	out->nr_after = put_pages(p, &f->pages_after, &out->first_after);
	put_uses(f, out);
}

static void fill_paths(struct fill *f)
{
	uint32_t nr = f->cg->nr_paths;

	for (uint32_t i = 0; i < nr; i++)
		f->order[i] = i;
	name_roots(f);
	qsort_r(f->order, nr, sizeof(*f->order), by_root, f);
	for (uint32_t i = 0, end; i < nr; i = end) {
		uint32_t head = f->order[i];

		for (end = i + 1; end < nr; end++)
			if (f->cg->paths[f->order[end]].kind != f->cg->paths[head].kind ||
			    f->root[f->order[end]] != f->root[head])
				break;
		fill_root(f, i, end);
	}
}

static int by_weight(const void *a, const void *b)
{
	const struct plan_path *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	int c = strcmp(x->kind, y->kind);
	return c ? c : strcmp(x->symbol, y->symbol);
}

static int use_by_weight(const void *a, const void *b)
{
	const struct plan_use *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Uses named units of the image so far. */
static void finish_paths(struct fill *f)
{
	struct plan *p = f->p;

	for (uint32_t i = 0; i < p->nr_uses; i++)
		p->uses[i].unit = f->listed[p->uses[i].unit];
	for (uint32_t i = 0; i < p->nr_paths; i++) {
		const struct plan_path *path = &p->paths[i];

		sort_array(p->uses + path->first_use, path->nr_uses, sizeof(*p->uses), use_by_weight);
	}
	sort_array(p->paths, p->nr_paths, sizeof(*p->paths), by_weight);
}

static const char *unit_name(struct plan *p, const struct image *img, const struct unit *u)
{
	bool named = !strncmp(u->section, ".text.", 6) || u->nr_funcs == 1;

	if (u->nr_funcs && named)
		return plan_string(p, img->funcs[u->first_func].id);
	if (!u->object)
		return plan_string(p, u->section);
	char *name = xasprintf("%s:%s", u->object, u->section);
	const char *kept = plan_string(p, name);
	free(name);
	return kept;
}

static const char *unit_why(const struct fill *f, uint32_t unit, bool moved)
{
	const struct unit *u = &f->img->units[unit];
	double share = f->p->path_weight ? 100.0 * (double)f->unit_weight[unit] / (double)f->p->path_weight
					 : 0;
	char *why;

	if (!moved && !u->movable)
		why = xasprintf("%s", u->why_fixed ? u->why_fixed : "fixed");
	else if (!f->unit_weight[unit])
		why = xasprintf(moved ? "hot, but on no recorded path" : "left out: on no recorded path");
	else
		why = xasprintf("%srun by %.3g %% of paths, most by %s", moved ? "" : "left out: ", share,
				f->main_root[unit]);
	const char *kept = plan_string(f->p, why);
	free(why);
	return kept;
}

/* Whether a function has a byte among the unit's ranges. */
static bool func_runs(const struct plan *p, const struct plan_unit *u, uint32_t off, uint32_t size)
{
	const struct plan_range *r = p->ranges + u->first_range;

	for (uint32_t i = 0; i < u->nr_ranges && r[i].start < off + size; i++)
		if (r[i].end > off)
			return true;
	return false;
}

static void put_ranges(struct fill *f, uint32_t unit, struct plan_unit *out)
{
	const int64_t *steps = f->steps[unit];
	struct plan *p = f->p;
	int64_t weight = 0;

	out->first_range = p->nr_ranges;
	for (uint32_t i = 0, start = 0; steps && i <= out->size; i++) {
		if (!steps[i])
			continue;
		if (weight > 0) {
			ALLOC_GROW(p->ranges, p->nr_ranges + 1, p->alloc_ranges);
			p->ranges[p->nr_ranges++] = (struct plan_range){ start, i, (uint64_t)weight };
		}
		weight += steps[i];
		start = i;
	}
	out->nr_ranges = p->nr_ranges - out->first_range;
}

static uint32_t ranges_bytes(const struct plan *p, const struct plan_unit *u)
{
	uint32_t sum = 0;

	for (uint32_t i = u->first_range; i < u->first_range + u->nr_ranges; i++)
		sum += p->ranges[i].end - p->ranges[i].start;
	return sum;
}

static void put_functions(struct fill *f, uint32_t unit, struct plan_unit *out)
{
	const struct unit *u = &f->img->units[unit];
	struct plan *p = f->p;

	out->first_function = p->nr_functions;
	for (uint32_t i = u->first_func; i < u->first_func + u->nr_funcs; i++) {
		const struct func *fn = &f->img->funcs[i];
		uint32_t off = (uint32_t)(fn->addr - u->addr);

		if (fn->addr < u->addr || off > u->size)
			continue;
		/* Of a unit with many functions only those that run matter. */
		if (u->nr_funcs > 1 && !func_runs(p, out, off, fn->size))
			continue;
		ALLOC_GROW(p->functions, p->nr_functions + 1, p->alloc_functions);
		p->functions[p->nr_functions++] = (struct plan_function){ plan_string(p, fn->id), off,
									  fn->size, NULL };
	}
	out->nr_functions = p->nr_functions - out->first_function;
}

static void put_unit(struct fill *f, uint32_t unit, bool moved)
{
	const struct unit *u = &f->img->units[unit];
	const struct callgraph_node *n = &f->cg->nodes[unit];
	struct plan *p = f->p;

	ALLOC_GROW(p->units, p->nr_units + 1, p->alloc_units);
	struct plan_unit *out = &p->units[p->nr_units++];
	memset(out, 0, sizeof(*out));
	out->name = unit_name(p, f->img, u);
	out->object = plan_string(p, u->object);
	out->section = plan_string(p, u->section);
	out->group = plan_string(p, group_names[u->group]);
	out->addr_before = f->before->addr[unit];
	out->addr = f->after->addr[unit];
	out->size = u->size;
	out->align = u->align;
	out->page_before = plan_entry_of(p, out->addr_before, p->text_start);
	out->page = plan_entry_of(p, out->addr, p->text_start);
	out->weight = n->samples;
	out->calls = n->calls;
	out->path_weight = f->unit_weight[unit];
	out->touched = n->touched;
	out->moved = moved;
	out->why = unit_why(f, unit, moved);
	put_ranges(f, unit, out);
	put_functions(f, unit, out);
	if (n->touched || n->samples || n->calls || out->nr_ranges) {
		p->hot.units++;
		p->hot.fixed += !u->movable && !moved;
		p->hot.bytes += u->size;
		p->hot.touched_bytes += out->nr_ranges ? ranges_bytes(p, out) : n->touched;
		p->hot.functions += out->nr_functions;
	}
}

static int by_address(const void *a, const void *b, void *arg)
{
	const struct fill *f = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t ax = f->after->addr[x], ay = f->after->addr[y];

	if (ax != ay)
		return ax < ay ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void fill_units(struct fill *f)
{
	uint32_t nr = f->img->nr_units, nr_listed = 0;
	uint32_t *list = xcalloc(nr, sizeof(*list));
	bool *moved = xcalloc(nr, sizeof(*moved));

	for (uint32_t i = 0; i < f->after->nr_hot; i++)
		moved[f->after->hot[i].unit] = true;
	for (uint32_t i = 0; i < nr; i++) {
		const struct callgraph_node *n = &f->cg->nodes[i];

		if (moved[i] || n->touched || n->samples || n->calls || f->steps[i])
			list[nr_listed++] = i;
	}
	qsort_r(list, nr_listed, sizeof(*list), by_address, f);
	for (uint32_t i = 0; i < nr_listed; i++) {
		f->listed[list[i]] = i;
		put_unit(f, list[i], moved[list[i]]);
	}
	free(list);
	free(moved);
}

static int edge_order(const void *a, const void *b)
{
	const struct plan_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void fill_edges(struct fill *f)
{
	struct plan *p = f->p;

	for (uint32_t i = 0; i < f->cg->nr_edges; i++) {
		const struct callgraph_edge *e = &f->cg->edges[i];
		uint32_t from = f->listed[e->from], to = f->listed[e->to];

		if (from == INDEX_NONE || to == INDEX_NONE || !e->weight)
			continue;
		ALLOC_GROW(p->edges, p->nr_edges + 1, p->alloc_edges);
		p->edges[p->nr_edges++] = (struct plan_edge){ from, to, e->weight };
	}
	sort_array(p->edges, p->nr_edges, sizeof(*p->edges), edge_order);
}

static const char *const policy_names[] = {
	[TLB_LRU] = "lru", [TLB_FIFO] = "fifo", [TLB_RANDOM] = "random", [TLB_ROUND_ROBIN] = "round-robin",
	[TLB_PLRU] = "plru",
};

static void fill_machine(struct plan *p, const struct machine *m, const struct image *img)
{
	struct plan_machine *out = &p->machine;
	const char *why = machine_why_no_saving(m, img->text_start, img->text_end);

	out->name = plan_string(p, m->name ? m->name : "");
	out->about = plan_string(p, m->about ? m->about : "");
	out->arch = plan_string(p, m->arch ? m->arch : "");
	out->page_bytes = m->text_page ? machine_entry_bytes(m) : 4096;
	if (machine_has_edges(m) && m->blocks_end > m->blocks_start && machine_block_bytes(m) > out->page_bytes) {
		out->block_bytes = machine_block_bytes(m);
		out->blocks_start = m->blocks_start;
		out->blocks_end = m->blocks_end;
	}
	out->pinned_text = m->pinned_text;
	out->why_no_saving = plan_string(p, why ? why : "");
	out->miss_cycles_min = m->miss_cycles_min;
	out->miss_cycles_max = m->miss_cycles_max;
	out->clock_hz = m->clock_hz;
	for (uint32_t i = 0; i < m->nr_levels && i < PLAN_MAX_LEVELS; i++) {
		out->levels[i].entries = m->levels[i].entries;
		out->levels[i].ways = m->levels[i].ways;
		out->levels[i].policy = plan_string(p, policy_names[m->levels[i].policy]);
		out->levels[i].unified = m->levels[i].unified;
		out->nr_levels++;
	}
}

static void fill_profile(struct plan *p, const struct profile *profile, const struct callgraph *cg)
{
	for (uint32_t i = 0; i < profile->nr_sources; i++) {
		const struct profile_source *s = &profile->sources[i];

		if (!strcmp(s->reader, COMPLETION_SOURCE))
			continue;
		ALLOC_GROW(p->sources, p->nr_sources + 1, p->alloc_sources);
		p->sources[p->nr_sources++] = (struct plan_source){
			.reader = plan_string(p, s->reader),
			.event = plan_string(p, s->event ? s->event : "-"),
			.host = plan_string(p, s->host ? s->host : "-"),
			.release = plan_string(p, s->release ? s->release : "-"),
			.build_id = plan_string(p, s->build_id ? s->build_id : "-"),
			.samples = s->samples, .kernel = s->kernel, .resolved = s->resolved, .lost = s->lost,
		};
		p->profile.samples += s->samples;
		p->profile.kernel += s->kernel;
		p->profile.resolved += s->resolved;
		p->profile.lost += s->lost;
	}
	p->profile.matched_exact = cg->match.exact;
	p->profile.matched_name = cg->match.name;
	p->profile.matched_normalized = cg->match.normalized;
	p->profile.unmatched = cg->match.unmatched;
}

static void fill_sides(struct fill *f)
{
	struct plan *p = f->p;

	p->before.pages = pageset_count(&f->all_before);
	p->after.pages = pageset_count(&f->all_after);
	p->before.mean = histogram_mean(&f->hist_before);
	p->after.mean = histogram_mean(&f->hist_after);
	p->before.p95 = histogram_percentile(&f->hist_before, 95);
	p->after.p95 = histogram_percentile(&f->hist_after, 95);
	p->before.max = histogram_percentile(&f->hist_before, 100);
	p->after.max = histogram_percentile(&f->hist_after, 100);
	p->before.text_bytes = f->before->text_end - p->text_start;
	p->after.text_bytes = f->after->text_end - p->text_start;
}

static double mean_entries(struct fill *f, const struct layout *l, uint64_t page_bytes)
{
	struct pageset s;
	struct histogram h = { 0 };

	pageset_init(&s, page_bytes, f->p->text_start);
	for (uint32_t i = 0; i < f->cg->nr_paths; i++) {
		const struct callgraph_path *path = &f->cg->paths[i];

		histogram_add(&h, layout_path_pages(l, f->cg, path, &s) + path->module_pages, path->weight);
	}
	double mean = histogram_mean(&h);
	histogram_release(&h);
	pageset_release(&s);
	return mean;
}

static void fill_curve(struct fill *f)
{
	struct plan *p = f->p;

	for (uint64_t size = 4 << 10; size <= 16 << 20; size *= 2) {
		ALLOC_GROW(p->curve, p->nr_curve + 1, p->alloc_curve);
		p->curve[p->nr_curve++] = (struct plan_curve){
			size, mean_entries(f, f->before, size), mean_entries(f, f->after, size) };
	}
}

static void fill_begin(struct fill *f, const struct machine *m)
{
	uint32_t nr = f->img->nr_units;
	uint64_t start = f->p->text_start;

	f->listed = xcalloc(nr, sizeof(*f->listed));
	memset(f->listed, 0xff, nr * sizeof(*f->listed));
	f->steps = xcalloc(nr, sizeof(*f->steps));
	f->own = xcalloc(nr, sizeof(*f->own));
	f->unit_weight = xcalloc(nr, sizeof(*f->unit_weight));
	f->use_weight = xcalloc(nr, sizeof(*f->use_weight));
	f->used = xcalloc(nr, sizeof(*f->used));
	f->main_weight = xcalloc(nr, sizeof(*f->main_weight));
	f->main_root = xcalloc(nr, sizeof(*f->main_root));
	f->root = xcalloc(f->cg->nr_paths, sizeof(*f->root));
	f->order = xcalloc(f->cg->nr_paths, sizeof(*f->order));
	pageset_init_for(&f->pages_before, m, start);
	pageset_init_for(&f->pages_after, m, start);
	pageset_init_for(&f->all_before, m, start);
	pageset_init_for(&f->all_after, m, start);
}

static void fill_release(struct fill *f)
{
	for (uint32_t i = 0; i < f->img->nr_units; i++) {
		free(f->steps[i]);
		free(f->own[i].ranges);
	}
	free(f->listed);
	free(f->steps);
	free(f->own);
	free(f->unit_weight);
	free(f->use_weight);
	free(f->used);
	free(f->main_weight);
	free(f->main_root);
	free(f->root);
	free(f->order);
	pageset_release(&f->pages_before);
	pageset_release(&f->pages_after);
	pageset_release(&f->all_before);
	pageset_release(&f->all_after);
	histogram_release(&f->hist_before);
	histogram_release(&f->hist_after);
}

void plan_fill(struct plan *p, const struct image *img, const struct callgraph *cg,
	       const struct layout *before, const struct layout *after, const struct machine *m,
	       const struct profile *profile)
{
	struct fill f = { .p = p, .img = img, .cg = cg, .before = before, .after = after };
	char hex[2 * BUILD_ID_MAX + 1];

	p->vmlinux.build_id = plan_string(p,
					  build_id_hex(img->symtab.build_id, img->symtab.build_id_size, hex));
	p->vmlinux.release = plan_string(p, img->symtab.release ? img->symtab.release : "-");
	p->vmlinux.arch = plan_string(p, symtab_arch(&img->symtab));
	p->exact_units = img->exact_units;
	p->exact_align = img->exact_align;
	p->text_start = img->text_start;
	p->hot_start = after->hot_start;
	p->hot_end = after->hot_end;
	fill_machine(p, m, img);
	fill_profile(p, profile, cg);
	fill_begin(&f, m);
	fill_paths(&f);
	fill_units(&f);
	finish_paths(&f);
	fill_edges(&f);
	fill_sides(&f);
	fill_curve(&f);
	positions_fill(p, img, before, after);
	fill_release(&f);
}
