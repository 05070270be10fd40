/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LIB_JSON_TEXT_H
#define LIB_JSON_TEXT_H

#include <jansson.h>

/*
 * A new reference to a string that may be any bytes, such as a symbol's or a section's name: what is not UTF-8
 * becomes U+FFFD, byte by byte. null for NULL.
 */
json_t *json_text(const char *s);

#endif
