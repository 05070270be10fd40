/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder that `optimize` writes: linker input and reports, all of one plan. */
#ifndef LDSCRIPTS_PLAN_FOLDER_H
#define LDSCRIPTS_PLAN_FOLDER_H

struct job;
struct plan;

/*
 * Write every file of the plan into dir, which is made when it is not there; lds:
 * the kernel's own script, to be rewritten as vmlinux.lds, or NULL. The files are
 * first written beside it and moved in at the end: on error, which is reported,
 * what was there before stays.
 */
int plan_folder_write(const struct job *job, const struct plan *plan, const char *dir, const char *lds);

#endif
