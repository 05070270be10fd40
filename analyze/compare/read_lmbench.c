/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads LMbench's summaries, also as mailers left them: quoted, header and rows
 * broken at the line's end, runs of blanks squeezed into one.
 *
 * A row with as many cells as its table has columns is read in order. One with fewer is
 * read by the ruler, if each cell ends where a column ends. Where it does not, nobody
 * can say which cells are blank, and the row is set aside as ambiguous.
 */
#include "analyze/compare/readers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/figures.h"
#include "analyze/compare/lmbench.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/number.h"

enum {
	HOST_WIDTH = 9,		/* "%-9.9s %13.13s " in every release */
	OS_START = 10,
	OS_END = 23,
	MAX_CELLS = 2 * LMBENCH_MAX_COLUMNS,
};

/* One run's row, until it is complete. */
struct row {
	char host[64], os[64];
	unsigned long line;
	double values[MAX_CELLS];	/* 0: no result */
	uint32_t ends[MAX_CELLS];	/* column behind the cell's last character, 0: not known */
	uint32_t nr_cells;
};

enum state { OUTSIDE, TITLE, HEADER, ROWS };

/* A row that was read; whose it is shows when all rows are known. */
struct result {
	uint32_t host, os;	/* strings of summary.names */
	uint32_t figure;
	double value;
};

struct summary {
	struct figures *f;
	uint32_t operand;
	const char *path;
	enum state state;
	char *title;
	const char *unit;
	enum better better;
	char *header;			/* words so far */
	const struct lmbench_table *table;
	uint32_t ends[LMBENCH_MAX_COLUMNS];	/* from the ruler */
	uint32_t nr_ends;
	bool broken_ruler;		/* the mailer broke lines: positions mean nothing */
	struct row row;
	bool have_row;
	bool seen_row;
	struct index names;
	struct result *results;
	uint32_t nr_results, alloc_results;
};

bool lmbench_title(const char *line)
{
	return strstr(line, " - smaller is better") || strstr(line, " - bigger is better");
}

/* Only dashes and blanks, and a dash. */
static bool is_ruler(const char *line)
{
	return strchr(line, '-') && line[strspn(line, "- ")] == '\0';
}

static const char *find_unit(const char *title)
{
	return strstr(title, "microseconds")  ? "us"
	       : strstr(title, "nanoseconds") ? "ns"
	       : strstr(title, "MB/s")	      ? "MB/s"
					      : "";
}

static void begin_table(struct summary *s, const char *line)
{
	size_t n = strcspn(line, "-");
	const char *latencies = strstr(line, " in ");

	if (latencies && latencies < line + n)
		n = (size_t)(latencies - line);
	while (n && line[n - 1] == ' ')
		n--;
	free(s->title);
	s->title = xstrndup(line, n);
	s->unit = find_unit(line);
	s->better = strstr(line, "bigger") ? BETTER_BIGGER : BETTER_SMALLER;
	free(s->header);
	s->header = xstrdup("");
	s->state = TITLE;
	s->seen_row = false;
}

static void add_header_words(struct summary *s, const char *line)
{
	while (*(line += strspn(line, " \t"))) {
		size_t n = strcspn(line, " \t");
		char *longer = xasprintf("%s%s%.*s", s->header, s->header[0] ? " " : "", (int)n, line);

		free(s->header);
		s->header = longer;
		line += n;
	}
}

/* Columns behind Host and OS that the ruler shows. */
static void read_ruler(struct summary *s, const char *line)
{
	uint32_t group = 0, at = 0;

	s->nr_ends = 0;
	s->broken_ruler = false;
	while (line[at += (uint32_t)strspn(line + at, " ")]) {
		uint32_t n = (uint32_t)strspn(line + at, "-");

		if (++group > 2 && s->nr_ends < LMBENCH_MAX_COLUMNS)
			s->ends[s->nr_ends++] = at + n;
		at += n;
	}
}

static void begin_rows(struct summary *s, const char *line)
{
	read_ruler(s, line);
	s->state = ROWS;
	s->table = lmbench_table(s->header);
	if (!s->table)
		warn("'%s': no release of LMbench has a table '%s' with such a header; its columns are "
		     "numbered",
		     s->path, s->title);
}

static uint32_t nr_columns(const struct summary *s)
{
	return s->table ? lmbench_nr_columns(s->table) : s->nr_ends;
}

static bool has_guesses(const struct summary *s)
{
	return s->table && !strcmp(s->table->columns[nr_columns(s) - 1], LMBENCH_GUESSES);
}

