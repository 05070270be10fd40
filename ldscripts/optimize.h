/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of `optimize`, as the linker wrapper calls it. */
#ifndef LDSCRIPTS_OPTIMIZE_H
#define LDSCRIPTS_OPTIMIZE_H

/*
 * The same as `hottext optimize VMLINUX --map MAP --trial TRIAL PROFILE -o PLANDIR`, without
 * its report on stdout; TRIAL may be NULL. `name` is what messages call the kernel, which is
 * a temporary; script is the one it is linked by. Returns an exit status; errors are reported.
 */
int optimize_for_wrapper(const char *vmlinux, const char *name, const char *script, const char *map,
			 const char *trial, const char *profile, const char *plandir);

#endif
