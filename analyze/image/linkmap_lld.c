/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "linkmap_lld.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/linkmap_parts.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"

enum { INDENT = 8 };

/* "VMA" stands before it, blanks between: addresses of 32 bits have narrower columns. */
static const char title[] = "LMA     Size Align Out     In      Symbol";

bool linkmap_lld_title(const char *line)
{
	line += strspn(line, " ");
	return !strncmp(line, "VMA ", 4) && !strcmp(line + 4 + strspn(line + 4, " "), title);
}

static int add_output(struct linkmap_lld *l, const char *name, uint64_t addr, uint64_t size)
{
	struct linkmap_text text = { name, strlen(name) };

	l->in_output = name[0] == '.' && name[1] != ' ' && linkmap_is_code(text);
	return l->in_output ? linkmap_add_output(l->map, l->in, text, addr, size) : 0;
}

/* "OBJECT:(SECTION)"; rest is where ":(" stands. */
static int add_section(struct linkmap_lld *l, const char *name, const char *rest, uint64_t addr, uint64_t size)
{
	struct linkmap_text object = { name, (size_t)(rest - name) }, section = { rest + 2, strlen(rest) - 3 };
	const char *paren = memchr(name, '(', object.len);

	if (paren && name[object.len - 1] == ')' && memchr(paren, '/', object.len - (size_t)(paren - name)))
		object = (struct linkmap_text){ paren + 1, object.len - (size_t)(paren - name) - 2 };
	return linkmap_add_section(l->map, l->in, section, object, addr, size);
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
	if (!strncmp(name, ". ", 2))
		linkmap_add_mark(l->map, addr + size, align_of(value), (struct linkmap_text){ NULL, 0 });
	else if (!strcmp(value, "."))
		linkmap_add_mark(l->map, addr + size, 0, (struct linkmap_text){ name, strcspn(name, " ") });
}

/* "Size" and "Align" may be wider than their columns, so fields are counted by blanks. */
static const char *scan_fields(const char *p, uint64_t *addr, uint64_t *size)
{
	uint64_t lma = 0, *fields[] = { addr, &lma, size };

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
	uint64_t addr = 0, size = 0;
	const char *p = scan_fields(line, &addr, &size), *name, *rest = NULL;
	size_t len;

	if (!*line)
		return 0;
	if (!p)
		return error("cannot read '%s': line %lu: not a line of lld's map", input_name(l->in), input_lineno(l->in));
	if (linkmap_check_room(l->map, l->in))
		return -1;
	name = p + strspn(p, " ");
	if (name == p)
		return add_output(l, name, addr, size);
	if (!l->in_output)
		return 0;
	if (name - p == 2 * INDENT) {
		linkmap_add_symbol(l->map, (struct linkmap_text){ name, strlen(name) }, addr);
		return 0;
	}
	for (const char *q = strstr(name, ":("); q; q = strstr(q + 1, ":("))
		rest = q;
	len = strlen(name);
	if (rest && rest > name && name[len - 1] == ')')
		return add_section(l, name, rest, addr, size);
	rest = strstr(name, " = ");
	if (rest)
		add_mark(l, name, rest + 3, addr, size);
	return 0;
}
