// SPDX-License-Identifier: GPL-3.0-or-later
/* hottext complete: what a profile proves beyond what it saw, and how well that fits a whole trace. */
#include <stdlib.h>
#include <string.h>

#include "analyze/commands.h"
#include "analyze/completion/complete.h"
#include "analyze/completion/coverage.h"
#include "analyze/image/image.h"
#include "collect/profile.h"
#include "collect/profile_sort.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/file.h"

static const char *opt_output, *opt_against, *opt_map;
static bool opt_explain, opt_proved;
static double opt_min = 0.3;
static unsigned int opt_variants;

static const struct opt opts[] = {
	{ 'o', "output", "FILE", "write the completed profile there", OPT_STRING, &opt_output, 0, 0 },
	{ 0, "explain", NULL, "list every function with the reason it is there", OPT_FLAG, &opt_explain, 0, 0 },
	{ 0, "proved", NULL, "add only what is proved", OPT_FLAG, &opt_proved, 0, 0 },
	{ 0, "min-probability", "P", "leave out what is less likely in its path (default 0.3)", OPT_DOUBLE, &opt_min, 0, 0 },
	{ 0, "variants", "N", "paths that a sampled path becomes (default 4)", OPT_UINT, &opt_variants, 1, 16 },
	{ 0, "against", "TRACE", "compare with what a whole trace saw", OPT_STRING, &opt_against, 0, 0 },
	{ 0, "map", "FILE", "link map of VMLINUX", OPT_STRING, &opt_map, 0, 0 },
	OPT_COMMON
};

static void print_count(const char *what, const struct coverage_count *c)
{
	printf("%s\t%llu\t%llu\t%llu\t%llu\t%.2f\n", what, (unsigned long long)c->truth, (unsigned long long)c->found,
	       (unsigned long long)c->right, (unsigned long long)(c->found - c->right),
	       c->weight > 0 ? 100 * c->weight_found / c->weight : 0);
}

static void print_coverage(const char *which, const struct image *img, const struct profile *p,
			   const struct profile *truth)
{
	struct coverage cov;
	char what[64];

	coverage_measure(&cov, img, p, truth);
	snprintf(what, sizeof(what), "functions %s", which);
	print_count(what, &cov.funcs);
	snprintf(what, sizeof(what), "chunks %s", which);
	print_count(what, &cov.chunks);
}

static int compare_with(const struct image *img, const struct collect_options *co, const struct profile *in,
			const struct profile *out)
{
	struct profile truth = { 0 };
	int ret = collect_file(opt_against, co, &truth);

	if (!ret) {
		printf("what\tran\tfound\tright\twrong\tweighted recall %%\n");
		print_coverage("before", img, in, &truth);
		print_coverage("after", img, out, &truth);
	}
	profile_release(&truth);
	return ret;
}

static void explain(const struct completion *c, const struct profile *p)
{
	for (uint32_t f = 0; f < p->names.nr_keys; f++) {
		printf("%s\t%.1f\t", profile_func_name(p, f), f < c->nr_funcs ? c->funcs[f].weight : 0);
		completion_explain(c, p, f, stdout);
		putchar('\n');
	}
}

static int write_profile(const struct profile *p)
{
	struct outfile out;

	if (outfile_init(&out, opt_output))
		return -1;
	profile_write(p, out.fp);
	return outfile_commit(&out);
}

static int complete(const struct image *img, const char *vmlinux, const struct collect_options *co,
		    const struct profile *in)
{
	const struct complete_options options = {
		.min_probability = &opt_min, .variants = opt_variants, .proved_only = opt_proved,
	};
	struct profile out = { 0 };
	struct completion report = { 0 };
	int ret = complete_profile(img, vmlinux, in, &out, &options, &report);

	if (!ret && opt_explain)
		explain(&report, &out);
	if (!ret && opt_output)
		ret = write_profile(&out);
	if (!ret && opt_against)
		ret = compare_with(img, co, in, &out);
	if (!ret)
		note("%u functions seen, %u proved, %u likely; %llu touched bytes seen, %llu added", report.nr_seen,
		     report.nr_proved, report.nr_likely, (unsigned long long)report.bytes_seen,
		     (unsigned long long)report.bytes_added);
	completion_release(&report);
	profile_release(&out);
	return ret;
}

static int run(int argc, char **argv)
{
	struct image img = { 0 };
	struct profile in = { 0 };
	int ret;

	if (argc < 2)
		return usage_error("complete", "needs VMLINUX and a profile");
	if (!(opt_min >= 0 && opt_min <= 1))
		return usage_error("complete", "--min-probability is 0 to 1");
	if (image_init(&img, argv[0], &(struct image_options){ .map = opt_map }))
		return EXIT_FAILED;
	struct collect_options co = { .syms = &img.symtab, .vmlinux = argv[0] };
	ret = collect_files((const char *const *)argv + 1, (unsigned int)argc - 1, &co, &in);
	profile_sort(&in);
	if (!ret && !in.names.nr_keys)
		ret = error("cannot use '%s': it has no kernel samples", argv[1]);
	if (!ret)
		ret = complete(&img, argv[0], &co, &in);
	profile_release(&in);
	image_release(&img);
	return ret ? EXIT_FAILED : EXIT_DONE;
}

const struct command complete_command = {
	.name = "complete",
	.args = "VMLINUX PROFILE...",
	.summary = "add to a sampled profile what it proves and makes likely",
	.details = "A sample proves that what dominates it ran, the calls among it too; where both ways are open, a "
		   "model of branches says how likely each is. optimize does this by itself. --against measures the "
		   "result: items that ran, that the profile holds, right and wrong ones, and the share of runs found.",
	.example = "hottext complete vmlinux perf.data --explain",
	.opts = opts,
	.run = run,
};
