/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf stat, as text and as CSV (-x, or -x\;), numbers as the locale has them:
 *
 *        140,190      iTLB-load-misses:k     #  0.12% of all iTLB cache accesses  (66.61%)
 *           1.37 msec task-clock
 *    0.002105731 seconds time elapsed          0,002105731 where counts are 140.190
 *
 *   140190,,iTLB-load-misses:k,4212000,66.61,0.12,of all iTLB cache accesses
 *   VALUE,UNIT,EVENT,TIME COUNTED,SHARE OF TIME COUNTED,...
 */
#include "analyze/compare/readers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/figures.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/number.h"

enum { MAX_WORDS = 64, MAX_FIELDS = 16 };

struct event split_event(const char *name)
{
	const char *slash = strchr(name, '/'), *end = slash ? strchr(slash + 1, '/') : NULL;
	struct event e = { .pmu = name, .base = name };

	if (end) {
		e.nr_pmu = (size_t)(slash - name);
		e.base = slash + 1;
		e.nr_base = (size_t)(end - e.base);
		e.modifiers = end + 1 + (end[1] == ':');
	} else {
		e.nr_base = strcspn(name, ":");
		e.modifiers = name + e.nr_base + (name[e.nr_base] == ':');
	}
	return e;
}

/* The generic events that count misses of the TLB itself, once each; others count parts of them again. */
static bool is_tlb_miss(const char *name)
{
	static const char *const names[] = { "iTLB-load-misses", "dTLB-load-misses", "dTLB-store-misses",
					     "dTLB-prefetch-misses" };
	struct event e = split_event(name);

	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == e.nr_base && !strncmp(names[i], e.base, e.nr_base))
			return true;
	return false;
}

static void add(struct reading *r, const char *name, const char *unit, double value)
{
	bool elapsed = !strcmp(name, "elapsed");
	struct figure like = { .table = "", .name = name, .unit = unit, .better = BETTER_SMALLER,
			       .tlb_misses = is_tlb_miss(name), .elapsed = elapsed };

	figures_add(r->f, figures_figure(r->f, &like), figures_side(r->f, r->operand, ""), value);
}

