/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing a profile as text, sorted by key: equal profiles give equal bytes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collect/profile.h"
#include "collect/profile_text.h"
#include "lib/error.h"
#include "lib/fnv.h"
#include "lib/mem.h"

struct writer {
	const struct profile *p;
	FILE *fp;
	uint32_t *by_name;	/* func ids in the order of their names */
	uint32_t *rank;		/* [func]: its place in by_name */
	char **escaped;		/* [func] */
	uint64_t *path_id;	/* [path] */
	char *text;		/* a path's feet, as built last */
	size_t len, alloc_text;
	uint64_t *feet;		/* of that path: rank above, foot below */
	uint32_t alloc_feet;
};

/* Blanks and all that is not printable ASCII, '%' and ':' become %XX; the empty string is a lone '%'. */
static char *escape(const char *s)
{
	char *out = xmalloc(strlen(s) * 3 + 2), *at = out;

	if (!*s)
		*at++ = '%';
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c > ' ' && c < 127 && c != '%' && c != ':')
			*at++ = (char)c;
		else
			at += sprintf(at, "%%%02x", c);
	}
	*at = '\0';
	return out;
}

static int cmp_names(const void *va, const void *vb, void *arg)
{
	const struct profile *p = arg;

	return strcmp(profile_func_name(p, *(const uint32_t *)va),
		      profile_func_name(p, *(const uint32_t *)vb));
}

static uint32_t *count_up(uint32_t nr)
{
	uint32_t *ids = xcalloc(nr, sizeof(*ids));

	for (uint32_t i = 0; i < nr; i++)
		ids[i] = i;
	return ids;
}

static void rank_names(struct writer *w)
{
	uint32_t nr = w->p->names.nr_keys;

	w->by_name = count_up(nr);
	qsort_r(w->by_name, nr, sizeof(*w->by_name), cmp_names, (void *)(uintptr_t)w->p);
	w->rank = xcalloc(nr, sizeof(*w->rank));
	w->escaped = xcalloc(nr, sizeof(*w->escaped));
	for (uint32_t i = 0; i < nr; i++) {
		w->rank[w->by_name[i]] = i;
		w->escaped[i] = escape(profile_func_name(w->p, i));
	}
}

static int cmp_sources(const void *va, const void *vb)
{
	const struct profile_source *a = va, *b = vb;
	int c;

	if ((c = strcmp(a->reader, b->reader)) || (c = strcmp(a->event, b->event)) ||
	    (c = strcmp(a->host, b->host)) || (c = strcmp(a->release, b->release)))
		return c;
	return strcmp(a->build_id, b->build_id);
}

static void write_source(struct writer *w, const struct profile_source *s)
{
	const char *fields[] = { s->reader, s->event, s->host, s->release, s->build_id };

	fputs("source", w->fp);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char *text = escape(fields[i]);
		fprintf(w->fp, " %s", text);
		free(text);
	}
	fprintf(w->fp, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s->samples,
		s->kernel, s->resolved, s->unresolved, s->lost);
}

static void write_sources(struct writer *w)
{
	struct profile folded = { 0 };	/* the profile's own may hold equal keys still */

	for (uint32_t i = 0; i < w->p->nr_sources; i++)
		profile_merge_source(&folded, &w->p->sources[i]);
	sort_array(folded.sources, folded.nr_sources, sizeof(*folded.sources), cmp_sources);
	for (uint32_t i = 0; i < folded.nr_sources; i++)
		write_source(w, &folded.sources[i]);
	profile_release(&folded);
}

static void write_funcs(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->names.nr_keys; i++) {
		uint32_t id = w->by_name[i];
		const struct profile_func *f = &w->p->funcs[id];

		if (f->samples || f->calls)
			fprintf(w->fp, "func %s %" PRIu64 " %" PRIu64 "\n", w->escaped[id], f->samples,
				f->calls);
	}
}

static int cmp3(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t b0, uint32_t b1, uint32_t b2)
{
	if (a0 != b0)
		return a0 < b0 ? -1 : 1;
	if (a1 != b1)
		return a1 < b1 ? -1 : 1;
	return a2 < b2 ? -1 : a2 > b2;
}

