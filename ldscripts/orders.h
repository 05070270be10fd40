/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hot order for linkers that take a file of symbols or sections. */
#ifndef LDSCRIPTS_ORDERS_H
#define LDSCRIPTS_ORDERS_H

#include <stdio.h>

struct layout;

/* symbols.order, for lld's --symbol-ordering-file: one symbol a line, bare names, statics too. */
void orders_write_symbols(FILE *fp, const struct layout *l);

/*
 * sections.order, for --section-ordering-file. Gold reads globs, one a line (lines
 * that match nothing do no harm); GNU ld from 2.43 on reads output section
 * statements. Written so that each takes it for its own, with .head.text first:
 * ld puts the listed sections at the very start of .text. Since it puts them
 * before _stext too, the fragment is the better way wherever the script can be changed.
 */
void orders_write_sections(FILE *fp, const struct layout *l);

#endif
