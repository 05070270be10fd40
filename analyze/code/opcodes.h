/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is used of libopcodes, which comes with libbfd: their 80,000 relocations take as
 * long as reading 20 MB of samples, so they are loaded where something is disassembled.
 */
#ifndef ANALYZE_CODE_OPCODES_H
#define ANALYZE_CODE_OPCODES_H

/* bfd.h insists on being configured by its user. */
#define PACKAGE "hottext"
#define PACKAGE_VERSION HOTTEXT_VERSION
#include <bfd.h>
#include <dis-asm.h>

struct opcodes {
	__typeof__(&disassembler) disassembler;
	__typeof__(&init_disassemble_info) init;
	__typeof__(&disassemble_init_for_target) prepare;
	__typeof__(&disassemble_free_target) release;
};

/* NULL after reporting: it cannot be loaded. Never unloaded. */
const struct opcodes *opcodes_get(void);

#endif
