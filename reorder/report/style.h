/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terminal attributes, nothing where the style has no colour. */
#ifndef REORDER_REPORT_STYLE_H
#define REORDER_REPORT_STYLE_H

#include "report.h"

void bold(FILE *fp, struct text_style st);
void dim(FILE *fp, struct text_style st);
void better(FILE *fp, struct text_style st);
void worse(FILE *fp, struct text_style st);
void plain(FILE *fp, struct text_style st);	/* ends any of these */

#endif
