/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decode.h"

#include <elf.h>
#include <string.h>

#ifndef EM_RISCV
#define EM_RISCV 243
#endif
#ifndef EM_AARCH64
#define EM_AARCH64 183
#endif

#define HIGH_HALF 0x8000000000000000u

static uint32_t le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

/* mov %reg, %cr3: [REX] 0f 22 /3 with a register operand (Intel SDM volume 2, MOV control registers). */
static bool x86_switches(const unsigned char *p, size_t size)
{
	if (size && (*p & 0xf0) == 0x40)
		p++, size--;
	return size == 3 && p[0] == 0x0f && p[1] == 0x22 && (p[2] & 0xf8) == 0xd8;
}

/* msr ttbr0_el1/ttbr1_el1, xN (Arm ARM, C6.2 and D19: op0 3, op1 0, CRn 2, CRm 0, op2 0 or 1). */
static bool arm64_switches(const unsigned char *p, size_t size)
{
	return size == 4 && (le32(p) & 0xffffffc0u) == 0xd5182000u;
}

/* mcr p15, 0, rN, c2, c0, 0 and, with long descriptors, mcrr p15, 0, rN, rM, c2 (Arm ARM v7, B3.17). */
static bool arm_switches(const unsigned char *p, size_t size)
{
	if (size != 4)
		return false;
	uint32_t w = le32(p), thumb = w << 16 | w >> 16;

	return (w & 0x0fff0fffu) == 0x0e020f10u || (w & 0x0ff00fffu) == 0x0c400f02u ||
	       (thumb & 0xffff0fffu) == 0xee020f10u || (thumb & 0xfff00fffu) == 0xec400f02u;
}

/* csrrw rd, satp, rs: CSR 0x180 (RISC-V privileged specification, 4.1.11). */
static bool riscv_switches(const unsigned char *p, size_t size)
{
	return size == 4 && (le32(p) & 0xfff0707fu) == 0x18001073u;
}

/*
 * mtspr of the register that names the address space: PID of 40x (SPR 945) and of
 * Book E and radix (SPR 48), M_CASID of 8xx (SPR 793). The halves of the SPR
 * number are swapped in the instruction.
 */
static bool ppc_mtspr(uint32_t w, uint32_t spr)
{
	return (w & 0xfc1fffffu) == (0x7c0003a6u | (spr & 31) << 16 | (spr >> 5) << 11);
}

static bool ppc_word_switches(uint32_t w)
{
	return ppc_mtspr(w, 945) || ppc_mtspr(w, 48) || ppc_mtspr(w, 793);
}

static bool ppc_switches(const unsigned char *p, size_t size)
{
	return size == 4 && ppc_word_switches(be32(p));
}

static bool ppc64_switches(const unsigned char *p, size_t size)
{
	return size == 4 && (ppc_word_switches(be32(p)) || ppc_word_switches(le32(p)));
}

static const struct guest guests[] = {
	{ "x86_64", EM_X86_64, false, HIGH_HALF, 0, x86_switches },
	{ "i386", EM_386, true, 0xc0000000u, 0, x86_switches },
	{ "aarch64", EM_AARCH64, false, HIGH_HALF, 0, arm64_switches },
	{ "arm", EM_ARM, true, 0xc0000000u, 0, arm_switches },
	{ "riscv64", EM_RISCV, false, HIGH_HALF, 0, riscv_switches },
	{ "riscv32", EM_RISCV, true, 0xc0000000u, 0, riscv_switches },
	{ "ppc", EM_PPC, true, 0xc0000000u, 0x8000, ppc_switches },
	{ "ppc64", EM_PPC64, false, 0xc000000000000000u, 0x8000, ppc64_switches },
	{ "mips", EM_MIPS, true, 0x80000000u, 0, NULL },
	{ "mipsel", EM_MIPS, true, 0x80000000u, 0, NULL },
};

const struct guest *guest_find(const char *target)
{
	for (size_t i = 0; i < sizeof(guests) / sizeof(*guests); i++)
		if (!strcmp(guests[i].target, target))
			return &guests[i];
	return NULL;
}

const struct guest *guest_for_kernel(const struct guest *target, uint16_t e_machine)
{
	static const struct {
		uint16_t wide, narrow;
	} pairs[] = { { EM_X86_64, EM_386 }, { EM_AARCH64, EM_ARM }, { EM_PPC64, EM_PPC } };

	if (target->e_machine == e_machine)
		return target;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (target->e_machine != pairs[i].wide || e_machine != pairs[i].narrow)
			continue;
		for (size_t g = 0; g < sizeof(guests) / sizeof(*guests); g++)
			if (guests[g].e_machine == e_machine)
				return &guests[g];
	}
	return NULL;
}
