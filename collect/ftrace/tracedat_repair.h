/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COLLECT_FTRACE_TRACEDAT_REPAIR_H
#define COLLECT_FTRACE_TRACEDAT_REPAIR_H

#include <stdbool.h>

/*
 * The whole records of a trace.dat that was cut short or has damage among them, and a warning of how much is lost:
 * *whole is an unnamed copy that libtracecmd reads, which the caller closes, or -1 when
 * the file is whole, or cut before its records. Version 6 tells where each CPU's pages
 * are before they come: missing ones are made empty. Version 7 tells so behind them:
 * tracedat_repair7.h. Damage: tracedat_damage.h. Returns -1 after reporting that there is no room for a copy.
 */
int tracedat_repair(int fd, const char *name, int *whole);

/* Whether another trace.dat stands where this one ends. */
bool tracedat_is_followed(int fd);

#endif
