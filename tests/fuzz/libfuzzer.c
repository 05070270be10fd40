/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One target, named by FUZZ_TARGET in the environment, under libFuzzer. `make fuzz` runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* SanitizerCoverage's 8-bit counters, which the linker gathers. */
extern unsigned char __start___sancov_cntrs[], __stop___sancov_cntrs[];

/* Counters that child processes share: trace.dat is read in one, and what it reached is to guide as well. */
static void share_counters(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)__start___sancov_cntrs + page - 1) & -page, to = (uintptr_t)__stop___sancov_cntrs & -page;

	/* Whole pages alone: the first and the last have other data, too. */
	if (to <= from)
		return;
	void *copy = mmap(NULL, to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		abort();
	memcpy(copy, (void *)from, to - from);
	if (mremap(copy, to - from, to - from, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)from) == MAP_FAILED)
		abort();
}

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
		share_counters();
	}
	return fuzz_run(target, data, size) ? 0 : -1;
}
