/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext explain: what a plan decided about a function, and why. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/image/image.h"
#include "collect/profile.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "reorder/commands.h"
#include "reorder/explain/explain.h"
#include "reorder/plan/plan.h"
#include "reorder/report/format.h"

enum { SIMILAR = 5 };

static const char *opt_vmlinux, *opt_map;
static bool opt_all;

static const struct opt options[] = {
	{ 0, "vmlinux", "FILE", "the kernel that was planned: tells cold functions from unknown ones", OPT_STRING,
	  &opt_vmlinux, 0, 0 },
	{ 0, "map", "FILE", "its link map (VMLINUX.map when it is there)", OPT_STRING, &opt_map, 0, 0 },
	{ 0, "all", NULL, "every caller, callee and path, not only the first eight", OPT_FLAG, &opt_all, 0, 0 },
	OPT_JSON,
	OPT_COMMON
};

struct question {
	struct plan plan;
	struct profile profile;
	bool has_profile;
	struct image image;	/* with --vmlinux */
	json_t *json;		/* with --json */
};

/* profile.hot of a plan folder, or beside a plan.json; without it calls are told unit by unit. */
static int read_profile(struct question *q, const char *plan)
{
	struct stat st;
	bool is_dir = !stat(plan, &st) && S_ISDIR(st.st_mode);
	const char *slash = strrchr(plan, '/');
	char *path = is_dir ? path_join(plan, "profile.hot") :
		     xasprintf("%.*sprofile.hot", slash ? (int)(slash - plan) + 1 : 0, plan);
	int ret = 0;

	if (access(path, R_OK)) {
		detail("no '%s': calls are those between units", path);
	} else {
		struct input *in = input_open(path);

		ret = in ? profile_read(&q->profile, in) : -1;
		input_close(in);
		q->has_profile = !ret;
	}
	free(path);
	return ret;
}

static void explain_matches(struct question *q, const char *name, const struct explain_match *found, uint32_t nr)
{
	if (nr > 1 && !opt_json)
		printf("'%s' names %" PRIu32 " functions:\n\n", name, nr);
	for (uint32_t i = 0; i < nr; i++) {
		struct explanation e;

		explanation_init(&e, &q->plan, q->has_profile ? &q->profile : NULL, found[i]);
		if (opt_json)
			json_array_append_new(q->json, explanation_json(&e));
		else
			explanation_text(&e, opt_all, stdout);
		explanation_release(&e);
		if (i + 1 < nr && !opt_json)
			putchar('\n');
	}
}

/* In the profile, and yet nothing of the plan: the planned kernel has no function of that name. */
static bool is_lost(const struct question *q, const char *name)
{
	uint32_t f = q->has_profile ? index_find_str(&q->profile.names, name) : INDEX_NONE;

	if (f == INDEX_NONE || opt_json)
		return f != INDEX_NONE;
	printf("%s\n  lost      in the profile with %" PRIu64 " samples, entered %" PRIu64
	       " times, but the kernel that was planned has no function of that name, or several\n", name,
	       q->profile.funcs[f].samples, q->profile.funcs[f].calls);
	return true;
}

static void print_cold(const struct image *img, uint32_t func)
{
	const struct func *f = &img->funcs[func];

	put_text(stdout, f->id, 0);
	printf("\n  not hot   nothing in the profile has it, and nothing in the profile makes it likely\n");
	if (f->unit != INDEX_NONE) {
		const struct unit *u = &img->units[f->unit];

		printf("  unit      ");
		put_text(stdout, u->section, 0);
		printf("%s", u->object ? " of " : "");
		put_text(stdout, u->object ? u->object : "", 0);
		printf(", %" PRIu32 " bytes, group %s%s%s\n", u->size, group_names[u->group], u->movable ? "" : "; would stay: ",
		       u->movable ? "" : u->why_fixed);
	}
	printf("  linked at 0x%" PRIx64 "\n", f->addr);
}

/* All functions of the kernel with that name, statics too; silent under --json. Returns how many. */
static uint32_t print_cold_matches(const struct image *img, const char *name)
{
	uint32_t nr = 0;
	size_t n = strlen(name);

	for (uint32_t i = 0; i < img->nr_funcs; i++) {
		const char *id = img->funcs[i].id;

		if (strncmp(id, name, n) || (id[n] && id[n] != '@' && id[n] != '#'))
			continue;
		if (nr++ && !opt_json)
			putchar('\n');
		if (!opt_json)
			print_cold(img, i);
	}
	return nr;
}

static void print_similar(const struct plan *p, const char *name)
{
	const char *names[SIMILAR];
	uint32_t nr = explain_similar(p, name, names, SIMILAR);

	for (uint32_t i = 0; i < nr; i++) {
		printf("%s", i ? ", " : "  similar   ");
		put_text(stdout, names[i], 0);
	}
	if (nr)
		putchar('\n');
}

static int explain_absent(const struct question *q, const char *name)
{
	if (is_lost(q, name) || (opt_json && !opt_vmlinux))
		return EXIT_NO;
	if (!opt_vmlinux) {
		printf("%s\n  not hot   or no function of the kernel at all: --vmlinux tells\n", name);
		print_similar(&q->plan, name);
		return EXIT_NO;
	}
	if (print_cold_matches(&q->image, name))
		return EXIT_NO;
	error("no function '%s' in '%s'", name, opt_vmlinux);
	return EXIT_FAILED;
}

static int explain_one(struct question *q, const char *name)
{
	struct explain_match *found;
	uint32_t nr = explain_find(&q->plan, name, &found);
	int ret = EXIT_DONE;

	if (nr)
		explain_matches(q, name, found, nr);
	else
		ret = explain_absent(q, name);
	free(found);
	return ret;
}

static int explain_all(struct question *q, int argc, char **argv)
{
	int ret = EXIT_DONE;

	q->json = opt_json ? json_array() : NULL;
	for (int i = 0; i < argc; i++) {
		int status = explain_one(q, argv[i]);

		if (i + 1 < argc && !opt_json)
			putchar('\n');
		if (ret != EXIT_FAILED && status)
			ret = status;
	}
	if (opt_json) {
		json_dumpf(q->json, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(q->json);
	}
	return ret;
}

static int run(int argc, char **argv)
{
	struct question q = { .has_profile = false };
	int ret = EXIT_FAILED;

	if (argc < 2)
		return usage_error("explain", "wants PLAN and FUNCTION");
	if (plan_read_json(&q.plan, argv[0]))
		return EXIT_FAILED;
	if (!read_profile(&q, argv[0]) &&
	    (!opt_vmlinux || !image_init(&q.image, opt_vmlinux, &(struct image_options){ .map = opt_map })))
		ret = explain_all(&q, argc - 1, argv + 1);
	image_release(&q.image);
	profile_release(&q.profile);
	plan_release(&q.plan);
	return ret;
}

const struct command explain_command = {
	.name = "explain",
	.args = "PLAN FUNCTION...",
	.summary = "say what a plan decided about a function, and why",
	.details = "Prints how it is known to run, how hot it is, its unit and group, its page before and after, why it moved\n"
		   "or stayed, who calls it, and the paths that pull it. Exit status 3: a function is not hot.",
	.example = "hottext explain plan vfs_read",
	.opts = options,
	.run = run,
};
