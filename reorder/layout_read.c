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
#include "lib/kind.h"
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
	uint32_t known;		/* lines that name a unit, whether it moves or not */
	uint32_t unknown;	/* lines that name nothing that moves */
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

static uint32_t find_object(const struct order_reader *r, const char *key)
{
	uint32_t o = index_find_str(&r->objects, key);

	return o == INDEX_NONE ? INDEX_NONE : r->object_unit[o];
}

/* ARCHIVE:MEMBER(SECTION), as ld's statements have it; link maps and so our orders say ARCHIVE(MEMBER). */
static uint32_t find_member(const struct order_reader *r, const char *name)
{
	const char *paren = strchr(name, '('), *colon = memchr(name, ':', (size_t)(paren - name));

	if (!colon)
		return INDEX_NONE;
	char *key = xasprintf("%.*s(%.*s)%s", (int)(colon - name), name, (int)(paren - colon - 1), colon + 1, paren);
	uint32_t u = find_object(r, key);

	free(key);
	return u;
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
		uint32_t u = find_object(r, name);
		if (u == INDEX_NONE)
			u = find_member(r, name);
		if (u != INDEX_NONE)
			return u;
		paren[strcspn(paren, ")")] = '\0';
		name = paren + 1;
	}
	uint32_t s = index_find_str(&r->sections, name);
	if (s != INDEX_NONE)
		return r->unit_of[s];
	uint32_t f = image_match(r->img, name, &how);
	return f == INDEX_NONE || how == MATCH_NORMALIZED ? INDEX_NONE : r->img->funcs[f].unit;
}

/* Bytes of s without the word at its end and the blanks before that. */
static size_t drop_word(const char *s, size_t len)
{
	while (len && !strchr(" \t", s[len - 1]))
		len--;
	while (len && strchr(" \t", s[len - 1]))
		len--;
	return len;
}

/* The OBJECT of "OBJECT 0xADDR SIZE": all up to the last two words, for its name may have blanks; 0 for anything else. */
static size_t listed_object(const char *s)
{
	size_t object = drop_word(s, drop_word(s, strlen(s)));
	const char *p = s + object + strspn(s + object, " \t");
	uint64_t v;

	if (!object || strncmp(p, "0x", 2))
		return 0;
	p += 2;
	if (!scan_hex(&p, &v) || *p != ' ')
		return 0;
	p += strspn(p, " ");
	return scan_dec(&p, &v) && !*p ? object : 0;
}

/* SECTION OBJECT ... as our own orders have it, FILE(SECTION), or NAME and whatever follows; changes the line. */
static uint32_t find_line(const struct order_reader *r, char *line)
{
	char *end = line + strcspn(line, " \t;"), *object = end + strspn(end, " \t");
	size_t listed = listed_object(object), len = listed ? listed : strcspn(object, " \t;");
	uint32_t u = INDEX_NONE;

	if (len && object > end) {
		char *key = xasprintf("%.*s(%.*s)", (int)len, object, (int)(end - line), line);

		u = find_object(r, key);
		free(key);
	}
	if (u != INDEX_NONE)
		return u;
	if (listed || !strchr(line, '('))
		*end = '\0';
	return find_unit(r, line);
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
	uint32_t u = find_line(r, line);
	r->known += u != INDEX_NONE;
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
	size_t len;
	char *line;
	int ret = 0;

	if (!in)
		return -1;
	if (kind_check_input(in, "an order")) {
		input_close(in);
		return -1;
	}
	r.placed = xcalloc(l->image->nr_units, sizeof(*r.placed));
	index_units(&r);
	while (!ret && (line = input_line(in, &len))) {
		if (memchr(line, '\0', len))
			ret = error("cannot read '%s': line %lu: not a text", path, input_lineno(in));
		else
			read_line(&r, line);
	}
	if (!ret && input_failed(in))
		ret = -1;
	if (!ret && r.unknown && !r.known)
		ret = error("cannot use '%s': none of its %u lines names a unit of this kernel", path, r.unknown);
	else if (!ret && r.unknown)
		warn("%u lines of '%s' name no unit that moves", r.unknown, path);
	input_close(in);
	index_release(&r.sections);
	index_release(&r.objects);
	free(r.unit_of);
	free(r.object_unit);
	free(r.placed);
	return ret;
}
