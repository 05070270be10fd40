// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Control flow of arm, arm64 and riscv. For arm64 and riscv libopcodes tells
 * branches and targets, but not indirect ones from returns.
 */
#include "analyze/code/disasm-internal.h"

static enum insn_test arm_condition(enum compare cmp, unsigned int cond)
{
	switch (cond) {
	case 0: case 1:		/* eq, ne */
		return equality_test(cmp, cond == 0);
	case 4: case 5:		/* mi, pl */
		return cond == 4 ? TEST_NEGATIVE : TEST_NOT_NEGATIVE;
	case 8: case 9:		/* hi, ls */
		return cmp == CMP_ERRNO ? (cond == 8 ? TEST_ERRNO_ABOVE : TEST_ERRNO_NOT_ABOVE) : TEST_ORDER;
	case 10: case 11:	/* ge, lt */
		return cmp == CMP_ZERO ? (cond == 11 ? TEST_NEGATIVE : TEST_NOT_NEGATIVE) : TEST_ORDER;
	default:
		return TEST_ORDER;
	}
}

/* A32 data-processing immediates are eight bits rotated right by twice a nibble. */
static uint32_t a32_immediate(uint32_t word)
{
	unsigned int rot = (word >> 8 & 15) * 2;
	uint32_t v = word & 255;

	return rot ? v >> rot | v << (32 - rot) : v;
}

static void a32_note(struct disasm_state *s, uint32_t word, struct insn *insn)
{
	uint32_t op = word >> 20 & 0xff;
	bool imm = (word >> 25 & 7) == 1, reg = (word >> 25 & 7) == 0;

	if ((word & 0x0ff00000) == 0x05900000)		/* ldr rd, [rn, #imm] */
		set_slot(s, word >> 12 & 15, word & 0xfff);
	else if ((op & 0x1f) == 0x15 && (imm || reg))	/* cmp */
		s->cmp[0] = imm && !a32_immediate(word) ? CMP_ZERO : CMP_VALUES;
	else if ((op & 0x1f) == 0x17 && imm)		/* cmn: IS_ERR is cmn r, #4096 */
		s->cmp[0] = a32_immediate(word) == MAX_ERRNO + 1 ? CMP_ERRNO : CMP_VALUES;
	else if ((op & 0x1f) == 0x11 && (imm || reg))	/* tst */
		s->cmp[0] = CMP_BITS;
	else if ((op & 0x1f) == 0x1e && imm)		/* mvn r, #n is n + 1 negated */
		insn->error_value = a32_immediate(word) < MAX_ERRNO;
	else if ((op & 1) && (imm || reg))
		s->cmp[0] = CMP_ZERO;
}

void classify_arm(struct disasm_state *s, const struct disasm_raw *raw, struct insn *insn)
{
	uint32_t word = raw->word, cond = word >> 28;
	bool always = cond == 14;

	insn->kind = INSN_OTHER;
	if (raw->len != 4)
		return;
	if (cond == 15) {
		if ((word & 0x0e000000) == 0x0a000000) {	/* blx to Thumb */
			insn->kind = INSN_CALL;
			insn->target = raw->addr + 8 + (uint64_t)(sign_extend(word, 24) * 4);
		}
	} else if ((word & 0x0e000000) == 0x0a000000) {	/* b, bl */
		insn->target = raw->addr + 8 + (uint64_t)(sign_extend(word, 24) * 4);
		insn->kind = word & 1 << 24 ? INSN_CALL : always ? INSN_JUMP : INSN_BRANCH;
		insn->test = arm_condition(s->cmp[0], cond);
	} else if ((word & 0x0ffffff0) == 0x012fff10) {	/* bx */
		insn->kind = !always ? INSN_BRANCH_INDIRECT : (word & 15) == 14 ? INSN_RETURN : INSN_JUMP_INDIRECT;
	} else if ((word & 0x0ffffff0) == 0x012fff30) {	/* blx register */
		insn->kind = INSN_CALL_INDIRECT;
		insn->slot = s->slot[word & 15];
	} else if ((word & 0x0e108000) == 0x08108000) {	/* ldm with pc */
		insn->kind = always ? INSN_RETURN : INSN_BRANCH_INDIRECT;
	} else if ((word & 0x0c10f000) == 0x0410f000 || (word & 0x0fe0f000) == 0x01a0f000 ||
		   (word & 0x0de0f000) == 0x0080f000) {	/* ldr pc; mov pc; add pc */
		bool ret = (word & 0x0fffffff) == 0x01a0f00e || (word & 0x0fffffff) == 0x049df004;
		insn->kind = !always ? INSN_BRANCH_INDIRECT : ret ? INSN_RETURN : INSN_JUMP_INDIRECT;
	} else if ((word & 0xfff000f0) == 0xe7f000f0) {	/* udf */
		insn->kind = INSN_TRAP;
	} else {
		a32_note(s, word, insn);
	}
}

