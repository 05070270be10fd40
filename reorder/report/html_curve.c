/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "format.h"
#include "reorder/plan/plan.h"

/* The plot inside its margins, in SVG units. */
enum { WIDTH = 760, HEIGHT = 320, LEFT = 44, RIGHT = 100, TOP = 32, BOTTOM = 44 };

struct plot {
	const struct plan *p;
	FILE *fp;
	double top;		/* value at the upper edge */
	double step;		/* between grid lines */
};

static double x_of(const struct plot *pl, double at)
{
	uint32_t last = pl->p->nr_curve > 1 ? pl->p->nr_curve - 1 : 1;

	return LEFT + at * (WIDTH - LEFT - RIGHT) / last;
}

static double y_of(const struct plot *pl, double value)
{
	return HEIGHT - BOTTOM - value / pl->top * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that about five lines fit. */
static void scale(struct plot *pl)
{
	double most = 0;

	for (uint32_t i = 0; i < pl->p->nr_curve; i++) {
		const struct plan_curve *c = &pl->p->curve[i];

		most = fmax(most, fmax(c->before, c->after));
	}
	most = most > 0 && most < 1e12 ? most : 1;
	double unit = pow(10, floor(log10(most / 5)));
	pl->step = unit * (most / unit > 25 ? 10 : most / unit > 10 ? 5 : most / unit > 5 ? 2 : 1);
	pl->top = ceil(most / pl->step) * pl->step;
}

static void put_grid(struct plot *pl)
{
	char size[FORMAT_MAX];

	for (int i = 0; i * pl->step <= pl->top * 1.001; i++) {
		double y = y_of(pl, i * pl->step);

		fprintf(pl->fp,
			"<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			LEFT, WIDTH - RIGHT, y, y, LEFT - 8, y + 4, i * pl->step);
	}
	for (uint32_t i = 0; i < pl->p->nr_curve; i += 2)
		fprintf(pl->fp, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x_of(pl, i),
			HEIGHT - BOTTOM + 18, format_bytes(size, pl->p->curve[i].page_bytes));
	fprintf(pl->fp,
		"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">page size that maps kernel text</text>\n",
		(LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6);
}

/* No size of page is that of blocks and edges. */
static void put_machine(struct plot *pl)
{
	for (uint32_t i = 0; i < pl->p->nr_curve; i++)
		if (!pl->p->machine.block_bytes && pl->p->curve[i].page_bytes == pl->p->machine.page_bytes)
			fprintf(pl->fp,
				"<line class=\"here\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/><text "
				"x=\"%.1f\" "
				"y=\"%d\">this machine</text>\n",
				x_of(pl, i), x_of(pl, i), TOP - 18, HEIGHT - BOTTOM, x_of(pl, i) + 5,
				TOP - 10);
}

static double value_of(const struct plan_curve *c, bool after)
{
	return after ? c->after : c->before;
}

static void put_series(struct plot *pl, bool after)
{
	const char *name = after ? "after" : "before";
	uint32_t last = pl->p->nr_curve - 1;
	double yb = y_of(pl, pl->p->curve[last].before), ya = y_of(pl, pl->p->curve[last].after);

	fprintf(pl->fp, "<polyline class=\"%s\" points=\"", name);
	for (uint32_t i = 0; i <= last; i++)
		fprintf(pl->fp, "%s%.1f,%.1f", i ? " " : "", x_of(pl, i),
			y_of(pl, value_of(&pl->p->curve[i], after)));
	fputs("\"/>\n", pl->fp);
	for (uint32_t i = 0; i <= last; i++)
		fprintf(pl->fp, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", name, x_of(pl, i),
			y_of(pl, value_of(&pl->p->curve[i], after)));
	/* Where the lines end together, so do their names. */
	bool together = fabs(ya - yb) < 15;
	if (together && after)
		return;
	fprintf(pl->fp, "<text class=\"name\" x=\"%d\" y=\"%.1f\">%s</text>\n", WIDTH - RIGHT + 10,
		(together ? (ya + yb) / 2 : after ? ya : yb) + 4, together ? "before, after" : name);
}

void html_curve(const struct plan *p, FILE *fp)
{
	struct plot pl = { .p = p, .fp = fp };
	char size[FORMAT_MAX];

	if (!p->nr_curve)
		return;
	scale(&pl);
	fprintf(fp,
		"<figure>\n<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"mean ITLB "
		"entries per path "
		"against page size, before and after\">\n",
		WIDTH, HEIGHT);
	put_grid(&pl);
	put_machine(&pl);
	put_series(&pl, false);
	put_series(&pl, true);
	fputs("</svg>\n<figcaption>Mean ITLB entries per path if kernel text were mapped by pages of that "
	      "size, in link order "
	      "(dashed) and under this plan.</figcaption>\n<details><summary>as a table</summary>\n"
	      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"entries by page "
	      "size\"><table><thead><tr>"
	      "<th scope=\"col\">page size</th><th scope=\"col\" class=\"n\">before</th><th scope=\"col\" "
	      "class=\"n\">after</th>"
	      "</tr></thead><tbody>\n",
	      fp);
	for (uint32_t i = 0; i < p->nr_curve; i++)
		fprintf(fp,
			"<tr><th scope=\"row\">%s</th><td class=\"n\">%.2f</td><td "
			"class=\"n\">%.2f</td></tr>\n",
			format_bytes(size, p->curve[i].page_bytes), p->curve[i].before, p->curve[i].after);
	fputs("</tbody></table></div></details>\n</figure>\n", fp);
}
