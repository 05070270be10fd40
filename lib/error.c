/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int verbosity;
FILE *error_stream;

static void report(const char *kind, const char *fmt, va_list ap)
{
	FILE *fp = error_stream ? error_stream : stderr;

	fflush(stdout);
	flockfile(fp);
	fprintf(fp, "hottext: %s", kind);
	vfprintf(fp, fmt, ap);
	fputc('\n', fp);
	funlockfile(fp);
}

/* Names in parentheses: `make messages` has macros of these names, which count the calls. */
int (error)(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report("", fmt, ap);
	va_end(ap);
	return -1;
}

void (warn)(const char *fmt, ...)
{
	va_list ap;

	if (verbosity < 0)
		return;
	va_start(ap, fmt);
	report("warning: ", fmt, ap);
	va_end(ap);
}

void note(const char *fmt, ...)
{
	va_list ap;

	if (verbosity < 0)
		return;
	va_start(ap, fmt);
	report("", fmt, ap);
	va_end(ap);
}

void detail(const char *fmt, ...)
{
	va_list ap;

	if (verbosity < 1)
		return;
	va_start(ap, fmt);
	report("", fmt, ap);
	va_end(ap);
}

void (die)(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report("", fmt, ap);
	va_end(ap);
	exit(EXIT_FAILED);
}

void bug(const char *file, int line, const char *cond)
{
	fprintf(error_stream ? error_stream : stderr, "hottext: bug: %s:%d: %s\n", file, line, cond);
	abort();
}
