/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/modules.h"

struct builder {
	struct callgraph *cg;
	const struct image *img;
	const struct profile *p;
	uint32_t *func;		/* [profile func]: image func or INDEX_NONE */
	struct index edges;	/* {from, to} */
	struct {
		uint64_t weight;
		double from_off, to_off;	/* weighted sums */
	} *sums;		/* [edge id] */
	uint32_t alloc_sums;
	uint32_t alloc_spans;
	uint32_t *path;		/* [profile path]: path or INDEX_NONE */
	uint64_t *pages;	/* of modules, of the path at hand: see module_page() */
	uint32_t nr_pages, alloc_pages;
};

/* Every profile function's place in the image, and how much weight matched how. */
static void match_funcs(struct builder *b)
{
	const struct profile *p = b->p;
	struct match_totals *m = &b->cg->match;

	b->func = xcalloc(p->names.nr_keys, sizeof(*b->func));
	for (uint32_t i = 0; i < p->names.nr_keys; i++) {
		enum match how;
		uint64_t weight = p->funcs[i].samples ? p->funcs[i].samples : p->funcs[i].calls;

		b->func[i] = image_match(b->img, profile_func_name(p, i), &how);
		switch (how) {
		case MATCH_EXACT: m->exact += weight; break;
		case MATCH_NAME: m->name += weight; break;
		case MATCH_NORMALIZED: m->normalized += weight; break;
		case MATCH_NONE: m->unmatched += weight; break;
		}
	}
}

static uint32_t unit_of(const struct builder *b, uint32_t profile_func)
{
	uint32_t f = b->func[profile_func];

	return f == INDEX_NONE ? INDEX_NONE : b->img->funcs[f].unit;
}

static void sum_nodes(struct builder *b)
{
	for (uint32_t i = 0; i < b->p->names.nr_keys; i++) {
		uint32_t u = unit_of(b, i);

		if (u == INDEX_NONE)
			continue;
		b->cg->nodes[u].samples += b->p->funcs[i].samples;
		b->cg->nodes[u].calls += b->p->funcs[i].calls;
	}
}

