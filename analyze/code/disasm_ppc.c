// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * PowerPC control flow (Power ISA book I, chapters 2.4 and 3.3). libopcodes
 * gives no branch information for it.
 */
#include "analyze/code/disasm-internal.h"

enum {
	OP_TWI = 3, OP_CMPLI = 10, OP_CMPI = 11, OP_ADDI = 14, OP_BC = 16, OP_SC = 17, OP_B = 18, OP_XL = 19,
	OP_RLWINM = 21, OP_ANDI = 28, OP_ANDIS = 29, OP_X = 31,
	XL_BCLR = 16, XL_RFI = 50, XL_RFCI = 51, XL_RFMCI = 38, XL_RFID = 18, XL_HRFID = 274, XL_BCCTR = 528,
	OP_ADDIS = 15, OP_LWZ = 32, OP_LD = 58, X_LWZX = 23, X_OR = 444, X_MTSPR = 467, SPR_CTR = 9,
	X_CMP = 0, X_CMPL = 32, X_TW = 4, X_TD = 68,
};

/* Field of bits first..last, numbered from the most significant as in the ISA. */
static uint32_t field(uint32_t word, unsigned int first, unsigned int last)
{
	return (word >> (31 - last)) & ((1u << (last - first + 1)) - 1);
}

/* BO 1z1zz: branch always. */
static bool is_always(uint32_t word)
{
	return (field(word, 6, 10) & 0x14) == 0x14;
}

/* BO 0 and 2 of 5 bits: taken when the condition bit is 0 (bit 3 of BO clear) or 1. */
static enum insn_test test_of(const struct disasm_state *s, uint32_t word)
{
	uint32_t bo = field(word, 6, 10), bi = field(word, 11, 15);
	enum compare cmp = s->cmp[bi / 4];

	if (bo & 0x10)		/* decrements CTR only */
		return TEST_OTHER;
	bool when_set = bo & 8;
	switch (bi % 4) {
	case 0:			/* less than */
		return cmp == CMP_ZERO ? (when_set ? TEST_NEGATIVE : TEST_NOT_NEGATIVE) : TEST_ORDER;
	case 1:			/* greater than */
		return cmp == CMP_ERRNO ? (when_set ? TEST_ERRNO_ABOVE : TEST_ERRNO_NOT_ABOVE) : TEST_ORDER;
	case 2:
		return equality_test(cmp, when_set);
	default:
		return TEST_OTHER;
	}
}

static void note_flags(struct disasm_state *s, uint32_t word)
{
	uint32_t op = field(word, 0, 5), xo = field(word, 21, 30);
	int64_t imm = sign_extend(word, 16);

	if (op == OP_CMPI || op == OP_CMPLI)
		s->cmp[field(word, 6, 8)] = !imm ? CMP_ZERO :
			imm == -MAX_ERRNO - 1 || imm == -MAX_ERRNO ? CMP_ERRNO : CMP_VALUES;
	else if (op == OP_X && (xo == X_CMP || xo == X_CMPL))
		s->cmp[field(word, 6, 8)] = CMP_VALUES;
	else if (op == OP_ANDI || op == OP_ANDIS)
		s->cmp[0] = CMP_BITS;
	else if (op == OP_RLWINM && (word & 1))
		s->cmp[0] = CMP_BITS;
	else if (op == OP_X && (word & 1) && xo != X_TW)	/* record forms, mr. among them: compared with 0 */
		s->cmp[0] = xo == 28 ? CMP_BITS : CMP_ZERO;
}

/* lwz, ld: from a structure; mr and mtctr hand on; li, addi, addis, lwzx set something else. */
static void note_load(struct disasm_state *s, uint32_t word)
{
	uint32_t op = field(word, 0, 5), rd = field(word, 6, 10), ra = field(word, 11, 15), xo = field(word, 21, 30);

	if (op == OP_LWZ || (op == OP_LD && !(word & 3)))
		set_slot(s, rd, ra ? sign_extend(op == OP_LD ? word & 0xfffc : word, 16) : SLOT_UNKNOWN);
	else if (op == OP_ADDI || op == OP_ADDIS)
		set_slot(s, rd, SLOT_UNKNOWN);
	else if (op == OP_X && xo == X_LWZX)
		set_slot(s, rd, SLOT_UNKNOWN);
	else if (op == OP_X && xo == X_OR)
		set_slot(s, ra, rd == field(word, 16, 20) ? s->slot[rd] : SLOT_UNKNOWN);
	else if (op == OP_X && xo == X_MTSPR && ra == SPR_CTR)
		s->slot_ctr = s->slot[rd];
}

static void classify_branch(struct disasm_state *s, const struct disasm_raw *raw, struct insn *insn)
{
	uint32_t word = raw->word, op = field(word, 0, 5);
	bool absolute = word & 2, link = word & 1;
	int64_t d = op == OP_B ? sign_extend(word & 0x03fffffc, 26) : sign_extend(word & 0xfffc, 16);

	insn->target = (absolute ? 0 : raw->addr) + (uint64_t)d;
	if (link && insn->target == raw->addr + 4)	/* bcl 20,31,$+4: reads the program counter */
		return;
	if (link)
		insn->kind = INSN_CALL;
	else if (op == OP_B || is_always(word))
		insn->kind = INSN_JUMP;
	else {
		insn->kind = INSN_BRANCH;
		insn->test = test_of(s, word);
	}
}

static void classify_xl(struct disasm_state *s, uint32_t word, struct insn *insn)
{
	uint32_t xo = field(word, 21, 30);
	bool link = word & 1;

	if (xo == XL_RFI || xo == XL_RFCI || xo == XL_RFMCI || xo == XL_RFID || xo == XL_HRFID) {
		insn->kind = INSN_RETURN;
	} else if (xo == XL_BCLR || xo == XL_BCCTR) {
		insn->slot = xo == XL_BCCTR ? s->slot_ctr : SLOT_UNKNOWN;
		if (link)
			insn->kind = INSN_CALL_INDIRECT;
		else if (!is_always(word)) {
			insn->kind = INSN_BRANCH_INDIRECT;
			insn->test = test_of(s, word);
		} else {
			insn->kind = xo == XL_BCLR ? INSN_RETURN : INSN_JUMP_INDIRECT;
		}
	}
}

void classify_ppc(struct disasm_state *s, const struct disasm_raw *raw, struct insn *insn)
{
	uint32_t word = raw->word, op = field(word, 0, 5), xo = field(word, 21, 30);

	if (raw->len != 4) {	/* prefixed instructions do not branch */
		insn->kind = INSN_OTHER;
		return;
	}
	if (!word) {
		insn->kind = INSN_BAD;
	} else if (op == OP_B || op == OP_BC) {
		classify_branch(s, raw, insn);
	} else if (op == OP_XL) {
		classify_xl(s, word, insn);
	} else if ((op == OP_TWI || (op == OP_X && (xo == X_TW || xo == X_TD))) && field(word, 6, 10) == 31) {
		insn->kind = INSN_TRAP;	/* twui 0,0 of BUG(); conditional traps of BUG_ON() fall through */
	} else {
		if (op == OP_ADDI && !field(word, 11, 15))	/* li */
			insn->error_value = is_error_value(sign_extend(word, 16));
		note_flags(s, word);
		note_load(s, word);
	}
}
