/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of the wrapper. */
#ifndef LDSCRIPTS_WRAPPER_WRAPPER_PARTS_H
#define LDSCRIPTS_WRAPPER_WRAPPER_PARTS_H

#include <stdbool.h>

#include "ldscripts/wrapper/linkline.h"

struct fragment;
struct outfile;

struct wrapper {
	struct linkline line;
	char *ld;	/* the real linker */
	bool lld;	/* by its name, or by a map it wrote */
};

/* An output file called `name`, with a temporary beside the link's output; for outfile_abort(). */
int wrapper_temp(const struct wrapper *w, const char *name, struct outfile *out);

/*
 * One run of the linker with the kernel's script rewritten by the fragment (NULL: only .text.*
 * taken in). output, map, extra as in linkline_with(). Returns the exit status.
 */
int wrapper_link(const struct wrapper *w, struct fragment *f, const char *output, const char *map,
		 const char *extra);

/* Remove a file or symbolic link that stands where the link will write. */
void wrapper_remove_output(const struct wrapper *w);

/*
 * The name for a map of ours: the output's with the suffix, or, where that has a % for GNU ld to replace, a
 * temporary's. To be dropped, which accepts NULL and removes the file. NULL after reporting.
 */
char *wrapper_own_map(const struct wrapper *w, const char *suffix);
void wrapper_drop_map(char *map);

/* Whether the map that was asked for is a file of just that name, which can be read after the link. */
bool wrapper_map_is_plain(const struct wrapper *w);

/* Copy a map to where it is wanted, NULL: to what was asked for, as ld does. 0, or 1 after reporting. */
int wrapper_give_map(const struct wrapper *w, const char *map, const char *name);

/* One build: the plan folder for this link, made by a trial link where there is none. NULL after reporting. */
char *wrapper_plan(struct wrapper *w, const char *profile);

/* Link vmlinux.o, sections that would fuse renamed. Returns the exit status. */
int wrapper_relocatable(struct wrapper *w);

/*
 * Link a module, the sections of its functions merged into one .text, those first that
 * the profile (NULL: none) saw. Returns the exit status.
 */
int wrapper_module(const struct wrapper *w, const char *profile);

#endif
