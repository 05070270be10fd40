/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The readers of the kernel's own profiler: /proc/profile as it is, and the text of
 * readprofile(8). Flat: samples by function; no callers, no paths.
 *
 *   raw:   words of 32 bits (kernel/profile.c: atomic_t; 64 on some old kernels); the
 *          first is the step in bytes, the others count the ticks at _stext + i * step
 *   text:  samples name samples-per-byte; with -v an address before the name
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "collect/ftrace/ftrace_names.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"
#include "profile.h"
#include "reader.h"

enum { MAX_STEP = 1 << 16 };	/* shifts above 16 would leave a kernel a few dozen counters */

struct shape {
	unsigned int word;	/* bytes */
	bool big;
};

static const struct shape shapes[] = { { 4, false }, { 4, true }, { 8, false }, { 8, true } };

static uint64_t get_word(const unsigned char *p, struct shape s)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < s.word; i++)
		v = v << 8 | p[s.big ? i : s.word - 1 - i];
	return v;
}

/* The step that a file begins with, 0 when it is none. */
static uint64_t get_step(const unsigned char *p, size_t len, struct shape s)
{
	uint64_t step = len >= 2 * (size_t)s.word ? get_word(p, s) : 0;

	return step <= MAX_STEP && !(step & (step - 1)) ? step : 0;
}

static bool probe_raw(const char *head, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (get_step((const unsigned char *)head, len, shapes[i]))
			return true;
	return false;
}

/* Whether counters of that step span the kernel's text. */
static bool spans(uint64_t nr, uint64_t step, const struct symtab *st)
{
	uint64_t want = (st->etext_addr - st->stext_addr) / step;

	return nr >= want && nr <= want + 1;
}

/* The shape under which the counters span the kernel's text; NULL when there is none. */
static const struct shape *find_shape(const unsigned char *data, size_t size, const struct symtab *st)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		uint64_t step = get_step(data, size, shapes[i]);

		if (step && size % shapes[i].word == 0 && spans(size / shapes[i].word - 1, step, st))
			return &shapes[i];
	}
	return NULL;
}

/*
 * Whether these are files of 32-bit words one behind another. Two of them have as
 * many bytes as one of 64-bit words, but a second step in the middle.
 */
static bool is_concatenation(const unsigned char *data, size_t size, const struct symtab *st)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		size_t word = shapes[i].word;
		uint64_t step = get_step(data, size, shapes[i]);

		for (size_t nr = 2; step && nr <= size / word; nr++) {
			size_t each = size / nr;

			if (size % (nr * word) == 0 && spans(each / word - 1, step, st))
				return get_word(data + each, shapes[i]) == step;
			if (each / word - 1 < (st->etext_addr - st->stext_addr) / step)
				break;
		}
	}
	return false;
}

/* The function that has most of [addr, addr + step). */
static const struct sym *owner(const struct symtab *st, uint64_t addr, uint64_t step, uint64_t *at)
{
	const struct sym *best = NULL;
	uint64_t most = 0, a = addr;

	while (a < addr + step) {
		const struct sym *s = symtab_find(st, a);
		if (!s) {
			a += 1;
			continue;
		}
		uint64_t end = s->addr + s->size < addr + step ? s->addr + s->size : addr + step;
		if (end - a > most) {
			best = s;
			most = end - a;
			*at = a;
		}
		a = end;
	}
	return best;
}

static void add_counters(struct profile *p, const struct symtab *st, const unsigned char *data, size_t size,
			 const struct shape *shape, struct profile_source *src)
{
	uint64_t step = get_word(data, *shape), nr = size / shape->word - 1;

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t ticks = get_word(data + (i + 1) * shape->word, *shape), at = 0;

		if (!ticks)
			continue;
		/* The last counter also takes what lies beyond: modules. */
		const struct sym *s = i + 1 < nr ? owner(st, st->stext_addr + i * step, step, &at) : NULL;
		add_count(&src->samples, ticks);
		add_count(&src->kernel, ticks);
		if (!s) {
			add_count(&src->unresolved, ticks);
			continue;
		}
		add_count(&src->resolved, ticks);
		profile_add_samples(p, profile_func(p, s->id), (uint32_t)(at - s->addr), ticks);
	}
}

