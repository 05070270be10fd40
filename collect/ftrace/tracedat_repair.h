/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COLLECT_FTRACE_TRACEDAT_REPAIR_H
#define COLLECT_FTRACE_TRACEDAT_REPAIR_H

/*
 * The whole records of a trace.dat that was cut short: an unnamed copy that libtracecmd
 * reads, and a warning of how much is lost. Version 6 tells where each CPU's pages are
 * before they come: missing ones are made empty. Version 7 tells so behind them:
 * tracedat_repair7.h. -1 when the file is whole, or cut before its records.
 */
int tracedat_repair(int fd, const char *name);

#endif
