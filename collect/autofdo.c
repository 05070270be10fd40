/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AutoFDO's profiles as text, from create_llvm_prof or llvm-profdata merge --text:
 *
 *   vfs_read:1840:120             function, its samples, its entries
 *    4: 534                       line within the function, samples
 *    9.2: 206 rw_verify:147 f:59  and who was called from there, how often
 *    12: inlined:1000             a body inlined there, indented deeper
 *     1: 1000
 *    !CFGChecksum: 563            what is of no use here
 *
 * Context-sensitive ones spell a function "[caller:3 @ vfs_read]". Lines are those
 * of the source, not places in the code. Format: llvm/lib/ProfileData/SampleProfReader.cpp.
 */
#include <ctype.h>
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

struct autofdo {
	struct chain chain;	/* for its resolving of names */
	struct profile *p;
	struct input *in;
	uint32_t func;		/* whose body is read; INDEX_NONE: not the kernel's */
	bool in_body;
	uint64_t nr, resolved, unresolved;
};

static uint32_t func_of(struct autofdo *x, const char *name)
{
	uint64_t value;

	if (x->chain.syms && !symtab_value(x->chain.syms, name, &value))
		return INDEX_NONE;
	return chain_resolve_name(&x->chain, name, NULL, 0, false).func;
}

/* The number behind the last colon, which is cut off with it. */
static bool cut_number(char *s, uint64_t *n)
{
	char *colon = strrchr(s, ':');

	if (!colon || colon == s || !parse_u64(colon + 1, 10, n))
		return false;
	*colon = '\0';
	return true;
}

/* "[a:1 @ b:2 @ c]" is c. */
static char *innermost(char *name)
{
	size_t n = strlen(name);

	if (name[0] != '[' || name[n - 1] != ']')
		return name;
	name[n - 1] = '\0';
	for (char *at; (at = strstr(name, " @ "));)
		name = at + 3;
	return name[0] == '[' ? name + 1 : name;
}

static bool read_header(struct autofdo *x, char *line)
{
	uint64_t total, entries;

	if (!cut_number(line, &entries) || !cut_number(line, &total))
		return false;
	x->func = func_of(x, innermost(line));
	x->in_body = true;
	add_count(&x->nr, total);
	if (x->func == INDEX_NONE) {
		add_count(&x->unresolved, total);
		return true;
	}
	add_count(chain_is_known(&x->chain, x->func) ? &x->resolved : &x->unresolved, total);
	profile_add_samples(x->p, x->func, PROFILE_OFF_UNKNOWN, total);
	profile_add_entries(x->p, x->func, entries);
	return true;
}

/* "NAME:COUNT NAME:COUNT ..." */
static bool read_callees(struct autofdo *x, char *s)
{
	char *save = NULL;
	uint64_t count;

	for (s = strtok_r(s, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
		if (!cut_number(s, &count))
			return false;
		uint32_t callee = x->func == INDEX_NONE ? INDEX_NONE : func_of(x, s);
		if (callee != INDEX_NONE && count)
			profile_add_call(x->p, x->func, PROFILE_OFF_UNKNOWN, callee, count);
	}
	return true;
}

/* " LINE[.DISCRIMINATOR]: COUNT [CALLEE:COUNT]..." or " LINE[.D]: INLINED:COUNT" */
static bool read_body(struct autofdo *x, char *line)
{
	const char *p = line + strspn(line, " ");
	uint64_t n;

	if (*p == '!')
		return true;
	if (!x->in_body || !scan_dec(&p, &n) || (*p == '.' && (p++, !scan_dec(&p, &n))) || p[0] != ':' ||
	    p[1] != ' ')
		return false;
	p += 2;
	char *rest = line + (p - line);
	/* The samples of a line are in the function's sum already; so are those of an inlined body. */
	if (isdigit((unsigned char)*p) && scan_dec(&p, &n) && (!*p || *p == ' '))
		return read_callees(x, line + (p - line));
	return cut_number(rest, &n);
}

static int read_lines(struct autofdo *x, const struct collect_options *opts)
{
	uint64_t bad = 0;
	size_t len;
	char *line;

	while ((line = input_line(x->in, &len))) {
		bool body = *line == ' ';

		if (!len || (strlen(line) == len && (body ? read_body(x, line) : read_header(x, line))))
			continue;
		if (!opts->force)
			return error("cannot read '%s': line %lu is none of a sample profile", input_name(x->in),
				     input_lineno(x->in));
		/* The lines below a bad header are of nobody. */
		x->in_body &= body;
		bad++;
	}
	if (bad)
		warn("'%s': %llu lines left out, they are none of a sample profile", input_name(x->in),
		     (unsigned long long)bad);
	return collect_rest(x->in, opts, input_lineno(x->in) > bad);
}

static int read_autofdo(struct input *in, const char *path, const struct collect_options *opts,
			struct profile *p)
{
	struct autofdo x = { .p = p, .in = in, .func = INDEX_NONE };

	(void)path;
	chain_init(&x.chain, p, opts->syms);
	int ret = read_lines(&x, opts);
	if (!ret) {
		struct profile_source *s = profile_add_source(p, "autofdo");

		if (opts->syms)
			source_set_kernel(s, opts->syms);
		s->samples = s->kernel = x.nr;
		s->resolved = x.resolved;
		s->unresolved = x.unresolved;
	}
	chain_release(&x.chain);
	return ret;
}

static bool probe(const char *head, size_t len)
{
	const char *end = memchr(head, '\n', len);
	uint64_t n;

	if (!end || *head == ' ' || end[1] != ' ')
		return false;
	char *line = xstrndup(head, (size_t)(end - head));
	bool good = strlen(line) == (size_t)(end - head) && (!strchr(line, ' ') || *line == '[') &&
		    cut_number(line, &n) && cut_number(line, &n);
	free(line);
	return good;
}

const struct reader autofdo_reader = {
	.name = "autofdo",
	.tells = "samples, entries and callees by name; no places in the code, no paths",
	.probe = probe,
	.read = read_autofdo,
};
