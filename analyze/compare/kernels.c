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
#include "collect/profile_sort.h"
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

/* Which functions of the profile the kernels have. */
struct found {
	bool *all, *any;	/* [func] */
	double total;		/* weight */
};

static int read_profile(struct kernels *k, const struct image *img, const char *vmlinux,
			const struct kernels_options *o)
{
	struct collect_options collect = { .syms = &img->symtab, .vmlinux = vmlinux, .modules = img->modules };
	struct complete_options complete = { .proved_only = false };
	struct profile in = { 0 };
	int ret = collect_files(o->profiles, o->nr_profiles, &collect, &in);

	if (!ret) {
		profile_sort(&in);
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
	char id[2 * BUILD_ID_MAX + 1];
	struct steady steady;

	s->release = xstrdup(c->img->symtab.release ? c->img->symtab.release : "");
	s->build_id = xstrdup(build_id_hex(c->img->symtab.build_id, c->img->symtab.build_id_size, id));
	s->pages = pageset_count(&c->all);
	s->mean = histogram_mean(&c->hist);
	s->p95 = histogram_percentile(&c->hist, 95);
	s->max = histogram_percentile(&c->hist, 100);
	s->misses = -1;
	if (steady_init(&steady, &c->cg, NULL, &c->k->machine)) {
		s->misses = steady.mix;
		steady_release(&steady);
	}
}

static int count_kernel(struct counting *c, const struct image *img)
{
	c->img = img;
	if (callgraph_init(&c->cg, img, &c->k->profile))
		return -1;
	map_roots(c);
	machine_map_text(&c->k->machine, img->text_start, img->text_end);
	pageset_init_for(&c->one, &c->k->machine, img->text_start);
	pageset_init_for(&c->all, &c->k->machine, img->text_start);
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
	machine_map_text(&k->machine, img->text_start, img->text_end);
	k->why_none = machine_why_no_saving(&k->machine, img->text_start, img->text_end);
	return read_profile(k, img, path, o);
}

static double func_weight(const struct profile *p, uint32_t func)
{
	return (double)(p->funcs[func].samples ? p->funcs[func].samples : p->funcs[func].calls);
}

static bool has_func(const struct image *img, const char *name)
{
	uint32_t f = image_match(img, name, NULL);
	const struct module *m;

	if (f != INDEX_NONE)
		return img->funcs[f].unit != INDEX_NONE;
	return img->modules && modules_find_id(img->modules, name, &m);
}

static int match_side(struct kernels *k, struct kernel_side *s, const struct image *img, const char *profile,
		      struct found *found)
{
	double weight = 0;

	for (uint32_t i = 0; i < k->profile.names.nr_keys; i++) {
		bool has = has_func(img, profile_func_name(&k->profile, i));

		weight += has ? func_weight(&k->profile, i) : 0;
		found->any[i] |= has;
		found->all[i] &= has;
	}
	s->matched = weight / found->total;
	if (s->matched < 0.5)
		return error("cannot use '%s': only %.1f %% of it is found in '%s'", profile, 100 * s->matched,
			     s->label);
	if (s->matched < 0.9)
		warn("only %.1f %% of the profile is found in '%s'", 100 * s->matched, s->label);
	return 0;
}

/* A path's feet in functions that stay. */
static uint32_t keep_feet(const struct profile *from, struct profile_path path, const uint32_t *func,
			  struct profile *to, uint32_t *feet)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < path.nr_feet; i++) {
		struct profile_foot foot = profile_get_foot(from, path.feet[i]);

		if (func[foot.func] != INDEX_NONE)
			feet[nr++] = profile_foot(to, func[foot.func], foot.chunks, foot.nr_words);
	}
	return nr;
}

/* What callgraphs are made of, of the functions that stay; a path whose root does not has none. */
static void keep_items(const struct profile *from, const uint32_t *func, struct profile *to)
{
	uint32_t *path = xcalloc(from->paths.nr_keys, sizeof(*path)), *feet = NULL, alloc_feet = 0, a, b, off;

	for (uint32_t i = 0; i < from->paths.nr_keys; i++) {
		struct profile_path p = profile_get_path(from, i);

		ALLOC_GROW(feet, p.nr_feet, alloc_feet);
		uint32_t nr = keep_feet(from, p, func, to, feet);
		uint32_t root = func[p.root] != INDEX_NONE ? func[p.root] : profile_func(to, "-");
		path[i] = nr ? profile_add_path(to, p.kind, root, feet, nr, from->path_weights[i]) : INDEX_NONE;
	}
	for (uint32_t i = 0; i < from->nexts.nr_keys; i++) {
		profile_get_next(from, i, &a, &b);
		if (path[a] != INDEX_NONE && path[b] != INDEX_NONE)
			profile_add_next(to, path[a], path[b], from->next_weights[i]);
	}
	for (uint32_t i = 0; i < from->calls.nr_keys; i++) {
		profile_get_call(from, i, &a, &off, &b);
		if (func[a] != INDEX_NONE && func[b] != INDEX_NONE)
			profile_add_call(to, func[a], off, func[b], from->call_weights[i]);
	}
	free(path);
	free(feet);
}

