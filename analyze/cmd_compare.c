/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext compare: kernels, counters, times or LMbench summaries side by side. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/commands.h"
#include "analyze/compare/cost.h"
#include "analyze/compare/figures.h"
#include "analyze/compare/judge.h"
#include "analyze/compare/kernels.h"
#include "analyze/compare/readers.h"
#include "analyze/compare/show.h"
#include "lib/error.h"
#include "lib/input.h"

enum { MAX_SIDES = 250 };

static struct opt_list opt_profiles, opt_modules, opt_figures;
static const char *opt_machine, *opt_base, *opt_cycles, *opt_clock;
static double opt_alpha = 0.05;
static bool opt_no_worse;

static const struct opt options[] = {
	{ 0, "profile", "FILE", "kernels: what ran; can be repeated", OPT_LIST, &opt_profiles, 0, 0 },
	{ 0, "modules", "PATH", "kernels: .ko files below it, for all of them or one for each", OPT_LIST, &opt_modules, 0, 0 },
	{ 'm', "machine", "M", "machine model: page size, cost of a miss, clock", OPT_STRING, &opt_machine, 0, 0 },
	{ 0, "base", "NAME", "the host or file that all are set against (the first)", OPT_STRING, &opt_base, 0, 0 },
	{ 0, "figure", "PATTERN", "figures of this name only; can be repeated", OPT_LIST, &opt_figures, 0, 0 },
	{ 0, "alpha", "P", "a difference is more than noise from this p on (0.05)", OPT_DOUBLE, &opt_alpha, 0, 0 },
	{ 0, "cycles", "N", "what a TLB miss costs, cycles, or a range as 23-140", OPT_STRING, &opt_cycles, 0, 0 },
	{ 0, "clock", "HZ", "the clock, as 48MHz", OPT_STRING, &opt_clock, 0, 0 },
	{ 0, "no-worse", NULL, "exit with 3 when a figure is worse by more than noise", OPT_FLAG, &opt_no_worse, 0, 0 },
	OPT_JSON,
	OPT_COMMON
};

/* 1: an ELF file, 0: something else, -1: cannot be read. What is no file can be read once only, so it is left alone. */
static int is_kernel(const char *path)
{
	struct input *in;
	struct stat st;
	size_t len;

	if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode)))
		return 0;
	in = input_open(path);
	if (!in)
		return -1;
	const char *head = input_peek(in, 4, &len);
	bool elf = len >= 4 && !memcmp(head, "\177ELF", 4);
	input_close(in);
	return elf;
}

static int compare_kernels(int argc, char **argv)
{
	struct kernels_options o = { opt_machine, opt_profiles.items, opt_profiles.nr, opt_modules.items,
				     opt_modules.nr };
	struct kernels k;

	if (!opt_profiles.nr)
		return usage_error("compare", "kernels are compared under a profile: give --profile FILE");
	if (argc < 2)
		return usage_error("compare", "give two kernels at least");
	if (o.nr_modules > 1 && o.nr_modules != (uint32_t)argc)
		return usage_error("compare", "give --modules once, or once for each kernel");
	if (kernels_init(&k, (const char *const *)argv, (uint32_t)argc, &o))
		return EXIT_FAILED;
	if (opt_json)
		show_kernels_json(stdout, &k);
	else
		show_kernels(stdout, &k);
	bool worse = false;
	for (uint32_t i = 1; i < k.nr_sides; i++)
		worse |= k.sides[i].mean > k.sides[0].mean;
	kernels_release(&k);
	return worse && opt_no_worse ? EXIT_NO : EXIT_DONE;
}

/* The machine's price of a miss, and what the command line says instead. */
static int find_price(struct miss_price *price)
{
	struct machine m;

	*price = (struct miss_price){ 0 };
	if (opt_machine) {
		if (machine_init(&m, opt_machine))
			return EXIT_FAILED;
		*price = (struct miss_price){ m.miss_cycles_min, m.miss_cycles_max, m.clock_hz };
		machine_release(&m);
	}
	if (opt_cycles && !parse_cycles(opt_cycles, &price->min_cycles, &price->max_cycles))
		return usage_error("compare", "not a number of cycles or a range: '%s'", opt_cycles);
	if (opt_clock && !parse_clock(opt_clock, &price->clock_hz))
		return usage_error("compare", "not a clock, as 48MHz: '%s'", opt_clock);
	return EXIT_DONE;
}

