/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "normalize.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/number.h"

/* Inputs of one host, or of one set of hosts. */
struct share {
	uint64_t kernel;	/* samples */
	uint32_t hosts;		/* how many machines it stands for */
};

struct shares {
	struct index keys;	/* host names, or the input's number where they tell nothing */
	struct share *items;
	uint32_t alloc_items;
	uint32_t *of_input;	/* [input]: in items */
};

static int cmp_strings(const void *va, const void *vb)
{
	return strcmp(*(char *const *)va, *(char *const *)vb);
}

/* The different hosts of a profile, sorted; how many. The strings stay the profile's. */
static uint32_t list_hosts(const struct profile *p, char **hosts)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < p->nr_sources; i++)
		hosts[i] = p->sources[i].host;
	qsort(hosts, p->nr_sources, sizeof(*hosts), cmp_strings);
	for (uint32_t i = 0; i < p->nr_sources; i++)
		if (!nr || strcmp(hosts[nr - 1], hosts[i]) != 0)
			hosts[nr++] = hosts[i];
	return nr;
}

static char *share_key(char **hosts, uint32_t nr, unsigned int input)
{
	char *key = NULL;
	size_t len;
	FILE *fp = text_open(&key, &len);

	for (uint32_t i = 0; i < nr; i++)
		fprintf(fp, "%s ", hosts[i]);
	if (!nr || !strcmp(hosts[0], "-"))
		fprintf(fp, "%u", input);
	text_close(fp, &key);
	return key;
}

static void add_share(struct shares *sh, unsigned int input, const struct profile *p)
{
	char **hosts = xcalloc(p->nr_sources, sizeof(*hosts));
	uint32_t nr = list_hosts(p, hosts), had = sh->keys.nr_keys;
	char *key = share_key(hosts, nr, input);
	uint32_t i = index_add_str(&sh->keys, key);

	ALLOC_GROW(sh->items, sh->keys.nr_keys, sh->alloc_items);
	if (i == had)
		sh->items[i] = (struct share){ 0, nr ? nr : 1 };
	add_count(&sh->items[i].kernel, profile_totals(p).kernel);
	sh->of_input[input] = i;
	free(hosts);
	free(key);
}

/* The first pass: whose samples, and how many. What readers have to say, they say in the second. */
static int weigh(struct shares *sh, const char *const *paths, unsigned int nr,
		 const struct collect_options *opts)
{
	int said = verbosity, ret = 0;

	sh->of_input = xcalloc(nr, sizeof(*sh->of_input));
	for (unsigned int i = 0; i < nr && !ret; i++) {
		struct profile p = { 0 };

		verbosity = -1;
		ret = collect_file(paths[i], opts, &p);
		verbosity = said;
		if (!ret)
			add_share(sh, i, &p);
		profile_release(&p);
	}
	return ret;
}

/* Of machines of a, and of b: which has more samples each. */
static int cmp_each(const struct share *a, const struct share *b)
{
	unsigned __int128 of_a = (unsigned __int128)a->kernel * b->hosts, of_b = (unsigned __int128)b->kernel * a->hosts;

	return of_a < of_b ? -1 : of_a > of_b;
}

/* What makes the samples of a share's machines as many as those of the busiest one's. */
static double factor_of(const struct shares *sh, const struct share *s)
{
	const struct share *most = s;

	for (uint32_t i = 0; i < sh->keys.nr_keys; i++)
		if (cmp_each(&sh->items[i], most) > 0)
			most = &sh->items[i];
	if (!s->kernel || !cmp_each(s, most))
		return 1;
	return ((double)most->kernel / most->hosts) * s->hosts / (double)s->kernel;
}

/* What can be read but once: a pipe, be it named or not. */
static int refuse_pipes(const char *const *paths, unsigned int nr)
{
	struct stat st;

	for (unsigned int i = 0; i < nr; i++) {
		bool is_stdin = !strcmp(paths[i], "-");

		if (is_stdin || (!stat(paths[i], &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
			return error("cannot normalize '%s': it would be read twice",
				     is_stdin ? "standard input" : paths[i]);
	}
	return 0;
}

int collect_normalized(const char *const *paths, unsigned int nr, const struct collect_options *opts,
		       struct profile *p)
{
	struct shares sh = { 0 };
	int ret = refuse_pipes(paths, nr) ? -1 : weigh(&sh, paths, nr, opts);

	for (unsigned int i = 0; i < nr && !ret; i++) {
		const struct share *s = &sh.items[sh.of_input[i]];
		struct profile one = { 0 };

		ret = collect_file(paths[i], opts, &one);
		if (!ret && s->kernel) {
			double factor = factor_of(&sh, s);

			if (factor > 1)
				profile_scale(&one, factor);
			detail("'%s': weights times %.6g", paths[i], factor);
		}
		if (!ret)
			profile_merge(p, &one);
		profile_release(&one);
	}
	index_release(&sh.keys);
	free(sh.items);
	free(sh.of_input);
	return ret;
}
