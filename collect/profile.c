/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile in memory: items interned by key, weights beside them, merging by addition. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "collect/profile_text.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/number.h"

const char *const path_kind_names[NR_PATH_KINDS] = {
	[PATH_SYSCALL] = "syscall",
	[PATH_INTERRUPT] = "interrupt",
	[PATH_EXCEPTION] = "exception",
	[PATH_TASK] = "task",
	[PATH_CHAIN] = "chain",
};

static void free_source(struct profile_source *s)
{
	free(s->reader);
	free(s->event);
	free(s->host);
	free(s->release);
	free(s->build_id);
}

void profile_release(struct profile *p)
{
	for (uint32_t i = 0; i < p->nr_sources; i++)
		free_source(&p->sources[i]);
	free(p->sources);
	index_release(&p->source_keys);
	free(p->source_of_key);
	index_release(&p->names);
	free(p->funcs);
	index_release(&p->touches);
	free(p->touch_weights);
	index_release(&p->calls);
	free(p->call_weights);
	index_release(&p->feet);
	index_release(&p->paths);
	free(p->path_weights);
	index_release(&p->nexts);
	free(p->next_weights);
	if (p->ids) {
		index_release(&p->ids->ids);
		free(p->ids->items);
		free(p->ids);
	}
	memset(p, 0, sizeof(*p));
}

/* Add weight to the item of that key. */
static uint32_t add_item(struct index *x, uint64_t **weights, uint32_t *alloc, const void *key, size_t len,
			 uint64_t weight)
{
	uint32_t had = x->nr_keys, id = index_add(x, key, len);

	ALLOC_GROW(*weights, x->nr_keys, *alloc);
	if (id == had)
		(*weights)[id] = 0;
	add_count(&(*weights)[id], weight);
	return id;
}

uint32_t profile_func(struct profile *p, const char *identity)
{
	uint32_t had = p->names.nr_keys, id = index_add_str(&p->names, identity);

	if (id == had) {
		ALLOC_GROW(p->funcs, had + 1, p->alloc_funcs);
		p->funcs[id] = (struct profile_func){ 0 };
	}
	return id;
}

uint32_t profile_module_func(struct profile *p, const char *name, const char *module)
{
	char *identity = xasprintf("%s@%s.ko", name, module);
	uint32_t func = profile_func(p, identity);

	free(identity);
	return func;
}

void profile_add_touch(struct profile *p, uint32_t func, uint32_t chunk, uint64_t weight)
{
	uint32_t key[2] = { func, chunk };

	add_item(&p->touches, &p->touch_weights, &p->alloc_touches, key, sizeof(key), weight);
}

void profile_add_samples(struct profile *p, uint32_t func, uint32_t off, uint64_t weight)
{
	BUG_ON(func >= p->names.nr_keys);
	add_count(&p->funcs[func].samples, weight);
	if (off < PROFILE_MAX_BYTES)
		profile_add_touch(p, func, off / PROFILE_CHUNK, weight);
}

void profile_add_entries(struct profile *p, uint32_t func, uint64_t count)
{
	BUG_ON(func >= p->names.nr_keys);
	add_count(&p->funcs[func].calls, count);
}

void profile_add_call(struct profile *p, uint32_t caller, uint32_t off, uint32_t callee, uint64_t count)
{
	uint32_t key[3] = { caller, off < PROFILE_MAX_BYTES ? off : PROFILE_OFF_UNKNOWN, callee };

	BUG_ON(caller >= p->names.nr_keys || callee >= p->names.nr_keys);
	add_item(&p->calls, &p->call_weights, &p->alloc_calls, key, sizeof(key), count);
}

