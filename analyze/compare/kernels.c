/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/compare/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/compare/label.h"
#include "analyze/completion/complete.h"
#include "analyze/image/image.h"
#include "analyze/tlb/pageset.h"
#include "analyze/tlb/steady.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/modules.h"

struct counting {
	struct kernels *k;
	uint32_t side;
	const struct image *img;
	struct callgraph cg;
	uint32_t *root;			/* [func of img]: func of the profile that it is, INDEX_NONE */
	struct index *rows;		/* {kind, func of the profile} */
	double **sums;			/* [row][side]: weight x entries */
	uint64_t **weights;		/* [row][side] */
	uint32_t alloc_rows;
	struct pageset one, all;	/* pages of the path at hand, and of all */
	struct histogram hist;
};

static int read_profile(struct kernels *k, const struct image *img, const char *vmlinux,
			const struct kernels_options *o)
{
	struct collect_options collect = { .syms = &img->symtab, .vmlinux = vmlinux, .modules = img->modules };
	struct complete_options complete = { .proved_only = false };
	struct profile in = { 0 };
	int ret = collect_files(o->profiles, o->nr_profiles, &collect, &in);

	if (!ret) {
		collect_print_totals(&in);
		ret = in.names.nr_keys ? complete_profile(img, vmlinux, &in, &k->profile, &complete, NULL) :
					 error("cannot use '%s': it has no kernel samples", o->profiles[0]);
	}
	profile_release(&in);
	return ret;
}

/* Which function of the profile each root of a path is. */
static void map_roots(struct counting *c)
{
	const struct profile *p = &c->k->profile;

	c->root = xcalloc(c->img->nr_funcs, sizeof(*c->root));
	for (uint32_t i = 0; i < c->img->nr_funcs; i++)
		c->root[i] = INDEX_NONE;
	for (uint32_t i = 0; i < p->paths.nr_keys; i++) {
		uint32_t root = profile_get_path(p, i).root;
		uint32_t f = image_match(c->img, profile_func_name(p, root), NULL);

		if (f != INDEX_NONE && c->root[f] == INDEX_NONE)
			c->root[f] = root;
	}
}

static void add_entries(struct counting *c, const struct callgraph_path *path, uint32_t entries)
{
	uint32_t key[2] = { path->kind, path->root == INDEX_NONE ? INDEX_NONE : c->root[path->root] };
	uint32_t row = index_add(c->rows, key, sizeof(key)), nr = c->k->nr_sides;

	if (row == c->rows->nr_keys - 1 && row >= c->alloc_rows) {
		uint32_t old = c->alloc_rows;

		ALLOC_GROW(c->sums, row + 1, c->alloc_rows);
		c->weights = xreallocarray(c->weights, c->alloc_rows, sizeof(*c->weights));
		for (uint32_t i = old; i < c->alloc_rows; i++) {
			c->sums[i] = xcalloc(nr, sizeof(**c->sums));
			c->weights[i] = xcalloc(nr, sizeof(**c->weights));
		}
	}
	c->sums[row][c->side] += (double)path->weight * entries;
	c->weights[row][c->side] += path->weight;
}

static void count_path(struct counting *c, const struct callgraph_path *path)
{
	pageset_begin(&c->one, path->weight);
	pageset_begin(&c->all, path->weight);
	for (uint32_t i = path->first_span; i < path->first_span + path->nr_spans; i++) {
		const struct span *s = &c->cg.spans[i];
		uint64_t addr = c->img->units[s->unit].addr;

		pageset_touch(&c->one, addr + s->start, addr + s->end);
		pageset_touch(&c->all, addr + s->start, addr + s->end);
	}
	uint32_t entries = pageset_end(&c->one) + path->module_pages;
	pageset_end(&c->all);
	histogram_add(&c->hist, entries, path->weight);
	add_entries(c, path, entries);
}

static void sum_side(struct counting *c)
{
	struct kernel_side *s = &c->k->sides[c->side];
	const struct match_totals *m = &c->cg.match;
	double found = (double)(m->exact + m->name + m->normalized);
	char id[2 * BUILD_ID_MAX + 1];
	struct steady steady;

	s->release = xstrdup(c->img->symtab.release ? c->img->symtab.release : "");
	s->build_id = xstrdup(build_id_hex(c->img->symtab.build_id, c->img->symtab.build_id_size, id));
	s->matched = found > 0 ? found / (found + (double)m->unmatched) : 0;
	s->pages = pageset_count(&c->all);
	s->mean = histogram_mean(&c->hist);
	s->p95 = histogram_percentile(&c->hist, 95);
	s->max = histogram_percentile(&c->hist, 100);
	s->misses = -1;
	if (steady_init(&steady, &c->cg, NULL, &c->k->machine)) {
		s->misses = steady.mix;
		steady_release(&steady);
	}
	if (s->matched < 0.9)
		warn("only %.1f %% of the profile is found in '%s'", 100 * s->matched, s->label);
}

