/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan looks like: text, pictures, HTML, and the difference of two. */
#ifndef REORDER_REPORT_REPORT_H
#define REORDER_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct opt_list;
struct plan;

struct text_style {
	bool bars;	/* a terminal reads it that shows UTF-8 */
	bool colour;	/* a terminal reads it, and NO_COLOR is not set (https://no-color.org) */
	bool alone;	/* only what is: the plan has no order of its own */
};

/* The style for a stream. */
struct text_style text_style_for(FILE *fp);

/* The closing table of `optimize`: totals, and the hottest paths. */
void report_text(const struct plan *p, FILE *fp, struct text_style style);

/* Whether there are next to no ITLB misses to save: a line that says so, and how many, in buf. */
bool report_saves_nothing(const struct plan *p, char *buf, size_t size);

/* The pages whose ITLB misses a CPU sampled, in the closing table; nothing when none were. */
void report_measured(const struct plan *p, FILE *fp);

/* All paths as CSV with a header line. */
void report_csv(const struct plan *p, FILE *fp);

/*
 * Write plan.json, report.txt, report.html, hotpages.dot and, where it is to be drawn, hotpages.svg into the
 * existing folder dir, each all or nothing. When graphviz cannot draw, the SVG is left out and
 * a line says why, and how to draw it. -1 after reporting.
 */
int report_write_all(const struct plan *p, const char *dir, bool draw);

/* The self-contained page. */
void report_html(const struct plan *p, FILE *fp);

/* What changed from plan a to plan b. */
void report_diff(const struct plan *a, const struct plan *b, FILE *fp, struct text_style style);
void report_diff_json(const struct plan *a, const struct plan *b, FILE *fp);

/* A function's source lines by heat; vmlinux needs DWARF. -1 after reporting. */
int report_annotate(const struct plan *p, const char *vmlinux, const char *function, FILE *fp,
		    struct text_style style);

#endif