/*
 * A kernel that lacks a function would seem to need fewer entries for it: what one of them
 * lacks, by its name or altogether, is left out of all.
 */
static void keep_common(struct kernels *k, const struct found *found)
{
	struct profile from = k->profile;
	uint32_t *func = xcalloc(from.names.nr_keys, sizeof(*func));
	double out = 0;

	k->profile = (struct profile){ 0 };
	for (uint32_t i = 0; i < from.names.nr_keys; i++) {
		func[i] = found->all[i] ? profile_func(&k->profile, profile_func_name(&from, i)) : INDEX_NONE;
		if (found->all[i])
			k->profile.funcs[func[i]] = from.funcs[i];
		else if (found->any[i])
			out += func_weight(&from, i);
	}
	keep_items(&from, func, &k->profile);
	k->left_out = out / found->total;
	if (k->left_out >= KERNELS_LEFT_OUT_MIN)
		warn("%.1f %% of the profile is found in some kernels only: left out of all",
		     100 * k->left_out);
	free(func);
	profile_release(&from);
}

static int match_all(struct counting *c, const struct image *images, const char *profile)
{
	struct profile *p = &c->k->profile;
	uint32_t nr = p->names.nr_keys;
	struct found found = { xcalloc(nr, sizeof(bool)), xcalloc(nr, sizeof(bool)), 0 };
	int ret = 0;

	for (uint32_t i = 0; i < nr; i++) {
		found.all[i] = true;
		found.total += func_weight(p, i);
	}
	if (!(found.total > 0))
		ret = error("cannot use '%s': it has no kernel samples", profile);
	for (uint32_t i = 0; i < c->k->nr_sides && !ret; i++)
		ret = match_side(c->k, &c->k->sides[i], &images[i], profile, &found);
	if (!ret)
		keep_common(c->k, &found);
	free(found.all);
	free(found.any);
	return ret;
}

static int read_kernel(struct counting *c, struct image *img, const char *const *paths,
		       const struct image *first)
{
	struct image_options defaults = { NULL, NULL, false };

	if (image_init(img, paths[c->side], &defaults))
		return -1;
	if (img->symtab.e_machine == first->symtab.e_machine)
		return 0;
	error("cannot compare '%s' with '%s': they are of different architectures", paths[c->side], paths[0]);
	image_release(img);
	return -1;
}

static int count_all(struct counting *c, const char *const *paths, const struct kernels_options *o)
{
	struct image *images = xcalloc(c->k->nr_sides, sizeof(*images));
	struct modules *modules = xcalloc(o->nr_modules, sizeof(*modules));
	uint32_t nr_modules = 0, nr_images = 0;
	int ret = 0;

	for (; nr_modules < o->nr_modules && !ret; nr_modules += !ret)
		ret = modules_init(&modules[nr_modules], o->modules[nr_modules]);
	for (c->side = 0; c->side < c->k->nr_sides && !ret; c->side++) {
		struct image *img = &images[c->side];

		ret = read_kernel(c, img, paths, &images[0]);
		if (ret)
			break;
		nr_images++;
		img->modules = o->nr_modules ? &modules[o->nr_modules > 1 ? c->side : 0] : NULL;
		if (!c->side)
			ret = read_first(c->k, img, paths[0], o);
	}
	if (!ret)
		ret = match_all(c, images, o->profiles[0]);
	for (c->side = 0; c->side < c->k->nr_sides && !ret; c->side++)
		ret = count_kernel(c, &images[c->side]);
	for (uint32_t i = 0; i < nr_images; i++)
		image_release(&images[i]);
	for (uint32_t i = 0; i < nr_modules; i++)
		modules_release(&modules[i]);
	free(images);
	free(modules);
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
