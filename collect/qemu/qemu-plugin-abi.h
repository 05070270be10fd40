/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of QEMU's plugin ABI, version 1 (QEMU 6.0 to 8.2), that plugin.c uses.
 * Debian does not package QEMU's own header. Facts taken from QEMU's documentation
 * (docs/devel/tcg-plugins.rst) and from the dynamic symbols of the emulator.
 *
 * A plugin exports the int `qemu_plugin_version` and the function
 * `qemu_plugin_install`; QEMU resolves everything else against itself.
 */
#ifndef COLLECT_QEMU_QEMU_PLUGIN_ABI_H
#define COLLECT_QEMU_QEMU_PLUGIN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_VISIBLE __attribute__((visibility("default")))
enum { QEMU_PLUGIN_ABI = 1 };

struct qemu_plugin_tb;		/* a translation block while it is being translated */
struct qemu_plugin_insn;	/* an instruction of it, valid as long */

/* What the emulator says of itself at install time. */
struct qemu_info {
	const char *target_name;	/* "x86_64", "ppc", "aarch64"... */
	struct {
		int min, cur;		/* ABI versions it takes */
	} version;
	bool system_emulation;
	int smp_vcpus;			/* valid under system emulation only */
	int max_vcpus;
};

extern QEMU_PLUGIN_VISIBLE int qemu_plugin_version;

/* Called once; a return other than 0 makes QEMU exit with an error. argv holds "name=value" strings. */
QEMU_PLUGIN_VISIBLE int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

/* cb at every translation; it may attach callbacks to what it is shown. */
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));

/* cb before each execution of the block. flags: 0, the callback touches no registers. */
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*cb)(unsigned int cpu, void *data),
					  int flags, void *data);

/* cb at the emulator's exit(), whatever led to it short of a fatal signal. */
void qemu_plugin_register_atexit_cb(uint64_t id, void (*cb)(uint64_t id, void *data), void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);

/* The instruction's bytes as they lie in guest memory. */
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

#endif
