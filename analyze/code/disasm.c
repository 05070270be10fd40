// SPDX-License-Identifier: GPL-3.0-or-later
/* libopcodes per target, and what its decoders do not tell about branches. */
#include "analyze/code/disasm.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/code/disasm-internal.h"
#include "analyze/code/opcodes.h"
#include "lib/error.h"
#include "lib/mem.h"

struct disasm {
	const struct opcodes *opcodes;
	disassembler_ftype print;
	struct disassemble_info info;
	const struct disasm_target *target;
	struct disasm_state state;
	bool big_endian;
	bool thumb;
};

struct disasm_target {
	const char *name;
	uint16_t e_machine;
	enum bfd_architecture arch;
	unsigned long mach32, mach64;
	uint32_t min_len;	/* bytes of the smallest instruction */
	disasm_classify_fn *classify;
};

static const struct disasm_target targets[] = {
	{ "x86_64", EM_X86_64, bfd_arch_i386, bfd_mach_x64_32, bfd_mach_x86_64, 1, classify_x86 },
	{ "i386", EM_386, bfd_arch_i386, bfd_mach_i386_i386, 0, 1, classify_x86 },
	{ "ppc", EM_PPC, bfd_arch_powerpc, bfd_mach_ppc, 0, 4, classify_ppc },
	{ "ppc64", EM_PPC64, bfd_arch_powerpc, 0, bfd_mach_ppc64, 4, classify_ppc },
	{ "arm", EM_ARM, bfd_arch_arm, bfd_mach_arm_unknown, 0, 4, classify_arm },
	{ "arm64", EM_AARCH64, bfd_arch_aarch64, 0, bfd_mach_aarch64, 4, classify_arm64 },
	{ "riscv", EM_RISCV, bfd_arch_riscv, bfd_mach_riscv32, bfd_mach_riscv64, 2, classify_riscv },
};

/* The text is of no interest: formatting it would take most of the time. */
static int print_nothing(void *stream, const char *fmt, ...)
{
	(void)stream, (void)fmt;
	return 0;
}

static int print_nothing_styled(void *stream, enum disassembler_style style, const char *fmt, ...)
{
	(void)stream, (void)style, (void)fmt;
	return 0;
}

static void print_no_address(bfd_vma addr, struct disassemble_info *info)
{
	(void)addr, (void)info;
}

static void ignore_memory_error(int status, bfd_vma addr, struct disassemble_info *info)
{
	(void)status, (void)addr, (void)info;
}

static const struct disasm_target *find_target(uint16_t e_machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		if (targets[i].e_machine == e_machine)
			return &targets[i];
	return NULL;
}

int disasm_knows(uint16_t e_machine, bool is_64, bool big_endian)
{
	const struct disasm_target *t = find_target(e_machine);

	if (!t)
		return 0;
	const struct opcodes *o = opcodes_get();
	if (!o)
		return -1;
	return o->disassembler(t->arch, big_endian, is_64 ? t->mach64 : t->mach32, NULL) != NULL;
}

struct disasm *disasm_new(uint16_t e_machine, bool is_64, bool big_endian)
{
	const struct disasm_target *t = find_target(e_machine);
	if (!t) {
		error("no disassembler for '%s %u'", "ELF machine", e_machine);
		return NULL;
	}
	const struct opcodes *o = opcodes_get();
	if (!o)
		return NULL;
	unsigned long mach = is_64 ? t->mach64 : t->mach32;
	disassembler_ftype print = o->disassembler(t->arch, big_endian, mach, NULL);
	if (!print) {
		error("no disassembler for '%s' (Debian has it in libbinutils of binutils-multiarch)", t->name);
		return NULL;
	}
	struct disasm *d = xcalloc(1, sizeof(*d));
	d->opcodes = o;
	d->print = print;
	d->target = t;
	d->big_endian = big_endian;
	d->state.is_64 = is_64;
	o->init(&d->info, NULL, print_nothing, print_nothing_styled);
	d->info.arch = t->arch;
	d->info.mach = mach;
	d->info.endian = big_endian ? BFD_ENDIAN_BIG : BFD_ENDIAN_LITTLE;
	/* ARMv6 and later big-endian kernels hold little-endian code only after the BE8 link step, which vmlinux skips. */
	d->info.endian_code = t->arch == bfd_arch_riscv || t->arch == bfd_arch_aarch64 ?
			      BFD_ENDIAN_LITTLE : d->info.endian;
	d->info.print_address_func = print_no_address;
	d->info.memory_error_func = ignore_memory_error;
	o->prepare(&d->info);
	return d;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	d->opcodes->release(&d->info);
	free(d);
}

void disasm_reset(struct disasm *d)
{
	bool is_64 = d->state.is_64;

	memset(&d->state, 0, sizeof(d->state));
	d->state.is_64 = is_64;
	for (size_t i = 0; i < DISASM_REGISTERS; i++)
		d->state.slot[i] = SLOT_UNKNOWN;
	d->state.slot_ctr = SLOT_UNKNOWN;
}

int32_t disasm_slot(const struct disasm *d, unsigned int reg)
{
	return reg < DISASM_REGISTERS ? d->state.slot[reg] : SLOT_UNKNOWN;
}

/* What libopcodes itself says: aarch64 and riscv fill this in, the others do not. */
static void take_info(const struct disassemble_info *info, struct disasm_raw *raw)
{
	if (!info->insn_info_valid)
		return;
	raw->target = info->target;
	switch (info->insn_type) {
	case dis_noninsn:
		raw->kind = INSN_BAD;
		break;
	case dis_branch:
		raw->kind = INSN_JUMP;
		break;
	case dis_condbranch:
		raw->kind = INSN_BRANCH;
		break;
	case dis_jsr:
	case dis_condjsr:
		raw->kind = INSN_CALL;
		break;
	default:
		raw->kind = INSN_OTHER;
		break;
	}
}

void disasm_next(struct disasm *d, uint64_t addr, const unsigned char *bytes, size_t avail, struct insn *insn)
{
	struct disasm_raw raw = { .addr = addr, .bytes = bytes, .kind = INSN_OTHER };

	memset(insn, 0, sizeof(*insn));
	insn->slot = SLOT_UNKNOWN;
	d->info.buffer = (bfd_byte *)(uintptr_t)bytes;
	d->info.buffer_vma = addr;
	d->info.buffer_length = avail;
	d->info.stop_vma = 0;
	d->info.insn_info_valid = 0;
	d->info.insn_type = dis_nonbranch;
	d->info.target = 0;
	int len = d->print(addr, &d->info);

	if (len <= 0 || (size_t)len > avail) {
		insn->kind = INSN_BAD;
		insn->len = avail < d->target->min_len ? (uint32_t)avail : d->target->min_len;
		return;
	}
	raw.len = (uint32_t)len;
	raw.word = raw.len < 4 ? 0 : d->info.endian_code == BFD_ENDIAN_BIG ?
		   (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3] :
		   (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
	take_info(&d->info, &raw);
	insn->len = raw.len;
	insn->kind = raw.kind;
	d->target->classify(&d->state, &raw, insn);
	if (!d->state.is_64) {
		insn->target &= UINT32_MAX;
		insn->table &= UINT32_MAX;
	}
}
