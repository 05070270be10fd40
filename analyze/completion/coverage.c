// SPDX-License-Identifier: GPL-3.0-or-later
/* Two profiles as sets of image functions and chunks. */
#include "analyze/completion/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "collect/profile.h"
#include "lib/mem.h"

struct side {
	const struct profile *p;
	uint32_t *image_of;	/* [func] */
	double *func_weight;	/* [image func]: entries or samples, negative when absent */
	struct index chunks;	/* {image func, chunk} */
	double *chunk_weight;
	uint32_t alloc;
};

static void add_chunk(struct side *s, uint32_t func, uint32_t chunk, double weight)
{
	uint32_t key[2] = { func, chunk }, had = s->chunks.nr_keys;
	uint32_t id = index_add(&s->chunks, key, sizeof(key));

	ALLOC_GROW(s->chunk_weight, s->chunks.nr_keys, s->alloc);
	if (id == had)
		s->chunk_weight[id] = 0;
	s->chunk_weight[id] += weight;
}

static void add_paths(struct side *s, const struct image *img)
{
	const struct profile *p = s->p;

	for (uint32_t i = 0; i < p->paths.nr_keys; i++) {
		struct profile_path path = profile_get_path(p, i);
		for (uint32_t k = 0; k < path.nr_feet; k++) {
			struct profile_foot foot = profile_get_foot(p, path.feet[k]);
			uint32_t f = s->image_of[foot.func];
			if (f == INDEX_NONE)
				continue;
			uint32_t nr = foot.nr_words ? foot.nr_words * 32 :
				      (img->funcs[f].size + PROFILE_CHUNK - 1) / PROFILE_CHUNK;
			for (uint32_t c = 0; c < nr; c++)
				if (!foot.nr_words || foot.chunks[c / 32] >> (c % 32) & 1)
					add_chunk(s, f, c, (double)p->path_weights[i]);
		}
	}
}

static void side_init(struct side *s, const struct image *img, const struct profile *p)
{
	memset(s, 0, sizeof(*s));
	s->p = p;
	s->image_of = xcalloc((size_t)p->names.nr_keys + 1, sizeof(*s->image_of));
	s->func_weight = xcalloc((size_t)img->nr_funcs + 1, sizeof(*s->func_weight));
	for (uint32_t i = 0; i < img->nr_funcs; i++)
		s->func_weight[i] = -1;
	for (uint32_t i = 0; i < p->names.nr_keys; i++) {
		enum match how;
		uint32_t f = image_match(img, profile_func_name(p, i), &how);
		if (f != INDEX_NONE && img->funcs[f].unit == INDEX_NONE)
			f = INDEX_NONE;
		s->image_of[i] = f;
		if (f == INDEX_NONE)
			continue;
		if (s->func_weight[f] < 0)
			s->func_weight[f] = 0;
		s->func_weight[f] += (double)(p->funcs[i].calls ? p->funcs[i].calls : p->funcs[i].samples);
	}
	add_paths(s, img);
	for (uint32_t i = 0; i < p->touches.nr_keys; i++) {
		uint32_t func, chunk;
		profile_get_touch(p, i, &func, &chunk);
		if (s->image_of[func] != INDEX_NONE)
			add_chunk(s, s->image_of[func], chunk, 0);
	}
}

static void side_release(struct side *s)
{
	free(s->image_of);
	free(s->func_weight);
	free(s->chunk_weight);
	index_release(&s->chunks);
}

static void count(struct coverage_count *c, bool in_truth, bool found, double weight)
{
	c->truth += in_truth;
	c->found += found;
	c->right += in_truth && found;
	c->weight += in_truth ? weight : 0;
	c->weight_found += in_truth && found ? weight : 0;
}

void coverage_measure(struct coverage *c, const struct image *img, const struct profile *p, const struct profile *truth)
{
	struct side got, want;

	memset(c, 0, sizeof(*c));
	side_init(&got, img, p);
	side_init(&want, img, truth);
	for (uint32_t f = 0; f < img->nr_funcs; f++)
		count(&c->funcs, want.func_weight[f] >= 0, got.func_weight[f] >= 0, want.func_weight[f]);
	for (uint32_t i = 0; i < want.chunks.nr_keys; i++) {
		const struct index_key *key = &want.chunks.keys[i];
		count(&c->chunks, true, index_find(&got.chunks, key->data, key->len) != INDEX_NONE, want.chunk_weight[i]);
	}
	for (uint32_t i = 0; i < got.chunks.nr_keys; i++) {
		const struct index_key *key = &got.chunks.keys[i];
		if (index_find(&want.chunks, key->data, key->len) == INDEX_NONE)
			count(&c->chunks, false, true, 0);
	}
	side_release(&got);
	side_release(&want);
}
