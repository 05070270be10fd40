/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between disasm.c and the files that know one target's branches. */
#ifndef ANALYZE_CODE_DISASM_INTERNAL_H
#define ANALYZE_CODE_DISASM_INTERNAL_H

#include "analyze/code/disasm.h"

enum { DISASM_CONDITIONS = 8 };	/* PowerPC has eight condition fields; the others use the first */

/* What the latest flag-setting instruction compared. */
enum compare {
	CMP_OTHER,
	CMP_ZERO,	/* one value with 0 */
	CMP_BITS,	/* some bits of a value with 0 */
	CMP_ERRNO,	/* one value with -4096 or -4095, for IS_ERR */
	CMP_VALUES,	/* two values, or one with a constant */
};

enum {
	DISASM_REGISTERS = 32,
	MAX_SLOT = 4096,	/* no table of functions is longer */
};

struct disasm_state {
	bool is_64;
	int32_t slot[DISASM_REGISTERS];		/* displacement that the register was last loaded with */
	int32_t slot_ctr;			/* the same of PowerPC's count register */
	enum compare cmp[DISASM_CONDITIONS];
};

/* One instruction as libopcodes left it. */
struct disasm_raw {
	uint64_t addr;
	const unsigned char *bytes;	/* of len */
	uint32_t len;
	uint32_t word;			/* the first four bytes in code order; 0 when there are less */
	enum insn_kind kind;
	uint64_t target;
};

/* Fill kind, test, target, table, error_value; len and kind are preset from raw. */
typedef void disasm_classify_fn(struct disasm_state *s, const struct disasm_raw *raw, struct insn *insn);
disasm_classify_fn classify_x86, classify_ppc, classify_arm, classify_arm64, classify_riscv;

/* The test of a branch taken when the compared value is equal (or not) to what it was compared with. */
static inline enum insn_test equality_test(enum compare cmp, bool equal)
{
	switch (cmp) {
	case CMP_ZERO:
		return equal ? TEST_ZERO : TEST_NOT_ZERO;
	case CMP_BITS:
		return equal ? TEST_BIT_CLEAR : TEST_BIT_SET;
	case CMP_VALUES:
	case CMP_ERRNO:
		return equal ? TEST_EQUAL : TEST_NOT_EQUAL;
	default:
		return TEST_OTHER;
	}
}

/* A load of a register from memory, or with SLOT_UNKNOWN anything else that sets it. */
static inline void set_slot(struct disasm_state *s, unsigned int reg, int64_t displacement)
{
	s->slot[reg % DISASM_REGISTERS] = displacement >= 0 && displacement < MAX_SLOT ?
					  (int32_t)displacement : SLOT_UNKNOWN;
}

/* Sign-extend the low `bits` bits. */
static inline int64_t sign_extend(uint64_t v, unsigned int bits)
{
	uint64_t sign = 1ULL << (bits - 1);

	v &= (sign << 1) - 1;
	return (int64_t)((v ^ sign) - sign);
}

enum { MAX_ERRNO = 4095 };	/* include/linux/err.h */

static inline bool is_error_value(int64_t v)
{
	return v < 0 && v >= -MAX_ERRNO;
}

#endif
