/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The roots that a profile never saw: system calls, interrupts, exceptions, and what
 * runs behind them now and then (signals, timers, soft interrupts). What each would
 * run is read off the code, so that an order can be held to not scattering it.
 */
#ifndef ANALYZE_COMPLETION_UNPROFILED_H
#define ANALYZE_COMPLETION_UNPROFILED_H

struct image;
struct profile;

/*
 * One path of weight 1 into out (empty before) for each root of the kernel that p, a
 * profile as it was read or as it was completed, has no sample of: the bytes that more
 * likely than not run when it is entered once. Roots whose code is not at hand are left
 * out. Errors are reported; out is then unusable but releasable.
 */
int unprofiled_paths(const struct image *img, const char *vmlinux, const struct profile *p, struct profile *out);

#endif