static int count_kernel(struct counting *c, const struct image *img)
{
	c->img = img;
	if (callgraph_init(&c->cg, img, &c->k->profile))
		return -1;
	map_roots(c);
	pageset_init(&c->one, machine_entry_bytes(&c->k->machine), img->text_start);
	pageset_init(&c->all, machine_entry_bytes(&c->k->machine), img->text_start);
	for (uint32_t i = 0; i < c->cg.nr_paths; i++)
		count_path(c, &c->cg.paths[i]);
	sum_side(c);
	pageset_release(&c->one);
	pageset_release(&c->all);
	histogram_release(&c->hist);
	callgraph_release(&c->cg);
	free(c->root);
	return 0;
}

static int compare_paths(const void *va, const void *vb)
{
	const struct kernel_path *a = va, *b = vb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->root, b->root);
}

static void make_rows(struct kernels *k, const struct counting *c)
{
	k->paths = xcalloc(c->rows->nr_keys, sizeof(*k->paths));
	for (uint32_t i = 0; i < c->rows->nr_keys; i++) {
		const uint32_t *key = c->rows->keys[i].data;
		struct kernel_path *p = &k->paths[k->nr_paths++];

		p->kind = (enum path_kind)key[0];
		p->root = key[1] == INDEX_NONE ? "-" : profile_func_name(&k->profile, key[1]);
		p->entries = xcalloc(k->nr_sides, sizeof(*p->entries));
		for (uint32_t s = 0; s < k->nr_sides; s++) {
			p->entries[s] = c->weights[i][s] ? c->sums[i][s] / (double)c->weights[i][s] : -1;
			if (c->weights[i][s] > p->weight)
				p->weight = c->weights[i][s];
		}
	}
	qsort(k->paths, k->nr_paths, sizeof(*k->paths), compare_paths);
}

static int read_first(struct kernels *k, const struct image *img, const char *path,
		      const struct kernels_options *o)
{
	if (o->machine ? machine_init(&k->machine, o->machine) : machine_init_for(&k->machine, &img->symtab))
		return -1;
	k->why_none = machine_why_no_saving(&k->machine, img->text_start, img->text_end);
	return read_profile(k, img, path, o);
}

static int count_all(struct counting *c, const char *const *paths, const struct kernels_options *o)
{
	struct image_options defaults = { NULL, NULL, false };
	int ret = 0;

	for (c->side = 0; c->side < c->k->nr_sides && !ret; c->side++) {
		struct modules modules = { 0 };
		struct image img;

		if (o->nr_modules && modules_init(&modules, o->modules[o->nr_modules > 1 ? c->side : 0]))
			return -1;
		if (image_init(&img, paths[c->side], &defaults)) {
			modules_release(&modules);
			return -1;
		}
		img.modules = o->nr_modules ? &modules : NULL;
		if (!c->side)
			ret = read_first(c->k, &img, paths[0], o);
		if (!ret)
			ret = count_kernel(c, &img);
		image_release(&img);
		modules_release(&modules);
	}
	return ret;
}

int kernels_init(struct kernels *k, const char *const *paths, uint32_t nr_paths,
		 const struct kernels_options *o)
{
	struct index rows = { 0 };
	struct counting c = { .k = k, .rows = &rows };

	memset(k, 0, sizeof(*k));
	k->sides = xcalloc(nr_paths, sizeof(*k->sides));
	k->nr_sides = nr_paths;
	for (uint32_t i = 0; i < nr_paths; i++)
		k->sides[i].label = xstrdup(short_path(paths, nr_paths, i));
	int ret = count_all(&c, paths, o);
	if (!ret)
		make_rows(k, &c);
	for (uint32_t i = 0; i < c.alloc_rows; i++) {
		free(c.sums[i]);
		free(c.weights[i]);
	}
	free(c.sums);
	free(c.weights);
	index_release(&rows);
	if (ret)
		kernels_release(k);
	return ret;
}

void kernels_release(struct kernels *k)
{
	for (uint32_t i = 0; i < k->nr_sides; i++) {
		free(k->sides[i].label);
		free(k->sides[i].release);
		free(k->sides[i].build_id);
	}
	for (uint32_t i = 0; i < k->nr_paths; i++)
		free(k->paths[i].entries);
	free(k->sides);
	free(k->paths);
	if (k->machine.name)
		machine_release(&k->machine);
	profile_release(&k->profile);
	memset(k, 0, sizeof(*k));
}
