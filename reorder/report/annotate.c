/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report.h"

#include "lib/error.h"

int report_annotate(const struct plan *p, const char *vmlinux, const char *function, FILE *fp, struct text_style st)
{
	(void)p;
	(void)fp;
	(void)st;
	return error("cannot annotate '%s' in '%s'", function, vmlinux);
}
