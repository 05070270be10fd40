/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perfdata_events.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "perfdata.h"

/* perf_event_attr.type and .config, include/uapi/linux/perf_event.h */
static const struct known {
	uint32_t type;
	uint64_t config;
	const char *name;
} known[] = {
	{ 0, 0, "cycles" }, { 0, 1, "instructions" }, { 0, 4, "branches" }, { 0, 9, "ref-cycles" },
	{ 1, 0, "cpu-clock" }, { 1, 1, "task-clock" }, { 1, 9, "dummy" },
	{ 3, 0x00004, "iTLB-loads" }, { 3, 0x10004, "iTLB-load-misses" },
};

char *perfdata_event_name(uint32_t type, uint64_t config)
{
	/* On hybrid CPUs the upper half of config says which PMU. */
	uint64_t plain = type == 0 || type == 3 ? config & UINT32_MAX : config;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].type == type && known[i].config == plain)
			return xstrdup(known[i].name);
	return xasprintf("type-%u-config-0x%llx", type, (unsigned long long)config);
}

/* Whether what stands before a slash is an event with terms behind it, not the PMU of one. */
static bool has_terms(const char *event, const char *slash)
{
	/* perf's own names for events, and its own terms; a PMU has events and terms of its own. */
	static const char *const names[] = {
		"cycles", "cpu-cycles", "instructions", "cache-references", "cache-misses", "branches",
		"branch-instructions", "branch-misses", "bus-cycles", "ref-cycles", "cpu-clock", "task-clock",
		"page-faults", "faults", "minor-faults", "major-faults", "context-switches", "cs", "cpu-migrations",
		"migrations", "alignment-faults", "emulation-faults", "dummy", NULL
	}, *const starts[] = {
		"stalled-cycles-", "idle-cycles-", "L1-", "LLC-", "dTLB-", "iTLB-", "branch-", "node-", NULL
	}, *const terms[] = {
		"period=", "freq=", "call-graph=", "stack-size=", "max-stack=", "branch_type=", "time=", NULL
	};
	const char *const *s;

	for (s = names; *s; s++)
		if (strlen(*s) == (size_t)(slash - event) && !strncmp(*s, event, strlen(*s)))
			return true;
	for (s = starts; *s; s++)
		if (!strncmp(event, *s, strlen(*s)))
			return true;
	for (s = terms; *s; s++)
		if (!strncmp(slash + 1, *s, strlen(*s)))
			return true;
	return false;
}

/* The bare name: behind "PMU/", before "/", ":" and ",". */
static void bare(const char *event, const char **start, size_t *len)
{
	const char *slash = strchr(event, '/');

	*start = slash && !has_terms(event, slash) ? slash + 1 : event;
	*len = strcspn(*start, "/:,");
}

bool perfdata_event_is(const char *event, const char *asked)
{
	const char *start;
	size_t len;

	bare(event, &start, &len);
	return !strcmp(event, asked) || (strlen(asked) == len && !strncmp(start, asked, len));
}

static bool is_one_of(const char *event, const char *const *names)
{
	const char *start;
	size_t len;

	bare(event, &start, &len);
	for (; *names; names++)
		if (strlen(*names) == len && !strncasecmp(start, *names, len))
			return true;
	return false;
}

bool perfdata_event_is_cycles(const char *event)
{
	/* "cycles:P" and "cpu/cycles/" by their bare name; the rest is what vendors call the same counters. */
	static const char *const names[] = {
		"cycles", "cpu-cycles", "cpu-clock", "task-clock", "instructions", "ref-cycles", "cpu_cycles",
		"inst_retired", "inst_retired.any", "inst_retired.prec_dist", "cpu_clk_unhalted.thread",
		"cpu_clk_unhalted.ref", "cpu_clk_unhalted.core", "ibs_op", "ls_not_halted_cyc", "ex_ret_instr", NULL
	};

	return is_one_of(event, names) || !strncmp(event, "ibs_op/", 7);
}

bool perfdata_event_is_itlb(const char *event)
{
	return strcasestr(event, "itlb");
}

bool perfdata_event_is_dummy(const char *event)
{
	return !strncmp(event, "dummy", 5);
}

bool perfdata_event_is_asked(const char *event, const char *asked)
{
	return perfdata_event_is(event, asked) || (!strcmp(asked, "itlb") && perfdata_event_is_itlb(event));
}

void perfdata_tell_left_out(const char *name, uint64_t samples, const char *event)
{
	if (samples)
		note("'%s': %llu samples of event '%s' left out (--event %s takes them)", name,
		     (unsigned long long)samples, event, event);
}

bool perfdata_choose_events(struct perfdata *d, const char *event)
{
	bool any = false;

	for (uint32_t i = 0; i < d->nr_attrs; i++) {
		const char *name = d->attrs[i].name;

		d->attrs[i].used = event ? perfdata_event_is_asked(name, event) : perfdata_event_is_cycles(name);
		any |= d->attrs[i].used;
	}
	if (any || event)
		return any;
	/* Branch records are often taken on a count of branches: better than nothing, and said so by the caller. */
	for (uint32_t i = 0; i < d->nr_attrs; i++) {
		const char *name = d->attrs[i].name;

		d->attrs[i].used = !perfdata_event_is_dummy(name) && !perfdata_event_is_itlb(name);
		any |= d->attrs[i].used;
	}
	return any;
}