uint32_t profile_foot(struct profile *p, uint32_t func, const uint32_t *chunks, uint32_t nr_words)
{
	uint32_t small[32], *key = small;

	BUG_ON(func >= p->names.nr_keys);
	while (nr_words && !chunks[nr_words - 1])
		nr_words--;
	if (nr_words + 1 > ARRAY_SIZE(small))
		key = xcalloc(nr_words + 1, sizeof(*key));
	key[0] = func;
	if (nr_words)
		memcpy(key + 1, chunks, nr_words * sizeof(*key));
	uint32_t id = index_add(&p->feet, key, (nr_words + 1) * sizeof(*key));
	if (key != small)
		free(key);
	return id;
}

struct profile_foot profile_get_foot(const struct profile *p, uint32_t foot)
{
	const uint32_t *key = p->feet.keys[foot].data;

	return (struct profile_foot){ key[0], p->feet.keys[foot].len / (uint32_t)sizeof(*key) - 1, key + 1 };
}

/* Two feet of one function in one path are one: the bytes of both. */
static uint32_t unite_feet(struct profile *p, uint32_t a, uint32_t b)
{
	struct profile_foot fa = profile_get_foot(p, a), fb = profile_get_foot(p, b);
	uint32_t nr = fa.nr_words > fb.nr_words ? fa.nr_words : fb.nr_words;
	uint32_t *chunks = xcalloc(nr, sizeof(*chunks));

	for (uint32_t i = 0; i < nr; i++)
		chunks[i] = (i < fa.nr_words ? fa.chunks[i] : 0) | (i < fb.nr_words ? fb.chunks[i] : 0);
	uint32_t foot = profile_foot(p, fa.func, chunks, nr);
	free(chunks);
	return foot;
}

static int cmp_u32(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	return a < b ? -1 : a > b;
}

struct func_foot {
	uint32_t func, foot;
};

static int cmp_func_feet(const void *va, const void *vb)
{
	const struct func_foot *a = va, *b = vb;

	if (a->func != b->func)
		return a->func < b->func ? -1 : 1;
	return a->foot < b->foot ? -1 : a->foot > b->foot;
}

/* Leave one foot of each function in feet[]; returns how many there are. */
static uint32_t settle_feet(struct profile *p, uint32_t *feet, uint32_t nr)
{
	struct func_foot *order = xcalloc(nr, sizeof(*order));
	uint32_t out = 0;

	for (uint32_t i = 0; i < nr; i++)
		order[i] = (struct func_foot){ profile_get_foot(p, feet[i]).func, feet[i] };
	qsort(order, nr, sizeof(*order), cmp_func_feet);
	for (uint32_t i = 0; i < nr; i++) {
		if (!i || order[i].func != order[i - 1].func)
			feet[out++] = order[i].foot;
		else if (feet[out - 1] != order[i].foot)
			feet[out - 1] = unite_feet(p, feet[out - 1], order[i].foot);
	}
	free(order);
	return out;
}

uint32_t profile_add_distinct_path(struct profile *p, enum path_kind kind, uint32_t root, uint32_t *feet,
				   uint32_t nr_feet, uint64_t weight)
{
	uint32_t small[256], *key = small;

	BUG_ON(root >= p->names.nr_keys || kind >= NR_PATH_KINDS);
	if (nr_feet + 2 > ARRAY_SIZE(small))
		key = xcalloc((size_t)nr_feet + 2, sizeof(*key));
	qsort(feet, nr_feet, sizeof(*feet), cmp_u32);
	key[0] = kind;
	key[1] = root;
	if (nr_feet)
		memcpy(key + 2, feet, nr_feet * sizeof(*key));
	uint32_t id = add_item(&p->paths, &p->path_weights, &p->alloc_paths, key,
			       (nr_feet + 2) * sizeof(*key), weight);
	if (key != small)
		free(key);
	return id;
}

uint32_t profile_add_path(struct profile *p, enum path_kind kind, uint32_t root, const uint32_t *feet,
			  uint32_t nr_feet, uint64_t weight)
{
	uint32_t *own = xmemdup(feet, nr_feet * sizeof(*feet));

	nr_feet = settle_feet(p, own, nr_feet);
	uint32_t id = profile_add_distinct_path(p, kind, root, own, nr_feet, weight);
	free(own);
	return id;
}

