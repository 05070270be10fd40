/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "opt.h"

#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "mem.h"
#include "number.h"

bool opt_force;
bool opt_json;

/* getopt_long values of options: the index in the table, above any letter. */
enum { LONG_BASE = 256 };

/* In parentheses as in error.c. */
int (usage_error)(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *msg = xvasprintf(fmt, ap);
	va_end(ap);
	error("%s: %s; try 'hottext %s --help'", command, msg, command);
	free(msg);
	return EXIT_USAGE;
}

static void print_help(const struct command *cmd)
{
	printf("usage: hottext %s%s %s\n\n%s.\n", cmd->name, cmd->opts ? " [OPTION...]" : "", cmd->args, cmd->summary);
	if (cmd->details)
		printf("\n%s\n", cmd->details);
	if (cmd->opts)
		printf("\noptions:\n");
	for (const struct opt *o = cmd->opts; o && o->kind != OPT_END; o++) {
		char head[64];

		snprintf(head, sizeof(head), "  %c%c%s--%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			 o->letter ? ", " : "  ", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
		printf("%-30s %s\n", head, o->help);
	}
	printf("\nexample:\n  %s\n", cmd->example);
}

static int set_value(const struct command *cmd, const struct opt *o, const char *arg)
{
	uint64_t v;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)o->value = true;
		break;
	case OPT_COUNT:
		++*(int *)o->value;
		break;
	case OPT_QUIET:
		*(int *)o->value = -1;
		break;
	case OPT_STRING:
		*(const char **)o->value = arg;
		break;
	case OPT_UINT:
		if (!parse_u64_range(arg, o->min, o->max ? o->max : UINT_MAX, &v))
			return usage_error(cmd->name, "bad value '%s' for --%s", arg, o->name);
		*(unsigned int *)o->value = (unsigned int)v;
		break;
	case OPT_DOUBLE:
		if (!parse_double(arg, o->value))
			return usage_error(cmd->name, "bad value '%s' for --%s", arg, o->name);
		break;
	case OPT_LIST: {
		struct opt_list *list = o->value;

		list->items = xreallocarray(list->items, list->nr + 1, sizeof(*list->items));
		list->items[list->nr++] = arg;
		break;
	}
	case OPT_END:
		break;
	}
	return 0;
}

int command_run(const struct command *cmd, int argc, char **argv)
{
	const struct opt *opts = cmd->opts;
	size_t nr = 0;

	if (!opts)
		return cmd->run(argc - 1, argv + 1);
	while (opts[nr].kind != OPT_END)
		nr++;
	struct option *longs = xcalloc(nr + 1, sizeof(*longs));
	char *shorts = xcalloc(1, 2 * nr + 3), *s = shorts;
	int ret = 0, c;

	if (cmd->options_first)
		*s++ = '+';
	*s++ = ':';
	for (size_t i = 0; i < nr; i++) {
		const struct opt *o = &opts[i];

		longs[i] = (struct option){ o->name, o->arg ? required_argument : no_argument, NULL, LONG_BASE + (int)i };
		if (!o->letter)
			continue;
		*s++ = o->letter;
		if (o->arg)
			*s++ = ':';
	}
	opterr = 0;
	optind = 0;
	while (!ret && (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct opt *o = NULL;

		if (c == ':') {
			ret = usage_error(cmd->name, "option '%s' wants a value", argv[optind - 1]);
			break;
		}
		if (c == '?') {
			if (optopt && optopt < LONG_BASE)
				ret = usage_error(cmd->name, "unknown option '-%c'", optopt);
			else
				ret = usage_error(cmd->name, "unknown option '%s'", argv[optind - 1]);
			break;
		}
		for (size_t i = 0; i < nr && !o; i++)
			if (c == LONG_BASE + (int)i || c == opts[i].letter)
				o = &opts[i];
		BUG_ON(!o);
		if (o->letter == 'h') {
			print_help(cmd);
			goto out;
		}
		ret = set_value(cmd, o, optarg);
	}
	if (!ret)
		ret = cmd->run(argc - optind, argv + optind);
out:
	free(longs);
	free(shorts);
	return ret;
}
