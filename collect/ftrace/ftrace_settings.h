/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings of tracefs, changed and put back. Those changed are remembered in
 * order and restored in reverse; also at exit(), should we end early.
 */
#ifndef COLLECT_FTRACE_FTRACE_SETTINGS_H
#define COLLECT_FTRACE_FTRACE_SETTINGS_H

#include <stdbool.h>

struct tracefs_instance;

/*
 * Where to trace: an instance of our own when the tracer may run in one, else the
 * top one (*inst NULL). 0, or -1 after reporting what is missing and its remedy.
 */
int ftrace_begin(struct tracefs_instance **inst, const char *tracer);

/* Write value to a file of the instance, keeping what was there. -1 after reporting. */
int ftrace_set(const char *file, const char *value);

/* As ftrace_set where the kernel may lack the file: that is no error. */
void ftrace_try(const char *file, const char *value);

/* Add one more line to a file that ftrace_set has written. */
int ftrace_add(const char *file, const char *value);

/* Put everything back as it was, destroy the instance. May be called twice. */
void ftrace_restore(void);

#endif
