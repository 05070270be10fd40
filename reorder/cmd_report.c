/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext report: shows a plan as text, pictures or HTML. */
#include "commands.h"

#include <stdio.h>

#include "lib/error.h"
#include "lib/file.h"
#include "lib/opt.h"
#include "plan.h"
#include "report/report.h"

static bool opt_csv;

static const struct opt options[] = {
	{ 0, "csv", NULL, "all paths as CSV", OPT_FLAG, &opt_csv, 0, 0 },
	OPT_JSON,
	OPT_COMMON
};

static int run(int argc, char **argv)
{
	struct plan p;

	if (argc != 1)
		return usage_error("report", "wants one PLAN");
	if (plan_read_json(&p, argv[0]))
		return EXIT_FAILED;
	if (opt_json)
		plan_write_json(&p, stdout);
	else if (opt_csv)
		report_csv(&p, stdout);
	else
		report_text(&p, stdout, text_style_for(stdout));
	plan_release(&p);
	return EXIT_DONE;
}

const struct command report_command = {
	.name = "report",
	.args = "PLAN",
	.summary = "show a plan as text, pictures or HTML",
	.example = "hottext report plan",
	.opts = options,
	.run = run,
};
