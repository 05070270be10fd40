/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/calibrate/plot.h"

#include <math.h>
#include <stdbool.h>

enum { WIDTH = 640, HEIGHT = 400, LEFT = 60, RIGHT = 20, TOP = 20, BOTTOM = 50 };

struct axes {
	double x0, x1, y0, y1;	/* logarithms, base 2 and 10 */
};

/* Whole powers around all points. */
static bool find_axes(const struct series *s, uint32_t nr, struct axes *a)
{
	bool any = false;

	for (uint32_t i = 0; i < nr; i++)
		for (uint32_t k = 0; k < s[i].nr; k++) {
			if (s[i].x[k] <= 0 || s[i].y[k] <= 0)
				continue;
			double x = log2(s[i].x[k]), y = log10(s[i].y[k]);

			a->x0 = any ? fmin(a->x0, x) : x;
			a->x1 = any ? fmax(a->x1, x) : x;
			a->y0 = any ? fmin(a->y0, y) : y;
			a->y1 = any ? fmax(a->y1, y) : y;
			any = true;
		}
	a->x0 = floor(a->x0);
	a->x1 = ceil(a->x1) > a->x0 ? ceil(a->x1) : a->x0 + 1;
	a->y0 = floor(a->y0);
	a->y1 = ceil(a->y1) > a->y0 ? ceil(a->y1) : a->y0 + 1;
	return any;
}

static double at_x(const struct axes *a, double log_x)
{
	return LEFT + (log_x - a->x0) / (a->x1 - a->x0) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct axes *a, double log_y)
{
	return HEIGHT - BOTTOM - (log_y - a->y0) / (a->y1 - a->y0) * (HEIGHT - TOP - BOTTOM);
}

static void draw_grid(FILE *fp, const struct axes *a, const char *x_name, const char *y_name)
{
	for (double x = a->x0; x <= a->x1; x++)
		fprintf(fp, "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/>"
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n", at_x(a, x), TOP,
			 HEIGHT - BOTTOM, at_x(a, x), HEIGHT - BOTTOM + 16, exp2(x));
	for (double y = a->y0; y <= a->y1; y++)
		fprintf(fp, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			LEFT, at_y(a, y), WIDTH - RIGHT, LEFT - 6, at_y(a, y) + 4, pow(10, y));
	fprintf(fp, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (WIDTH + LEFT - RIGHT) / 2,
		HEIGHT - 10, x_name);
	fprintf(fp, "<text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
		(HEIGHT + TOP - BOTTOM) / 2, y_name);
}

void plot_write(FILE *fp, const struct series *s, uint32_t nr, const char *x_name, const char *y_name)
{
	static const char *const colors[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9" };
	struct axes a = { 0 };
	bool any = find_axes(s, nr, &a);

	fprintf(fp, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	if (any)
		draw_grid(fp, &a, x_name, y_name);
	for (uint32_t i = 0; any && i < nr; i++) {
		const char *color = colors[i % (sizeof(colors) / sizeof(*colors))];

		fprintf(fp, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", color);
		for (uint32_t k = 0; k < s[i].nr; k++)
			if (s[i].x[k] > 0 && s[i].y[k] > 0)
				fprintf(fp, "%.1f,%.1f ", at_x(&a, log2(s[i].x[k])), at_y(&a, log10(s[i].y[k])));
		fprintf(fp, "\"/>\n<text x=\"%d\" y=\"%u\" fill=\"%s\">%s</text>\n", LEFT + 10, TOP + 16 + 16 * i, color,
			s[i].name);
	}
	fprintf(fp, "</svg>\n");
}
