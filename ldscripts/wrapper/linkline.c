/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "linkline.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ldscripts/run.h"
#include "ldscripts/wrapper/response.h"
#include "lib/file.h"
#include "lib/mem.h"

enum role { ROLE_OTHER, ROLE_SCRIPT, ROLE_OUTPUT, ROLE_MAP, ROLE_FOLDER };

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

/*
 * `--NAME=VALUE`, `--NAME VALUE` and the same with one dash, NAME cut to no less than min characters, as GNU ld
 * takes what is the beginning of one option only. True when arg is it; *value NULL: it follows.
 */
static bool long_option(const char *arg, const char *name, size_t min, const char **value)
{
	size_t len;

	arg += arg[1] == '-' ? 2 : 1;
	len = strcspn(arg, "=");
	if (len < min || strlen(name) < len || strncmp(arg, name, len))
		return false;
	*value = arg[len] ? arg + len + 1 : NULL;
	return true;
}

/* What argument i is for; *value is its value and *next whether that is the argument after it. */
static enum role role_of(const struct linkline *l, int i, const char **value, bool *next)
{
	static const struct {
		const char *name;
		size_t min;
		enum role role;
	} longs[] = { { "script", 2, ROLE_SCRIPT }, { "output", 2, ROLE_OUTPUT }, { "Map", 2, ROLE_MAP },
		    { "library-path", 9, ROLE_FOLDER } };
	const char *arg = l->argv[i];
	enum role role = ROLE_OTHER;

	*next = false;
	*value = NULL;
	if (arg[0] != '-' || !arg[1])
		return ROLE_OTHER;
	for (size_t k = 0; k < ARRAY_SIZE(longs) && !role; k++)
		/* -library-path is -l and a name */
		if ((arg[1] == '-' || longs[k].role != ROLE_FOLDER) && long_option(arg, longs[k].name, longs[k].min, value))
			role = longs[k].role;
	if (!strcmp(arg, "-M") || !strcmp(arg, "--print-map") || !strcmp(arg, "-print-map")) {
		*value = "-";
		return ROLE_MAP;
	}
	if (!role && (arg[1] == 'T' || arg[1] == 'o') && !is_other_long(arg + 1)) {
		role = arg[1] == 'T' ? ROLE_SCRIPT : ROLE_OUTPUT;
		*value = arg[2] ? arg + 2 : NULL;
	}
	if (!role && arg[1] == 'L') {
		role = ROLE_FOLDER;
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

static bool is_relocatable(const char *arg)
{
	static const char *const names[] = { "-r", "-i", "-Ur" };
	const char *value;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(arg, names[i]))
			return true;
	return arg[0] == '-' && long_option(arg, "relocatable", 4, &value);
}

/* As ld looks for a script: by its name, then in the folders of the first `end` arguments. The caller frees. */
static char *find_script(const struct linkline *l, const char *name, int end)
{
	const char *folder;
	bool next;

	for (int i = 0; access(name, F_OK) && i < end; i += 1 + next) {
		if (role_of(l, i, &folder, &next) != ROLE_FOLDER)
			continue;
		char *path = path_join(folder, name);

		if (!access(path, F_OK))
			return path;
		free(path);
	}
	return xstrdup(name);
}

static void add_script(struct linkline *l, const char *name, int end)
{
	ALLOC_GROW(l->scripts, l->nr_scripts + 1, l->alloc_scripts);
	l->scripts[l->nr_scripts++] = (struct linkline_script){ name, find_script(l, name, end) };
}

/* -v links where there is something to link, which has a name. */
static bool asks(const char *arg, bool named)
{
	static const char *const questions[] = { "--version", "-version", "--help", "-help", "--target-help", "-target-help" };

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		if (!strcmp(arg, questions[i]))
			return true;
	return !named && (!strcmp(arg, "-v") || !strcmp(arg, "-V"));
}

void linkline_init(struct linkline *l, int argc, char **argv)
{
	bool named = false;

	memset(l, 0, sizeof(*l));
	l->argv = response_expand(argc, argv);
	while (l->argv[l->argc])
		l->argc++;
	l->output = "a.out";
	for (int i = 0; i < l->argc; i++) {
		const char *value;
		bool next;

		switch (role_of(l, i, &value, &next)) {
		case ROLE_SCRIPT:
			add_script(l, value, i);
			break;
		case ROLE_OUTPUT:
			l->output = value;
			named = true;
			break;
		case ROLE_MAP:
			l->map = value;
			break;
		case ROLE_FOLDER:
			break;
		case ROLE_OTHER:
			l->relocatable |= is_relocatable(l->argv[i]);
		}
		i += next;
	}
	for (int i = 0; i < l->argc; i++)
		l->asks |= asks(l->argv[i], named);
	l->script = l->nr_scripts ? &l->scripts[l->nr_scripts - 1] : NULL;
}

void linkline_release(struct linkline *l)
{
	for (unsigned int i = 0; i < l->nr_scripts; i++)
		free(l->scripts[i].path);
	free(l->scripts);
	linkline_free(l->argv);
	memset(l, 0, sizeof(*l));
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
			out[n++] = xasprintf("--script=%s", value == l->script->name ? script : value);
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
