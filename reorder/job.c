/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/code/program.h"
#include "analyze/completion/complete.h"
#include "analyze/completion/unprofiled.h"
#include "analyze/tlb/replay.h"
#include "analyze/tlb/steady.h"
#include "analyze/word_code.h"
#include "collect/fetch/fetch.h"
#include "collect/profile_sort.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/progress.h"
#include "reorder/for_cache.h"
#include "reorder/layout_read.h"
#include "reorder/order.h"
#include "reorder/region.h"
#include "reorder/trial.h"

/* Standard input, and what a shell makes of <(...), say: it can be read once only. */
static bool is_stream(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

/* The first of the inputs that is a fetch trace: only that tells the order of everything. */
static int find_trace(struct job *job)
{
	for (unsigned int i = 0; i < job->opts->nr_profiles; i++) {
		const char *path = job->opts->profiles[i];
		size_t len;

		if (is_stream(path))
			continue;
		struct input *in = input_open(path);
		if (!in)
			return -1;
		const char *head = input_peek(in, 8, &len);
		bool is_trace = fetch_probe(head, len);
		input_close(in);
		if (is_trace && job->trace)
			detail("misses are predicted from '%s' alone, not from '%s'", job->trace, path);
		else if (is_trace)
			job->trace = path;
	}
	return 0;
}

/* Forced, the profile is of names; but a trace of another kernel cannot be run through this one's text. */
static int drop_other_trace(struct job *job)
{
	const struct symtab *st = &job->image.symtab;
	struct input *in;
	struct fetch f;

	if (!job->opts->force || !job->trace)
		return 0;
	if (!(in = input_open(job->trace)))
		return -1;
	int ret = fetch_init(&f, in);

	if (!ret && f.has_build_id && st->build_id_size && memcmp(f.build_id, st->build_id, st->build_id_size)) {
		warn("'%s' is of another kernel: no misses are predicted from it", job->trace);
		job->trace = NULL;
	}
	fetch_release(&f);
	input_close(in);
	return ret;
}

static int check_code(const struct job *job, const struct profile *p)
{
	const char *name = job->opts->profiles[0], *arch = symtab_arch(&job->image.symtab);

	if (!is_other_code(&job->image, p))
		return 0;
	if (!job->opts->force)
		return error("cannot use '%s': its call sites are not those of %s code, it is of another architecture%s",
			     name, arch, job->opts->unattended ? "" : " (--force uses its names)");
	warn("the call sites of '%s' are not those of %s code: it is of another architecture", name, arch);
	return 0;
}

static int read_profile(struct job *job)
{
	const struct job_options *o = job->opts;
	struct collect_options collect = { .syms = &job->image.symtab, .vmlinux = o->vmlinux, .event = o->event,
					   .modules = job->has_modules ? &job->modules : NULL, .force = o->force };
	struct complete_options complete = { .proved_only = false };
	struct profile in = { 0 };
	int ret = -1;

	if (collect_files(o->profiles, o->nr_profiles, &collect, &in))
		goto out;
	profile_sort(&in);
	collect_print_totals(&in);
	if (!in.names.nr_keys) {
		error("cannot use '%s': it has no kernel samples", o->profiles[0]);
		goto out;
	}
	if (check_code(job, &in))
		goto out;
	if (o->as_seen) {
		job->profile = in;
		return 0;
	}
	ret = complete_profile(&job->image, o->vmlinux, &in, &job->profile, &complete, &job->completion);
out:
	profile_release(&in);
	return ret;
}

/* A plan from a profile of another kernel would be worse than none. */
static int check_match(const struct job *job)
{
	const struct match_totals *m = &job->cg.match;
	uint64_t found = m->exact + m->name + m->normalized, all = found + m->unmatched;
	double share = all ? 100.0 * (double)found / (double)all : 0;
	const char *kernel = job->opts->vmlinux_name ? job->opts->vmlinux_name : job->opts->vmlinux;

	if (!all)
		return error("cannot use '%s': it has no kernel samples", job->opts->profiles[0]);
	if (share < 50 && !job->opts->force)
		return error("cannot use '%s': only %.1f %% of it is found in '%s'%s", job->opts->profiles[0], share,
			     kernel, job->opts->unattended ? "" : " (--force goes on)");
	if (share < 90)
		warn("only %.1f %% of the profile is found in '%s'", share, kernel);
	return 0;
}

int job_init(struct job *job, const struct job_options *opts)
{
	struct image_options image = { opts->map, opts->objects, false };

	memset(job, 0, sizeof(*job));
	job->opts = opts;
	if (opts->modules && modules_init(&job->modules, opts->modules))
		return -1;
	job->has_modules = opts->modules;
	if (find_trace(job) || image_init(&job->image, opts->vmlinux, &image))
		return -1;
	job->image.modules = job->has_modules ? &job->modules : NULL;
	layout_init(&job->before, &job->image);
	layout_init(&job->after, &job->image);
	layout_assign(&job->before);
	if (drop_other_trace(job))
		goto fail;
	if (opts->trial && !(job->after.sizes = job->trial_sizes = trial_sizes(&job->image, opts->trial)))
		goto fail;
	if (opts->machine ? machine_init(&job->machine, opts->machine) :
			    machine_init_for(&job->machine, &job->image.symtab))
		goto fail;
	machine_map_text(&job->machine, job->image.text_start, job->image.text_end);
	if (read_profile(job) || callgraph_init(&job->cg, &job->image, &job->profile) || check_match(job))
		goto fail;
	return 0;
fail:
	job_release(job);
	return -1;
}

void job_release(struct job *job)
{
	callgraph_release(&job->cg);
	completion_release(&job->completion);
	layout_release(&job->before);
	layout_release(&job->after);
	free(job->trial_sizes);
	profile_release(&job->profile);
	machine_release(&job->machine);
	image_release(&job->image);
	modules_release(&job->modules);
	guard_release(&job->guard);
	callgraph_release(&job->unseen);
}

/* Where no order saves ITLB entries, the default one is for the instruction cache. */
static bool wants_cache_order(const struct job *job)
{
	const char *why = machine_why_no_saving(&job->machine, job->image.text_start, job->image.text_end);

	return why && job->trace && job->machine.l1i_bytes && !strcmp(job->opts->algorithm, "pack");
}

static void run_algorithm(const struct job *job, const struct callgraph *cg, struct layout *l)
{
	struct order_options o = { &job->machine, job->opts->effort };

	algorithm_find(job->opts->algorithm)->run(cg, &o, l);
	layout_assign(l);
}

static bool wants_guard(const struct job *job)
{
	return !job->opts->allow_regress && !strcmp(job->opts->algorithm, "pack");
}

/* Once more, with more weight on the roots that came off worse; taken when fewer of them are. */
static void order_again(struct job *job, uint32_t nr_worse)
{
	struct callgraph raised = job->cg;
	struct layout again;

	raised.paths = xmemdup(raised.paths, raised.nr_paths * sizeof(*raised.paths));
	guard_raise(&job->guard, raised.paths);
	layout_init(&again, &job->image);
	again.sizes = job->after.sizes;
	run_algorithm(job, &raised, &again);
	guard_measure(&job->guard, &again);
	bool better = guard_count(&job->guard, true, guard_is_worse) < nr_worse;
	detail("%u profiled roots need more ITLB entries than now: ordered again, %s", nr_worse,
	       better ? "fewer now" : "in vain");
	if (better) {
		struct layout worse = job->after;

		job->after = again;
		again = worse;
	}
	layout_release(&again);
	free(raised.paths);
}

/* The paths of roots never profiled; none where the kernel's code cannot be read, which a trace does not need. */
static int read_unseen(struct job *job)
{
	struct profile paths = { 0 };
	int can_read = program_can_read(job->opts->vmlinux);

	if (can_read < 0)
		return -1;
	if (!can_read) {
		warn("no disassembler for this kernel: roots that were never profiled are not guarded");
		return callgraph_init(&job->unseen, &job->image, &paths);
	}
	int ret = unprofiled_paths(&job->image, job->opts->vmlinux, &job->profile, &paths);

	if (!ret)
		ret = callgraph_init(&job->unseen, &job->image, &paths);
	profile_release(&paths);
	return ret;
}

static int order_guarded(struct job *job)
{
	run_algorithm(job, &job->cg, &job->after);
	if (!wants_guard(job))
		return 0;
	if (read_unseen(job))
		return -1;
	guard_init(&job->guard, &job->cg, &job->unseen, &job->before, &job->machine);
	guard_measure(&job->guard, &job->after);
	uint32_t nr_worse = guard_count(&job->guard, true, guard_is_worse);
	if (nr_worse && !interrupted())
		order_again(job, nr_worse);
	guard_gather(&job->guard, &job->after);
	return 0;
}

int job_order(struct job *job)
{
	int ret = 0;
	struct order_options o = { &job->machine, job->opts->effort };

	/* Inside a build the signal is for the build: half a search must not pass for a plan there. */
	if (!job->opts->unattended)
		interrupt_catch();
	if (wants_cache_order(job))
		ret = order_for_cache(&job->cg, &o, job->trace, &job->after);
	else
		ret = order_guarded(job);
	if (!job->opts->unattended)
		interrupt_release();
	if (interrupted())
		note("interrupted: the plan is the best found so far");
	if (machine_block_bytes(&job->machine) > 4096) {
		region_fit(&job->after, &job->machine, NULL);
		if (job->guard.seen)
			guard_measure(&job->guard, &job->after);
	}
	return ret;
}

int job_read_order(struct job *job, const char *path)
{
	if (layout_read(&job->after, path))
		return -1;
	layout_assign(&job->after);
	return 0;
}

/* Misses of both layouts on the machine, in one pass over the trace. */
static int predict_misses(const struct job *job, struct plan *plan)
{
	const uint64_t *layouts[2] = { job->before.addr, job->after.addr };
	const struct machine *m = &job->machine;
	struct tlb_counts counts[2];
	struct plan_side *sides[2] = { &plan->before, &plan->after };

	if (replay_layouts(job->trace, &job->image, layouts, 2, &m, 1, counts))
		return -1;
	for (int i = 0; i < 2; i++) {
		sides[i]->misses = counts[i].kernel_misses;
		if (m->l1i_bytes)
			sides[i]->l1i_misses = counts[i].l1i_kernel_misses;
		/* A trace's samples are its instructions; of several profiles nobody can say which are. */
		if (job->opts->nr_profiles == 1)
			sides[i]->insns = plan->profile.samples;
	}
	return 0;
}

/* Without a trace: an estimate from the paths, told apart from a prediction in the plan. */
static void estimate_misses(const struct job *job, struct plan *plan)
{
	struct steady before, after;

	if (steady_init(&before, &job->cg, job->before.addr, &job->machine) &&
	    steady_init(&after, &job->cg, job->after.addr, &job->machine)) {
		note("no fetch trace: an estimated %.2f ITLB misses a path before, %.2f after, paths drawn by weight",
		     before.mix, after.mix);
		plan->before.estimate = before.mix;
		plan->after.estimate = after.mix;
		steady_release(&after);
	}
	steady_release(&before);
}

int job_plan(const struct job *job, struct plan *plan)
{
	plan_init(plan);
	plan_fill(plan, &job->image, &job->cg, &job->before, &job->after, &job->machine, &job->profile);
	plan_set_evidence(plan, &job->image, &job->profile, &job->completion);
	if (job->guard.seen)
		plan_set_guard(plan, &job->guard, &job->after);
	plan->algorithm = job->opts->algorithm;
	plan->effort = job->opts->effort;
	plan_set_command(plan);
	bool traced = job->trace && !predict_misses(job, plan);
	if (job->trace && !traced && !job->opts->force) {
		plan_release(plan);
		return -1;
	}
	if (job->trace && !traced)
		warn("no misses are predicted from '%s'", job->trace);
	if (!traced)
		estimate_misses(job, plan);
	return 0;
}
