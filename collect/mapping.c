/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mapping.h"

#include <stddef.h>
#include <string.h>

#include "lib/mem.h"

bool mapping_is_programs(const char *name)
{
	/* fs/proc/task_mmu.c and the architectures' arch_vma_name(). */
	static const char *const beginnings[] = {
		"[vdso", "[vvar", "[vsyscall]", "[stack]", "[stack:", "[heap]", "[vectors]", "[sigpage]", "[uprobes]",
		"[anon:", "[anon_", "[anon]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}
