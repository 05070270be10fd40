/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of events, and which of them count time. */
#ifndef COLLECT_PERF_PERFDATA_EVENTS_H
#define COLLECT_PERF_PERFDATA_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* A name for an event whose recording gives none; the caller frees. */
char *perfdata_event_name(uint32_t type, uint64_t config);

/* Whether a name asked for is that of an event: whole, or without PMU and modifiers. */
bool perfdata_event_is(const char *event, const char *asked);

/* The same; "itlb" stands for whatever a CPU calls its ITLB misses. */
bool perfdata_event_is_asked(const char *event, const char *asked);

/* Samples of the event are proportional to time or to instructions run. */
bool perfdata_event_is_cycles(const char *event);

/* The event counts instruction TLB misses. */
bool perfdata_event_is_itlb(const char *event);

/* perf's side-band event: never has samples. */
bool perfdata_event_is_dummy(const char *event);

/* Say that a recording has samples of an event that is not used; name is the recording's. */
void perfdata_tell_left_out(const char *name, uint64_t samples, const char *event);

#endif
