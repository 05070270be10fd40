/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves over logarithmic axes, as SVG. */
#ifndef ANALYZE_CALIBRATE_PLOT_H
#define ANALYZE_CALIBRATE_PLOT_H

#include <stdint.h>
#include <stdio.h>

struct series {
	const char *name;
	const double *x, *y;	/* nr points; those that are not positive are left out */
	uint32_t nr;
};

void plot_write(FILE *fp, const struct series *s, uint32_t nr, const char *x_name, const char *y_name);

#endif
