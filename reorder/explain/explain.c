/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

#include "collect/profile.h"
#include "lib/mem.h"
#include "reorder/plan/plan.h"

static bool is_bare_of(const char *identity, const char *name)
{
	size_t n = strcspn(identity, "@#");

	return identity[n] && strlen(name) == n && !strncmp(identity, name, n);
}

struct matches {
	struct explain_match *items;
	uint32_t nr, alloc;
};

static void add_match(struct matches *m, uint32_t unit, uint32_t function)
{
	ALLOC_GROW(m->items, m->nr + 1, m->alloc);
	m->items[m->nr++] = (struct explain_match){ unit, function };
}

/* Functions whose name, or bare name, is that; units are asked where no function has it. */
static void find_named(const struct plan *p, const char *name, bool bare, struct matches *m)
{
	for (uint32_t u = 0; u < p->nr_units; u++) {
		const struct plan_unit *unit = &p->units[u];

		for (uint32_t f = unit->first_function; f < unit->first_function + unit->nr_functions; f++)
			if (bare ? is_bare_of(p->functions[f].name, name) : !strcmp(p->functions[f].name, name))
				add_match(m, u, f);
	}
	for (uint32_t u = 0; !m->nr && !bare && u < p->nr_units; u++)
		if (!strcmp(p->units[u].name, name))
			add_match(m, u, INDEX_NONE);
}

uint32_t explain_find(const struct plan *p, const char *name, struct explain_match **found)
{
	struct matches m = { 0 };

	find_named(p, name, false, &m);
	if (!m.nr)
		find_named(p, name, true, &m);
	for (uint32_t i = 0; !m.nr && i < p->nr_paths; i++)
		if (!strcmp(p->paths[i].root, name))
			find_named(p, p->paths[i].symbol ? p->paths[i].symbol : "-", false, &m);
	*found = m.items;
	return m.nr;
}

uint32_t explain_similar(const struct plan *p, const char *name, const char **names, uint32_t max)
{
	uint32_t nr = 0;

	for (uint32_t f = 0; f < p->nr_functions && nr < max; f++)
		if (strstr(p->functions[f].name, name))
			names[nr++] = p->functions[f].name;
	return nr;
}

static int by_count(const void *a, const void *b)
{
	const struct explain_call *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	const struct explain_call *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* One entry a name, heaviest first. */
static uint32_t merge_calls(struct explain_call *calls, uint32_t nr)
{
	uint32_t out = 0;

	if (!nr)
		return 0;
	qsort(calls, nr, sizeof(*calls), by_name);
	for (uint32_t i = 1; i < nr; i++) {
		if (!strcmp(calls[i].name, calls[out].name))
			calls[out].count += calls[i].count;
		else
			calls[++out] = calls[i];
	}
	qsort(calls, out + 1, sizeof(*calls), by_count);
	return out + 1;
}

static void add_caller(struct explanation *e, const char *name, uint64_t count)
{
	ALLOC_GROW(e->callers, e->nr_callers + 1, e->alloc_callers);
	e->callers[e->nr_callers++] = (struct explain_call){ name, count };
}

static void add_callee(struct explanation *e, const char *name, uint64_t count)
{
	ALLOC_GROW(e->callees, e->nr_callees + 1, e->alloc_callees);
	e->callees[e->nr_callees++] = (struct explain_call){ name, count };
}

/* The profile may know the function by its bare name only. */
static uint32_t profile_function(const struct profile *profile, const char *identity)
{
	uint32_t f = index_find_str(&profile->names, identity);
	size_t bare = strcspn(identity, "@#");

	return f == INDEX_NONE ? index_find(&profile->names, identity, bare) : f;
}

static bool fill_from_profile(struct explanation *e, const struct profile *profile)
{
	uint32_t self = e->at.function == INDEX_NONE ? INDEX_NONE : profile_function(profile, e->name);

	if (self == INDEX_NONE)
		return false;
	e->samples = profile->funcs[self].samples;
	e->calls = profile->funcs[self].calls;
	for (uint32_t i = 0; i < profile->calls.nr_keys; i++) {
		uint32_t caller, off, callee;

		profile_get_call(profile, i, &caller, &off, &callee);
		if (callee == self)
			add_caller(e, profile_func_name(profile, caller), profile->call_weights[i]);
		if (caller == self)
			add_callee(e, profile_func_name(profile, callee), profile->call_weights[i]);
	}
	return true;
}

static void fill_from_edges(struct explanation *e)
{
	const struct plan *p = e->plan;

	e->samples = p->units[e->at.unit].weight;
	e->calls = p->units[e->at.unit].calls;
	for (uint32_t i = 0; i < p->nr_edges; i++) {
		if (p->edges[i].to == e->at.unit)
			add_caller(e, p->units[p->edges[i].from].name, p->edges[i].weight);
		if (p->edges[i].from == e->at.unit)
			add_callee(e, p->units[p->edges[i].to].name, p->edges[i].weight);
	}
}

static int by_path_weight(const void *a, const void *b)
{
	const struct explain_path *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

static void fill_paths(struct explanation *e)
{
	const struct plan *p = e->plan;
	uint32_t alloc = 0;

	for (uint32_t i = 0; i < p->nr_paths; i++) {
		const struct plan_use *u = p->uses + p->paths[i].first_use;

		for (uint32_t k = 0; k < p->paths[i].nr_uses; k++) {
			if (u[k].unit != e->at.unit)
				continue;
			ALLOC_GROW(e->paths, e->nr_paths + 1, alloc);
			e->paths[e->nr_paths++] = (struct explain_path){ i, u[k].weight };
		}
	}
	sort_array(e->paths, e->nr_paths, sizeof(*e->paths), by_path_weight);
}

void explanation_init(struct explanation *e, const struct plan *p, const struct profile *profile,
		      struct explain_match at)
{
	memset(e, 0, sizeof(*e));
	e->plan = p;
	e->at = at;
	e->name = at.function == INDEX_NONE ? p->units[at.unit].name : p->functions[at.function].name;
	if (!profile || !fill_from_profile(e, profile))
		fill_from_edges(e);
	e->nr_callers = merge_calls(e->callers, e->nr_callers);
	e->nr_callees = merge_calls(e->callees, e->nr_callees);
	fill_paths(e);
}

void explanation_release(struct explanation *e)
{
	free(e->callers);
	free(e->callees);
	free(e->paths);
	memset(e, 0, sizeof(*e));
}
