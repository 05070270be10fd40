/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `hottext record WHAT`: hands over to the recorder. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "collect/record/record.h"
#include "lib/error.h"

static const struct command *const recorders[] = {
	&record_perf_command,
	&record_ftrace_command,
	&record_profile_command,
	&record_qemu_command,
	NULL,
};

static void print_help(void)
{
	printf("usage: hottext record WHAT [OPTION...] -o FILE [-- COMMAND]\n\n%s.\n\nwhat:\n",
	       record_command.summary);
	for (size_t i = 0; recorders[i]; i++)
		printf("  %-8s %s\n", strchr(recorders[i]->name, ' ') + 1, recorders[i]->summary);
	printf("\n'hottext record WHAT --help' describes one of them.\n\nexample:\n  %s\n",
	       record_command.example);
}

static int cmd_record(int argc, char **argv)
{
	if (argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
		print_help();
		return EXIT_DONE;
	}
	for (size_t i = 0; argc && recorders[i]; i++)
		if (!strcmp(argv[0], strchr(recorders[i]->name, ' ') + 1))
			return command_run(recorders[i], argc, argv);
	if (!argc)
		return usage_error("record", "say what: perf, ftrace, profile or qemu");
	return usage_error("record", "unknown recorder '%s'", argv[0]);
}

const struct command record_command = {
	.name = "record",
	.args = "perf|ftrace|profile|qemu ... -o FILE [-- COMMAND]",
	.summary = "record a running or an emulated kernel",
	.example = "hottext record perf -o perf.data -- sleep 10",
	.parts = recorders,
	.run = cmd_record,
};
