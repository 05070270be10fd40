/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that share their name, and where each stands among them by address.
 *
 *   link order   init_once (socket.c)  init_once (shmem.c)
 *   packed       init_once (shmem.c)   init_once (socket.c)    -> 1 becomes 2, 2 becomes 1
 *
 * A livepatch names such a function by that position (klp_func.old_sympos, counted from 1
 * in the order of kallsyms, which is that of addresses): made for one order, it patches a
 * namesake in the other.
 */
#ifndef REORDER_PLAN_POSITIONS_H
#define REORDER_PLAN_POSITIONS_H

struct image;
struct layout;
struct plan;

/* Into plan->positions, by name and position before; none where the kernel has no livepatching. */
void positions_fill(struct plan *p, const struct image *img, const struct layout *before, const struct layout *after);

/* One warning when there are any. */
void positions_warn(const struct plan *p);

#endif
