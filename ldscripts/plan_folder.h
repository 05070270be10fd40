/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder that `optimize` writes: linker input and reports, all of one plan. */
#ifndef LDSCRIPTS_PLAN_FOLDER_H
#define LDSCRIPTS_PLAN_FOLDER_H

struct job;
struct job_options;
struct plan;

/*
 * Whether a plan may be written into dir, asked before the work is done: -1 after reporting that it would take the place of
 * what is read (profiles, kernel, map, lds), or of files by our names where no plan.json says that they are a plan's. A
 * vmlinux.lds that was not written here is nobody's but its owner's. Unattended, dir is ours.
 */
int plan_folder_check(const char *dir, const struct job_options *o, const char *lds);

/*
 * Write every file of the plan into dir, which is made when it is not there; lds:
 * the kernel's own script, to be rewritten as vmlinux.lds, or NULL. The files are
 * first written into a folder beside it, which then changes places with it: on error, which is
 * reported, and however the process ends, what was there before stays or the new plan is whole.
 * A dir that has to stay, since it has files of others in it, is a mount's root, is where we stand, or nothing can be made
 * beside it, gets them in a folder inside it first; they replace the old ones one by one then, and these come back on
 * error. Where that is cut short, no link takes them for a plan.
 */
int plan_folder_write(const struct job *job, const struct plan *plan, const char *dir, const char *lds);

#endif
