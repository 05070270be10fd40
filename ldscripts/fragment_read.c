/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fragment.h"
#include "ldscripts/claims.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"

static void add_pattern(struct fragment *f, char *pattern)
{
	ALLOC_GROW(f->patterns, f->nr_patterns + 1, f->alloc_patterns);
	f->patterns[f->nr_patterns++] = pattern;
}

/* The statements: read as the body of a section, so that nothing can reach out of it. */
static int read_statements(struct fragment *f, const char *name)
{
	char *wrapped = xasprintf("SECTIONS { .text : {\n%s\n} }", f->text);
	struct lds l;
	int ret = lds_init(&l, name, wrapped, strlen(wrapped));

	free(wrapped);
	if (ret)
		return -1;
	if (l.nr_sections != 1 || l.sections[0].body_end + 3 != l.size)
		ret = error("'%s' is no hottext fragment", name);
	for (unsigned int i = 0; !ret && i < l.sections[0].nr_stmts; i++) {
		const struct lds_stmt *s = &l.sections[0].stmts[i];

		if (s->kind == LDS_INPUT)
			add_pattern(f, xstrndup(l.text + s->start, s->end - s->start));
		else if (s->kind != LDS_ASSIGN || strcmp(s->symbol, "."))
			ret = error("'%s' is no hottext fragment: it has more than sections and alignments", name);
	}
	lds_release(&l);
	return ret;
}

/* The rest of a comment line after `key`, without the closing mark; NULL when the line is another. */
static char *comment_value(const char *line, size_t len, const char *key)
{
	size_t n = strlen(key);

	if (len < n + 3 || strncmp(line, key, n) || strncmp(line + len - 3, " */", 3))
		return NULL;
	return xstrndup(line + n, len - n - 3);
}

static void add_group(struct fragment *f, char *value)
{
	char *after = strstr(value, " after-hot");

	if (after)
		*after = '\0';
	ALLOC_GROW(f->groups, f->nr_groups + 1, f->alloc_groups);
	f->groups[f->nr_groups++] = (struct lds_group_order){ value, xstrdup(""), after };
}

static void add_member(struct fragment *f, char *value)
{
	struct lds_group_order *g = &f->groups[f->nr_groups - 1];
	char *members = xasprintf("%s%s\n", g->members, value);

	free(g->members);
	g->members = members;
	add_pattern(f, value);
}

static int read_groups(struct fragment *f, const char *name)
{
	for (const char *line = f->text, *nl; *line; line = *nl ? nl + 1 : nl) {
		char *value;

		nl = strchrnul(line, '\n');
		value = comment_value(line, (size_t)(nl - line), "/* hottext-group ");
		if (value) {
			add_group(f, value);
			continue;
		}
		value = comment_value(line, (size_t)(nl - line), "/* hottext-member ");
		if (!value)
			continue;
		if (!f->nr_groups || strspn(value, " ") || strpbrk(value, " \t{};")) {
			free(value);
			return error("'%s' is no hottext fragment: bad group member", name);
		}
		add_member(f, value);
	}
	return 0;
}

/* How many sections the heading comment says are placed. False: it does not, or there is none, as where a hand wrote it. */
static bool read_heading(const struct fragment *f, uint32_t *placed)
{
	const char *end = strstr(f->text, "*/");

	for (const char *line = f->text; end && line < end; line++) {
		if (sscanf(line, " * %*u functions in %" SCNu32 " sections placed", placed) == 1)
			return true;
		line += strcspn(line, "\n");
		if (!*line)
			break;
	}
	return false;
}

/* A file that was cut, or never filled, is no plan for link order. One that places nothing (LTO, for lld) says so. */
static int check_count(const struct fragment *f, const char *name)
{
	uint32_t placed;

	if (read_heading(f, &placed))
		return placed == f->nr_patterns ? 0 :
			error("'%s' is cut short or changed: it has %u of the %u sections that its heading names", name,
			      f->nr_patterns, placed);
	return f->nr_patterns || f->nr_groups ? 0 : error("'%s' is no hottext fragment: it names no section", name);
}

static int read_text(struct fragment *f, const char *name)
{
	if (!read_statements(f, name) && !read_groups(f, name) && !check_count(f, name))
		return 0;
	fragment_release(f);
	return -1;
}

/* Line ends of one character: a carriage return before them would hide the groups' comments. */
static void drop_returns(char *text)
{
	char *to = text;

	for (const char *s = text; *s; s++)
		if (s[0] != '\r' || s[1] != '\n')
			*to++ = *s;
	*to = '\0';
}

int fragment_read(struct fragment *f, const char *path)
{
	struct mapfile m;

	memset(f, 0, sizeof(*f));
	if (mapfile_init(&m, path))
		return -1;
	bool zero = memchr(m.data, '\0', m.size);
	f->text = xstrndup(m.data, m.size);
	mapfile_release(&m);
	if (zero) {
		fragment_release(f);
		return error("'%s' is no hottext fragment: it holds a zero byte", path);
	}
	drop_returns(f->text);
	return read_text(f, path);
}

int fragment_from_layout(struct fragment *f, const struct layout *l)
{
	size_t size;

	memset(f, 0, sizeof(*f));
	FILE *fp = text_open(&f->text, &size);

	fragment_write(fp, l, NULL);
	text_close(fp, &f->text);
	return read_text(f, "hottext.ld");
}

/* Each line of text that begins with an object's name, once more for members of archives. */
static char *with_archives(const char *text)
{
	size_t size;
	char *out;
	FILE *fp = text_open(&out, &size);

	for (const char *line = text, *nl; *line; line = *nl ? nl + 1 : nl) {
		nl = strchrnul(line, '\n');
		fprintf(fp, "%.*s\n", (int)(nl - line), line);
		if (*line == '[')
			fprintf(fp, "*:%.*s\n", (int)(nl - line), line);
	}
	text_close(fp, &out);
	return out;
}

void fragment_for_lld(struct fragment *f)
{
	char *text = with_archives(f->text);

	free(f->text);
	f->text = text;
	for (uint32_t i = 0; i < f->nr_groups; i++) {
		char *members = with_archives(f->groups[i].members);

		free(f->groups[i].members);
		f->groups[i].members = members;
	}
}

void fragment_release(struct fragment *f)
{
	for (uint32_t i = 0; i < f->nr_patterns; i++)
		free(f->patterns[i]);
	for (uint32_t i = 0; i < f->nr_groups; i++) {
		free(f->groups[i].section);
		free(f->groups[i].members);
	}
	free(f->patterns);
	free(f->groups);
	free(f->text);
	memset(f, 0, sizeof(*f));
}

int fragment_apply(struct fragment *f, const char *in, FILE *fp)
{
	struct lds_changes c = { .take_in = true };
	struct lds l;

	if (claims_read_script(&l, in))
		return -1;
	if (f) {
		if (claims_drop(f, &l)) {
			lds_release(&l);
			return -1;
		}
		c.hot = f->text;
		c.groups = f->groups;
		c.nr_groups = f->nr_groups;
	}
	int ret = lds_rewrite(&l, &c, fp);
	lds_release(&l);
	return ret;
}