void profile_add_path_weight(struct profile *p, uint32_t path, uint64_t weight)
{
	BUG_ON(path >= p->paths.nr_keys);
	add_count(&p->path_weights[path], weight);
}

struct profile_path profile_get_path(const struct profile *p, uint32_t path)
{
	const uint32_t *key = p->paths.keys[path].data;

	uint32_t nr = p->paths.keys[path].len / (uint32_t)sizeof(*key);

	return (struct profile_path){ key[0], key[1], nr - 2, key + 2 };
}

void profile_add_next(struct profile *p, uint32_t path, uint32_t next, uint64_t count)
{
	uint32_t key[2] = { path, next };

	BUG_ON(path >= p->paths.nr_keys || next >= p->paths.nr_keys);
	add_item(&p->nexts, &p->next_weights, &p->alloc_nexts, key, sizeof(key), count);
}

void profile_get_touch(const struct profile *p, uint32_t i, uint32_t *func, uint32_t *chunk)
{
	const uint32_t *key = p->touches.keys[i].data;

	*func = key[0];
	*chunk = key[1];
}

void profile_get_call(const struct profile *p, uint32_t i, uint32_t *caller, uint32_t *off, uint32_t *callee)
{
	const uint32_t *key = p->calls.keys[i].data;

	*caller = key[0];
	*off = key[1];
	*callee = key[2];
}

void profile_get_next(const struct profile *p, uint32_t i, uint32_t *path, uint32_t *next)
{
	const uint32_t *key = p->nexts.keys[i].data;

	*path = key[0];
	*next = key[1];
}

struct profile_source *profile_add_source(struct profile *p, const char *reader)
{
	ALLOC_GROW(p->sources, p->nr_sources + 1, p->alloc_sources);
	struct profile_source *s = &p->sources[p->nr_sources++];
	*s = (struct profile_source){ .reader = xstrdup(reader), .event = xstrdup("-"), .host = xstrdup("-"),
				      .release = xstrdup("-"), .build_id = xstrdup("-") };
	return s;
}

void profile_set(char **field, const char *value)
{
	char *had = *field;

	*field = xstrdup(value && *value ? value : "-");
	free(had);
}

void profile_add_totals(struct profile_source *to, const struct profile_source *s)
{
	add_count(&to->samples, s->samples);
	add_count(&to->kernel, s->kernel);
	add_count(&to->resolved, s->resolved);
	add_count(&to->unresolved, s->unresolved);
	add_count(&to->lost, s->lost);
}

struct profile_source profile_totals(const struct profile *p)
{
	struct profile_source sum = { 0 };

	for (uint32_t i = 0; i < p->nr_sources; i++)
		profile_add_totals(&sum, &p->sources[i]);
	return sum;
}

/* Id of a source's key in p->source_keys. */
static uint32_t source_key(struct profile *p, const struct profile_source *s)
{
	const char *parts[] = { s->reader, s->event, s->host, s->release, s->build_id };
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		len += strlen(parts[i]) + 1;
	char *key = xmalloc(len), *at = key;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		at = stpcpy(at, parts[i]) + 1;
	uint32_t id = index_add(&p->source_keys, key, len);
	free(key);
	ALLOC_GROW(p->source_of_key, p->source_keys.nr_keys, p->alloc_source_of_key);
	return id;
}

/* Fold sources of equal keys; those before p->nr_settled already are. */
static void settle_sources(struct profile *p)
{
	uint32_t out = p->nr_settled;

	for (uint32_t i = p->nr_settled; i < p->nr_sources; i++) {
		uint32_t had = p->source_keys.nr_keys, id = source_key(p, &p->sources[i]);

		if (id == had) {
			p->source_of_key[id] = out;
			p->sources[out++] = p->sources[i];
			continue;
		}
		profile_add_totals(&p->sources[p->source_of_key[id]], &p->sources[i]);
		free_source(&p->sources[i]);
	}
	p->nr_sources = p->nr_settled = out;
}

