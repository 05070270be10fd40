/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running the real linker. */
#ifndef LDSCRIPTS_RUN_H
#define LDSCRIPTS_RUN_H

/*
 * The real linker's name: $HOTTEXT_LD, else "ld" behind cross, or where that is NULL behind
 * $CROSS_COMPILE, if it is set. The caller frees.
 */
char *run_linker_name(const char *cross);

/*
 * The words of its name, as in `ccache ld` or `ld -O1`; a program of just that name is one. NULL-terminated; the
 * caller frees each and the list.
 */
char **run_linker_words(const char *ld);

/*
 * Run argv[0] (found in PATH) and wait. Returns its exit status, 1 when it could not be run or a
 * signal killed it (reported). SIGINT, SIGTERM and SIGHUP go on to it; what
 * was asked is remembered for run_finish().
 */
int run_linker(char **argv);

/* Become argv[0]; on failure reports and returns 1. */
int run_replace(char **argv);

/* Once everything is cleaned up: die of the signal that came in meanwhile, if any. */
void run_finish(void);

#endif
