/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext optimize: the whole job, from kernel and profiles to a plan folder. */
#include "ldscripts/commands.h"

#include <stdio.h>

#include "ldscripts/claims.h"
#include "ldscripts/optimize.h"
#include "ldscripts/plan_folder.h"
#include "lib/error.h"
#include "reorder/explain/decisions.h"
#include "reorder/job_options.h"
#include "reorder/plan/positions.h"
#include "reorder/report/report.h"

static const char *opt_output, *opt_lds;

static const struct opt options[] = {
	{ 'o', "output", "DIR", "the plan folder to write", OPT_STRING, &opt_output, 0, 0 },
	OPT_ALGORITHM,
	{ 0, "lds", "FILE", "rewrite this vmlinux.lds of the kernel into the plan", OPT_STRING, &opt_lds, 0, 0 },
	OPT_JOB,
	OPT_JSON,
	OPT_COMMON
};

/* The order is for all paths together: say so where a single one pays for it. */
static void warn_of_losers(const struct plan *plan)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < plan->nr_paths; i++) {
		const struct plan_path *p = &plan->paths[i];

		if (p->entries_after <= p->entries_before)
			continue;
		detail("%s %s needs %.2f entries instead of %.2f", p->kind, p->root, p->entries_after, p->entries_before);
		nr++;
	}
	if (job_options.allow_regress)
		return;
	/* The guard, where there is one, sees more than means; it names what it saw by itself. */
	const struct plan_guard *g = &plan->guard;
	if (g->known && g->worse + g->worse_by_less)
		warn("%u of %u roots need more ITLB entries than now, in the mean or the 95th percentile (-v names them)",
		     g->worse + g->worse_by_less, g->roots);
	else if (!g->known && nr)
		warn("%u of %u paths need more ITLB entries than now (-v names them)", nr, plan->nr_paths);
}

/* lds: to be written into the plan; script: the kernel's own. Both may be NULL. */
static int make_plan(struct job *job, const char *dir, const char *lds, const char *script, struct plan *plan)
{
	if (plan_folder_check(dir, job->opts, lds) || (script && claims_fix_units(&job->image, script)))
		return -1;
	if (job_order(job) || job_plan(job, plan))
		return -1;
	decisions_say(job, plan);
	warn_of_losers(plan);
	positions_warn(plan);
	if (plan_folder_write(job, plan, dir, lds)) {
		plan_release(plan);
		return -1;
	}
	return 0;
}

static int run(int argc, char **argv)
{
	struct job job;
	struct plan plan;

	if (!opt_output)
		return usage_error("optimize", "give the plan folder with -o DIR");
	int ret = job_from_args(&job, "optimize", argc, argv);
	if (ret)
		return ret;
	ret = EXIT_FAILED;
	if (!make_plan(&job, opt_output, opt_lds, opt_lds, &plan)) {
		if (opt_json)
			plan_write_json(&plan, stdout);
		else if (verbosity >= 0)
			report_text(&plan, stdout, text_style_for(stdout));
		note("the plan is in '%s'; look at '%s/report.html'", opt_output, opt_output);
		plan_release(&plan);
		ret = EXIT_DONE;
	}
	job_release(&job);
	return ret;
}

int optimize_for_wrapper(const char *vmlinux, const char *name, const char *script, const char *map,
			 const char *trial, const char *profile, const char *plandir)
{
	struct job_options o = job_options;
	struct job job;
	struct plan plan;

	o.vmlinux = vmlinux;
	o.vmlinux_name = name;
	o.unattended = true;
	o.map = map;
	o.trial = trial;
	o.objects = ".";	/* ld's names count from where it runs */
	o.profiles = &profile;
	o.nr_profiles = 1;
	if (job_init(&job, &o))
		return EXIT_FAILED;
	int ret = make_plan(&job, plandir, NULL, script, &plan) ? EXIT_FAILED : EXIT_DONE;
	if (!ret)
		plan_release(&plan);
	job_release(&job);
	return ret;
}

const struct command optimize_command = {
	.name = "optimize",
	.args = "VMLINUX PROFILE... -o DIR",
	.summary = "do the whole job: make a plan from a kernel and its profiles",
	.details = "Writes a folder with the linker input that packs the hot text, for hottext-ld and by hand, and\n"
		   "with a report of what it saves.",
	.example = "hottext optimize vmlinux perf.data -o plan",
	.opts = options,
	.run = run,
};
