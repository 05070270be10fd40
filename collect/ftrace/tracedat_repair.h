/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COLLECT_FTRACE_TRACEDAT_REPAIR_H
#define COLLECT_FTRACE_TRACEDAT_REPAIR_H

/*
 * A trace.dat of version 6 tells where each CPU's pages are before they come, so one
 * that was cut short among them still has whole pages: an unnamed copy in which the
 * missing ones are empty, and a warning of how much is lost. -1 when the file is not
 * such a one: whole, of version 7 (its tables stand at the end), or cut before its pages.
 */
int tracedat_repair(int fd, const char *name);

#endif
