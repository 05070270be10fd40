/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything that reads what others wrote, each as a function of one hostile file. */
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;	/* of its corpus too: tests/corpus/NAME */
	void (*run)(const struct fuzz_target *t, const char *path);
	const char *reader;	/* of fuzz_profile: takes only what this reader of collect/ would be given */
};

extern const struct fuzz_target fuzz_targets[];	/* closed by a NULL name */

const struct fuzz_target *fuzz_find(const char *name);	/* NULL when there is none */

/*
 * Run a target on these bytes, as a file. False when they are not for this target. Needs the
 * repository's root as working folder, for the kernel that some inputs are about.
 */
bool fuzz_run(const struct fuzz_target *t, const void *data, size_t size);

#endif
