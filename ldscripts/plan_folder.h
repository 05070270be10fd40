/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder that `optimize` writes: linker input and reports, all of one plan. */
#ifndef LDSCRIPTS_PLAN_FOLDER_H
#define LDSCRIPTS_PLAN_FOLDER_H

struct job;
struct plan;

/*
 * Write every file of the plan into dir, which is made when it is not there; lds:
 * the kernel's own script, to be rewritten as vmlinux.lds, or NULL. The files are
 * first written into a folder beside it, which then changes places with it: on error, which is
 * reported, and however the process ends, what was there before stays or the new plan is whole.
 * A dir with files of others in it, or that we stand in, has to stay: its files are replaced one by
 * one then, and where that is cut short, no link takes them for a plan.
 */
int plan_folder_write(const struct job *job, const struct plan *plan, const char *dir, const char *lds);

#endif
