/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/compare/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/compare/figures.h"
#include "analyze/compare/judge.h"
#include "analyze/compare/readers.h"
#include "lib/mem.h"
#include "lib/number.h"

static bool same(const char *a, size_t nr_a, const char *b, size_t nr_b)
{
	return nr_a == nr_b && !strncmp(a, b, nr_a);
}

/*
 * perf counts an event once as it is, or with ":u" and ":k" apart, or by each PMU of a hybrid CPU
 * apart: with the whole there, its parts are not added to it.
 */
static bool is_part(const struct figures *f, const struct pair *p, uint32_t figure)
{
	struct event e = split_event(f->figures[figure].name);

	for (uint32_t i = 0; i < p->nr_figures; i++) {
		struct event o = split_event(f->figures[p->figures[i].figure].name);
		bool narrower = (!o.nr_pmu && e.nr_pmu) || (!*o.modifiers && *e.modifiers);

		if (narrower && same(o.base, o.nr_base, e.base, e.nr_base) &&
		    (!o.nr_pmu || same(o.pmu, o.nr_pmu, e.pmu, e.nr_pmu)) &&
		    (!*o.modifiers || !strcmp(o.modifiers, e.modifiers)))
			return true;
	}
	return false;
}

static void add_misses(struct miss_cost *c, const struct figures *f, const struct pair *p)
{
	for (uint32_t i = 0; i < p->nr_figures; i++) {
		const struct judgement *g = &p->figures[i];

		if (!f->figures[g->figure].tlb_misses || is_part(f, p, g->figure))
			continue;
		c->have_misses = true;
		c->base_misses += g->base.median;
		c->other_misses += g->other.median;
	}
	c->misses = c->other_misses - c->base_misses;
}

static void measure_run(struct miss_cost *c, const struct figures *f, const struct pair *p)
{
	for (uint32_t i = 0; i < p->nr_figures && !c->have_run; i++) {
		const struct judgement *g = &p->figures[i];

		if (!f->figures[g->figure].elapsed)
			continue;
		c->have_run = true;
		c->run_seconds = g->base.median;
		c->min_longer = g->other.min - g->base.max;
		c->max_longer = g->other.max - g->base.min;
	}
}

static void order(double *min, double *max)
{
	if (*min > *max) {
		double t = *min;

		*min = *max;
		*max = t;
	}
}

struct miss_cost miss_cost(const struct figures *f, const struct pair *p, const struct miss_price *price)
{
	struct miss_cost c = { 0 };

	add_misses(&c, f, p);
	measure_run(&c, f, p);
	if (!c.have_misses || !(fabs(c.misses) > 0) || price->clock_hz <= 0)
		return c;
	if (price->max_cycles > 0) {
		c.have_seconds = true;
		c.min_seconds = c.misses * price->min_cycles / price->clock_hz;
		c.max_seconds = c.misses * price->max_cycles / price->clock_hz;
		order(&c.min_seconds, &c.max_seconds);
	}
	if (c.have_run) {
		c.have_implied = true;
		c.min_implied = c.min_longer * price->clock_hz / c.misses;
		c.max_implied = c.max_longer * price->clock_hz / c.misses;
		order(&c.min_implied, &c.max_implied);
	}
	return c;
}

bool parse_cycles(const char *text, double *min, double *max)
{
	size_t n = strcspn(text, "-"), gap = 1;
	const char *dots = strstr(text, "..");

	if (dots) {
		n = (size_t)(dots - text);
		gap = 2;
	}
	char *first = xstrndup(text, n);
	bool ok = parse_double(first, min) && *min > 0;
	free(first);
	if (!ok)
		return false;
	*max = *min;
	return !text[n] || (parse_double(text + n + gap, max) && *max >= *min);
}

bool parse_clock(const char *text, double *hz)
{
	static const struct {
		const char *unit;
		double hz;
	} units[] = { { "MHz", 1e6 }, { "GHz", 1e9 }, { "kHz", 1e3 }, { "Hz", 1 }, { "", 1 } };
	size_t n = strspn(text, "0123456789.");
	char *number = xstrndup(text, n);
	const char *unit = text + n + strspn(text + n, " ");
	bool ok = parse_double(number, hz) && *hz > 0;

	free(number);
	for (uint32_t i = 0; ok && i < ARRAY_SIZE(units); i++)
		if (!strcasecmp(unit, units[i].unit)) {
			*hz *= units[i].hz;
			return true;
		}
	return false;
}
