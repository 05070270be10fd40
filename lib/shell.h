/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text as a shell reads it. */
#ifndef LIB_SHELL_H
#define LIB_SHELL_H

#include <stdio.h>

/* s as one word: as it is where that is safe, else in single quotes. */
void shell_put_word(FILE *fp, const char *s);

#endif