static int cmp_touches(const void *va, const void *vb, void *arg)
{
	const struct writer *w = arg;
	const uint32_t *a = w->p->touches.keys[*(const uint32_t *)va].data;
	const uint32_t *b = w->p->touches.keys[*(const uint32_t *)vb].data;

	return cmp3(w->rank[a[0]], a[1], 0, w->rank[b[0]], b[1], 0);
}

static void write_touches(struct writer *w)
{
	uint32_t nr = w->p->touches.nr_keys, *order = count_up(nr), func, chunk;

	qsort_r(order, nr, sizeof(*order), cmp_touches, w);
	for (uint32_t i = 0; i < nr; i++) {
		profile_get_touch(w->p, order[i], &func, &chunk);
		fprintf(w->fp, "touch %s 0x%x %" PRIu64 "\n", w->escaped[func], chunk * PROFILE_CHUNK,
			w->p->touch_weights[order[i]]);
	}
	free(order);
}

static int cmp_calls(const void *va, const void *vb, void *arg)
{
	const struct writer *w = arg;
	const uint32_t *a = w->p->calls.keys[*(const uint32_t *)va].data;
	const uint32_t *b = w->p->calls.keys[*(const uint32_t *)vb].data;

	return cmp3(w->rank[a[0]], a[1], w->rank[a[2]], w->rank[b[0]], b[1], w->rank[b[2]]);
}

static void write_calls(struct writer *w)
{
	uint32_t nr = w->p->calls.nr_keys, *order = count_up(nr), caller, off, callee;

	qsort_r(order, nr, sizeof(*order), cmp_calls, w);
	for (uint32_t i = 0; i < nr; i++) {
		char where[16] = "-";

		profile_get_call(w->p, order[i], &caller, &off, &callee);
		if (off != PROFILE_OFF_UNKNOWN)
			snprintf(where, sizeof(where), "0x%x", off);
		fprintf(w->fp, "call %s %s %s %" PRIu64 "\n", w->escaped[caller], where, w->escaped[callee],
			w->p->call_weights[order[i]]);
	}
	free(order);
}

/* Room for n more bytes and the 0 behind them. */
static char *text_room(struct writer *w, size_t n)
{
	ALLOC_GROW(w->text, w->len + n + 1, w->alloc_text);
	return w->text + w->len;
}

static void text_add(struct writer *w, const char *s)
{
	size_t n = strlen(s);

	memcpy(text_room(w, n), s, n + 1);
	w->len += n;
}

/* Four chunks a digit, the lowest bit and the first digit for the lowest; zeros at the end left out. */
static void text_add_chunks(struct writer *w, const struct profile_foot *f)
{
	char *p = text_room(w, 1 + 8 * (size_t)f->nr_words);

	if (!f->nr_words)
		return;
	*p++ = ':';
	for (uint32_t i = 0; i < f->nr_words; i++)
		for (int k = 0; k < 32; k += 4)
			*p++ = "0123456789abcdef"[f->chunks[i] >> k & 15];
	while (p[-1] == '0')
		p--;
	*p = '\0';
	w->len = (size_t)(p - w->text);
}

