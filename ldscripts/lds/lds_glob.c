/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The complement of a set of names, as globs. The names that a script keeps for
 * places of their own make a tree of prefixes; at every node, each name that ends
 * there or leaves the tree there is one glob:
 *
 *   u -- n -- k ...        .text.[0-9a-tv-zA-Z_]*   leaves at the root
 *          \- l ...        .text.u  .text.u[!n]*  .text.un  .text.un[!kl]*  ...
 */
#include <stdlib.h>
#include <string.h>

#include "lds.h"
#include "lib/mem.h"

static const char first_chars[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/* What follows ".text." in the patterns of other statements. */
struct word {
	char *s;
	bool open;	/* a prefix: anything may follow */
};

struct words {
	struct word *v;
	unsigned int nr, alloc;
};

static int compare_words(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	int c = strcmp(x->s, y->s);

	return c ? c : x->open - y->open;
}

/*
 * Only NAME, NAME* and NAME[...]* (kept as NAME*) can be told apart from the rest by
 * globs; s390's .text.*_indirect_* cannot.
 */
static void add_word(struct words *w, const char *pattern)
{
	const char *s = pattern + 6;
	size_t len, n;

	if (strncmp(pattern, ".text.", 6) || !*s || !strchr(first_chars, *s))
		return;
	len = strlen(s);
	n = strspn(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz.$");
	const char *rest = s[n] == '[' && strchr(s + n, ']') ? strchr(s + n, ']') + 1 : s + n;
	if (n < len && strcmp(rest, "*"))
		return;
	ALLOC_GROW(w->v, w->nr + 1, w->alloc);
	w->v[w->nr].s = xstrndup(s, n);
	w->v[w->nr++].open = n < len;
}

/* The class of all first characters but those in taken. */
static void print_root(FILE *fp, const char *taken)
{
	fputs(".text.[", fp);
	for (const char *c = first_chars; *c; c++) {
		const char *end = c;

		if (strchr(taken, *c))
			continue;
		while (end[1] == *end + 1 && !strchr(taken, end[1]))
			end++;
		if (end - c >= 2)
			fprintf(fp, "%c-%c", *c, *end);
		else
			fprintf(fp, "%.*s", (int)(end - c + 1), c);
		c = end;
	}
	fputs("]*", fp);
}

/* Words first..end-1 share their first depth characters. */
static void print_node(FILE *fp, const struct words *w, unsigned int first, unsigned int end, size_t depth)
{
	char next[128] = "";
	size_t nr_next = 0;
	bool exact = false;
	const char *s = first < end ? w->v[first].s : "";

	for (unsigned int i = first; i < end; i++) {
		char c = w->v[i].s[depth];

		if (!c && w->v[i].open)
			return;
		if (!c)
			exact = true;
		else if (!strchr(next, c))
			next[nr_next++] = c;
	}
	if (!depth) {
		print_root(fp, next);
	} else {
		if (!exact)
			fprintf(fp, " .text.%.*s", (int)depth, s);
		fprintf(fp, nr_next ? " .text.%.*s[!%s]*" : " .text.%.*s?*", (int)depth, s, next);
	}
	while (first < end) {
		unsigned int i = first;
		char c = w->v[first].s[depth];

		while (i < end && w->v[i].s[depth] == c)
			i++;
		if (c)
			print_node(fp, w, first, i, depth + 1);
		first = i;
	}
}

char *lds_main_patterns(const struct lds *l, const struct lds_stmt *main_stmt)
{
	struct words w = { 0 };
	char *out;
	size_t size;

	/* LD_DEAD_CODE_DATA_ELIMINATION and LTO kernels take them in themselves. */
	for (unsigned int i = 0; i < main_stmt->nr_patterns; i++)
		if (!strncmp(main_stmt->patterns[i], ".text.[", 7))
			return xstrdup("");
	for (unsigned int i = 0; i < l->nr_sections; i++) {
		const struct lds_section *sec = &l->sections[i];

		for (unsigned int j = 0; j < sec->nr_stmts; j++)
			for (unsigned int k = 0; &sec->stmts[j] != main_stmt && k < sec->stmts[j].nr_patterns; k++)
				add_word(&w, sec->stmts[j].patterns[k]);
	}
	sort_array(w.v, w.nr, sizeof(*w.v), compare_words);
	FILE *fp = text_open(&out, &size);

	print_node(fp, &w, 0, w.nr, 0);
	text_close(fp, &out);
	for (unsigned int i = 0; i < w.nr; i++)
		free(w.v[i].s);
	free(w.v);
	return out;
}