static void a64_note(struct disasm_state *s, uint32_t word, struct insn *insn)
{
	uint32_t imm12 = word >> 10 & 0xfff, shift = word >> 22 & 1;

	if ((word & 0x7f00001f) == 0x7100001f)		/* cmp immediate */
		s->cmp[0] = imm12 ? CMP_VALUES : CMP_ZERO;
	else if ((word & 0x7f00001f) == 0x3100001f)	/* cmn immediate: IS_ERR is cmn x, #1, lsl #12 */
		s->cmp[0] = imm12 == 1 && shift ? CMP_ERRNO : CMP_VALUES;
	else if ((word & 0x7f20001f) == 0x6b00001f)	/* cmp register */
		s->cmp[0] = CMP_VALUES;
	else if ((word & 0x7f80001f) == 0x7200001f || (word & 0x7f20001f) == 0x6a00001f)	/* tst */
		s->cmp[0] = CMP_BITS;
	else if ((word & 0xffc00000) == 0xf9400000)	/* ldr x, [x, #imm] */
		set_slot(s, word & 31, (word >> 10 & 0xfff) * 8);
	else if ((word & 0x7fe00000) == 0x12800000)	/* movn */
		insn->error_value = (word >> 5 & 0xffff) < MAX_ERRNO;
	else if ((word & 0x60000000) == 0x60000000 && (word & 0x1e000000) == 0x0a000000)
		s->cmp[0] = CMP_ZERO;
}

void classify_arm64(struct disasm_state *s, const struct disasm_raw *raw, struct insn *insn)
{
	uint32_t word = raw->word;

	insn->kind = INSN_OTHER;
	if (raw->kind == INSN_BAD || raw->len != 4)
		insn->kind = INSN_BAD;
	else if ((word & 0x7c000000) == 0x14000000) {	/* b, bl */
		insn->kind = word >> 31 ? INSN_CALL : INSN_JUMP;
		insn->target = raw->addr + (uint64_t)(sign_extend(word, 26) * 4);
	} else if ((word & 0xff000010) == 0x54000000) {	/* b.cond */
		insn->kind = INSN_BRANCH;
		insn->target = raw->addr + (uint64_t)(sign_extend(word >> 5, 19) * 4);
		insn->test = arm_condition(s->cmp[0], word & 15);
	} else if ((word & 0x7e000000) == 0x34000000) {	/* cbz, cbnz */
		insn->kind = INSN_BRANCH;
		insn->target = raw->addr + (uint64_t)(sign_extend(word >> 5, 19) * 4);
		insn->test = word & 1 << 24 ? TEST_NOT_ZERO : TEST_ZERO;
	} else if ((word & 0x7e000000) == 0x36000000) {	/* tbz, tbnz; the top bit is the sign */
		bool set = word & 1 << 24, sign = (word >> 19 & 31) == 31;
		insn->kind = INSN_BRANCH;
		insn->target = raw->addr + (uint64_t)(sign_extend(word >> 5, 14) * 4);
		insn->test = sign ? (set ? TEST_NEGATIVE : TEST_NOT_NEGATIVE) : set ? TEST_BIT_SET : TEST_BIT_CLEAR;
	} else if ((word & 0xfe000000) == 0xd6000000) {	/* br, blr, ret, eret and their authenticating forms */
		static const enum insn_kind kinds[] = {
			INSN_JUMP_INDIRECT, INSN_CALL_INDIRECT, INSN_RETURN, INSN_BAD,
			INSN_RETURN, INSN_RETURN, INSN_BAD, INSN_BAD,
		};
		insn->kind = kinds[word >> 21 & 7];
		insn->slot = s->slot[word >> 5 & 31];
	} else if ((word & 0xffe0001f) == 0xd4200000 || !(word >> 16)) {	/* brk, udf */
		insn->kind = INSN_TRAP;
	} else {
		a64_note(s, word, insn);
	}
}

