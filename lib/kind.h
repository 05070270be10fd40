/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of well-known kinds that are given in the place of others: what they are, and what to do about it. */
#ifndef LIB_KIND_H
#define LIB_KIND_H

#include <stdbool.h>
#include <stddef.h>

struct input;

/* Whether a regular file begins as ELF does; what cannot be read does not. */
bool kind_is_elf(const char *path);

/* Refuse what is no kernel with symbols, but known: a folder, a compressed or a bootable one. -1 after reporting. */
int kind_check_kernel(const char *path);

/*
 * Refuse an ELF file, or one whose compression is not opened, as "a profile", say; the bytes are its first.
 * -1 after reporting.
 */
int kind_check_head(const char *name, const void *head, size_t len, const char *wanted);

/* The same of an input from which nothing was taken yet. */
int kind_check_input(struct input *in, const char *wanted);

#endif
