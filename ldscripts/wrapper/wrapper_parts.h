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
	bool lld;
};

/* An output file called `name`, with a temporary beside the link's output; for outfile_abort(). */
int wrapper_temp(const struct wrapper *w, const char *name, struct outfile *out);

/*
 * One run of the linker with the kernel's script rewritten by the fragment (NULL: only .text.*
 * taken in). output, map, extra as in linkline_with(). Returns the exit status.
 */
int wrapper_link(const struct wrapper *w, const struct fragment *f, const char *output, const char *map,
		 const char *extra);

/* Remove a regular file that stands where the link will write. */
void wrapper_remove_output(const struct wrapper *w);

/* One build: the plan folder for this link, made by a trial link where there is none. NULL after reporting. */
char *wrapper_plan(const struct wrapper *w, const char *profile);

/* Link vmlinux.o, sections that would fuse renamed. Returns the exit status. */
int wrapper_relocatable(const struct wrapper *w);

/*
 * Link a module, the sections of its functions merged into one .text, those first that
 * the profile (NULL: none) saw. Returns the exit status.
 */
int wrapper_module(const struct wrapper *w, const char *profile);

#endif
