/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf stat, as text and as CSV (-x,):
 *
 *        140,190      iTLB-load-misses:k     #  0.12% of all iTLB cache accesses  (66.61%)
 *           1.37 msec task-clock
 *    0.002105731 seconds time elapsed
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

/* The generic events that count misses of the TLB itself, once each; others count parts of them again. */
static bool is_tlb_miss(const char *event)
{
	static const char *const names[] = { "iTLB-load-misses", "dTLB-load-misses", "dTLB-store-misses",
					     "dTLB-prefetch-misses" };
	size_t n = strcspn(event, ":");

	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && !strncmp(names[i], event, n))
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

/* Thousands may be grouped by commas. */
static bool parse_count(const char *word, double *out)
{
	char copy[40];
	size_t n = 0;

	for (; *word; word++)
		if (*word != ',') {
			if (n + 1 == sizeof(copy))
				return false;
			copy[n++] = *word;
		}
	copy[n] = '\0';
	return isdigit((unsigned char)copy[0]) && parse_double(copy, out);
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

static bool take_text(struct reading *r, char *line)
{
	char *words[MAX_WORDS];
	uint32_t nr;
	double v;

	if (strstr(line, "Performance counter stats for")) {
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
	if (!split_words(line, words, MAX_WORDS, &nr))
		return false;
	nr = drop_comment(words, nr);
	if (!nr)
		return true;	/* a comment of its own: more about the event above */
	if (nr < 2 || nr > 4 || !parse_count(words[0], &v))
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

static bool take_csv(struct reading *r, char *line)
{
	char *fields[MAX_FIELDS], *next = line;
	uint32_t nr = 0;
	double v;

	while (next && nr < MAX_FIELDS)
		fields[nr++] = strsep(&next, ",;");
	if (nr < 5 || !has_letter(fields[2]) || isdigit((unsigned char)fields[1][0]))
		return false;
	if (!strcmp(fields[0], "<not counted>") || !strcmp(fields[0], "<not supported>")) {
		r->f->not_counted++;
		return true;
	}
	if (!parse_count(fields[0], &v))
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
