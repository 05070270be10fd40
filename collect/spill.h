/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random access to an input that may be a pipe or compressed. */
#ifndef COLLECT_SPILL_H
#define COLLECT_SPILL_H

#include <stdbool.h>
#include <stddef.h>

struct input;

/*
 * A file that begins with what the input has ahead: path itself where it is a
 * regular file, not compressed; else -1, and nothing was taken from the input.
 * The caller closes it.
 */
int spill_reopen(struct input *in, const char *path);

/* As spill_reopen(), else the rest of the input copied to an unnamed temporary file. -1 after reporting. */
int spill_file(struct input *in, const char *path);

#endif