static int compare_edges(const void *pa, const void *pb)
{
	const struct callgraph_edge *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static void sum_edges(struct builder *b)
{
	const struct image *img = b->img;
	struct callgraph *cg = b->cg;

	for (uint32_t i = 0; i < b->p->calls.nr_keys; i++) {
		uint32_t caller, off, callee;

		profile_get_call(b->p, i, &caller, &off, &callee);
		uint32_t key[2] = { unit_of(b, caller), unit_of(b, callee) };
		if (key[0] == INDEX_NONE || key[1] == INDEX_NONE || key[0] == key[1])
			continue;
		const struct func *from = &img->funcs[b->func[caller]], *to = &img->funcs[b->func[callee]];
		uint64_t weight = b->p->call_weights[i];
		uint32_t id = index_add(&b->edges, key, sizeof(key));
		if (id + 1 == b->edges.nr_keys && id >= cg->nr_edges) {
			ALLOC_GROW(b->sums, id + 1, b->alloc_sums);
			memset(&b->sums[id], 0, sizeof(b->sums[id]));
			cg->nr_edges = id + 1;
		}
		if (off == PROFILE_OFF_UNKNOWN || off > from->size)
			off = from->size / 2;
		b->sums[id].weight += weight;
		b->sums[id].from_off += (double)weight * (double)(from->addr - img->units[key[0]].addr + off);
		b->sums[id].to_off += (double)weight * (double)(to->addr - img->units[key[1]].addr);
	}
	cg->edges = xcalloc(cg->nr_edges, sizeof(*cg->edges));
	for (uint32_t i = 0; i < cg->nr_edges; i++) {
		const uint32_t *key = b->edges.keys[i].data;
		double w = b->sums[i].weight ? (double)b->sums[i].weight : 1;

		cg->edges[i] = (struct callgraph_edge){ key[0], key[1], b->sums[i].weight,
			(uint32_t)(b->sums[i].from_off / w), (uint32_t)(b->sums[i].to_off / w) };
	}
	sort_array(cg->edges, cg->nr_edges, sizeof(*cg->edges), compare_edges);
}

static void add_span(struct builder *b, uint32_t unit, uint32_t start, uint32_t end)
{
	struct callgraph *cg = b->cg;
	uint32_t size = b->img->units[unit].size;

	if (end > size)
		end = size;
	if (start >= end)
		return;
	ALLOC_GROW(cg->spans, cg->nr_spans + 1, b->alloc_spans);
	cg->spans[cg->nr_spans++] = (struct span){ unit, start, end };
}

/* A foot's runs of chunks as spans of its unit; the whole function where the bytes are not known. */
static void add_foot(struct builder *b, struct profile_foot foot)
{
	uint32_t f = b->func[foot.func];

	if (f == INDEX_NONE || b->img->funcs[f].unit == INDEX_NONE)
		return;
	const struct func *fn = &b->img->funcs[f];
	uint32_t base = (uint32_t)(fn->addr - b->img->units[fn->unit].addr);
	if (!foot.nr_words) {
		add_span(b, fn->unit, base, base + fn->size);
		return;
	}
	uint32_t nr = foot.nr_words * 32, limit = (fn->size + PROFILE_CHUNK - 1) / PROFILE_CHUNK;
	if (nr > limit)		/* the function has shrunk since */
		nr = limit;
	for (uint32_t i = 0; i < nr;) {
		uint32_t start = i;

		while (i < nr && foot.chunks[i / 32] >> i % 32 & 1)
			i++;
		if (i > start) {
			uint32_t end = i * PROFILE_CHUNK;

			add_span(b, fn->unit, base + start * PROFILE_CHUNK, base + (end < fn->size ? end : fn->size));
		} else {
			i++;
		}
	}
}

static int compare_spans(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* Sort spans[first..] and join those that touch; returns how many stay. */
static uint32_t join_spans(struct callgraph *cg, uint32_t first)
{
	uint32_t n = first;

	sort_array(cg->spans + first, cg->nr_spans - first, sizeof(*cg->spans), compare_spans);
	for (uint32_t i = first; i < cg->nr_spans; i++) {
		struct span *s = &cg->spans[i], *last = n > first ? &cg->spans[n - 1] : NULL;

		if (last && last->unit == s->unit && s->start <= last->end) {
			if (s->end > last->end)
				last->end = s->end;
		} else {
			cg->spans[n++] = *s;
		}
	}
	cg->nr_spans = n;
	return n - first;
}

enum { MODULE_PAGE = 4096 };	/* whatever maps the kernel: modules come from vmalloc */

/* The pages of modules differ by the module's name, which is kept once, and their number in it. */
static void add_module_page(struct builder *b, const struct module *m, uint64_t page)
{
	uint64_t key = (uint64_t)(m - b->img->modules->items) << 40 | page;

	for (uint32_t i = b->nr_pages; i-- > 0;)
		if (b->pages[i] == key)
			return;
	ALLOC_GROW(b->pages, b->nr_pages + 1, b->alloc_pages);
	b->pages[b->nr_pages++] = key;
}

static void add_module_foot(struct builder *b, struct profile_foot foot)
{
	const struct module *m;
	const struct module_func *f = b->img->modules ?
		modules_find_id(b->img->modules, profile_func_name(b->p, foot.func), &m) : NULL;

	if (!f)
		return;
	uint64_t last = (f->addr + f->size - 1) / MODULE_PAGE;
	for (uint64_t page = f->addr / MODULE_PAGE; !foot.nr_words && page <= last; page++)
		add_module_page(b, m, page);
	for (uint32_t i = 0; i < foot.nr_words * 32; i++)
		if (foot.chunks[i / 32] >> i % 32 & 1 && (uint64_t)i * PROFILE_CHUNK < f->size)
			add_module_page(b, m, (f->addr + (uint64_t)i * PROFILE_CHUNK) / MODULE_PAGE);
}

static void add_paths(struct builder *b)
{
	struct callgraph *cg = b->cg;

	b->path = xcalloc(b->p->paths.nr_keys, sizeof(*b->path));
	cg->paths = xcalloc(b->p->paths.nr_keys, sizeof(*cg->paths));
	for (uint32_t i = 0; i < b->p->paths.nr_keys; i++) {
		struct profile_path path = profile_get_path(b->p, i);
		uint32_t first = cg->nr_spans;

		b->nr_pages = 0;
		for (uint32_t j = 0; j < path.nr_feet; j++) {
			struct profile_foot foot = profile_get_foot(b->p, path.feet[j]);

			if (b->func[foot.func] == INDEX_NONE)
				add_module_foot(b, foot);
			else
				add_foot(b, foot);
		}
		uint32_t nr = join_spans(cg, first);
		b->path[i] = INDEX_NONE;
		if (!nr)
			continue;
		b->path[i] = cg->nr_paths;
		cg->paths[cg->nr_paths++] = (struct callgraph_path){
			path.kind, b->func[path.root], first, nr, b->p->path_weights[i], b->nr_pages };
	}
}

static void add_nexts(struct builder *b)
{
	struct callgraph *cg = b->cg;

	cg->nexts = xcalloc(b->p->nexts.nr_keys, sizeof(*cg->nexts));
	for (uint32_t i = 0; i < b->p->nexts.nr_keys; i++) {
		uint32_t from, to;

		profile_get_next(b->p, i, &from, &to);
		if (b->path[from] == INDEX_NONE || b->path[to] == INDEX_NONE)
			continue;
		cg->nexts[cg->nr_nexts++] = (struct callgraph_next){ b->path[from], b->path[to], b->p->next_weights[i] };
	}
}

/* The bytes of every unit that any path or sample touched. */
static void count_touched(struct builder *b)
{
	struct callgraph *cg = b->cg;
	const struct image *img = b->img;
	struct span *all = xcalloc((size_t)cg->nr_spans + b->p->touches.nr_keys, sizeof(*all));
	uint32_t n = cg->nr_spans;

	if (n)
		memcpy(all, cg->spans, n * sizeof(*all));
	for (uint32_t i = 0; i < b->p->touches.nr_keys; i++) {
		uint32_t func, chunk;

		profile_get_touch(b->p, i, &func, &chunk);
		uint32_t f = b->func[func];
		if (f == INDEX_NONE || img->funcs[f].unit == INDEX_NONE)
			continue;
		uint64_t off = (uint64_t)chunk * PROFILE_CHUNK;
		if (off >= img->funcs[f].size)
			continue;
		uint32_t start = (uint32_t)(img->funcs[f].addr - img->units[img->funcs[f].unit].addr + off);
		all[n++] = (struct span){ img->funcs[f].unit, start, start + PROFILE_CHUNK };
	}
	qsort(all, n, sizeof(*all), compare_spans);
	uint32_t unit = INDEX_NONE, end = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (all[i].unit != unit) {
			unit = all[i].unit;
			end = 0;
		}
		uint32_t start = all[i].start > end ? all[i].start : end;
		uint32_t stop = all[i].end < img->units[unit].size ? all[i].end : img->units[unit].size;
		if (stop > start) {
			cg->nodes[unit].touched += stop - start;
			end = stop;
		}
	}
	free(all);
}

int callgraph_init(struct callgraph *cg, const struct image *img, const struct profile *p)
{
	struct builder b = { .cg = cg, .img = img, .p = p };

	memset(cg, 0, sizeof(*cg));
	cg->image = img;
	cg->nodes = xcalloc(img->nr_units, sizeof(*cg->nodes));
	match_funcs(&b);
	sum_nodes(&b);
	sum_edges(&b);
	add_paths(&b);
	add_nexts(&b);
	count_touched(&b);
	free(b.func);
	free(b.path);
	free(b.pages);
	free(b.sums);
	index_release(&b.edges);
	return 0;
}

void callgraph_release(struct callgraph *cg)
{
	free(cg->nodes);
	free(cg->edges);
	free(cg->spans);
	free(cg->paths);
	free(cg->nexts);
	memset(cg, 0, sizeof(*cg));
}
