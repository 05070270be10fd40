/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an ld command line says, as far as the wrapper must know. */
#ifndef LDSCRIPTS_WRAPPER_LINKLINE_H
#define LDSCRIPTS_WRAPPER_LINKLINE_H

#include <stdbool.h>

struct linkline {
	int argc;
	char **argv;		/* arguments without the program's name; borrowed */
	const char *script;	/* of the last -T, NULL when none; like all below, points into argv */
	const char *output;	/* "a.out" when none is named */
	const char *map;	/* of -Map, NULL when none */
	bool relocatable;	/* -r */
};

void linkline_init(struct linkline *l, int argc, char **argv);

/*
 * The same line for the linker `ld` (its words), with another output, script, map (each NULL: leave
 * it), and an extra option after all others (NULL: none). NULL-terminated; for linkline_free().
 */
char **linkline_with(const struct linkline *l, const char *ld, const char *output, const char *script,
		     const char *map, const char *extra);
void linkline_free(char **argv);	/* accepts NULL */

#endif
