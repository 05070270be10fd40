// SPDX-License-Identifier: GPL-3.0-or-later
#include "reorder/pack/samples.h"

#include <math.h>
#include <stdlib.h>

#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/pack/cluster.h"
#include "reorder/pack/windows.h"

enum { MANY = 8 };	/* windows for each that a sample joins to its first */

struct drawer {
	const struct windows *w;
	struct use *use;
	double *reached;	/* [run]: summed flattened weight before it; [nr_runs]: of all */
	uint32_t *known;	/* runs whose predecessor is another window, by window */
	uint32_t *first;	/* [window]: in known, and one past the last */
	double at;		/* the last draw, [0, 1) */
	uint32_t sample;
};

/*
 * The fractions of the golden ratio's multiples: evenly spread, and draws that follow
 * each other, which make up a sample, lie far apart.
 */
static double draw(struct drawer *d)
{
	d->at += 0.6180339887498949;
	d->at -= floor(d->at);
	return d->at;
}

static double flat_weight(const struct drawer *d, uint32_t run)
{
	return d->reached[run + 1] - d->reached[run];
}

static void drawer_init(struct drawer *d, double flatten)
{
	const struct windows *w = d->w;

	d->reached = xcalloc((size_t)w->nr_runs + 1, sizeof(*d->reached));
	d->known = xcalloc((size_t)w->nr_runs + 1, sizeof(*d->known));
	d->first = xcalloc((size_t)w->nr_windows + 3, sizeof(*d->first));
	for (uint32_t i = 0; i < w->nr_runs; i++) {
		const struct run *r = &w->runs[i];

		d->reached[i + 1] = d->reached[i] + pow(r->weight, flatten);
		if (r->before != INDEX_NONE && r->before != r->window)
			d->first[r->window + 2]++;
	}
	for (uint32_t i = 2; i < w->nr_windows + 2; i++)
		d->first[i] += d->first[i - 1];
	for (uint32_t i = 0; i < w->nr_runs; i++) {
		const struct run *r = &w->runs[i];

		if (r->before != INDEX_NONE && r->before != r->window)
			d->known[d->first[r->window + 1]++] = i;
	}
}

static void drawer_release(struct drawer *d)
{
	free(d->reached);
	free(d->known);
	free(d->first);
}

static uint32_t draw_any(struct drawer *d)
{
	double at = draw(d) * d->reached[d->w->nr_runs];
	uint32_t lo = 0, hi = d->w->nr_runs;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (d->reached[mid] <= at)
			lo = mid;
		else
			hi = mid;
	}
	return d->w->runs[lo].window;
}

/* A window that may have run before this one. */
static uint32_t draw_before(struct drawer *d, uint32_t window)
{
	uint32_t first = d->first[window], end = d->first[window + 1];
	double total = 0, reached = 0;

	if (first == end)
		return draw_any(d);
	for (uint32_t i = first; i < end; i++)
		total += flat_weight(d, d->known[i]);
	total *= draw(d);
	for (uint32_t i = first; i < end - 1; i++) {
		reached += flat_weight(d, d->known[i]);
		if (reached > total)
			return d->w->runs[d->known[i]].before;
	}
	return d->w->runs[d->known[end - 1]].before;
}

static void use_window(const struct drawer *d, uint32_t window)
{
	const struct window *win = &d->w->windows[window];

	for (uint32_t i = 0; i < win->nr; i++)
		use_set(d->use, d->w->items[win->first + i], d->sample);
}

static void draw_sample(struct drawer *d, const struct run *run, uint32_t depth)
{
	uint32_t window = run->window;

	use_window(d, window);
	if (run->before == window)
		return;
	for (uint32_t k = 1; k < depth; k++) {
		if (k == 1 && run->before != INDEX_NONE)
			window = run->before;
		else if (run->before != INDEX_NONE)
			window = draw_before(d, window);
		else
			window = draw_any(d);
		use_window(d, window);
	}
}

void draw_samples(struct use *u, const struct windows *w, const struct sample_options *opts)
{
	struct drawer d = { .w = w, .use = u, .at = opts->offset };
	/* Of few windows, a sample must not be all. */
	uint32_t depth = opts->depth < 1 + w->nr_windows / MANY ? opts->depth : 1 + w->nr_windows / MANY;
	uint32_t run = 0;

	use_init(u, w->nr_slots, opts->samples);
	drawer_init(&d, opts->flatten);
	/* Systematically: one each total / samples of summed weight. */
	for (uint32_t i = 0; i < opts->samples && w->nr_runs; i++) {
		double at = (i + 0.5) * d.reached[w->nr_runs] / opts->samples;

		while (run + 1 < w->nr_runs && d.reached[run + 1] <= at)
			run++;
		d.sample = i;
		draw_sample(&d, &w->runs[run], depth);
	}
	drawer_release(&d);
}
