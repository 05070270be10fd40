/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "linkline.h"

#include <stdlib.h>
#include <string.h>

#include "ldscripts/run.h"
#include "lib/mem.h"

enum role { ROLE_OTHER, ROLE_SCRIPT, ROLE_OUTPUT, ROLE_MAP };

/* GNU ld lexsup.c: long options may have one dash; these begin like -TSCRIPT and -oFILE. */
static bool is_other_long(const char *arg)
{
	static const char *const names[] = { "Ttext", "Tdata", "Tbss", "Ttext-segment", "Trodata-segment",
					     "Tldata-segment", "omagic", "oformat" };
	size_t len = strcspn(arg, "=");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !strncmp(arg, names[i], len))
			return true;
	return false;
}

/* `--NAME=VALUE`, `--NAME VALUE` and the same with one dash. True when arg is it; *value NULL: it follows. */
static bool long_option(const char *arg, const char *name, const char **value)
{
	size_t len = strlen(name);

	arg += arg[1] == '-' ? 2 : 1;
	if (strncmp(arg, name, len) || (arg[len] && arg[len] != '='))
		return false;
	*value = arg[len] ? arg + len + 1 : NULL;
	return true;
}

/* What argument i is for; *value is its value and *next whether that is the argument after it. */
static enum role role_of(const struct linkline *l, int i, const char **value, bool *next)
{
	static const struct {
		const char *name;
		enum role role;
	} longs[] = { { "script", ROLE_SCRIPT }, { "output", ROLE_OUTPUT }, { "Map", ROLE_MAP } };
	const char *arg = l->argv[i];
	enum role role = ROLE_OTHER;

	*next = false;
	*value = NULL;
	if (arg[0] != '-' || !arg[1])
		return ROLE_OTHER;
	for (size_t k = 0; k < ARRAY_SIZE(longs) && !role; k++)
		if (long_option(arg, longs[k].name, value))
			role = longs[k].role;
	if (!strcmp(arg, "-M") || !strcmp(arg, "--print-map") || !strcmp(arg, "-print-map")) {
		*value = "-";
		return ROLE_MAP;
	}
	if (!role && (arg[1] == 'T' || arg[1] == 'o') && !is_other_long(arg + 1)) {
		role = arg[1] == 'T' ? ROLE_SCRIPT : ROLE_OUTPUT;
		*value = arg[2] ? arg + 2 : NULL;
	}
	if (role && !*value) {
		if (i + 1 >= l->argc)
			return ROLE_OTHER;
		*value = l->argv[i + 1];
		*next = true;
	}
	return role;
}

void linkline_init(struct linkline *l, int argc, char **argv)
{
	memset(l, 0, sizeof(*l));
	l->argc = argc;
	l->argv = argv;
	l->output = "a.out";
	for (int i = 0; i < argc; i++) {
		const char *value;
		bool next;

		switch (role_of(l, i, &value, &next)) {
		case ROLE_SCRIPT:
			l->script = value;
			break;
		case ROLE_OUTPUT:
			l->output = value;
			break;
		case ROLE_MAP:
			l->map = value;
			break;
		case ROLE_OTHER:
			if (!strcmp(argv[i], "-r") || !strcmp(argv[i], "-i") || !strcmp(argv[i], "-Ur") ||
			    !strcmp(argv[i], "--relocatable") || !strcmp(argv[i], "-relocatable"))
				l->relocatable = true;
		}
		i += next;
	}
}

char **linkline_with(const struct linkline *l, const char *ld, const char *output, const char *script,
		     const char *map, const char *extra)
{
	char **words = run_linker_words(ld), **out;
	size_t n = 0;

	while (words[n])
		n++;
	out = xcalloc(n + (size_t)l->argc + 5, sizeof(*out));
	memcpy(out, words, n * sizeof(*out));
	free(words);
	for (int i = 0; i < l->argc; i++) {
		const char *value;
		bool next;
		enum role role = role_of(l, i, &value, &next);

		if (role == ROLE_SCRIPT && script)
			out[n++] = xasprintf("--script=%s", value == l->script ? script : value);
		else if (!(role == ROLE_OUTPUT && output) && !(role == ROLE_MAP && map)) {
			out[n++] = xstrdup(l->argv[i]);
			if (next)
				out[n++] = xstrdup(l->argv[i + 1]);
		}
		i += next;
	}
	if (output) {
		out[n++] = xstrdup("-o");
		out[n++] = xstrdup(output);
	}
	if (map)
		out[n++] = xasprintf("-Map=%s", map);
	if (extra)
		out[n++] = xstrdup(extra);
	return out;
}

void linkline_free(char **argv)
{
	for (char **arg = argv; arg && *arg; arg++)
		free(*arg);
	free(argv);
}
