/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fixed parts of report.html, linked in from page.css and page.js. */
#ifndef REORDER_REPORT_PAGE_H
#define REORDER_REPORT_PAGE_H

#include <stdio.h>

struct plan;

extern const char page_css[], page_css_end[];
extern const char page_js[], page_js_end[];

/* What page.js works on, as JSON that is safe inside <script>. */
void html_data(const struct plan *p, FILE *fp);

/* Entries per path against page size, before and after, as an SVG figure with its table. */
void html_curve(const struct plan *p, FILE *fp);

/* The pages whose ITLB misses a CPU sampled, a section; nothing when none were. */
void html_measured(const struct plan *p, FILE *fp);

#endif
