/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Response files: an argument @FILE stands for the arguments in it, as binutils' expandargv() and lld read them. */
#ifndef LDSCRIPTS_WRAPPER_RESPONSE_H
#define LDSCRIPTS_WRAPPER_RESPONSE_H

/*
 * The arguments with those of response files, which may name others, in their places. What is no regular file or
 * cannot be read stays as it is, for the linker to complain about. NULL-terminated; the caller frees each and the list.
 */
char **response_expand(int argc, char **argv);

#endif