static int read_raw(struct input *in, const char *path, const struct collect_options *opts, struct profile *p)
{
	const struct symtab *st = opts->syms;
	size_t size;

	(void)path;
	if (!st)
		return error("cannot use '%s': it holds no symbols; give the kernel's --vmlinux or --kallsyms",
			     input_name(in));
	/* One counter for each byte is the most there can be. */
	size_t most = (size_t)(st->etext_addr - st->stext_addr + 2) * 8;
	const unsigned char *data = input_peek(in, most + 1, &size);
	if (input_failed(in))
		return -1;
	if (is_concatenation(data, size, st))
		return error("cannot use '%s': it is several profiles in one; give each as an input of its own",
			     input_name(in));
	const struct shape *shape = find_shape(data, size, st);
	if (!shape)
		return error("cannot use '%s': its counters do not span the text of '%s' "
			     "(truncated, or of another kernel)", input_name(in),
			     opts->vmlinux ? opts->vmlinux : "the kernel");
	struct profile_source *src = profile_add_source(p, "profile");
	profile_set(&src->event, "tick");
	source_set_kernel(src, st);
	add_counters(p, st, data, size, shape, src);
	input_skip(in, size);
	return 0;
}

/* Split a line in place at blanks; returns the number of fields. */
static unsigned int split(char *line, char **fields, unsigned int max)
{
	unsigned int nr = 0;
	char *save;

	for (char *s = strtok_r(line, " \t\r", &save); s && nr < max; s = strtok_r(NULL, " \t\r", &save))
		fields[nr++] = s;
	return nr;
}

/* "samples name ratio" or "address name samples ratio"; "samples *unknown*" in either. */
static bool parse_line(char *line, char **name, uint64_t *ticks)
{
	char *f[5];
	unsigned int nr = split(line, f, 5);
	double ratio;

	if (nr == 2 && !strcmp(f[1], "*unknown*")) {
		*name = f[1];
		return parse_u64(f[0], 10, ticks);
	}
	if ((nr != 3 && nr != 4) || !parse_double(f[nr - 1], &ratio) || !strchr(f[nr - 1], '.'))
		return false;
	*name = f[1];
	return parse_u64(nr == 3 ? f[0] : f[2], 10, ticks);
}

static bool probe_text(const char *head, size_t len)
{
	char line[256], *name;
	size_t n = strcspn(head, "\n");
	uint64_t ticks;

	if (n == len || n >= sizeof(line))
		return false;
	memcpy(line, head, n);
	line[n] = '\0';
	return parse_line(line, &name, &ticks);
}

/* Reads all lines, counts samples, resolved and unresolved ones. */
static int read_lines(struct input *in, const struct collect_options *opts, struct ftrace_names *names,
		      struct profile *p, struct profile_source *src)
{
	uint64_t ticks, bad = 0;
	char *line, *name;

	while ((line = input_line(in, NULL))) {
		if (!*line)
			continue;
		if (!parse_line(line, &name, &ticks)) {
			if (!opts->force)
				return error("cannot read '%s': line %lu is not 'samples name ratio'", input_name(in),
					     input_lineno(in));
			bad++;
			continue;
		}
		if (!strcmp(name, "total"))
			continue;
		add_count(&src->samples, ticks);
		if (!strcmp(name, "*unknown*")) {
			add_count(&src->unresolved, ticks);
			continue;
		}
		const struct ftrace_place *at = ftrace_names_text(names, name);
		add_count(at->resolved ? &src->resolved : &src->unresolved, ticks);
		profile_add_samples(p, at->func, PROFILE_OFF_UNKNOWN, ticks);
	}
	if (bad)
		warn("'%s': %llu lines left out, they are not 'samples name ratio'", input_name(in),
		     (unsigned long long)bad);
	return collect_rest(in, opts, input_lineno(in) > bad);
}

static int read_text(struct input *in, const char *path, const struct collect_options *opts,
		     struct profile *p)
{
	struct ftrace_names names;
	struct profile_source src = { 0 };

	(void)path;
	ftrace_names_init(&names, opts->syms, p);
	int ret = read_lines(in, opts, &names, p, &src);
	struct profile_source *s = profile_add_source(p, "readprofile");
	profile_set(&s->event, "tick");
	if (opts->syms)
		source_set_kernel(s, opts->syms);
	s->samples = s->kernel = src.samples;
	s->resolved = src.resolved;
	s->unresolved = src.unresolved;
	ftrace_names_release(&names);
	return ret;
}

const struct reader procprofile_reader = {
	.name = "profile",
	.tells = "flat samples: no callers, no paths; of modules nothing",
	.probe = probe_raw,
	.read = read_raw,
};

const struct reader readprofile_reader = {
	.name = "readprofile",
	.tells = "flat samples by name: no addresses, no callers, no paths",
	.probe = probe_text,
	.read = read_text,
};
