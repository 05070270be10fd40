/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext analyze: call graph, paths, entries and misses of a kernel as it is, or under a given order. */
#include "reorder/commands.h"

#include "analyze/tlb/measured.h"
#include "lib/error.h"
#include "lib/file.h"
#include "reorder/job_options.h"
#include "reorder/report/report.h"

static const char *opt_order, *opt_misses;

static const struct opt options[] = {
	{ 0, "order", "FILE", "compare with the order in FILE: symbols, sections or a fragment", OPT_STRING, &opt_order, 0, 0 },
	{ 0, "misses", "FILE", "show the ITLB misses sampled in this perf.data by page, beside those predicted from a trace",
	  OPT_STRING, &opt_misses, 0, 0 },
	OPT_JOB,
	OPT_JSON,
	OPT_COMMON
};

static int add_misses(struct plan *plan, const struct job *job)
{
	struct measured x;

	if (measured_init(&x, opt_misses, &job->image, job->opts->vmlinux, &job->machine, job->trace))
		return -1;
	plan_set_measured(plan, &job->image, &x);
	measured_release(&x);
	return 0;
}

static int run(int argc, char **argv)
{
	struct job job;
	struct text_style style = text_style_for(stdout);
	struct plan plan;
	int ret;

	style.alone = !opt_order;
	ret = job_from_args(&job, "analyze", argc, argv);
	if (ret)
		return ret;
	job_options.algorithm = opt_order ? "given" : "link";
	ret = EXIT_FAILED;
	if (!opt_order)
		layout_assign(&job.after);
	if ((!opt_order || !job_read_order(&job, opt_order)) && !job_plan(&job, &plan)) {
		if (!opt_misses || !add_misses(&plan, &job))
			ret = EXIT_DONE;
		if (!ret && opt_json)
			plan_write_json(&plan, stdout);
		else if (!ret)
			report_text(&plan, stdout, style);
		plan_release(&plan);
	}
	job_release(&job);
	return ret;
}

const struct command analyze_command = {
	.name = "analyze",
	.args = "VMLINUX PROFILE...",
	.summary = "show the hot paths of a kernel and the ITLB entries they need",
	.details = "Reads the kernel and its profiles and prints what runs, on how many pages, and how many\n"
		   "ITLB entries each path needs. With --order, also what another order would need.",
	.example = "hottext analyze vmlinux perf.data",
	.opts = options,
	.run = run,
};
