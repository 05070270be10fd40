/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guest's workloads: each runs one kind of kernel work n times and says 0 or a negative errno. */
#ifndef TESTS_KERNEL_WORK_H
#define TESTS_KERNEL_WORK_H

struct work {
	const char *name;
	long (*run)(unsigned long n);
	unsigned long iterations;	/* so many that the section takes tens of milliseconds under emulation */
	int held_out;			/* never part of "all": profiles are not to see it */
};

extern const struct work works[];	/* ends with a NULL name */

/* One round of calls that the others do not make, mixed with some that they do, in a changing order. */
long work_mix(unsigned long n);

/* What the exec workload executes: this program with the one argument "exit". */
#define WORK_SELF "/init"

#endif
