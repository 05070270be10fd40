/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorders behind `hottext record WHAT`, one command table each. */
#ifndef COLLECT_RECORD_RECORD_H
#define COLLECT_RECORD_RECORD_H

#include "lib/opt.h"

extern const struct command record_qemu_command;
extern const struct command record_perf_command;
extern const struct command record_ftrace_command;
extern const struct command record_profile_command;

/*
 * Run argv as a child with our standard streams and wait for it. SIGINT, SIGTERM
 * and SIGHUP are handed on to it meanwhile, so that we outlive it and can put things
 * in order. Returns its exit status, 128 + N when signal N ended it, -1 after
 * reporting that it could not be run. remedy: what to install or do then.
 */
int record_run(char *const argv[], const char *remedy);

/* Whether record_run, or a program that we run, could start this command; -1 after reporting. */
int record_check(const char *command);

/* Without a command: wait for SIGINT, SIGTERM or SIGHUP, and go on. */
void record_wait(void);

/* The signal that was handed on during record_run, 0 when none. */
int record_signal(void);

#endif
