/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "linkmap_lld.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/linkmap.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"

enum { MAX_ITEMS = 8 << 20, INDENT = 8 };

static const char title[] = "VMA              LMA     Size Align Out     In      Symbol";

bool linkmap_lld_title(const char *line)
{
	return !strcmp(line + strspn(line, " "), title);
}

static int broken(struct linkmap_lld *l, const char *what)
{
	return error("cannot read '%s': line %lu: %s", input_name(l->in), input_lineno(l->in), what);
}

static const char *intern(struct linkmap *m, const char *s, size_t len)
{
	return index_str(&m->strings, index_add(&m->strings, s, len));
}

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(s + len - n, end, n);
}

static int add_output(struct linkmap_lld *l, const char *name, uint64_t addr, uint64_t size)
{
	struct linkmap *m = l->map;
	size_t len = strlen(name);

	l->in_output = name[0] == '.' && name[1] != ' ' && (!strncmp(name, ".text", 5) || ends_with(name, len, ".text"));
	if (!l->in_output)
		return 0;
	if (addr + size < addr)
		return broken(l, "output section past the end of memory");
	ALLOC_GROW(m->outputs, m->nr_outputs + 1, m->alloc_outputs);
	m->outputs[m->nr_outputs++] = (struct linkmap_output){
		.name = intern(m, name, len), .addr = addr, .size = size, .first_section = m->nr_sections,
	};
	return 0;
}

/* "OBJECT:(SECTION)"; rest is where ":(" stands. */
static int add_section(struct linkmap_lld *l, const char *name, const char *rest, uint64_t addr, uint64_t size)
{
	struct linkmap *m = l->map;
	struct linkmap_output *o = &m->outputs[m->nr_outputs - 1];
	size_t len = (size_t)(rest - name);
	const char *paren = memchr(name, '(', len);

	if (addr < o->addr || size > o->size || addr - o->addr > o->size - size)
		return size ? broken(l, "section outside its output section") : 0;
	if (paren && name[len - 1] == ')' && memchr(paren, '/', len - (size_t)(paren - name))) {
		len = len - (size_t)(paren - name) - 2;
		name = paren + 1;
	}
	ALLOC_GROW(m->sections, m->nr_sections + 1, m->alloc_sections);
	m->sections[m->nr_sections++] = (struct linkmap_section){
		.name = intern(m, rest + 2, strlen(rest) - 3), .object = intern(m, name, len), .addr = addr, .size = size,
		.output = m->nr_outputs - 1,
	};
	o->nr_sections++;
	return 0;
}

/* The value of "( 1 << 12 )", "64 * 1024", "0x1000" and the like up to the closing parenthesis; 0 for anything else. */
static uint64_t product_of(const char *p)
{
	uint64_t value = 0, n;
	char op = '=';

	for (;;) {
		char digits[24];
		size_t len;

		p += strspn(p, " ()");
		len = strcspn(p, " ()");
		if (!*p || len >= sizeof(digits))
			return *p ? 0 : value;
		memcpy(digits, p, len);
		digits[len] = '\0';
		p += len;
		if (!strcmp(digits, "<<") || !strcmp(digits, "*")) {
			op = digits[0];
			continue;
		}
		if (!parse_u64(digits, 0, &n) || !op || (op == '<' && n > 40) || (op == '*' && n > 1 << 20))
			return 0;
		value = op == '=' ? n : op == '<' ? value << n : value * n;
		op = '\0';
	}
}

static uint64_t align_of(const char *p)
{
	uint64_t v = strncmp(p, "ALIGN (", 7) ? 0 : product_of(p + 7);

	return v & (v - 1) ? 0 : v;
}

/* `.` or a symbol is given a value; addr is `.` before it, size what it moves on by. */
static void add_mark(struct linkmap_lld *l, const char *name, const char *value, uint64_t addr, uint64_t size)
{
	struct linkmap *m = l->map;
	bool dot = !strncmp(name, ". ", 2);

	if (!dot && strcmp(value, "."))
		return;
	ALLOC_GROW(m->marks, m->nr_marks + 1, m->alloc_marks);
	m->marks[m->nr_marks++] = (struct linkmap_mark){
		.before = m->nr_sections, .output = m->nr_outputs - 1, .addr = addr + size,
		.align = dot ? align_of(value) : 0, .symbol = dot ? NULL : intern(m, name, strcspn(name, " ")),
	};
}

static void add_symbol(struct linkmap_lld *l, const char *name, uint64_t addr)
{
	struct linkmap *m = l->map;

	ALLOC_GROW(m->symbols, m->nr_symbols + 1, m->alloc_symbols);
	m->symbols[m->nr_symbols++] = (struct linkmap_symbol){ .name = intern(m, name, strlen(name)), .addr = addr };
}

/* "Size" and "Align" may be wider than their columns, so fields are counted by blanks. */
static const char *scan_fields(const char *p, uint64_t *addr, uint64_t *size)
{
	uint64_t lma, *fields[] = { addr, &lma, size };

	for (int i = 0; i < 3; i++) {
		p += strspn(p, " ");
		if (!scan_hex(&p, fields[i]) || *p != ' ')
			return NULL;
	}
	p += strspn(p, " ");
	size_t digits = strspn(p, "0123456789");
	return digits && p[digits] == ' ' ? p + digits + 1 : NULL;
}

void linkmap_lld_end(struct linkmap_lld *l)
{
	struct linkmap *m = l->map;
	struct index names = { 0 };
	uint32_t *count = xcalloc(m->nr_symbols + 1, sizeof(*count)), nr = 0;

	for (uint32_t i = 0; i < m->nr_symbols; i++)
		count[index_add_str(&names, m->symbols[i].name)]++;
	for (uint32_t i = 0; i < m->nr_symbols; i++)
		if (count[index_find_str(&names, m->symbols[i].name)] == 1)
			m->symbols[nr++] = m->symbols[i];
	m->nr_symbols = nr;
	index_release(&names);
	free(count);
}

int linkmap_lld_line(struct linkmap_lld *l, const char *line)
{
	uint64_t addr, size;
	const char *p = scan_fields(line, &addr, &size), *name, *rest = NULL;
	struct linkmap *m = l->map;

	if (!*line)
		return 0;
	if (!p)
		return broken(l, "not a line of lld's map");
	if (m->nr_sections >= MAX_ITEMS || m->nr_marks >= MAX_ITEMS || m->nr_symbols >= MAX_ITEMS)
		return broken(l, "too many items");
	name = p + strspn(p, " ");
	if (name == p)
		return add_output(l, name, addr, size);
	if (!l->in_output)
		return 0;
	if (name - p == 2 * INDENT) {
		add_symbol(l, name, addr);
		return 0;
	}
	for (const char *q = strstr(name, ":("); q; q = strstr(q + 1, ":("))
		rest = q;
	if (rest && ends_with(name, strlen(name), ")") && rest > name)
		return add_section(l, name, rest, addr, size);
	rest = strstr(name, " = ");
	if (rest)
		add_mark(l, name, rest + 3, addr, size);
	return 0;
}
