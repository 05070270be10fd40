/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dispatcher: hottext COMMAND ARGS..., or hottext-ld ARGS... */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analyze/commands.h"
#include "collect/commands.h"
#include "analyze/tlb/machine.h"
#include "collect/qemu/format.h"
#include "collect/profile_text.h"
#include "ldscripts/commands.h"
#include "lib/completion.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/heap.h"
#include "lib/mem.h"
#include "lib/opt.h"
#include "lib/version.h"
#include "reorder/commands.h"
#include "reorder/order.h"
#include "reorder/plan/plan.h"

static const struct command *const commands[] = {
	&analyze_command,
	&calibrate_command,
	&collect_command,
	&compare_command,
	&complete_command,
	&explain_command,
	&kbuild_command,
	&ld_command,
	&machines_command,
	&optimize_command,
	&record_command,
	&reorder_command,
	&report_command,
	&tlbdump_command,
	&verify_command,
};

static void print_help(void)
{
	printf("usage: hottext COMMAND [ARGS...]\n\n"
	       "Lays out a kernel's hot text in as few pages as possible, with GNU ld.\n\ncommands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	printf("\n'hottext COMMAND --help' describes one of them, 'hottext --version' what this program was built from.\n\n"
	       "example:\n"
	       "  hottext optimize vmlinux perf.data -o plan\n");
}

static void print_version(void)
{
	version_print(stdout);
	printf("formats    profile %s, plan %d, fetch trace %d, machine %d\n", PROFILE_VERSION, PLAN_SCHEMA, FETCH_VERSION,
	       MACHINE_VERSION);
}

static void print_completion(void)
{
	char *names = xstrdup("");

	for (const struct algorithm *a = algorithms; a->name; a++) {
		char *more = xasprintf("%s%s ", names, a->name);

		free(names);
		names = more;
	}
	const struct completion_values values[] = {
		{ "algorithm", names },
		{ "machine", "$(hottext machines 2> /dev/null | cut -d ' ' -f 1)" },
		{ NULL, NULL },
	};
	completion_write(commands, ARRAY_SIZE(commands), values, stdout);
	free(names);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int finish(int ret)
{
	/* A command that failed has said why; this may be why. */
	if ((fflush(stdout) || ferror(stdout)) && (ret == EXIT_DONE || ret == EXIT_NO)) {
		error("cannot write 'standard output'");
		return EXIT_FAILED;
	}
	return ret;
}

int main(int argc, char **argv)
{
	const char *self = strrchr(argv[0], '/');
	char help[] = "--help";

	outfile_catch_signals();
	signal(SIGCHLD, SIG_DFL);	/* ignored, how a linker ended could not be told */
	json_set_alloc_funcs(xmalloc, free);	/* libjansson crashes where memory runs out */
	self = self ? self + 1 : argv[0];
	if (!strcmp(self, "hottext-ld"))
		return ld_command.run(argc - 1, argv + 1);
	heap_in_huge_pages();
	if (argc < 2) {
		error("no command; try 'hottext --help'");
		return EXIT_USAGE;
	}
	if (argc > 2 && !strcmp(argv[1], "help")) {
		/* "help record perf" is "record perf --help". */
		memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
		argv[argc - 1] = help;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help();
		return finish(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		print_version();
		return finish(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--completion")) {
		print_completion();
		return finish(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--options")) {
		completion_list_options(commands, ARRAY_SIZE(commands), stdout);
		return finish(EXIT_DONE);
	}
	const struct command *cmd = find_command(argv[1]);
	if (!cmd) {
		error("unknown command '%s'; try 'hottext --help'", argv[1]);
		return EXIT_USAGE;
	}
	return finish(command_run(cmd, argc - 1, argv + 1));
}
