/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext reorder: computes an order of the hot units and prints it. */
#include "reorder/commands.h"

#include <stdio.h>

#include "lib/error.h"
#include "lib/file.h"
#include "reorder/job_options.h"

static const char *opt_output;

static const struct opt options[] = {
	{ 'o', "output", "FILE", "write FILE instead of standard output", OPT_STRING, &opt_output, 0, 0 },
	OPT_ALGORITHM,
	OPT_JOB,
	OPT_COMMON
};

/* One unit a line: section, object, address, size; and explicit alignments. `analyze --order` reads it back. */
static void write_order(const struct job *job, FILE *fp)
{
	const struct layout *l = &job->after;

	fprintf(fp, "# section object address size\n");
	for (uint32_t i = 0; i < l->nr_hot; i++) {
		const struct unit *u = &job->image.units[l->hot[i].unit];

		if (l->hot[i].align)
			fprintf(fp, ". = ALIGN(%u);\n", l->hot[i].align);
		fprintf(fp, "%s %s 0x%llx %u\n", u->section, u->object ? u->object : "-",
			(unsigned long long)l->addr[l->hot[i].unit], u->size);
	}
}

static int run(int argc, char **argv)
{
	struct job job;
	struct outfile out;
	int ret = job_from_args(&job, "reorder", argc, argv);

	if (ret)
		return ret;
	ret = EXIT_FAILED;
	if (!job_order(&job) && !outfile_init(&out, opt_output)) {
		write_order(&job, out.fp);
		ret = outfile_commit(&out) ? EXIT_FAILED : EXIT_DONE;
	}
	job_release(&job);
	return ret;
}

const struct command reorder_command = {
	.name = "reorder",
	.args = "VMLINUX PROFILE...",
	.summary = "compute an order of the hot units",
	.details = "Prints the units of the hot region in their order, one a line, with the address that GNU ld\n"
		   "will give each.",
	.example = "hottext reorder --algorithm cdsort vmlinux perf.data -o order.txt",
	.opts = options,
	.run = run,
};
