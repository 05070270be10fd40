/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decisions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "reorder/job.h"

enum { NAMED = 10, VERY = 2 };

static void say_completion(const struct job *job)
{
	const struct completion *c = &job->completion;

	if (job->opts->as_seen)
		detail("the profile is taken as seen");
	else if (c->whole)
		detail("the profile is a whole trace, or completed: nothing is to be completed");
	else
		detail("%u functions seen, %u proved, %u likely; %" PRIu64 " touched bytes seen, %" PRIu64 " added", c->nr_seen,
		       c->nr_proved, c->nr_likely, c->bytes_seen, c->bytes_added);
}

struct lost {
	const char *name;
	uint64_t weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct lost *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Functions of the profile that the kernel has not: other versions, other configurations, modules. */
static void say_lost(const struct job *job)
{
	const struct profile *p = &job->profile;
	struct lost *lost = NULL;
	uint32_t nr = 0, alloc = 0;

	for (uint32_t i = 0; i < p->names.nr_keys; i++) {
		enum match how;

		if (image_match(&job->image, profile_func_name(p, i), &how) != INDEX_NONE)
			continue;
		ALLOC_GROW(lost, nr + 1, alloc);
		lost[nr++] = (struct lost){ profile_func_name(p, i), p->funcs[i].samples + p->funcs[i].calls };
	}
	sort_array(lost, nr, sizeof(*lost), by_weight);
	detail("%u of %u functions of the profile are not in this kernel, or cannot be told from namesakes", nr,
	       p->names.nr_keys);
	for (uint32_t i = 0; i < nr && (i < NAMED || verbosity >= VERY); i++)
		detail("lost: %s (weight %" PRIu64 ")", lost[i].name, lost[i].weight);
	if (nr > NAMED && verbosity < VERY)
		detail("lost: %u more (-vv names them)", nr - NAMED);
	free(lost);
}

struct reason {
	const char *why;
	uint32_t nr;
};

static int by_number(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr > y->nr ? -1 : 1;
	return strcmp(x->why, y->why);
}

/* "left out: run by 0.01 % of paths, ..." differ only in figures. */
static const char *reason_of(const struct plan_unit *u)
{
	return strncmp(u->why, "left out: run", 13) ? u->why : "left out: too few paths run them";
}

static void say_units(const struct plan *plan)
{
	struct index whys = { 0 };
	struct reason *reasons = xcalloc((size_t)plan->nr_units + 1, sizeof(*reasons));
	uint32_t moved = 0;

	for (uint32_t i = 0; i < plan->nr_units; i++) {
		const struct plan_unit *u = &plan->units[i];

		moved += u->moved;
		if (u->moved)
			continue;
		uint32_t r = index_add_str(&whys, reason_of(u));
		reasons[r].nr++;
		if (verbosity >= VERY)
			detail("stays: %s: %s", u->name, u->why);
	}
	detail("%u units move to 0x%" PRIx64 "-0x%" PRIx64 "; %u hot ones stay", moved, plan->hot_start, plan->hot_end,
	       plan->nr_units - moved);
	for (uint32_t r = 0; r < whys.nr_keys; r++)
		reasons[r].why = index_str(&whys, r);
	sort_array(reasons, whys.nr_keys, sizeof(*reasons), by_number);
	for (uint32_t r = 0; r < whys.nr_keys; r++)
		detail("%u units stay: %s", reasons[r].nr, reasons[r].why);
	index_release(&whys);
	free(reasons);
}

static void say_guard(const struct guard *g)
{
	uint32_t nr = 0;

	if (g->seen)
		detail("%u units are moved for %u roots never profiled", g->nr_units, g->names.nr_keys - g->nr_profiled);
	for (uint32_t i = 0; i < g->names.nr_keys; i++) {
		const struct guard_root *r = &g->roots[i];

		if (guard_is_worse(r) && (nr++ < NAMED || verbosity >= VERY))
			detail("%s %s, %s, needs %.4g entries instead of %.4g", path_kind_names[r->kind], guard_root_name(g, i),
			       r->profiled ? "profiled" : "never profiled", r->mean[1], r->mean[0]);
	}
	if (nr > NAMED && verbosity < VERY)
		detail("%u more roots need more (-vv names them)", nr - NAMED);
}

void decisions_say(const struct job *job, const struct plan *plan)
{
	if (verbosity < 1)
		return;
	if (job->opts->machine)
		detail("machine '%s', as asked", job->machine.name);
	detail("%u units, %s", job->image.nr_units,
	       job->image.exact_units ? "by the link map" : "inferred from symbols: no link map");
	say_completion(job);
	say_lost(job);
	say_units(plan);
	say_guard(&job->guard);
	detail("'hottext explain DIR FUNCTION' says it of one function");
}
