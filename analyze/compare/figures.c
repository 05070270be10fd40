/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/compare/figures.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/compare/label.h"
#include "lib/mem.h"
#include "lib/utf8.h"

void figures_release(struct figures *f)
{
	index_release(&f->strings);
	index_release(&f->figure_keys);
	index_release(&f->side_keys);
	free(f->figures);
	free(f->sides);
	free(f->values);
	free(f->ambiguous);
	memset(f, 0, sizeof(*f));
}

/* What files say goes to terminals and into JSON: what a terminal may not be given becomes '?'. */
static const char *keep(struct figures *f, const char *s)
{
	char *copy = xstrdup(s), *out = copy;

	for (const char *p = s; *p; p += utf8_step(p)) {
		size_t n = utf8_shows(p) ? utf8_length(p) : 1;

		memcpy(out, utf8_shows(p) ? p : "?", n);
		out += n;
	}
	*out = '\0';
	const char *kept = index_str(&f->strings, index_add_str(&f->strings, copy));
	free(copy);
	return kept;
}

uint32_t figures_figure(struct figures *f, const struct figure *like)
{
	char *key = xasprintf("%s\n%s", like->table, like->name);
	uint32_t id = index_add_str(&f->figure_keys, key);

	free(key);
	if (id < f->nr_figures)
		return id;
	ALLOC_GROW(f->figures, id + 1, f->alloc_figures);
	f->figures[id] = *like;
	f->figures[id].table = keep(f, like->table);
	f->figures[id].name = keep(f, like->name);
	f->figures[id].unit = keep(f, like->unit);
	f->nr_figures = id + 1;
	return id;
}

uint32_t figures_side(struct figures *f, uint32_t operand, const char *host)
{
	char *key = xasprintf("%u\n%s", operand, host);
	uint32_t id = index_add_str(&f->side_keys, key);

	free(key);
	if (id < f->nr_sides)
		return id;
	ALLOC_GROW(f->sides, id + 1, f->alloc_sides);
	f->sides[id] = (struct side){ "", keep(f, host), operand };
	f->nr_sides = id + 1;
	return id;
}

void figures_add(struct figures *f, uint32_t figure, uint32_t side, double value)
{
	ALLOC_GROW(f->values, f->nr_values + 1, f->alloc_values);
	f->values[f->nr_values] = (struct measured){ figure, side, f->nr_values, value };
	f->nr_values++;
}

void figures_add_ambiguous(struct figures *f, const struct ambiguous *row)
{
	ALLOC_GROW(f->ambiguous, f->nr_ambiguous + 1, f->alloc_ambiguous);
	struct ambiguous *a = &f->ambiguous[f->nr_ambiguous++];
	*a = *row;
	a->path = keep(f, row->path);
	a->table = keep(f, row->table);
	a->host = keep(f, row->host);
}

/* Sides of an operand that name a host; *only is the last one. */
static uint32_t count_hosts(const struct figures *f, uint32_t operand, uint32_t *only)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nr_sides; i++)
		if (f->sides[i].operand == operand && f->sides[i].host[0]) {
			*only = i;
			n++;
		}
	return n;
}

/* What names no host belongs to the only host there is. */
static void merge_nameless(struct figures *f, uint32_t operand)
{
	uint32_t host = 0, nameless = UINT32_MAX;

	for (uint32_t i = 0; i < f->nr_sides; i++)
		if (f->sides[i].operand == operand && !f->sides[i].host[0])
			nameless = i;
	if (nameless == UINT32_MAX || count_hosts(f, operand, &host) != 1)
		return;
	for (uint32_t i = 0; i < f->nr_values; i++)
		if (f->values[i].side == host)
			f->values[i].side = nameless;
	/* The emptied side goes; none behind it has been looked at by number yet. */
	for (uint32_t i = 0; i < f->nr_values; i++)
		f->values[i].side -= f->values[i].side > host;
	memmove(f->sides + host, f->sides + host + 1, (f->nr_sides - host - 1) * sizeof(*f->sides));
	f->nr_sides--;
}

static bool taken(const struct figures *f, uint32_t side)
{
	for (uint32_t i = 0; i < f->nr_sides; i++)
		if (i != side && !strcmp(f->sides[i].label, f->sides[side].label))
			return true;
	return false;
}

/* Make labels that two sides share longer: by the file, and by its number when it was given twice. */
static void tell_apart(struct figures *f, const char *const *paths, uint32_t nr_paths)
{
	bool *shared = xcalloc(f->nr_sides, sizeof(*shared));

	for (int number = 0; number < 2; number++) {
		for (uint32_t i = 0; i < f->nr_sides; i++)
			shared[i] = taken(f, i);
		for (uint32_t i = 0; i < f->nr_sides; i++) {
			struct side *s = &f->sides[i];
			const char *path = short_path(paths, nr_paths, s->operand);

			if (!shared[i])
				continue;
			char *label = number ? xasprintf("%s (%u)", s->label, s->operand + 1) :
				      s->host[0] ? xasprintf("%s:%s", path, s->host) : xstrdup(path);
			s->label = keep(f, label);
			free(label);
		}
	}
	free(shared);
}

static int compare_values(const void *va, const void *vb)
{
	const struct measured *a = va, *b = vb;

	if (a->figure != b->figure)
		return a->figure < b->figure ? -1 : 1;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return a->run < b->run ? -1 : a->run > b->run;
}

void figures_settle(struct figures *f, const char *const *paths, uint32_t nr_paths)
{
	uint32_t unused;

	for (uint32_t o = 0; o < nr_paths; o++)
		merge_nameless(f, o);
	for (uint32_t i = 0; i < f->nr_sides; i++) {
		struct side *s = &f->sides[i];
		bool many = count_hosts(f, s->operand, &unused) > 1;

		s->label = keep(f, many && s->host[0] ? s->host : short_path(paths, nr_paths, s->operand));
	}
	tell_apart(f, paths, nr_paths);
	sort_array(f->values, f->nr_values, sizeof(*f->values), compare_values);
}

/* The first value at or behind (figure, side). */
static uint32_t first_value(const struct figures *f, uint32_t figure, uint32_t side)
{
	struct measured want = { .figure = figure, .side = side, .run = 0 };
	uint32_t lo = 0, hi = f->nr_values;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (compare_values(&f->values[mid], &want) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t figures_values(const struct figures *f, uint32_t figure, uint32_t side, double **out)
{
	uint32_t first = first_value(f, figure, side), nr = 0;

	while (first + nr < f->nr_values && f->values[first + nr].figure == figure &&
	       f->values[first + nr].side == side)
		nr++;
	*out = xcalloc(nr, sizeof(**out));
	for (uint32_t i = 0; i < nr; i++)
		(*out)[i] = f->values[first + i].value;
	return nr;
}
