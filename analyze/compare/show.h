/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons as text and as JSON. */
#ifndef ANALYZE_COMPARE_SHOW_H
#define ANALYZE_COMPARE_SHOW_H

#include <stdio.h>

struct figures;
struct judged;
struct kernels;
struct miss_price;

void show_figures(FILE *fp, const struct figures *f, const struct judged *j, const struct miss_price *price);
void show_kernels(FILE *fp, const struct kernels *k);

void show_figures_json(FILE *fp, const struct figures *f, const struct judged *j,
		       const struct miss_price *price);
void show_kernels_json(FILE *fp, const struct kernels *k);

#endif
