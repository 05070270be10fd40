/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan says about one function: how hot, why, where, who calls it, which paths run it. */
#ifndef REORDER_EXPLAIN_EXPLAIN_H
#define REORDER_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct plan;
struct profile;

struct explain_match {
	uint32_t unit, function;	/* in the plan; function INDEX_NONE: the unit as such */
};

struct explain_call {
	const char *name;	/* of the other function or unit; borrowed from plan or profile */
	uint64_t count;
};

struct explain_path {
	uint32_t path;		/* in the plan */
	uint64_t weight;	/* of its variants that run the unit */
};

struct explanation {
	const struct plan *plan;	/* borrowed */
	struct explain_match at;
	const char *name;
	uint64_t samples, calls;	/* of the function where the profile is at hand, else of its unit */
	struct explain_call *callers, *callees;	/* by count descending, then name */
	uint32_t nr_callers, alloc_callers, nr_callees, alloc_callees;
	struct explain_path *paths;	/* by weight descending, then as in the plan */
	uint32_t nr_paths;
};

/*
 * What a name means in the plan: an identity; all functions of that bare name (statics);
 * a unit; or the root of a path, whose function it then is. Returns how many; the caller frees *found.
 */
uint32_t explain_find(const struct plan *p, const char *name, struct explain_match **found);

/* Up to max names in the plan that hold this one, or that it holds; returns how many. Borrowed from the plan. */
uint32_t explain_similar(const struct plan *p, const char *name, const char **names, uint32_t max);

/* profile: the plan's own, for calls between functions; NULL: calls between units. */
void explanation_init(struct explanation *e, const struct plan *p, const struct profile *profile,
		      struct explain_match at);
void explanation_release(struct explanation *e);

/* all: every caller, callee and path, not only the first ones. */
void explanation_text(const struct explanation *e, bool all, FILE *fp);

/* One object. */
struct json_t;
struct json_t *explanation_json(const struct explanation *e);

#endif