void profile_merge_source(struct profile *p, const struct profile_source *s)
{
	struct profile_source *to = profile_add_source(p, s->reader);

	profile_set(&to->event, s->event);
	profile_set(&to->host, s->host);
	profile_set(&to->release, s->release);
	profile_set(&to->build_id, s->build_id);
	profile_add_totals(to, s);
	settle_sources(p);
}

static uint32_t *merge_funcs(struct profile *dst, const struct profile *src)
{
	uint32_t *map = xcalloc(src->names.nr_keys, sizeof(*map));

	for (uint32_t i = 0; i < src->names.nr_keys; i++) {
		map[i] = profile_func(dst, profile_func_name(src, i));
		add_count(&dst->funcs[map[i]].samples, src->funcs[i].samples);
		add_count(&dst->funcs[map[i]].calls, src->funcs[i].calls);
	}
	return map;
}

static uint32_t *merge_paths(struct profile *dst, const struct profile *src, const uint32_t *func_map)
{
	uint32_t *foot_map = xcalloc(src->feet.nr_keys, sizeof(*foot_map));
	uint32_t *map = xcalloc(src->paths.nr_keys, sizeof(*map)), *feet = NULL, alloc_feet = 0;

	for (uint32_t i = 0; i < src->feet.nr_keys; i++) {
		struct profile_foot f = profile_get_foot(src, i);
		foot_map[i] = profile_foot(dst, func_map[f.func], f.chunks, f.nr_words);
	}
	for (uint32_t i = 0; i < src->paths.nr_keys; i++) {
		struct profile_path path = profile_get_path(src, i);

		ALLOC_GROW(feet, path.nr_feet, alloc_feet);
		for (uint32_t k = 0; k < path.nr_feet; k++)
			feet[k] = foot_map[path.feet[k]];
		map[i] = profile_add_path(dst, path.kind, func_map[path.root], feet, path.nr_feet,
					  src->path_weights[i]);
	}
	free(feet);
	free(foot_map);
	return map;
}

void profile_merge(struct profile *dst, const struct profile *src)
{
	uint32_t *funcs = merge_funcs(dst, src), *paths = merge_paths(dst, src, funcs);
	uint32_t a, b, off;

	for (uint32_t i = 0; i < src->nr_sources; i++)
		profile_merge_source(dst, &src->sources[i]);
	for (uint32_t i = 0; i < src->touches.nr_keys; i++) {
		profile_get_touch(src, i, &a, &off);
		profile_add_touch(dst, funcs[a], off, src->touch_weights[i]);
	}
	for (uint32_t i = 0; i < src->calls.nr_keys; i++) {
		profile_get_call(src, i, &a, &off, &b);
		profile_add_call(dst, funcs[a], off, funcs[b], src->call_weights[i]);
	}
	for (uint32_t i = 0; i < src->nexts.nr_keys; i++) {
		profile_get_next(src, i, &a, &b);
		profile_add_next(dst, paths[a], paths[b], src->next_weights[i]);
	}
	free(funcs);
	free(paths);
}

static void scale(uint64_t *weight, double factor)
{
	double scaled = (double)*weight * factor + 0.5;

	if (!*weight)
		return;
	/* 2^64 itself does not fit. */
	*weight = scaled >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)scaled;
	if (!*weight)
		*weight = 1;
}

static void scale_all(uint64_t *weights, uint32_t nr, double factor)
{
	for (uint32_t i = 0; i < nr; i++)
		scale(&weights[i], factor);
}

void profile_scale(struct profile *p, double factor)
{
	for (uint32_t i = 0; i < p->names.nr_keys; i++) {
		scale(&p->funcs[i].samples, factor);
		scale(&p->funcs[i].calls, factor);
	}
	scale_all(p->touch_weights, p->touches.nr_keys, factor);
	scale_all(p->call_weights, p->calls.nr_keys, factor);
	scale_all(p->path_weights, p->paths.nr_keys, factor);
	scale_all(p->next_weights, p->nexts.nr_keys, factor);
}
