/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers and names as people read them, the same in every kind of report. */
#ifndef REORDER_REPORT_FORMAT_H
#define REORDER_REPORT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct plan_machine;

enum { FORMAT_MAX = 48 };	/* room that each of these needs; each returns buf */

const char *format_count(char *buf, uint64_t n);	/* "775,541"; PLAN_UNKNOWN: "-" */
const char *format_bytes(char *buf, uint64_t n);	/* "4 KB", "1.2 MB": powers of 1024 */
const char *format_entries(char *buf, double n);	/* "22.4" */
const char *format_percent(char *buf, double percent);	/* "57.1 %", "<0.1 %" */
const char *format_saving(char *buf, double before, double after);	/* "57 %"; "-12 %": worse */
const char *format_page_size(char *buf, const struct plan_machine *m);	/* "4 KB"; "2 MB and 64 KB" */
const char *format_mapping(char *buf, const struct plan_machine *m);	/* "4 KB pages"; "2 MB pages, 64 KB at the edges" */
const char *format_cycles(char *buf, double seconds);	/* "1.2 s", "340 us" */

/*
 * s in a column of width (at least 4), left-aligned and filled up, cut with ".." where it
 * is longer; width 0: as long as it is. What utf8_shows() is against becomes '?', so
 * that no name can drive a terminal.
 */
void put_text(FILE *fp, const char *s, size_t width);

/* s inside HTML text or a quoted attribute, or a DOT HTML label. */
void put_html(FILE *fp, const char *s);

/* s as a double-quoted DOT string, quotes included; taken literally, newlines shown as blanks. */
void put_dot(FILE *fp, const char *s);

/* s inside a quoted string of JavaScript or JSON within <script>, without the quotes. */
void put_script(FILE *fp, const char *s);

/* One field of a CSV file (RFC 4180). */
void put_csv(FILE *fp, const char *s);

#endif
