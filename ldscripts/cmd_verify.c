/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext verify: does a kernel obey a plan? */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "ldscripts/commands.h"
#include "ldscripts/verify.h"
#include "lib/error.h"
#include "lib/json_text.h"
#include "lib/mem.h"
#include "reorder/plan/plan.h"

enum { SHOWN_STRAYS = 20, SHOWN_OF_STRANGER = 3 };

static const char *opt_map;
static bool opt_exact, opt_all;

static const struct opt options[] = {
	{ 0, "map", "FILE", "link map of the new kernel (default: NEW_VMLINUX.map)", OPT_STRING, &opt_map, 0, 0 },
	{ 0, "exact", NULL, "every address must be as planned, not only every page", OPT_FLAG, &opt_exact, 0, 0 },
	{ 0, "all", NULL, "name all that strayed, not only the first twenty", OPT_FLAG, &opt_all, 0, 0 },
	OPT_JSON,
	OPT_COMMON
};

static void print_text(const struct verify *v)
{
	bool stranger = verify_is_stranger(v);
	uint32_t few = stranger ? SHOWN_OF_STRANGER : SHOWN_STRAYS;
	uint32_t shown = opt_all || v->nr_strays < few ? v->nr_strays : few;

	if (stranger && 2 * v->unmoved > v->placed)
		printf("it was not linked by this plan: %u of %u units that it moves lie where they lay before\n",
		       v->unmoved, v->placed);
	else if (stranger)
		printf("it was not linked by this plan: %u of %u units that it moves lie on their planned pages\n",
		       v->placed_on_page, v->placed);
	printf("units      %u of %u found, %u at their planned address, %u on their planned pages\n",
	       v->found, v->units, v->at_address, v->on_page);
	if (v->shifted)
		printf("           %u on other pages, since the linker resizes code by where it lies\n", v->shifted);
	if (v->unknown)
		printf("           %u share their names and cannot be told apart without a link map\n", v->unknown);
	printf("order      %u of %u placed units in order\n", v->in_order, v->placed);
	printf("functions  %u of %u there, %u outside _stext.._etext\n", v->functions - v->lost, v->functions,
	       v->outside);
	printf("groups     %u of %u whole\n", v->groups - v->groups_broken, v->groups);
	printf("entries    %.2f a path, planned %.2f; %u of %u paths as planned\n", v->entries, v->entries_planned,
	       v->paths - v->paths_moved, v->paths);
	if (v->positions)
		printf("livepatch  %u of %u functions at their planned place among those of their name; not that of link order\n",
		       v->positions_held, v->positions);
	for (uint32_t i = 0; i < shown; i++)
		printf("strayed: %s: %s\n", v->strays[i].name, v->strays[i].why);
	if (shown < v->nr_strays)
		printf("strayed: %u more (--all)\n", v->nr_strays - shown);
	printf("%s\n", verify_passed(v) ? "the plan was obeyed" : "the plan was not obeyed");
}

static void print_json(const struct verify *v)
{
	json_t *strays = json_array();
	json_t *root = json_pack(
		"{s:b, s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f}",
		"obeyed", verify_passed(v), "linked_by_plan", !verify_is_stranger(v), "units", v->units, "found", v->found, "unknown", v->unknown,
		"at_address", v->at_address, "on_page", v->on_page, "shifted", v->shifted,
		"placed", v->placed, "placed_on_page", v->placed_on_page, "unmoved", v->unmoved, "in_order", v->in_order,
		"functions", v->functions, "lost", v->lost, "outside", v->outside, "groups", v->groups,
		"groups_broken", v->groups_broken, "paths", v->paths, "paths_moved", v->paths_moved,
		"positions", v->positions, "positions_held", v->positions_held,
		"entries", v->entries, "entries_planned", v->entries_planned);

	for (uint32_t i = 0; i < v->nr_strays; i++)
		json_array_append_new(strays, json_pack("{s:o, s:o}", "name", json_text(v->strays[i].name), "why",
							json_text(v->strays[i].why)));
	json_object_set_new(root, "strays", strays);
	json_dumpf(root, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(root);
}

static int run(int argc, char **argv)
{
	struct image_options image_opts = { .map = opt_map };
	struct verify_options opts = { .exact = opt_exact };
	int ret = EXIT_FAILED;
	struct verify v;
	struct image img;
	struct plan plan;

	if (argc != 2)
		return usage_error("verify", "wants PLAN and NEW_VMLINUX");
	if (plan_read_json(&plan, argv[0]))
		return EXIT_FAILED;
	if (!image_init(&img, argv[1], &image_opts)) {
		if (!verify_init(&v, &plan, &img, &opts)) {
			ret = verify_passed(&v) ? EXIT_DONE : EXIT_NO;
			(opt_json ? print_json : print_text)(&v);
		}
		verify_release(&v);
		image_release(&img);
	}
	plan_release(&plan);
	return ret;
}

const struct command verify_command = {
	.name = "verify",
	.args = "PLAN NEW_VMLINUX",
	.summary = "was a plan obeyed: order, addresses, groups, nothing lost, entries as predicted",
	.details = "Exit status 0: obeyed; 3: not, and the units that strayed are named; 1: it cannot be told.",
	.example = "hottext verify plan vmlinux",
	.opts = options,
	.run = run,
};
