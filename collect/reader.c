/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Telling inputs apart, and the reader of our own profiles. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collect/perf/perfdata.h"
#include "collect/profile.h"
#include "collect/profile_text.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/kind.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"

/* bytes: most inputs are known by the first few; comments or one line can be long */
enum { HEAD_SIZE = 1 << 12, MAX_HEAD = 1 << 24 };

/* The line's fields as letters: a number, an offset, a path's id, or any word. */
static bool has_form(const char *s, const char *end, const char *form)
{
	for (; *form; form++, s++) {
		size_t n = 0;

		if (*form == '*')
			return true;
		while (s + n < end && s[n] != ' ')
			n++;
		uint64_t v;
		const char *p = s;
		bool good = n;
		if (*form == 'n')
			good = scan_dec(&p, &v) && p == s + n;
		else if (*form == 'o')
			good = !strncmp(s, "0x", 2) || (n == 1 && *s == '-');
		else if (*form == 'i')
			good = n == 16 && strspn(s, "0123456789abcdef") == n;
		s += n;
		if (!good || (form[1] != '*' && (s == end) != !form[1]))
			return false;
	}
	return true;
}

/* Its lines may be in any order, so that its header comes late or, cut off, never. */
static bool probe_hot(const char *head, size_t len)
{
	static const struct { const char *word, *form; } lines[] = {
		{ "call ", "wown" }, { "func ", "wnn" }, { "next ", "iin" }, { "path ", "iwwn*" },
		{ "source ", "wwwwwnnnnn" }, { "touch ", "won" },
	};
	const char *end, *stop = head + len;

	while (head < stop && (*head == '#' || *head == '\n')) {
		if (!(end = memchr(head, '\n', (size_t)(stop - head))))
			return false;
		head = end + 1;
	}
	if (!strncmp(head, PROFILE_MAGIC, strlen(PROFILE_MAGIC)))
		return true;
	end = memchr(head, '\n', (size_t)(stop - head));
	for (size_t i = 0; end && i < ARRAY_SIZE(lines); i++)
		if (!strncmp(head, lines[i].word, strlen(lines[i].word)))
			return has_form(head + strlen(lines[i].word), end, lines[i].form);
	return false;
}

static int read_hot(struct input *in, const char *path, const struct collect_options *opts, struct profile *p)
{
	(void)path;
	return opts->force ? profile_read_damaged(p, in) : profile_read(p, in);
}

const struct reader hot_reader = {
	.name = "hot",
	.tells = "whatever the profiles told that it was made of",
	.probe = probe_hot,
	.read = read_hot,
};

const struct reader *const readers[] = {
	&hot_reader,
	&perfdata_reader,
	&tracedat_reader,
	&fetch_reader,
	&ftracetext_reader,
	&perfscript_reader,
	&readprofile_reader,
	&bpftrace_reader,
	&folded_reader,
	&fdata_reader,
	&autofdo_reader,
	&procprofile_reader,	/* last: has no magic */
	NULL
};

/* CR before a newline is no part of any text: input_line() drops it, too. */
static size_t drop_cr(char *head, size_t len)
{
	size_t out = 0;

	if (strlen(head) != len)	/* no text */
		return len;
	for (size_t i = 0; i < len; i++)
		if (head[i] != '\r' || (head[i + 1] && head[i + 1] != '\n'))
			head[out++] = head[i];
	head[out] = '\0';
	return out;
}

static const struct reader *recognise(const char *data, size_t len)
{
	const struct reader *const *r = readers;
	char *head = xmalloc(len + 1);

	memcpy(head, data, len);
	head[len] = '\0';
	len = drop_cr(head, len);
	while (*r && !(*r)->probe(head, len))
		r++;
	free(head);
	return *r;
}

/* NULL after reporting. */
static const struct reader *recognise_input(struct input *in, const struct collect_options *opts)
{
	size_t len, want = HEAD_SIZE;
	const void *data = input_peek(in, 16, &len);
	const struct reader *r;

	if (kind_check_head(input_name(in), data, len, "a profile"))
		return NULL;
	/* The zstd frames within these are for their readers to open. */
	if (perfdata_reader.probe(data, len) || tracedat_reader.probe(data, len))
		input_raw(in);
	do {
		data = input_peek(in, want, &len);
		if (input_failed(in) && !(opts->force && len))
			return NULL;
		if (!len) {
			error("cannot read '%s': the file is empty", input_name(in));
			return NULL;
		}
		r = recognise(data, len < want ? len : want);
		want *= 16;
	} while (!r && len >= want / 16 && want <= MAX_HEAD);
	if (!r && !input_failed(in))
		error("cannot read '%s': not a profile of any known kind", input_name(in));
	return r;
}

static int read_input(struct input *in, const char *path, const struct collect_options *opts,
		      struct profile *p)
{
	const struct reader *r = recognise_input(in, opts);

	if (!r)
		return -1;
	detail("'%s' is read as %s", input_name(in), r->name);
	return r->read(in, path, opts, p);
}

const struct reader *collect_recognise(const char *path)
{
	const struct collect_options opts = { .syms = NULL };
	struct input *in = input_open(path);
	const struct reader *r = in ? recognise_input(in, &opts) : NULL;

	input_close(in);
	return r;
}

bool collect_needs_symbols(const struct reader *r)
{
	return r == &perfdata_reader || r == &fetch_reader || r == &procprofile_reader;
}

int collect_rest(const struct input *in, const struct collect_options *opts, bool any)
{
	if (!input_failed(in))
		return 0;
	if (!opts->force || !any)
		return -1;
	warn("'%s': what stands before that is used", input_name(in));
	return 0;
}

void collect_tell_second(const char *name)
{
	warn("'%s': a second recording in it is not read; give it as an input of its own", name);
}

void source_set_kernel(struct profile_source *s, const struct symtab *syms)
{
	char hex[2 * BUILD_ID_MAX + 1];

	profile_set(&s->release, syms->release);
	profile_set(&s->build_id, build_id_hex(syms->build_id, syms->build_id_size, hex));
}

int collect_file(const char *path, const struct collect_options *opts, struct profile *p)
{
	struct stat st;

	/* The one kind of input that is a folder. */
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return perfdata_read_dir(path, opts, p);
	struct input *in = input_open(path);
	int ret = in ? read_input(in, path, opts, p) : -1;

	input_close(in);
	return ret;
}

int collect_files(const char *const *paths, unsigned int nr, const struct collect_options *opts,
		  struct profile *p)
{
	for (unsigned int i = 0; i < nr; i++)
		if (collect_file(paths[i], opts, p))
			return -1;
	return 0;
}

void collect_print_totals(const struct profile *p)
{
	struct profile_source t = profile_totals(p);

	note("%llu samples, %llu kernel, %llu resolved, %llu unresolved, %llu lost",
	     (unsigned long long)t.samples, (unsigned long long)t.kernel, (unsigned long long)t.resolved,
	     (unsigned long long)t.unresolved,
	     (unsigned long long)t.lost);
}
