/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option tables as text: bash's completion, and a plain list that tests hold the documents against. */
#ifndef LIB_COMPLETION_H
#define LIB_COMPLETION_H

#include <stddef.h>
#include <stdio.h>

struct command;

/* What an option's value may be, where that is more than the name of a file. */
struct completion_values {
	const char *option;	/* long name */
	const char *words;	/* separated by blanks; a shell substitution too */
};

/* A bash script that completes commands, their parts and options. values ends with a NULL option. Check fp afterwards. */
void completion_write(const struct command *const *commands, size_t nr, const struct completion_values *values, FILE *fp);

/* "COMMAND<tab>LETTER<tab>NAME<tab>ARG" for each option, "-" for none; "COMMAND<tab>-<tab>-<tab>-" for the command. */
void completion_list_options(const struct command *const *commands, size_t nr, FILE *fp);

#endif
