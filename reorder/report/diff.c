/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report.h"

void report_diff(const struct plan *a, const struct plan *b, FILE *fp, struct text_style st)
{
	(void)a;
	(void)b;
	(void)fp;
	(void)st;
}

void report_diff_json(const struct plan *a, const struct plan *b, FILE *fp)
{
	(void)a;
	(void)b;
	(void)fp;
}
