/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shell.h"

#include <string.h>

void shell_put_word(FILE *fp, const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%";

	if (*s && s[strspn(s, safe)] == '\0') {
		fputs(s, fp);
		return;
	}
	fputc('\'', fp);
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", fp);
		else
			fputc(*s, fp);
	}
	fputc('\'', fp);
}
