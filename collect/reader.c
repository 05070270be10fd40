/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Telling inputs apart, and the reader of our own profiles. */
#include "reader.h"

#include <string.h>
#include <sys/stat.h>

#include "collect/perf/perfdata.h"
#include "collect/profile.h"
#include "collect/profile_text.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/symtab.h"

enum { HEAD_SIZE = 4096 };

/* A profile's lines may have been sorted, so that its header comes late. */
static bool probe_hot(const char *head, size_t len)
{
	static const char *const words[] = { "call ", "func ", "next ", "path ", "source ", "touch " };
	const char *end = memchr(head, '\n', len);

	if (!strncmp(head, PROFILE_MAGIC, strlen(PROFILE_MAGIC)))
		return true;
	for (size_t i = 0; end && i < ARRAY_SIZE(words); i++) {
		size_t blanks = 0;

		if (strncmp(head, words[i], strlen(words[i])) != 0)
			continue;
		for (const char *s = head; s < end; s++)
			blanks += *s == ' ';
		return blanks >= 3 && !memchr(head, ';', (size_t)(end - head));
	}
	return false;
}

static int read_hot(struct input *in, const char *path, const struct collect_options *opts, struct profile *p)
{
	int ret = profile_read(p, in);

	(void)path;
	if (ret && opts->force && p->nr_sources) {
		warn("'%s': what stands before that is used", input_name(in));
		ret = 0;
	}
	return ret;
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

static int read_input(struct input *in, const char *path, const struct collect_options *opts,
		      struct profile *p)
{
	char head[HEAD_SIZE + 1];
	size_t len;
	const void *data = input_peek(in, 16, &len);

	/* The zstd frames within these are for their readers to open. */
	if (perfdata_reader.probe(data, len) || tracedat_reader.probe(data, len))
		input_raw(in);
	data = input_peek(in, HEAD_SIZE, &len);

	if (input_failed(in))
		return -1;
	if (!len)
		return error("cannot read '%s': the file is empty", input_name(in));
	len = len < HEAD_SIZE ? len : HEAD_SIZE;
	memcpy(head, data, len);
	head[len] = '\0';
	for (const struct reader *const *r = readers; *r; r++) {
		if (!(*r)->probe(head, len))
			continue;
		detail("'%s' is read as %s", input_name(in), (*r)->name);
		return (*r)->read(in, path, opts, p);
	}
	return error("cannot read '%s': not a profile of any known kind", input_name(in));
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
