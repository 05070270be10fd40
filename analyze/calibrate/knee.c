/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/calibrate/knee.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

/* A point this much above the one before it belongs to the same rise. */
static const double STILL_RISING = 1.3;

static int cmp_double(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return a < b ? -1 : a > b;
}

static double *sorted_copy(const double *x, uint32_t nr)
{
	double *s = xmemdup(x, nr * sizeof(*s));

	qsort(s, nr, sizeof(*s), cmp_double);
	return s;
}

double median_of(const double *x, uint32_t nr)
{
	double *s, m;

	if (!nr)
		return 0;
	s = sorted_copy(x, nr);
	m = nr % 2 ? s[nr / 2] : (s[nr / 2 - 1] + s[nr / 2]) / 2;
	free(s);
	return m;
}

uint32_t find_knees(const double *y, uint32_t nr, double step, struct knee *out, uint32_t max)
{
	uint32_t found = 0, start = 0;

	for (uint32_t i = 1; i < nr && found < max; i++) {
		/* The latest points say what the level costs now; the first runs of a series are often slow. */
		uint32_t from = i - start > 4 ? i - 4 : start;
		double plateau = median_of(y + from, i - from), end;
		uint32_t last = i;

		if (y[i] <= step * plateau || (i + 1 < nr && y[i + 1] <= step * plateau))
			continue;
		while (last + 1 < nr && y[last + 1] > STILL_RISING * y[last])
			last++;
		end = y[last];
		out[found++] = (struct knee){ .before = i - 1, .after = i, .low = plateau, .high = end };
		start = last;
		i = last;
	}
	return found;
}

/* The least touches that make a population: one or two that an interrupt held up are none. */
static uint32_t least_population(uint32_t nr)
{
	uint32_t least = nr < 8 ? 2 : 3;

	return nr / 10 > least ? nr / 10 : least;
}

/* Where to cut the sorted values: index of the first of the upper population, 0 when there is one only. */
static uint32_t widest_gap(const double *s, uint32_t nr)
{
	uint32_t margin = least_population(nr), at = 0;
	double best = 1;

	for (uint32_t i = margin; i + margin <= nr; i++) {
		double below = s[i - 1] > 0 ? s[i - 1] : 1e-9;

		if (s[i] / below > best) {
			best = s[i] / below;
			at = i;
		}
	}
	return at;
}

struct populations split_populations(const double *x, uint32_t nr, bool *apart)
{
	struct populations p = { 0 };
	double *s = sorted_copy(x, nr);
	uint32_t cut = nr > 1 ? widest_gap(s, nr) : 0;

	memset(apart, 0, nr * sizeof(*apart));
	p.low = median_of(s, cut ? cut : nr);
	p.high = median_of(s + cut, nr - cut);
	p.gap = p.low > 0 ? p.high / p.low : 0;
	for (uint32_t i = 0; i < nr; i++) {
		bool between = x[i] > 4 * p.low && x[i] < p.high / 2;

		apart[i] = p.gap >= 3 && (between || x[i] > 1.4 * p.high);
		if (apart[i])
			p.nr_apart++;
		else if (cut && x[i] >= s[cut])
			p.nr_high++;
		else
			p.nr_low++;
	}
	/* Once more without those that belong to neither. */
	double *kept = xcalloc(nr, sizeof(*kept));
	for (int high = 0; high < 2; high++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < nr; i++)
			if (!apart[i] && (cut && x[i] >= s[cut]) == high)
				kept[n++] = x[i];
		*(high ? &p.high : &p.low) = median_of(kept, n);
	}
	free(kept);
	free(s);
	return p;
}
