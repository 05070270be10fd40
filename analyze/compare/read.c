/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens an operand, tells LMbench's summaries from counters, hands lines round. */
#include "analyze/compare/readers.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/compare/figures.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/input.h"
#include "lib/mem.h"

struct text {
	char **lines;
	unsigned long nr_lines, alloc_lines;
};

static void text_release(struct text *t)
{
	for (unsigned long i = 0; i < t->nr_lines; i++)
		free(t->lines[i]);
	free(t->lines);
}

static int text_init(struct text *t, const char *path)
{
	struct input *in = input_open(path);
	const char *line;
	size_t len;
	int ret = 0;

	memset(t, 0, sizeof(*t));
	if (!in)
		return -1;
	while (!ret && (line = input_line(in, &len))) {
		while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
			len--;
		if (memchr(line, '\0', len))
			ret = error("cannot read '%s': not a text", path);
		ALLOC_GROW(t->lines, t->nr_lines + 1, t->alloc_lines);
		t->lines[t->nr_lines++] = xstrndup(line, len);
	}
	if (!ret && input_failed(in))
		ret = -1;
	input_close(in);
	if (ret)
		text_release(t);
	return ret;
}

bool split_words(char *line, char **words, uint32_t max, uint32_t *nr)
{
	char *save = NULL;

	*nr = 0;
	for (char *w = strtok_r(line, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (*nr == max)
			return false;
		words[(*nr)++] = w;
	}
	return true;
}

static bool is_lmbench(const struct text *t)
{
	for (unsigned long i = 0; i < t->nr_lines; i++)
		if (lmbench_title(t->lines[i]))
			return true;
	return false;
}

/* The readers cut their line up, so each gets a copy. */
static bool take(struct reading *r, const char *line, bool (*reader)(struct reading *, char *))
{
	char *copy = xstrdup(line);
	bool taken = reader(r, copy);

	free(copy);
	return taken;
}

static int read_counters(struct figures *f, uint32_t operand, const char *path, const struct text *t)
{
	struct reading r = { .f = f, .path = path, .operand = operand };

	if (perf_begin(&r, t->lines, t->nr_lines))
		return -1;
	for (unsigned long i = 0; i < t->nr_lines; i++) {
		const char *line = t->lines[i];

		r.line = i + 1;
		if (line[strspn(line, " \t")] == '\0' || line[0] == '#')
			continue;
		if (take(&r, line, time_take) || take(&r, line, perf_take) || take(&r, line, counter_take))
			continue;
		detail("'%s': line %lu not understood", path, r.line);
		f->not_understood++;
	}
	return 0;
}

static int read_file(struct figures *f, uint32_t operand, const char *path)
{
	uint32_t before = f->nr_values + f->nr_ambiguous;
	struct text t;
	int ret = 0;

	if (text_init(&t, path))
		return -1;
	if (is_lmbench(&t))
		lmbench_read(f, operand, path, t.lines, t.nr_lines);
	else
		ret = read_counters(f, operand, path, &t);
	text_release(&t);
	if (ret)
		return ret;
	if (f->nr_values + f->nr_ambiguous > before)
		return 0;
	return error("cannot compare '%s': no kernel, counters, times or LMbench summary", path);
}

static int is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);	/* not by locale, as alphasort() */
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int read_folder(struct figures *f, uint32_t operand, const char *path)
{
	struct dirent **entries;
	int nr = scandir(path, &entries, is_visible, compare_names), ret = 0, files = 0;

	if (nr < 0)
		return error("cannot read '%s': %s", path, strerror(errno));
	for (int i = 0; i < nr; i++) {
		char *file = path_join(path, entries[i]->d_name);

		if (!ret && is_folder(file)) {
			warn("'%s' is a folder in a folder: left out", file);
		} else if (!ret) {
			ret = read_file(f, operand, file);
			files++;
		}
		free(file);
		free(entries[i]);
	}
	free(entries);
	return ret || files ? ret : error("cannot compare '%s': the folder is empty", path);
}

int read_operand(struct figures *f, uint32_t operand, const char *path)
{
	return is_folder(path) ? read_folder(f, operand, path) : read_file(f, operand, path);
}
