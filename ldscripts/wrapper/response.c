/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "response.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/mem.h"

enum { MAX_DEPTH = 16 };	/* a file that names itself has no end */

struct args {
	char **v;
	uint32_t nr, alloc;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* One word from *s on, without its quotes and backslashes; NULL at the end. The caller frees. */
static char *next_word(const char **s)
{
	const char *at = *s;
	char quote = '\0', *word, *out;

	while (is_blank(*at))
		at++;
	if (!*at)
		return NULL;
	out = word = xmalloc(strlen(at) + 1);
	for (; *at && (quote || !is_blank(*at)); at++) {
		if (*at == '\\' && at[1])
			*out++ = *++at;
		else if (quote ? *at == quote : *at == '\'' || *at == '"')
			quote = quote ? '\0' : *at;
		else
			*out++ = *at;
	}
	*out = '\0';
	*s = at;
	return word;
}

static void add(struct args *a, char *arg, int depth)
{
	const char *path = arg + 1;
	struct mapfile m;
	struct stat st;

	if (arg[0] != '@' || depth > MAX_DEPTH || stat(path, &st) || !S_ISREG(st.st_mode) || access(path, R_OK) ||
	    mapfile_init(&m, path)) {
		ALLOC_GROW(a->v, a->nr + 2, a->alloc);
		a->v[a->nr++] = arg;
		a->v[a->nr] = NULL;
		return;
	}
	const char *s = m.data;
	for (char *word; (word = next_word(&s)); )
		add(a, word, depth + 1);
	mapfile_release(&m);
	free(arg);
}

char **response_expand(int argc, char **argv)
{
	struct args a = { xcalloc(1, sizeof(*a.v)), 0, 1 };

	for (int i = 0; i < argc; i++)
		add(&a, xstrdup(argv[i]), 0);
	return a.v;
}
