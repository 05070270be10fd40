/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "linkmap.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image/linkmap_lld.h"
#include "analyze/image/linkmap_parts.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/kind.h"
#include "lib/mem.h"
#include "lib/number.h"

/* Above these ld would not link a kernel either; they bound memory on hostile input. */
enum { MAX_ITEMS = 8 << 20 };

struct parse {
	struct linkmap *map;
	struct input *in;
	bool in_output;		/* within an output section that is kept */
	char *pending;		/* a name whose address stands on the next line */
	size_t alloc_pending;
	bool pending_output;
	bool ended;		/* the closing "OUTPUT(" was seen */
};

static const char *intern(struct linkmap *m, struct linkmap_text text)
{
	return index_str(&m->strings, index_add(&m->strings, text.s, text.len));
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static const char *skip_word(const char *p)
{
	while (*p && *p != ' ' && *p != '\t')
		p++;
	return p;
}

/* "0x" and hex digits, ended by a blank or the line's end. */
static bool scan_0x(const char **p, uint64_t *out)
{
	const char *s = *p;

	if (s[0] != '0' || s[1] != 'x')
		return false;
	s += 2;
	if (!scan_hex(&s, out) || (*s && *s != ' ' && *s != '\t'))
		return false;
	*p = skip_blanks(s);
	return true;
}

bool linkmap_is_code(struct linkmap_text name)
{
	static const char text[] = ".text", rel[] = ".rel";
	size_t n = sizeof(text) - 1;

	/* lld lists what --emit-relocs keeps, .rela.text at address 0. */
	if (name.len >= sizeof(rel) - 1 && !memcmp(name.s, rel, sizeof(rel) - 1))
		return false;
	return name.len >= n && (!memcmp(name.s, text, n) || !memcmp(name.s + name.len - n, text, n));
}

int linkmap_check_room(const struct linkmap *m, struct input *in)
{
	if (m->nr_sections < MAX_ITEMS && m->nr_marks < MAX_ITEMS && m->nr_symbols < MAX_ITEMS)
		return 0;
	return error("cannot read '%s': line %lu: more than %d items", input_name(in), input_lineno(in), MAX_ITEMS);
}

int linkmap_add_output(struct linkmap *m, struct input *in, struct linkmap_text name, uint64_t addr, uint64_t size)
{
	if (addr + size < addr)
		return error("cannot read '%s': line %lu: output section past the end of memory", input_name(in),
			     input_lineno(in));
	ALLOC_GROW(m->outputs, m->nr_outputs + 1, m->alloc_outputs);
	m->outputs[m->nr_outputs++] = (struct linkmap_output){
		.name = intern(m, name), .addr = addr, .size = size, .first_section = m->nr_sections,
	};
	return 0;
}

int linkmap_add_section(struct linkmap *m, struct input *in, struct linkmap_text name, struct linkmap_text object,
			uint64_t addr, uint64_t size)
{
	struct linkmap_output *o = &m->outputs[m->nr_outputs - 1];

	if (addr < o->addr || size > o->size || addr - o->addr > o->size - size) {
		if (!size)
			return 0;	/* dropped sections are listed at address 0 */
		return error("cannot read '%s': line %lu: section outside '%s'", input_name(in), input_lineno(in), o->name);
	}
	if (linkmap_check_room(m, in))
		return -1;
	ALLOC_GROW(m->sections, m->nr_sections + 1, m->alloc_sections);
	m->sections[m->nr_sections++] = (struct linkmap_section){
		.name = intern(m, name), .object = intern(m, object), .addr = addr, .size = size,
		.output = m->nr_outputs - 1,
	};
	o->nr_sections++;
	return 0;
}

void linkmap_add_mark(struct linkmap *m, uint64_t addr, uint64_t align, struct linkmap_text symbol)
{
	ALLOC_GROW(m->marks, m->nr_marks + 1, m->alloc_marks);
	m->marks[m->nr_marks++] = (struct linkmap_mark){
		.before = m->nr_sections, .output = m->nr_outputs - 1, .addr = addr, .align = align,
		.symbol = symbol.len ? intern(m, symbol) : NULL,
	};
}

void linkmap_add_symbol(struct linkmap *m, struct linkmap_text name, uint64_t addr)
{
	ALLOC_GROW(m->symbols, m->nr_symbols + 1, m->alloc_symbols);
	m->symbols[m->nr_symbols++] = (struct linkmap_symbol){ .name = intern(m, name), .addr = addr };
}

static int add_output(struct parse *ps, const char *name, size_t len, const char *p)
{
	struct linkmap_text text = { name, len };
	uint64_t addr, size;

	ps->in_output = false;
	if (!linkmap_is_code(text) || !scan_0x(&p, &addr) || !scan_0x(&p, &size))
		return 0;
	ps->in_output = true;
	return linkmap_add_output(ps->map, ps->in, text, addr, size);
}

static int add_section(struct parse *ps, const char *name, size_t len, const char *p)
{
	uint64_t addr, size;

	if (!scan_0x(&p, &addr) || !scan_0x(&p, &size) || !*p)
		return 0;	/* a pattern, or a data statement */
	return linkmap_add_section(ps->map, ps->in, (struct linkmap_text){ name, len },
				   (struct linkmap_text){ p, strlen(p) }, addr, size);
}

/* The constant of "ALIGN (0x200000)", a power of two; 0 for anything else. */
static uint64_t align_of(const char *p)
{
	uint64_t v;

	if (strncmp(p, "ALIGN (0x", 9))
		return 0;
	p += 9;
	if (!scan_hex(&p, &v) || strcmp(p, ")") || !v || (v & (v - 1)))
		return 0;
	return v;
}

/* What stands behind a bare address: "NAME = EXPR", ". = EXPR" or a symbol. */
static int add_statement(struct parse *ps, uint64_t addr, const char *p)
{
	const char *end = skip_word(p), *rest = skip_blanks(end);
	struct linkmap_text name = { p, (size_t)(end - p) };

	if (linkmap_check_room(ps->map, ps->in))
		return -1;
	if (rest[0] == '=' && rest[1] == ' ') {
		rest = skip_blanks(rest + 1);
		if (name.len == 1 && *p == '.')
			linkmap_add_mark(ps->map, addr, align_of(rest), (struct linkmap_text){ NULL, 0 });
		else if (!strcmp(rest, "."))
			linkmap_add_mark(ps->map, addr, 0, name);
		return 0;
	}
	if (!*rest && *p != '(')	/* not "(size before relaxing)", ASSERT, PROVIDE ... */
		linkmap_add_symbol(ps->map, name, addr);
	return 0;
}

static void set_pending(struct parse *ps, const char *name, size_t len, bool output)
{
	if (len + 1 > ps->alloc_pending) {
		ps->alloc_pending = 2 * len + 64;
		ps->pending = xreallocarray(ps->pending, ps->alloc_pending, 1);
	}
	memcpy(ps->pending, name, len);
	ps->pending[len] = '\0';
	ps->pending_output = output;
}

/* A line that begins with at least two blanks: the rest of a wrapped one, or a statement. */
static int continuation(struct parse *ps, const char *line, bool pending)
{
	const char *p = skip_blanks(line), *q = p;
	uint64_t addr, size;

	if (pending && p[0] == '0' && p[1] == 'x') {
		if (ps->pending_output)
			return add_output(ps, ps->pending, strlen(ps->pending), p);
		return add_section(ps, ps->pending, strlen(ps->pending), p);
	}
	if (!ps->in_output || !scan_0x(&q, &addr) || !*q)
		return 0;
	p = q;
	if (scan_0x(&p, &size))
		return 0;	/* a data statement: BYTE, LONG ... */
	return add_statement(ps, addr, q);
}

static int parse_line(struct parse *ps, const char *line)
{
	bool pending = ps->pending && *ps->pending;
	const char *p, *end, *rest;
	int ret = 0;

	if (line[0] == ' ' && line[1] == ' ') {
		ret = continuation(ps, line, pending);
	} else if (line[0] == ' ' && line[1]) {
		if (ps->in_output && line[1] != '*') {
			p = line + 1;
			end = skip_word(p);
			rest = skip_blanks(end);
			if (*rest)
				return add_section(ps, p, (size_t)(end - p), rest);
			set_pending(ps, p, (size_t)(end - p), false);
			return 0;
		}
	} else if (line[0]) {
		ps->in_output = false;
		end = skip_word(line);
		rest = skip_blanks(end);
		if (!strncmp(line, "OUTPUT(", 7))
			ps->ended = true;
		else if (*rest)
			return add_output(ps, line, (size_t)(end - line), rest);
		else {
			set_pending(ps, line, (size_t)(end - line), true);
			return 0;
		}
	}
	if (ps->pending)
		*ps->pending = '\0';
	return ret;
}

/* Mark sections that share object and name: no pattern can tell them apart. */
static void find_fused(struct linkmap *m)
{
	struct index seen = { 0 };
	uint32_t *first = xcalloc(m->nr_sections, sizeof(*first));
	uint32_t nr = 0;

	for (uint32_t i = 0; i < m->nr_sections; i++) {
		struct linkmap_section *s = &m->sections[i];
		struct { const char *name, *object; uint64_t output; } key = { s->name, s->object, s->output };

		if (!s->size)
			continue;
		uint32_t id = index_add(&seen, &key, sizeof(key));
		if (id == nr) {
			first[nr++] = i;
		} else {
			s->fused = true;
			m->sections[first[id]].fused = true;
		}
	}
	index_release(&seen);
	free(first);
}

static int check_order(const struct linkmap *m, const char *path)
{
	for (uint32_t i = 1; i < m->nr_sections; i++) {
		const struct linkmap_section *a = &m->sections[i - 1], *b = &m->sections[i];

		if (a->output == b->output && a->size && b->size && a->addr + a->size > b->addr)
			return error("cannot read '%s': sections '%s' and '%s' overlap", path, a->name, b->name);
	}
	return 0;
}

int linkmap_read(struct linkmap *m, const char *path)
{
	static const char title[] = "Linker script and memory map";
	struct parse ps = { .map = m };
	struct linkmap_lld lld = { .map = m };
	bool begun = false, first = true;
	int ret = -1;
	char *line;

	memset(m, 0, sizeof(*m));
	ps.in = input_open(path);
	if (!ps.in)
		return -1;
	if (kind_check_input(ps.in, "a link map")) {
		input_close(ps.in);
		return -1;
	}
	for (; (line = input_line(ps.in, NULL)); first = false) {
		if (first && linkmap_lld_title(line))
			lld.in = ps.in;
		else if (lld.in && linkmap_lld_line(&lld, line) < 0)
			goto out;
		else if (!begun)
			begun = !strcmp(line, title);
		else if (parse_line(&ps, line) < 0)
			goto out;
	}
	if (input_failed(ps.in))
		goto out;
	if (!begun && !lld.in) {
		error("cannot read '%s': not a link map of GNU ld or lld", path);
		goto out;
	}
	if (lld.in ? !m->nr_outputs : !ps.ended) {
		error("cannot read '%s': cut off", path);
		goto out;
	}
	if (lld.in)
		linkmap_lld_end(&lld);
	if (check_order(m, path) < 0)
		goto out;
	find_fused(m);
	ret = 0;
out:
	free(ps.pending);
	input_close(ps.in);
	if (ret < 0)
		linkmap_release(m);
	return ret;
}

void linkmap_release(struct linkmap *m)
{
	free(m->outputs);
	free(m->sections);
	free(m->marks);
	free(m->symbols);
	index_release(&m->strings);
	memset(m, 0, sizeof(*m));
}