/* How many bytes at s group thousands where decimal is the decimal mark; 0: it is none. */
static size_t group_mark(const char *s, char decimal)
{
	/* No-break space, its narrow kin, thin space, and the apostrophe of the Swiss. */
	static const char *const marks[] = { "\u00a0", "\u202f", "\u2009", "\u2019", "'" };

	if (*s == '.' || *s == ',')
		return *s != decimal;
	for (uint32_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (!strncmp(s, marks[i], strlen(marks[i])))
			return strlen(marks[i]);
	return 0;
}

/* Groups have three digits each, the first up to three and no 0 in front. */
static bool parse_count(const char *word, char decimal, double *out)
{
	char copy[40];
	size_t n = 0, digits = 0, mark;
	bool grouped = false, fraction = false;

	while (*word) {
		if (n + 2 > sizeof(copy))
			return false;
		if (isdigit((unsigned char)*word)) {
			copy[n++] = *word++;
			digits++;
			continue;
		}
		mark = group_mark(word, decimal);
		if ((!mark && *word != decimal) || fraction || !digits || (grouped && digits != 3))
			return false;
		if (mark && (digits > 3 || copy[0] == '0'))
			return false;
		grouped |= mark > 0;
		fraction = !mark;
		if (fraction)
			copy[n++] = '.';
		word += mark ? mark : 1;
		digits = 0;
	}
	copy[n] = '\0';
	return digits && (fraction || !grouped || digits == 3) && parse_double(copy, out);
}

static bool has_letter(const char *s)
{
	for (; *s; s++)
		if (isalpha((unsigned char)*s))
			return true;
	return false;
}

/* The names of an event may hold anything but blanks: where a comment begins is what ends them. */
static uint32_t drop_comment(char **words, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (words[i][0] == '#' || words[i][0] == '(')
			return i;
	return nr;
}

/* The words of a line of text in front of its comment: VALUE [UNIT] EVENT, VALUE seconds [time] NAME. */
static bool text_words(char *line, char **words, uint32_t *nr)
{
	if (!split_words(line, words, MAX_WORDS, nr))
		return false;
	*nr = drop_comment(words, *nr);
	if (*nr > 4 && !strcmp(words[1], "+-")) {	/* how far the runs of -r lie apart */
		*nr -= 2;
		memmove(words + 1, words + 3, (*nr - 1) * sizeof(*words));
	}
	return true;
}

static bool is_header(const char *line)
{
	return strstr(line, "Performance counter stats for");
}

/* '.' or ',' where a line's number can be read one way only; else 0, and *weak where it may be either. */
static char decimal_of(const char *line, char *weak)
{
	char *copy = xstrdup(line), *words[MAX_WORDS], mark = 0;
	uint32_t nr;
	double v;

	*weak = 0;
	if (text_words(copy, words, &nr) && nr >= 2 && nr <= 4 && strpbrk(words[0], ".,")) {
		bool point = parse_count(words[0], '.', &v), comma = parse_count(words[0], ',', &v);

		if (point != comma)
			mark = point ? '.' : ',';
		else if (point && (!strcmp(words[1], "seconds") || !strcmp(words[1], "msec")))
			*weak = strpbrk(words[0], ".,")[0];
		else if (point)	/* perf never prints three decimals of a count */
			mark = strchr(words[0], ',') ? '.' : ',';
	}
	free(copy);
	return mark;
}

/* SECONDS.NANOSECONDS and a count behind it, as -I begins its lines. */
static bool is_interval(const char *line)
{
	line += strspn(line, " ");
	size_t whole = strspn(line, "0123456789");

	if (!whole || !line[whole] || !strchr(".,", line[whole]) ||
	    strspn(line + whole + 1, "0123456789") != 9)
		return false;
	line += whole + 10;
	size_t gap = strspn(line, " \t,;");
	return gap && (isdigit((unsigned char)line[gap]) || line[gap] == '<');
}

int perf_begin(struct reading *r, char *const *lines, unsigned long nr)
{
	unsigned long shown = 0;
	bool text = false;
	char weak = 0;

	r->decimal = '.';
	for (unsigned long i = 0; i < nr; i++) {
		char maybe, mark;

		if (is_interval(lines[i]))
			return error("cannot compare '%s': line %lu: perf stat -I prints parts of one run: "
				     "record several runs", r->path, i + 1);
		text |= is_header(lines[i]);
		mark = text ? decimal_of(lines[i], &maybe) : 0;
		if (mark && shown && mark != r->decimal)
			return error("cannot compare '%s': decimal commas and points in it: lines %lu and %lu",
				     r->path, shown, i + 1);
		if (mark && !shown) {
			shown = i + 1;
			r->decimal = mark;
		}
		if (text && maybe && !weak)
			weak = maybe;
	}
	if (!shown && weak)
		r->decimal = weak;
	return 0;
}

static bool take_text(struct reading *r, char *line)
{
	char *words[MAX_WORDS];
	uint32_t nr;
	double v;

	if (is_header(line)) {
		r->in_perf = true;
		if (strstr(line, " runs)"))
			warn("'%s': line %lu: means of several runs count as one run: record them one by one",
			     r->path, r->line);
		return true;
	}
	if (!r->in_perf)
		return false;
	if (strstr(line, "<not counted>") || strstr(line, "<not supported>")) {
		r->f->not_counted++;
		return true;
	}
	if (!text_words(line, words, &nr))
		return false;
	if (!nr)
		return true;	/* a comment of its own: more about the event above */
	if (nr < 2 || nr > 4 || !parse_count(words[0], r->decimal, &v))
		return false;
	if (!strcmp(words[1], "seconds")) {
		const char *name = nr == 4 && !strcmp(words[3], "elapsed") ? "elapsed" : words[nr - 1];

		add(r, name, "s", v);
		return true;
	}
	if (nr == 4 || !has_letter(words[nr - 1]) || !has_letter(words[1]))
		return false;
	add(r, words[nr - 1], nr == 3 ? words[1] : "", v);
	return true;
}

/* The field at *next. What two slashes enclose is of one event: cpu/event=0x85,umask=0x1/. */
static char *next_field(char **next, const char *separator, bool event)
{
	char *field = *next, *end = field + strcspn(field, separator);
	char *slash = event ? memchr(field, '/', (size_t)(end - field)) : NULL;

	if (slash)
		slash = strchr(slash + 1, '/');
	if (slash && slash > end)
		end = slash + strcspn(slash, separator);
	*next = *end ? end + 1 : NULL;
	*end = '\0';
	return field;
}

static bool take_csv(struct reading *r, char *line)
{
	char *fields[MAX_FIELDS], *next = line, *comma;
	const char *separator = strchr(line, ';') ? ";" : ",";
	uint32_t nr = 0;
	double v;

	for (; next && nr < MAX_FIELDS; nr++)
		fields[nr] = next_field(&next, separator, nr == 2);
	if (nr < 5 || !has_letter(fields[2]) || isdigit((unsigned char)fields[1][0]))
		return false;
	if (!strcmp(fields[0], "<not counted>") || !strcmp(fields[0], "<not supported>")) {
		r->f->not_counted++;
		return true;
	}
	comma = strchr(fields[0], ',');
	if (comma)	/* nothing is grouped here */
		*comma = '.';
	if (!isdigit((unsigned char)fields[0][0]) || !parse_double(fields[0], &v))
		return false;
	add(r, fields[2], fields[1], v);
	return true;
}

bool perf_take(struct reading *r, char *line)
{
	char *copy = xstrdup(line);
	bool taken = take_text(r, copy) || take_csv(r, line);

	free(copy);
	return taken;
}