/* Columns of numbers. */
static uint32_t nr_numbers(const struct summary *s)
{
	return nr_columns(s) - has_guesses(s);
}

/* "1.46", "917.", "31.K", "0.51K", "1.2M", "-1" and "-" (no result: 0). */
static bool parse_cell(const char *word, size_t n, double *out)
{
	char copy[24];
	double scale = 1;

	if (!n || n >= sizeof(copy))
		return false;
	memcpy(copy, word, n);
	copy[n] = '\0';
	if (!strcmp(copy, "-")) {
		*out = 0;
		return true;
	}
	if (copy[n - 1] == 'K' || copy[n - 1] == 'M') {
		scale = copy[n - 1] == 'K' ? 1e3 : 1e6;
		copy[n - 1] = '\0';
	}
	if (!isdigit((unsigned char)copy[0]) && copy[0] != '.' && copy[0] != '-')
		return false;
	if (!parse_double(copy, out))
		return false;
	*out = *out > 0 ? *out * scale : 0;
	return true;
}

/* Cells from at on, as long as words are numbers; false when what follows is not the guesses' column. */
static bool read_cells(struct summary *s, const char *line, uint32_t at, bool placed)
{
	struct row *r = &s->row;

	while (line[at += (uint32_t)strspn(line + at, " \t")]) {
		uint32_t n = (uint32_t)strcspn(line + at, " \t");

		if (r->nr_cells == MAX_CELLS)
			return false;
		if (!parse_cell(line + at, n, &r->values[r->nr_cells]))
			return r->nr_cells && has_guesses(s);
		at += n;
		r->ends[r->nr_cells++] = placed ? at : 0;
	}
	return r->nr_cells;
}

static void copy_field(char *out, size_t size, const char *from, size_t n)
{
	while (n && *from == ' ')
		from++, n--;
	while (n && from[n - 1] == ' ')
		n--;
	if (n >= size)
		n = size - 1;
	memcpy(out, from, n);
	out[n] = '\0';
}

/* Host and OS where getsummary puts them: the host from the left, the OS up to its right end. */
static bool split_placed(struct row *r, const char *line)
{
	if (strlen(line) <= OS_END || line[0] == ' ' || line[HOST_WIDTH] != ' ' || line[OS_END] != ' ' ||
	    line[OS_END - 1] == ' ')
		return false;
	copy_field(r->host, sizeof(r->host), line, HOST_WIDTH);
	copy_field(r->os, sizeof(r->os), line + OS_START, OS_END - OS_START);
	return !strchr(r->host, ' ') && !strstr(r->os, "  ");
}

/* Host and OS of a squeezed line: the OS is a name and a release, cut at 13 characters. */
static uint32_t split_squeezed(struct row *r, const char *line)
{
	size_t host = strcspn(line, " \t"), gap = strspn(line + host, " \t");
	const char *os = line + host + gap;
	size_t name = strcspn(os, " \t"), blank = strspn(os + name, " \t");
	size_t release = strcspn(os + name + blank, " \t");

	if (!host || !gap || !name || !blank)
		return 0;
	size_t n = name + 1 + release <= OS_END - OS_START ? name + blank + release : name;
	copy_field(r->host, sizeof(r->host), line, host);
	copy_field(r->os, sizeof(r->os), os, n);
	return (uint32_t)(host + gap + n);
}

static void add_result(struct summary *s, uint32_t column, double value)
{
	char number[24];
	const char *name = s->table ? s->table->columns[column] : number;

	snprintf(number, sizeof(number), "column %u", column + 1);
	if (!name[0])
		return;
	if (value <= 0) {
		s->f->not_counted++;
		return;
	}
	struct figure like = { .table = s->title, .name = name, .unit = s->unit, .better = s->better };
	ALLOC_GROW(s->results, s->nr_results + 1, s->alloc_results);
	s->results[s->nr_results++] = (struct result){ index_add_str(&s->names, s->row.host),
						       index_add_str(&s->names, s->row.os),
						       figures_figure(s->f, &like), value };
}

/* Column of each cell by where it ends; false when one ends between two columns' ends. */
static bool place_cells(const struct summary *s, uint32_t *column)
{
	const struct row *r = &s->row;
	uint32_t c = 0;

	if (s->broken_ruler || s->nr_ends != nr_columns(s))
		return false;
	for (uint32_t i = 0; i < r->nr_cells; i++) {
		while (c < nr_numbers(s) && s->ends[c] < r->ends[i])
			c++;
		if (c == nr_numbers(s) || s->ends[c] != r->ends[i])
			return false;
		column[i] = c++;
	}
	return true;
}

