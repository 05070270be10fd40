/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One target, named by FUZZ_TARGET in the environment, under libFuzzer. `make fuzz` runs it. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_target *target;

	if (!target) {
		const char *name = getenv("FUZZ_TARGET");

		target = name ? fuzz_find(name) : NULL;
		if (!target) {
			fprintf(stderr, "FUZZ_TARGET names no target\n");
			_Exit(2);
		}
	}
	return fuzz_run(target, data, size) ? 0 : -1;
}