/* Compressed forms whose kind depends on the registers: c.jr, c.jalr, c.ebreak, c.beqz, c.bnez. */
static void classify_rvc(struct disasm_state *s, uint32_t half, struct insn *insn)
{
	uint32_t rs1 = half >> 7 & 31, rs2 = half >> 2 & 31;

	if ((half & 3) == 0 && half >> 13 == 3) {	/* c.ld */
		set_slot(s, 8 + (half >> 2 & 7), (half >> 10 & 7) << 3 | (half >> 5 & 3) << 6);
	} else if ((half & 3) == 2 && half >> 13 == 4 && !rs2) {
		insn->slot = s->slot[rs1];
		if (half & 1 << 12)
			insn->kind = rs1 ? INSN_CALL_INDIRECT : INSN_TRAP;
		else
			insn->kind = rs1 == 1 ? INSN_RETURN : INSN_JUMP_INDIRECT;
	} else if ((half & 3) == 1 && half >> 14 == 3) {
		insn->test = half >> 13 & 1 ? TEST_NOT_ZERO : TEST_ZERO;
	} else if ((half & 3) == 1 && half >> 13 == 2) {	/* c.li */
		insn->error_value = half & 1 << 12;
	}
}

static enum insn_test riscv_test(uint32_t word)
{
	uint32_t rs1 = word >> 15 & 31, rs2 = word >> 20 & 31;

	switch (word >> 12 & 7) {
	case 0:
		return rs2 && rs1 ? TEST_EQUAL : TEST_ZERO;
	case 1:
		return rs2 && rs1 ? TEST_NOT_EQUAL : TEST_NOT_ZERO;
	case 4:
		return rs2 ? TEST_ORDER : TEST_NEGATIVE;
	case 5:
		return rs2 ? TEST_ORDER : TEST_NOT_NEGATIVE;
	default:
		return TEST_ORDER;
	}
}

void classify_riscv(struct disasm_state *s, const struct disasm_raw *raw, struct insn *insn)
{
	uint32_t word = raw->word, rd = word >> 7 & 31, rs1 = word >> 15 & 31;

	(void)s;
	insn->target = raw->target;
	if (raw->len < 4) {
		classify_rvc(s, (uint32_t)raw->bytes[0] | (uint32_t)raw->bytes[1] << 8, insn);
		return;
	}
	switch (word & 0x7f) {
	case 0x63:
		insn->test = riscv_test(word);
		break;
	case 0x6f:		/* jal */
		insn->kind = rd ? INSN_CALL : INSN_JUMP;
		break;
	case 0x67:		/* jalr; with auipc before it libopcodes knows the target */
		insn->slot = s->slot[rs1];
		if (rd)
			insn->kind = insn->target ? INSN_CALL : INSN_CALL_INDIRECT;
		else if (rs1 == 1 || rs1 == 5)
			insn->kind = INSN_RETURN;
		else
			insn->kind = insn->target ? INSN_JUMP : INSN_JUMP_INDIRECT;
		break;
	case 0x73:		/* ebreak; mret, sret */
		insn->kind = word == 0x00100073 ? INSN_TRAP :
			     word == 0x30200073 || word == 0x10200073 ? INSN_RETURN : INSN_OTHER;
		break;
	case 0x03:		/* ld, lw */
		set_slot(s, rd, (word >> 12 & 7) == (s->is_64 ? 3 : 2) ? sign_extend(word >> 20, 12) : SLOT_UNKNOWN);
		break;
	case 0x13:		/* li */
		insn->error_value = !rs1 && !(word >> 12 & 7) && is_error_value(sign_extend(word >> 20, 12));
		break;
	default:
		break;
	}
}
