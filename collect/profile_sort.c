/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile built anew in the order of its keys. */
#include "profile_sort.h"

#include <stdlib.h>
#include <string.h>

#include "collect/profile.h"
#include "lib/mem.h"

struct sorter {
	const struct profile *in;
	struct profile out;
	uint32_t *func;		/* [func of in]: that of out */
	uint32_t *foot, *path;	/* likewise */
	bool *used;		/* [func of in]: something mentions it */
	uint32_t **feet;	/* [path of in]: its feet of out, ascending */
};

/* 0 to nr - 1, sorted; the caller frees. */
static uint32_t *sorted_ids(const struct sorter *s, uint32_t nr, int (*cmp)(const void *, const void *, void *))
{
	uint32_t *ids = xcalloc(nr, sizeof(*ids));

	for (uint32_t i = 0; i < nr; i++)
		ids[i] = i;
	qsort_r(ids, nr, sizeof(*ids), cmp, (void *)(uintptr_t)s);
	return ids;
}

static int cmp_numbers(const uint32_t *a, const uint32_t *b, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int cmp_sources(const void *va, const void *vb, void *arg)
{
	const struct sorter *s = arg;
	const struct profile_source *a = &s->in->sources[*(const uint32_t *)va], *b = &s->in->sources[*(const uint32_t *)vb];
	int c;

	if ((c = strcmp(a->reader, b->reader)) || (c = strcmp(a->event, b->event)) || (c = strcmp(a->host, b->host)) ||
	    (c = strcmp(a->release, b->release)))
		return c;
	return strcmp(a->build_id, b->build_id);
}

static void sort_sources(struct sorter *s)
{
	uint32_t *ids = sorted_ids(s, s->in->nr_sources, cmp_sources);

	for (uint32_t i = 0; i < s->in->nr_sources; i++)
		profile_merge_source(&s->out, &s->in->sources[ids[i]]);
	free(ids);
}

static void mark_used(struct sorter *s)
{
	const struct profile *in = s->in;
	uint32_t func, other, off;

	for (uint32_t i = 0; i < in->names.nr_keys; i++)
		s->used[i] = in->funcs[i].samples || in->funcs[i].calls;
	for (uint32_t i = 0; i < in->touches.nr_keys; i++) {
		profile_get_touch(in, i, &func, &off);
		s->used[func] = true;
	}
	for (uint32_t i = 0; i < in->calls.nr_keys; i++) {
		profile_get_call(in, i, &func, &off, &other);
		s->used[func] = s->used[other] = true;
	}
	for (uint32_t i = 0; i < in->paths.nr_keys; i++) {
		struct profile_path path = profile_get_path(in, i);

		s->used[path.root] = true;
		for (uint32_t k = 0; k < path.nr_feet; k++)
			s->used[profile_get_foot(in, path.feet[k]).func] = true;
	}
}

static int cmp_names(const void *va, const void *vb, void *arg)
{
	const struct profile *in = ((const struct sorter *)arg)->in;

	return strcmp(profile_func_name(in, *(const uint32_t *)va), profile_func_name(in, *(const uint32_t *)vb));
}

static void sort_funcs(struct sorter *s)
{
	uint32_t nr = s->in->names.nr_keys, *ids = sorted_ids(s, nr, cmp_names);

	mark_used(s);
	for (uint32_t i = 0; i < nr; i++) {
		if (!s->used[ids[i]])
			continue;
		s->func[ids[i]] = profile_func(&s->out, profile_func_name(s->in, ids[i]));
		s->out.funcs[s->func[ids[i]]] = s->in->funcs[ids[i]];
	}
	free(ids);
}

static int cmp_touches(const void *va, const void *vb, void *arg)
{
	const struct sorter *s = arg;
	uint32_t a[2], b[2];

	profile_get_touch(s->in, *(const uint32_t *)va, &a[0], &a[1]);
	profile_get_touch(s->in, *(const uint32_t *)vb, &b[0], &b[1]);
	a[0] = s->func[a[0]];
	b[0] = s->func[b[0]];
	return cmp_numbers(a, b, 2);
}

static void sort_touches(struct sorter *s)
{
	uint32_t nr = s->in->touches.nr_keys, *ids = sorted_ids(s, nr, cmp_touches), func, chunk;

	for (uint32_t i = 0; i < nr; i++) {
		profile_get_touch(s->in, ids[i], &func, &chunk);
		profile_add_touch(&s->out, s->func[func], chunk, s->in->touch_weights[ids[i]]);
	}
	free(ids);
}

static int cmp_calls(const void *va, const void *vb, void *arg)
{
	const struct sorter *s = arg;
	uint32_t a[3], b[3];

	profile_get_call(s->in, *(const uint32_t *)va, &a[0], &a[1], &a[2]);
	profile_get_call(s->in, *(const uint32_t *)vb, &b[0], &b[1], &b[2]);
	a[0] = s->func[a[0]];
	b[0] = s->func[b[0]];
	a[2] = s->func[a[2]];
	b[2] = s->func[b[2]];
	return cmp_numbers(a, b, 3);
}

static void sort_calls(struct sorter *s)
{
	uint32_t nr = s->in->calls.nr_keys, *ids = sorted_ids(s, nr, cmp_calls), caller, off, callee;

	for (uint32_t i = 0; i < nr; i++) {
		profile_get_call(s->in, ids[i], &caller, &off, &callee);
		profile_add_call(&s->out, s->func[caller], off, s->func[callee], s->in->call_weights[ids[i]]);
	}
	free(ids);
}

static int cmp_feet(const void *va, const void *vb, void *arg)
{
	const struct sorter *s = arg;
	struct profile_foot a = profile_get_foot(s->in, *(const uint32_t *)va);
	struct profile_foot b = profile_get_foot(s->in, *(const uint32_t *)vb);
	const uint32_t head_a[] = { s->func[a.func], a.nr_words }, head_b[] = { s->func[b.func], b.nr_words };
	int c = cmp_numbers(head_a, head_b, 2);

	return c ? c : cmp_numbers(a.chunks, b.chunks, a.nr_words);
}

static int cmp_ids(const void *a, const void *b)
{
	return cmp_numbers(a, b, 1);
}

/* Those of paths alone: a foot in none is mentioned by nothing. */
static void sort_feet(struct sorter *s)
{
	const struct profile *in = s->in;
	uint32_t *ids = sorted_ids(s, in->feet.nr_keys, cmp_feet);
	bool *in_path = xcalloc(in->feet.nr_keys, sizeof(*in_path));

	for (uint32_t i = 0; i < in->paths.nr_keys; i++) {
		struct profile_path path = profile_get_path(in, i);

		for (uint32_t k = 0; k < path.nr_feet; k++)
			in_path[path.feet[k]] = true;
	}
	for (uint32_t i = 0; i < in->feet.nr_keys; i++) {
		struct profile_foot f = profile_get_foot(in, ids[i]);

		if (in_path[ids[i]])
			s->foot[ids[i]] = profile_foot(&s->out, s->func[f.func], f.chunks, f.nr_words);
	}
	free(in_path);
	free(ids);
	for (uint32_t i = 0; i < in->paths.nr_keys; i++) {
		struct profile_path path = profile_get_path(in, i);

		s->feet[i] = xcalloc(path.nr_feet, sizeof(**s->feet));
		for (uint32_t k = 0; k < path.nr_feet; k++)
			s->feet[i][k] = s->foot[path.feet[k]];
		qsort(s->feet[i], path.nr_feet, sizeof(**s->feet), cmp_ids);
	}
}

static int cmp_paths(const void *va, const void *vb, void *arg)
{
	const struct sorter *s = arg;
	uint32_t ia = *(const uint32_t *)va, ib = *(const uint32_t *)vb;
	struct profile_path a = profile_get_path(s->in, ia), b = profile_get_path(s->in, ib);
	const uint32_t head_a[] = { a.kind, s->func[a.root], a.nr_feet }, head_b[] = { b.kind, s->func[b.root], b.nr_feet };
	int c = cmp_numbers(head_a, head_b, 3);

	return c ? c : cmp_numbers(s->feet[ia], s->feet[ib], a.nr_feet);
}

static void sort_paths(struct sorter *s)
{
	uint32_t nr = s->in->paths.nr_keys, *ids = sorted_ids(s, nr, cmp_paths);

	for (uint32_t i = 0; i < nr; i++) {
		struct profile_path path = profile_get_path(s->in, ids[i]);

		s->path[ids[i]] = profile_add_distinct_path(&s->out, path.kind, s->func[path.root], s->feet[ids[i]],
							    path.nr_feet, s->in->path_weights[ids[i]]);
	}
	free(ids);
}

static int cmp_nexts(const void *va, const void *vb, void *arg)
{
	const struct sorter *s = arg;
	uint32_t a[2], b[2];

	profile_get_next(s->in, *(const uint32_t *)va, &a[0], &a[1]);
	profile_get_next(s->in, *(const uint32_t *)vb, &b[0], &b[1]);
	for (int i = 0; i < 2; i++) {
		a[i] = s->path[a[i]];
		b[i] = s->path[b[i]];
	}
	return cmp_numbers(a, b, 2);
}

static void sort_nexts(struct sorter *s)
{
	uint32_t nr = s->in->nexts.nr_keys, *ids = sorted_ids(s, nr, cmp_nexts), path, next;

	for (uint32_t i = 0; i < nr; i++) {
		profile_get_next(s->in, ids[i], &path, &next);
		profile_add_next(&s->out, s->path[path], s->path[next], s->in->next_weights[ids[i]]);
	}
	free(ids);
}

void profile_sort(struct profile *p)
{
	struct sorter s = {
		.in = p,
		.func = xcalloc(p->names.nr_keys, sizeof(*s.func)),
		.used = xcalloc(p->names.nr_keys, sizeof(*s.used)),
		.foot = xcalloc(p->feet.nr_keys, sizeof(*s.foot)),
		.path = xcalloc(p->paths.nr_keys, sizeof(*s.path)),
		.feet = xcalloc(p->paths.nr_keys, sizeof(*s.feet)),
	};

	sort_sources(&s);
	sort_funcs(&s);
	sort_touches(&s);
	sort_calls(&s);
	sort_feet(&s);
	sort_paths(&s);
	sort_nexts(&s);
	for (uint32_t i = 0; i < p->paths.nr_keys; i++)
		free(s.feet[i]);
	free(s.feet);
	free(s.path);
	free(s.foot);
	free(s.used);
	free(s.func);
	profile_release(p);
	*p = s.out;
}
