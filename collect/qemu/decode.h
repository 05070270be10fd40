/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the plugin knows of guest architectures: the kernel's base address, and
 * the instructions that switch address spaces.
 */
#ifndef COLLECT_QEMU_DECODE_H
#define COLLECT_QEMU_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guest {
	const char *target;	/* as QEMU names it */
	uint16_t e_machine;	/* EM_* of <elf.h> */
	bool is_32;
	uint64_t kernel_base;	/* Linux's usual split: addresses at or above are the kernel's */
	uint64_t real_limit;	/* kernel code below runs untranslated: PowerPC exception vectors */
	bool (*switches)(const unsigned char *insn, size_t size);	/* NULL: not recognised */
};

/* NULL for a target not known. */
const struct guest *guest_find(const char *target);

/*
 * The guest that a kernel of that ELF machine makes of a target: the target's own,
 * or a 32-bit kernel's on a 64-bit machine. NULL when the target cannot run it.
 */
const struct guest *guest_for_kernel(const struct guest *target, uint16_t e_machine);

#endif