static void end_row(struct summary *s)
{
	struct row *r = &s->row;
	uint32_t column[MAX_CELLS];

	if (!s->have_row)
		return;
	s->have_row = false;
	s->seen_row = true;
	if (r->nr_cells == nr_numbers(s)) {
		for (uint32_t i = 0; i < r->nr_cells; i++)
			add_result(s, i, r->values[i]);
	} else if (r->nr_cells < nr_numbers(s) && place_cells(s, column)) {
		for (uint32_t i = 0; i < r->nr_cells; i++)
			add_result(s, column[i], r->values[i]);
	} else {
		struct ambiguous a = { s->path, s->title, r->host, r->line, r->nr_cells, nr_numbers(s) };

		figures_add_ambiguous(s->f, &a);
	}
}

/* The rest of a row that the mailer broke: numbers only, and just as many as were missing. */
static bool continues_row(struct summary *s, const char *line)
{
	struct row *r = &s->row, old = *r;

	if (!s->have_row || r->nr_cells >= nr_numbers(s))
		return false;
	if (read_cells(s, line, 0, false) && r->nr_cells == nr_numbers(s))
		return true;
	*r = old;
	return false;
}

static void take_row(struct summary *s, const char *line, unsigned long number)
{
	if (continues_row(s, line))
		return;
	end_row(s);
	s->row = (struct row){ .line = number };
	bool placed = split_placed(&s->row, line);
	uint32_t at = placed ? OS_END : split_squeezed(&s->row, line);
	/*
	 * Without two blanks anywhere a line may have been squeezed, though all of its cells end where columns do:
	 * those behind a blank one moved up by a column. A hand's remark between the rows has no cells.
	 */
	if (!at || !read_cells(s, line, at, placed && strstr(line, "  "))) {
		detail("'%s': line %lu is no row of '%s'", s->path, number, s->title);
		s->f->not_understood++;
		return;
	}
	s->have_row = true;
}

static void take_blank(struct summary *s)
{
	end_row(s);
	/* Some releases leave a line free above the first row. */
	if (s->state == ROWS && s->seen_row)
		s->state = OUTSIDE;
}

static void take_line(struct summary *s, const char *line, unsigned long number)
{
	while (*line == '>')
		line += 1 + (line[1] == ' ');
	const char *text = line + strspn(line, " \t");
	if (!*text) {
		take_blank(s);
	} else if (strstr(line, "L M B E N C H") || !strncmp(text, "Basic system parameters", 23)) {
		end_row(s);
		s->state = OUTSIDE;
	} else if (lmbench_title(line)) {
		end_row(s);
		begin_table(s, text);
	} else if (s->state == TITLE && !strncmp(text, "Host ", 5)) {
		s->state = HEADER;
		text += 5 + strspn(text + 5, " \t");
		add_header_words(s, text + (strncmp(text, "OS", 2) ? 0 : 2));
	} else if (s->state == HEADER && is_ruler(line)) {
		begin_rows(s, line);
	} else if (s->state == HEADER) {
		add_header_words(s, line);
	} else if (s->state == ROWS && !s->seen_row && is_ruler(line)) {
		s->broken_ruler = true;
	} else if (s->state == ROWS) {
		take_row(s, line, number);
	}
}

/* The host as it is known: with its system where it ran several. */
static void emit_results(struct summary *s)
{
	uint32_t *os = xcalloc(s->names.nr_keys, sizeof(*os));	/* [host]: its system + 1 */
	bool *several = xcalloc(s->names.nr_keys, sizeof(*several));

	for (uint32_t i = 0; i < s->nr_results; i++) {
		const struct result *r = &s->results[i];

		several[r->host] |= os[r->host] && os[r->host] != r->os + 1;
		os[r->host] = r->os + 1;
	}
	for (uint32_t i = 0; i < s->nr_results; i++) {
		const struct result *r = &s->results[i];
		const char *host = index_str(&s->names, r->host);
		char *name = several[r->host] ? xasprintf("%s %s", host, index_str(&s->names, r->os))
					      : xstrdup(host);

		figures_add(s->f, r->figure, figures_side(s->f, s->operand, name), r->value);
		free(name);
	}
	free(os);
	free(several);
}

void lmbench_read(struct figures *f, uint32_t operand, const char *path, char **lines, unsigned long nr_lines)
{
	struct summary s = { .f = f, .operand = operand, .path = path };

	for (unsigned long i = 0; i < nr_lines; i++)
		take_line(&s, lines[i], i + 1);
	end_row(&s);
	emit_results(&s);
	index_release(&s.names);
	free(s.results);
	free(s.title);
	free(s.header);
}