static int cmp_feet(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

/* Paths have few feet, most of which a sort by insertion need not move far. */
static void sort_feet(uint64_t *feet, uint32_t nr)
{
	enum { FEW = 40 };

	if (nr > FEW) {
		qsort(feet, nr, sizeof(*feet), cmp_feet);
		return;
	}
	for (uint32_t i = 1; i < nr; i++) {
		uint64_t foot = feet[i];
		uint32_t to = i;

		for (; to && feet[to - 1] > foot; to--)
			feet[to] = feet[to - 1];
		feet[to] = foot;
	}
}

/* The feet of a path into w->text, each after a blank, by name. */
static void build_feet(struct writer *w, const struct profile_path *path)
{
	ALLOC_GROW(w->feet, path->nr_feet, w->alloc_feet);
	for (uint32_t i = 0; i < path->nr_feet; i++)
		w->feet[i] = (uint64_t)w->rank[profile_get_foot(w->p, path->feet[i]).func] << 32 | path->feet[i];
	sort_feet(w->feet, path->nr_feet);
	w->len = 0;
	*text_room(w, 0) = '\0';
	for (uint32_t i = 0; i < path->nr_feet; i++) {
		struct profile_foot f = profile_get_foot(w->p, (uint32_t)w->feet[i]);

		text_add(w, " ");
		text_add(w, w->escaped[f.func]);
		text_add_chunks(w, &f);
	}
}

static void hash_paths(struct writer *w)
{
	w->path_id = xcalloc(w->p->paths.nr_keys, sizeof(*w->path_id));
	for (uint32_t i = 0; i < w->p->paths.nr_keys; i++) {
		struct profile_path path = profile_get_path(w->p, i);
		uint64_t h = fnv_text(FNV_START, path_kind_names[path.kind]);

		build_feet(w, &path);
		h = fnv_text(fnv_text(h, " "), w->escaped[path.root]);
		w->path_id[i] = fnv_text(h, w->text);
	}
}

static int cmp_paths(const void *va, const void *vb, void *arg)
{
	const struct writer *w = arg;
	uint32_t ia = *(const uint32_t *)va, ib = *(const uint32_t *)vb;
	const uint32_t *a = w->p->paths.keys[ia].data, *b = w->p->paths.keys[ib].data;
	int c = cmp3(a[0], w->rank[a[1]], 0, b[0], w->rank[b[1]], 0);

	if (c)
		return c;
	return w->path_id[ia] < w->path_id[ib] ? -1 : w->path_id[ia] > w->path_id[ib];
}

static void write_paths(struct writer *w)
{
	uint32_t nr = w->p->paths.nr_keys, *order = count_up(nr);

	qsort_r(order, nr, sizeof(*order), cmp_paths, w);
	for (uint32_t i = 0; i < nr; i++) {
		struct profile_path path = profile_get_path(w->p, order[i]);

		build_feet(w, &path);
		text_add(w, "\n");
		fprintf(w->fp, "path %016" PRIx64 " %s %s %" PRIu64, w->path_id[order[i]],
			path_kind_names[path.kind], w->escaped[path.root], w->p->path_weights[order[i]]);
		fwrite(w->text, 1, w->len, w->fp);
	}
	free(order);
}

static int cmp_nexts(const void *va, const void *vb, void *arg)
{
	const struct writer *w = arg;
	const uint32_t *a = w->p->nexts.keys[*(const uint32_t *)va].data;
	const uint32_t *b = w->p->nexts.keys[*(const uint32_t *)vb].data;

	for (int i = 0; i < 2; i++)
		if (w->path_id[a[i]] != w->path_id[b[i]])
			return w->path_id[a[i]] < w->path_id[b[i]] ? -1 : 1;
	return 0;
}

static char *put_hex(char *to, uint64_t v)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[v >> shift & 15];
	*to++ = ' ';
	return to;
}

static void write_nexts(struct writer *w)
{
	uint32_t nr = w->p->nexts.nr_keys, *order = count_up(nr), path, next;

	qsort_r(order, nr, sizeof(*order), cmp_nexts, w);
	for (uint32_t i = 0; i < nr; i++) {
		profile_get_next(w->p, order[i], &path, &next);
		/* The most lines of a profile. */
		char line[5 + 2 * 17] = "next ";
		put_hex(put_hex(line + 5, w->path_id[path]), w->path_id[next]);
		fwrite(line, 1, sizeof(line), w->fp);
		fprintf(w->fp, "%" PRIu64 "\n", w->p->next_weights[order[i]]);
	}
	free(order);
}

void profile_write(const struct profile *p, FILE *fp)
{
	struct writer w = { .p = p, .fp = fp };

	rank_names(&w);
	hash_paths(&w);
	fprintf(fp, "%s%s\n", PROFILE_MAGIC, PROFILE_VERSION);
	write_sources(&w);
	write_funcs(&w);
	write_touches(&w);
	write_calls(&w);
	write_paths(&w);
	write_nexts(&w);
	for (uint32_t i = 0; i < p->names.nr_keys; i++)
		free(w.escaped[i]);
	free(w.escaped);
	free(w.by_name);
	free(w.rank);
	free(w.path_id);
	free(w.text);
	free(w.feet);
}
