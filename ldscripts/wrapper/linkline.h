/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an ld command line says, as far as the wrapper must know. */
#ifndef LDSCRIPTS_WRAPPER_LINKLINE_H
#define LDSCRIPTS_WRAPPER_LINKLINE_H

#include <stdbool.h>

struct linkline_script {
	const char *name;	/* as in argv */
	char *path;		/* where ld finds it: name, or in a folder of the -L before it */
};

struct linkline {
	int argc;
	char **argv;		/* arguments without the program's name, those of response files among them; owned */
	struct linkline_script *scripts;	/* of each -T in turn */
	unsigned int nr_scripts, alloc_scripts;
	const struct linkline_script *script;	/* the last of them, or which the caller chooses: to be replaced */
	/* these point into argv */
	const char *output;	/* "a.out" when none is named */
	const char *map;	/* of -Map, NULL when none */
	bool relocatable;	/* -r */
	bool asks;		/* for the linker's version or help: nothing is linked */
};

void linkline_init(struct linkline *l, int argc, char **argv);
void linkline_release(struct linkline *l);

/*
 * The same line for the linker `ld` (its words), with another output, script, map (each NULL: leave
 * it), and an extra option after all others (NULL: none). NULL-terminated; for linkline_free().
 */
char **linkline_with(const struct linkline *l, const char *ld, const char *output, const char *script,
		     const char *map, const char *extra);
void linkline_free(char **argv);	/* accepts NULL */

#endif
