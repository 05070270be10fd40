/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `time` prints, a run after the other:
 *
 *   real    0m3.440s                             bash
 *   real 3.44                                    POSIX sh, time -p
 *   v2.4 real 3.440 user 0.090 sys 3.330         the same on one line, behind the name of what ran
 *       0m03.44s real     0m00.09s user ...      ksh
 *   0.09user 3.33system 0:03.44elapsed 99%CPU    GNU time, and a second line of page faults
 *   User time (seconds): 0.09                    GNU time -v, one of a list
 */
#include "analyze/compare/readers.h"

#include <string.h>

#include "analyze/compare/figures.h"
#include "lib/mem.h"
#include "lib/number.h"

enum { MAX_WORDS = 16 };

static void add(struct reading *r, const char *host, const char *name, const char *unit, double value)
{
	struct figure like = { .table = "", .name = name, .unit = unit, .better = BETTER_SMALLER,
			       .elapsed = !strcmp(name, "real") };

	figures_add(r->f, figures_figure(r->f, &like), figures_side(r->f, r->operand, host), value);
}

/* "3.44", "0m3.440s", "0:03.44", "1:02:03", a decimal comma where the locale has one; seconds. */
static bool parse_time(const char *word, double *out)
{
	char copy[32];
	double sum = 0, v;
	size_t n = strlen(word);

	if (n >= sizeof(copy))
		return false;
	memcpy(copy, word, n + 1);
	if (n && copy[n - 1] == 's')
		copy[n - 1] = '\0';
	for (char *p = copy; (p = strchr(p, ',')); )
		*p = '.';
	char *next = copy, *part;
	while ((part = strsep(&next, "hm:"))) {
		if (!parse_double(part, &v) || v < 0)
			return false;
		sum = sum * 60 + v;
	}
	*out = sum;
	return true;
}

static const char *time_name(const char *word)
{
	if (!strcmp(word, "real") || !strcmp(word, "user") || !strcmp(word, "sys"))
		return word;
	return !strcmp(word, "system") ? "sys" : NULL;
}

/* Pairs of a name and a time, in either order, behind a host where their number is odd. */
static bool take_pairs(struct reading *r, char **words, uint32_t nr)
{
	const char *host = nr % 2 ? words[0] : "", *names[MAX_WORDS];
	double values[MAX_WORDS];
	uint32_t pairs = 0;

	if (nr < 2 || (nr % 2 && (time_name(words[0]) || parse_time(words[0], &values[0]))))
		return false;
	for (uint32_t i = nr % 2; i < nr; i += 2, pairs++) {
		names[pairs] = time_name(words[i]);
		const char *value = words[i + 1];
		if (!names[pairs]) {
			names[pairs] = time_name(words[i + 1]);
			value = words[i];
		}
		if (!names[pairs] || !parse_time(value, &values[pairs]))
			return false;
	}
	for (uint32_t i = 0; i < pairs; i++)
		add(r, host, names[i], "s", values[i]);
	return true;
}

/* A word that ends in what it counts: "0.09user". */
static bool suffixed(const char *word, const char *suffix, double *out)
{
	size_t n = strlen(word), k = strlen(suffix);
	char copy[32];

	if (n <= k || n - k >= sizeof(copy) || strcmp(word + n - k, suffix))
		return false;
	memcpy(copy, word, n - k);
	copy[n - k] = '\0';
	return parse_time(copy, out);
}

static bool take_gnu(struct reading *r, char **words, uint32_t nr)
{
	double user, sys, real, major, minor;

	if (nr >= 3 && suffixed(words[0], "user", &user) && suffixed(words[1], "system", &sys) &&
	    suffixed(words[2], "elapsed", &real)) {
		add(r, "", "real", "s", real);
		add(r, "", "user", "s", user);
		add(r, "", "sys", "s", sys);
		return true;
	}
	/* 0inputs+0outputs (0major+85minor)pagefaults 0swaps */
	if (nr != 3 || !strstr(words[0], "inputs+") || words[1][0] != '(')
		return false;
	char *end = strchr(words[1], ')'), *plus = strchr(words[1], '+');
	if (!end || !plus || plus > end)
		return false;
	*end = *plus = '\0';
	if (!suffixed(words[1] + 1, "major", &major) || !suffixed(plus + 1, "minor", &minor))
		return false;
	add(r, "", "major faults", "", major);
	add(r, "", "minor faults", "", minor);
	return true;
}

static const struct verbose_line {
	const char *starts;
	const char *name, *unit;	/* NULL: of no interest here */
} verbose_lines[] = {
	{ "User time (seconds): ", "user", "s" },
	{ "System time (seconds): ", "sys", "s" },
	{ "Elapsed (wall clock) time (h:mm:ss or m:ss): ", "real", "s" },
	{ "Maximum resident set size (kbytes): ", "resident", "KB" },
	{ "Major (requiring I/O) page faults: ", "major faults", "" },
	{ "Minor (reclaiming a frame) page faults: ", "minor faults", "" },
	{ "Voluntary context switches: ", "voluntary switches", "" },
	{ "Involuntary context switches: ", "involuntary switches", "" },
	{ "Percent of CPU", NULL, NULL },
	{ "Average ", NULL, NULL },
	{ "Swaps: ", NULL, NULL },
	{ "File system ", NULL, NULL },
	{ "Socket messages ", NULL, NULL },
	{ "Signals delivered: ", NULL, NULL },
	{ "Page size (bytes): ", NULL, NULL },
	{ "Exit status: ", NULL, NULL },
};

static bool take_verbose(struct reading *r, const char *line)
{
	double v;

	line += strspn(line, " \t");
	if (!strncmp(line, "Command being timed: ", 21))
		r->in_time = true;
	if (!r->in_time)
		return false;
	if (!strncmp(line, "Command being timed: ", 21))
		return true;
	for (uint32_t i = 0; i < ARRAY_SIZE(verbose_lines); i++) {
		const struct verbose_line *l = &verbose_lines[i];
		size_t n = strlen(l->starts);

		if (strncmp(line, l->starts, n))
			continue;
		if (!l->name)
			return true;
		if (!parse_time(line + n, &v))
			return false;
		add(r, "", l->name, l->unit, v);
		return true;
	}
	return false;
}

bool time_take(struct reading *r, char *line)
{
	char *words[MAX_WORDS];
	uint32_t nr;

	if (take_verbose(r, line))
		return true;
	return split_words(line, words, MAX_WORDS, &nr) &&
	       (take_pairs(r, words, nr) || take_gnu(r, words, nr));
}
