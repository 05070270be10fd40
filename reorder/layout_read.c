/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/layout_read.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "lib/error.h"
#include "lib/index.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "reorder/layout.h"

struct order_reader {
	struct layout *l;
	const struct image *img;
	struct index sections;	/* section names */
	uint32_t *unit_of;	/* [sections id]: unit, INDEX_NONE when several share the name */
	struct index objects;	/* OBJECT(SECTION) */
	uint32_t *object_unit;	/* [objects id] */
	bool *placed;		/* [unit] */
	uint32_t align;		/* of the next unit */
	uint32_t unknown;	/* lines that name nothing */
};

static void index_units(struct order_reader *r)
{
	const struct image *img = r->img;

	r->unit_of = xcalloc(img->nr_units, sizeof(*r->unit_of));
	r->object_unit = xcalloc(img->nr_units, sizeof(*r->object_unit));
	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i];
		uint32_t nr = r->sections.nr_keys, s = index_add_str(&r->sections, u->section);

		r->unit_of[s] = s < nr ? INDEX_NONE : i;
		if (!u->object)
			continue;
		char *key = xasprintf("%s(%s)", u->object, u->section);
		r->object_unit[index_add_str(&r->objects, key)] = i;
		free(key);
	}
}

/* FILE(SECTION) of a statement as OBJECT(SECTION): without what makes ld take it for a pattern. */
static void strip_pattern(char *s)
{
	char *out = s;

	for (; *s && *s != ')'; s++)
		if (*s != '[' && *s != ']' && *s != '*' && *s != ' ')
			*out++ = *s;
	if (*s == ')')
		*out++ = ')';
	*out = '\0';
}

static uint32_t find_unit(const struct order_reader *r, char *name)
{
	char *paren = strchr(name, '(');
	enum match how;

	if (paren) {
		strip_pattern(name);
		paren = strchr(name, '(');
		if (!paren)	/* it stood behind a ')' */
			return INDEX_NONE;
		uint32_t o = index_find_str(&r->objects, name);
		if (o != INDEX_NONE)
			return r->object_unit[o];
		paren[strcspn(paren, ")")] = '\0';
		name = paren + 1;
	}
	uint32_t s = index_find_str(&r->sections, name);
	if (s != INDEX_NONE)
		return r->unit_of[s];
	uint32_t f = image_match(r->img, name, &how);
	return f == INDEX_NONE || how == MATCH_NORMALIZED ? INDEX_NONE : r->img->funcs[f].unit;
}

/* NAME, or SECTION OBJECT ... as our own orders have it; cuts the line behind the first word. */
static uint32_t find_words(const struct order_reader *r, char *line)
{
	char *end = line + strcspn(line, " \t;"), *object = end + strspn(end, " \t");
	uint32_t o = INDEX_NONE;

	if (object > end) {
		char *key = xasprintf("%.*s(%.*s)", (int)strcspn(object, " \t;"), object, (int)(end - line), line);

		o = index_find_str(&r->objects, key);
		free(key);
	}
	*end = '\0';
	return o != INDEX_NONE ? r->object_unit[o] : find_unit(r, line);
}

/* `. = ALIGN(N);`: true when the line is one. */
static bool read_align(struct order_reader *r, const char *line)
{
	const char *p = line;
	uint64_t n;

	if (strncmp(p, ". = ALIGN(", 10))
		return false;
	p += 10;
	if (scan_dec(&p, &n) && n && n <= 1u << 30 && !(n & (n - 1)))
		r->align = (uint32_t)n;
	return true;
}

static void read_line(struct order_reader *r, char *line)
{
	static const char member[] = "/* hottext-member ";

	line += strspn(line, " \t");
	if (!strncmp(line, member, sizeof(member) - 1))
		line += sizeof(member) - 1;
	if (!*line || *line == '#' || !strncmp(line, "/*", 2) || (*line == '*' && line[1] != '(') || read_align(r, line))
		return;
	uint32_t u = strchr(line, '(') ? find_unit(r, line) : find_words(r, line);
	if (u == INDEX_NONE || !layout_can_take(r->img, u)) {
		detail("'%s' names no unit that moves", line);
		r->unknown++;
	} else if (!r->placed[u]) {
		r->placed[u] = true;
		layout_append(r->l, u, r->align);
		r->align = 0;
	}
}

int layout_read(struct layout *l, const char *path)
{
	struct order_reader r = { .l = l, .img = l->image };
	struct input *in = input_open(path);
	char *line;

	if (!in)
		return -1;
	r.placed = xcalloc(l->image->nr_units, sizeof(*r.placed));
	index_units(&r);
	while ((line = input_line(in, NULL)))
		read_line(&r, line);
	bool failed = input_failed(in);
	if (r.unknown)
		warn("%u lines of '%s' name no unit that moves", r.unknown, path);
	input_close(in);
	index_release(&r.sections);
	index_release(&r.objects);
	free(r.unit_of);
	free(r.object_unit);
	free(r.placed);
	return failed ? -1 : 0;
}
