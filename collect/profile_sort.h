/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COLLECT_PROFILE_SORT_H
#define COLLECT_PROFILE_SORT_H

struct profile;

/*
 * Number everything by what it is instead of when it came, and drop names that nothing
 * mentions: profiles that are equal as text become equal in memory, and whatever goes
 * over one by its ids gives the same for either. Ids from before are void.
 */
void profile_sort(struct profile *p);

#endif