/* The side that --base calls by its label, or by its operand as given; UINT32_MAX without --base. */
static int find_base(const struct figures *f, const char *const *paths, uint32_t *base)
{
	uint32_t nr = 0;

	*base = UINT32_MAX;
	if (!opt_base)
		return 0;
	for (uint32_t i = 0; i < f->nr_sides; i++)
		if (!strcmp(f->sides[i].label, opt_base)) {
			*base = i;
			return 0;
		}
	for (uint32_t i = f->nr_sides; i-- > 0;)
		if (!strcmp(paths[f->sides[i].operand], opt_base)) {
			/* A file given twice is the same either time. */
			nr += *base == UINT32_MAX || f->sides[i].operand == f->sides[*base].operand;
			*base = i;
		}
	if (!nr)
		return error("no host or file '%s' among what was read", opt_base);
	return nr > 1 ? error("--base '%s' has several hosts: name one of them", opt_base) : 0;
}

static bool any_worse(const struct figures *f, const struct judged *j)
{
	for (uint32_t i = 0; i < j->nr_pairs; i++)
		for (uint32_t k = 0; k < j->pairs[i].nr_figures; k++) {
			const struct judgement *g = &j->pairs[i].figures[k];
			enum better better = f->figures[g->figure].better;
			double more = g->other.median - g->base.median;

			if (g->verdict == VERDICT_DIFFERS &&
			    ((better == BETTER_SMALLER && more > 0) || (better == BETTER_BIGGER && more < 0)))
				return true;
		}
	return false;
}

static int judge_and_show(const struct figures *f, const char *const *paths, const struct miss_price *price)
{
	struct judged j;
	uint32_t base, found = 0;

	if (find_base(f, paths, &base))
		return EXIT_FAILED;
	if (f->nr_sides < 2) {
		error("nothing to compare: %s",
		      f->nr_sides ? "there is one host or file only" : "every row is ambiguous");
		return EXIT_FAILED;
	}
	judged_init(&j, f, base, opt_alpha, opt_figures.items, opt_figures.nr);
	for (uint32_t i = 0; i < j.nr_pairs; i++)
		found += j.pairs[i].nr_figures;
	if (!found && !f->nr_ambiguous) {
		error("no figure that two sides have in common");
		judged_release(&j);
		return EXIT_FAILED;
	}
	if (opt_json)
		show_figures_json(stdout, f, &j, price);
	else
		show_figures(stdout, f, &j, price);
	bool no = opt_no_worse && any_worse(f, &j);
	judged_release(&j);
	return no ? EXIT_NO : EXIT_DONE;
}

static int compare_figures(int argc, char **argv)
{
	struct figures f = { 0 };
	struct miss_price price;
	int ret = find_price(&price);

	for (int i = 0; i < argc && !ret; i++)
		if (read_operand(&f, (uint32_t)i, argv[i]))
			ret = EXIT_FAILED;
	if (!ret && f.nr_sides > MAX_SIDES) {
		error("cannot compare more than %d hosts and files, here are %u", MAX_SIDES, f.nr_sides);
		ret = EXIT_FAILED;
	}
	if (!ret) {
		figures_settle(&f, (const char *const *)argv, (uint32_t)argc);
		ret = judge_and_show(&f, (const char *const *)argv, &price);
	}
	figures_release(&f);
	return ret;
}

static int run(int argc, char **argv)
{
	int kernels = 0;

	if (!argc)
		return usage_error("compare", "give what to compare");
	if (!(opt_alpha > 0 && opt_alpha < 1))
		return usage_error("compare", "--alpha is between 0 and 1");
	for (int i = 0; i < argc; i++) {
		int kernel = is_kernel(argv[i]);

		if (kernel < 0)
			return EXIT_FAILED;
		kernels += kernel;
	}
	if (kernels && kernels < argc) {
		error("cannot compare kernels with what are none");
		return EXIT_FAILED;
	}
	return kernels ? compare_kernels(argc, argv) : compare_figures(argc, argv);
}

const struct command compare_command = {
	.name = "compare",
	.args = "A B...",
	.summary = "set kernels, counters, times or LMbench results side by side",
	.details = "Kernels: the ITLB entries of each path under --profile. Otherwise files or folders of "
		   "counters\n"
		   "(/proc/tlbmiss, perf stat, time) or LMbench summaries, several runs each; hosts in one "
		   "summary\n"
		   "are told apart. Says for each figure whether the difference is more than noise.",
	.example = "hottext compare --base nopintlb lmbench.txt",
	.opts = options,
	.run = run,
};
