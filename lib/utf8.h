/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names, of symbols and sections and files, may be any bytes; JSON and terminals want
 * characters. A byte that is in no character counts as one.
 */
#ifndef LIB_UTF8_H
#define LIB_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed character at s (RFC 3629, section 4), 0 when there is none. */
size_t utf8_length(const char *s);

/* utf8_length(), but of a stray byte 1, and 0 at the string's end. */
size_t utf8_step(const char *s);

/* Whether a terminal may be given what utf8_step() is at: no control, nothing that turns the direction of a line. */
bool utf8_shows(const char *s);

/* Characters, which but for wide ones are a terminal's columns. */
size_t utf8_columns(const char *s);

/* A copy with U+FFFD in place of each stray byte; the caller frees. */
char *utf8_mended(const char *s);

#endif
