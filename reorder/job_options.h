/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options that analyze, reorder and optimize share, and how they fill a job. */
#ifndef REORDER_JOB_OPTIONS_H
#define REORDER_JOB_OPTIONS_H

#include "lib/opt.h"
#include "reorder/job.h"

extern struct job_options job_options;

#define OPT_JOB \
	{ 'm', "machine", "M", "machine model, by name or file (by the kernel's architecture)", OPT_STRING, \
	  &job_options.machine, 0, 0 }, \
	{ 0, "map", "FILE", "the kernel's link map (VMLINUX.map when it is there)", OPT_STRING, &job_options.map, 0, 0 }, \
	{ 0, "objects", "DIR", "where the map's object files are (beside the map)", OPT_STRING, &job_options.objects, 0, 0 }, \
	{ 0, "trial", "FILE", "link map of this kernel linked by an earlier plan: sizes as the linker made them there", \
	  OPT_STRING, &job_options.trial, 0, 0 }, \
	{ 0, "modules", "PATH", "functions of modules from the .ko files below a folder, or from kallsyms of the recorded boot", \
	  OPT_STRING, &job_options.modules, 0, 0 }, \
	{ 0, "event", "E", "use this event's samples only", OPT_STRING, &job_options.event, 0, 0 }, \
	{ 0, "as-seen", NULL, "do not complete a sampled profile by what must have run", OPT_FLAG, &job_options.as_seen, \
	  0, 0 }, \
	{ 0, "force", NULL, "go on where a check would stop, and say so", OPT_FLAG, &job_options.force, 0, 0 }

#define OPT_ALGORITHM \
	{ 'a', "algorithm", "A", "pack, link, density, ph, c3 or cdsort (pack)", OPT_STRING, &job_options.algorithm, 0, 0 }, \
	{ 'e', "effort", "N", "1 to 9: how long to search (3)", OPT_UINT, &job_options.effort, 1, 9 }, \
	{ 0, "allow-regress", NULL, "let pack make roots need more ITLB entries than in link order", OPT_FLAG, \
	  &job_options.allow_regress, 0, 0 }

/*
 * Take VMLINUX PROFILE... and read everything. EXIT_DONE, or the status to end
 * with; the error has been reported.
 */
int job_from_args(struct job *job, const char *command, int argc, char **argv);

#endif
