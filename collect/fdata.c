/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * BOLT's fdata, as perf2bolt writes it:
 *
 *   1 vfs_read 3c 1 rw_verify_area 0 0 221        a branch: from, to, mispredicted, taken
 *   no_lbr cycles                                  or, after this line,
 *   1 vfs_read 3c 10                               a sample
 *
 * An end is its kind (0: not in the binary; 1: in it; 2: in it, of a local name), a
 * name and a hex offset. Local names carry their file and number, helper/inode.c/1;
 * blanks in names are escaped. Format: bolt/include/bolt/Profile/DataReader.h of LLVM.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/chain.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"

struct fdata {
	struct chain chain;	/* for its resolving of names */
	struct profile *p;
	struct input *in;
	char *event;
	bool samples;		/* not branches */
	uint64_t nr, kernel, resolved, unresolved;
};

/* One field: up to a blank that no backslash stands before. NULL at the line's end. */
static char *next_field(char **line)
{
	char *start = *line, *to = start, *s = start;

	if (!start || !*start)
		return NULL;
	for (; *s && *s != ' '; s++) {
		if (*s == '\\' && s[1])
			s++;
		*to++ = *s;
	}
	*line = *s ? s + 1 : s;
	*to = '\0';
	return start;
}

/* Names of local symbols: "helper/inode.c/1" is helper@inode.c, "helper/1" says no more than helper. */
static struct chain_frame resolve(struct fdata *x, char *name, uint64_t off)
{
	char *slash = strchr(name, '/'), *last = strrchr(name, '/');

	if (slash && slash != name) {
		*last = '\0';
		if (last != slash) {
			*slash = '@';
			if (x->chain.syms && symtab_find_id(x->chain.syms, name))
				return chain_resolve_name(&x->chain, name, NULL, off, false);
			*slash = '\0';
		}
	}
	return chain_resolve_name(&x->chain, name, NULL, off, false);
}

/*
 * Reads KIND NAME OFFSET; false when the line is none. A place outside the binary,
 * or unknown, gets no function.
 */
static bool get_end(struct fdata *x, char **line, struct chain_frame *place, bool *inside)
{
	char *kind = next_field(line), *name = next_field(line), *off = next_field(line);
	uint64_t at, value;

	if (!off || strlen(kind) != 1 || !strchr("012", *kind) || !*name || !parse_u64(off, 16, &at))
		return false;
	*place = (struct chain_frame){ INDEX_NONE, PROFILE_OFF_UNKNOWN };
	*inside = *kind != '0';
	if (!*inside)
		return true;
	char *bare = xstrndup(name, strcspn(name, "/"));
	bool known = !x->chain.syms || symtab_value(x->chain.syms, bare, &value);
	free(bare);
	if (known)
		*place = resolve(x, name, at);
	return true;
}

static void add_sample(struct fdata *x, const struct chain_frame *at, bool inside, uint64_t count)
{
	add_count(&x->nr, count);
	if (inside)
		add_count(&x->kernel, count);
	if (at->func == INDEX_NONE) {
		add_count(&x->unresolved, inside ? count : 0);
		return;
	}
	add_count(chain_is_known(&x->chain, at->func) ? &x->resolved : &x->unresolved, count);
	profile_add_samples(x->p, at->func, at->off, count);
}

static bool read_record(struct fdata *x, char *line)
{
	struct chain_frame from, to;
	uint64_t missed, count;
	bool inside, to_inside;
	char *field;

	if (!get_end(x, &line, &from, &inside))
		return false;
	if (x->samples) {
		if (!(field = next_field(&line)) || !parse_u64(field, 10, &count))
			return false;
		add_sample(x, &from, inside, count);
		return true;
	}
	if (!get_end(x, &line, &to, &to_inside) ||
	    !(field = next_field(&line)) || !parse_u64(field, 10, &missed) ||
	    !(field = next_field(&line)) || !parse_u64(field, 10, &count))
		return false;
	add_sample(x, &from, inside, count);
	struct chain_branch branch = { from, to, false };
	if (to.func != INDEX_NONE)
		profile_add_touch(x->p, to.func, to.off < PROFILE_MAX_BYTES ? to.off / PROFILE_CHUNK : 0,
				  count);
	chain_add_branch(&x->chain, &branch, count);
	return true;
}

static int read_lines(struct fdata *x, const struct collect_options *opts)
{
	uint64_t bad = 0;
	size_t len;
	char *line;

	while ((line = input_line(x->in, &len))) {
		if (!len || !strcmp(line, "boltedcollection"))
			continue;
		if (!strncmp(line, "no_lbr", 6)) {
			x->samples = true;
			/* perf2bolt takes an event's name from perf script's text, with the colon behind it. */
			size_t n = len - (line[len - 1] == ':');
			if (line[6] == ' ' && n > 7) {
				free(x->event);
				x->event = xstrndup(line + 7, n - 7);
			}
			continue;
		}
		/* Memory accesses are of no use here. */
		if (strchr("3456", *line) && line[1] == ' ')
			continue;
		if (strlen(line) == len && read_record(x, line))
			continue;
		if (!opts->force)
			return error("cannot read '%s': line %lu is no record of fdata", input_name(x->in),
				     input_lineno(x->in));
		bad++;
	}
	if (bad)
		warn("'%s': %llu lines left out, they are no records of fdata", input_name(x->in),
		     (unsigned long long)bad);
	return collect_rest(x->in, opts, input_lineno(x->in) > bad);
}

static int read_fdata(struct input *in, const char *path, const struct collect_options *opts,
		      struct profile *p)
{
	struct fdata x = { .p = p, .in = in, .event = xstrdup("branches") };

	(void)path;
	chain_init(&x.chain, p, opts->syms);
	int ret = read_lines(&x, opts);
	if (!ret) {
		struct profile_source *s = profile_add_source(p, "fdata");

		profile_set(&s->event, x.event);
		if (opts->syms)
			source_set_kernel(s, opts->syms);
		s->samples = x.nr;
		s->kernel = x.kernel;
		s->resolved = x.resolved;
		s->unresolved = x.unresolved;
	}
	chain_release(&x.chain);
	free(x.event);
	return ret;
}

/* Digit, blank, name, blank, hex number, blank, digit. */
static bool probe(const char *head, size_t len)
{
	const char *end = memchr(head, '\n', len);

	if (!strncmp(head, "boltedcollection\n", 17) || !strncmp(head, "no_lbr\n", 7) ||
	    !strncmp(head, "no_lbr ", 7))
		return true;
	if (!end)
		return false;
	char *line = xstrndup(head, (size_t)(end - head)), *rest = line, *field[8];
	uint64_t v;
	int nr = 0;
	while (nr < 8 && (field[nr] = next_field(&rest)))
		nr++;
	bool good = nr == 8 && !*rest && strlen(field[0]) == 1 && strchr("012", *field[0]) &&
		    parse_u64(field[2], 16, &v) && strlen(field[3]) == 1 && strchr("012", *field[3]) &&
		    parse_u64(field[5], 16, &v) && parse_u64(field[6], 10, &v) && parse_u64(field[7], 10, &v);
	free(line);
	return good;
}

const struct reader fdata_reader = {
	.name = "fdata",
	.tells = "branches and calls with their counts; no paths, no order",
	.probe = probe,
	.read = read_fdata,
};
