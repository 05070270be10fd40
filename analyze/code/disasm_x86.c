// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * x86 control flow. libopcodes gives lengths but no branch information for x86,
 * so the few opcodes that branch or compare are read here
 * (Intel SDM volume 2, appendix A, tables ).
 */
#include "analyze/code/disasm-internal.h"

struct x86_insn {
	const unsigned char *p;	/* first byte behind the opcode */
	const unsigned char *end;
	uint32_t opcode;	/* one byte, or 0x0f00 | second byte */
	unsigned char rex;
};

static bool is_prefix(unsigned char b)
{
	switch (b) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x66: case 0x67:
	case 0xf0: case 0xf2: case 0xf3:
		return true;
	default:
		return false;
	}
}

static bool split(struct x86_insn *x, const struct disasm_raw *raw, bool is_64)
{
	x->p = raw->bytes;
	x->end = raw->bytes + raw->len;
	x->rex = 0;
	while (x->p < x->end && is_prefix(*x->p))
		x->p++;
	if (is_64 && x->p < x->end && (*x->p & 0xf0) == 0x40)
		x->rex = *x->p++;
	if (x->p >= x->end)
		return false;
	x->opcode = *x->p++;
	if (x->opcode == 0x0f && x->p < x->end)
		x->opcode = 0x0f00 | *x->p++;
	return true;
}

/* The last n bytes of the instruction, a signed immediate or displacement. */
static int64_t trailing(const struct x86_insn *x, unsigned int n)
{
	uint64_t v = 0;

	if (x->end - x->p < (ptrdiff_t)n)
		return 0;
	for (unsigned int i = 0; i < n; i++)
		v |= (uint64_t)x->end[(ptrdiff_t)i - (ptrdiff_t)n] << (8 * i);
	return sign_extend(v, 8 * n);
}

static unsigned int modrm_reg(const struct x86_insn *x)
{
	return x->p < x->end ? (*x->p >> 3) & 7 : 0;
}

/* ModRM names one register twice: test %rax,%rax. */
static bool same_registers(const struct x86_insn *x)
{
	if (x->p >= x->end || *x->p < 0xc0)
		return false;
	bool same_ext = ((x->rex >> 2) & 1) == (x->rex & 1);
	return same_ext && ((*x->p >> 3) & 7) == (*x->p & 7);
}

static enum compare compare_with(int64_t imm)
{
	if (!imm)
		return CMP_ZERO;
	return imm == -MAX_ERRNO - 1 || imm == -MAX_ERRNO ? CMP_ERRNO : CMP_VALUES;
}

/* What an instruction leaves in the flags, for the branch behind it. */
static void note_flags(struct disasm_state *s, const struct x86_insn *x)
{
	uint32_t op = x->opcode;

	if (op == 0x84 || op == 0x85)				/* test r/m,r */
		s->cmp[0] = same_registers(x) ? CMP_ZERO : CMP_BITS;
	else if (op == 0xa8 || op == 0xa9)			/* test imm,%eax */
		s->cmp[0] = CMP_BITS;
	else if ((op == 0xf6 || op == 0xf7) && modrm_reg(x) < 2)	/* test imm,r/m */
		s->cmp[0] = CMP_BITS;
	else if (op == 0x0fa3 || (op == 0x0fba && modrm_reg(x) == 4))	/* bt */
		s->cmp[0] = CMP_BITS;
	else if (op == 0x3c || op == 0x80 || op == 0x83) {	/* imm8 forms */
		if (op == 0x3c || modrm_reg(x) == 7)
			s->cmp[0] = compare_with(trailing(x, 1));
		else
			s->cmp[0] = modrm_reg(x) == 4 ? CMP_BITS : CMP_OTHER;
	} else if (op == 0x3d || op == 0x81) {			/* imm32 forms */
		if (op == 0x3d || modrm_reg(x) == 7)
			s->cmp[0] = compare_with(trailing(x, 4));
		else
			s->cmp[0] = modrm_reg(x) == 4 ? CMP_BITS : CMP_OTHER;
	} else if (op >= 0x38 && op <= 0x3b)			/* cmp r,r/m */
		s->cmp[0] = CMP_VALUES;
	else if (op >= 0x20 && op <= 0x25)			/* and */
		s->cmp[0] = CMP_BITS;
	else if (op < 0x38 && (op & 7) < 6)			/* other arithmetic */
		s->cmp[0] = CMP_OTHER;
	else if (op == 0xff && modrm_reg(x) < 2)		/* inc, dec */
		s->cmp[0] = CMP_ZERO;
}

/* The branch taken under condition code cc of the latest comparison. */
static enum insn_test test_of(enum compare cmp, unsigned int cc)
{
	switch (cc) {
	case 0x2: case 0x3:	/* b, ae: of bt the bit itself */
		return cmp == CMP_BITS ? (cc == 2 ? TEST_BIT_SET : TEST_BIT_CLEAR) :
		       cmp == CMP_ERRNO ? (cc == 2 ? TEST_ERRNO_NOT_ABOVE : TEST_ERRNO_ABOVE) : TEST_ORDER;
	case 0x4: case 0x5:	/* e, ne */
		return equality_test(cmp, cc == 4);
	case 0x6: case 0x7:	/* be, a */
		return cmp == CMP_ERRNO ? (cc == 6 ? TEST_ERRNO_NOT_ABOVE : TEST_ERRNO_ABOVE) : TEST_ORDER;
	case 0x8: case 0x9:	/* s, ns */
		return cc == 8 ? TEST_NEGATIVE : TEST_NOT_NEGATIVE;
	case 0xc: case 0xd:	/* l, ge */
		return cmp == CMP_ZERO ? (cc == 0xc ? TEST_NEGATIVE : TEST_NOT_NEGATIVE) : TEST_ORDER;
	case 0xe: case 0xf:	/* le, g */
		return TEST_ORDER;
	default:
		return TEST_OTHER;
	}
}

/* jmp *table(,%reg,8): a switch. ModRM 00 100 100, SIB base 101: a bare 32-bit displacement. */
static uint64_t jump_table(const struct x86_insn *x)
{
	if (x->end - x->p != 6 || x->p[0] != 0x24 || (x->p[1] & 7) != 5)
		return 0;
	return (uint64_t)trailing(x, 4);
}

/*
 * The displacement of a memory operand with a base register, SLOT_UNKNOWN for others:
 * globals, whose address is fixed, and indexed arrays.
 */
static int64_t displacement(const struct x86_insn *x)
{
	unsigned int mod = x->p < x->end ? *x->p >> 6 : 3, rm = x->p < x->end ? *x->p & 7 : 0;
	bool sib = rm == 4;

	if (mod == 3 || (mod == 0 && rm == 5) || (sib && x->end - x->p < 2))
		return SLOT_UNKNOWN;
	if (sib && (x->p[1] & 0x38) != 0x20)	/* has an index */
		return SLOT_UNKNOWN;
	if (sib && mod == 0 && (x->p[1] & 7) == 5)
		return SLOT_UNKNOWN;
	return mod == 0 ? 0 : trailing(x, mod == 1 ? 1 : 4);
}

static unsigned int reg_field(const struct x86_insn *x)
{
	return modrm_reg(x) | (x->rex & 4) << 1;
}

static unsigned int rm_field(const struct x86_insn *x)
{
	return (x->p < x->end ? *x->p & 7u : 0) | (x->rex & 1u) << 3;
}

static bool is_register(const struct x86_insn *x)
{
	return x->p < x->end && *x->p >= 0xc0;
}

static void note_load(struct disasm_state *s, const struct x86_insn *x)
{
	if (x->opcode == 0x8b && !is_register(x))
		set_slot(s, reg_field(x), displacement(x));
	else if (x->opcode == 0x8b)
		set_slot(s, reg_field(x), s->slot[rm_field(x)]);
	else if (x->opcode == 0x89 && is_register(x))
		set_slot(s, rm_field(x), s->slot[reg_field(x)]);
	else if (x->opcode == 0x8d || x->opcode == 0xc7 || x->opcode == 0x33 || x->opcode == 0x63)
		set_slot(s, x->opcode == 0xc7 ? rm_field(x) : reg_field(x), SLOT_UNKNOWN);
	else if (x->opcode >= 0xb8 && x->opcode <= 0xbf)
		set_slot(s, (x->opcode & 7) | (x->rex & 1u) << 3, SLOT_UNKNOWN);
}

static void classify_ff(const struct disasm_state *s, const struct x86_insn *x, struct insn *insn)
{
	switch (modrm_reg(x)) {
	case 2: case 3:
		insn->kind = INSN_CALL_INDIRECT;
		insn->slot = is_register(x) ? s->slot[rm_field(x)] : (int32_t)displacement(x);
		break;
	case 4: case 5:
		insn->kind = INSN_JUMP_INDIRECT;
		insn->slot = is_register(x) ? s->slot[rm_field(x)] : (int32_t)displacement(x);
		insn->table = jump_table(x);
		break;
	default:
		break;
	}
}

static void set_relative(struct insn *insn, enum insn_kind kind, uint64_t next, int64_t displacement)
{
	insn->kind = kind;
	insn->target = next + (uint64_t)displacement;
}

void classify_x86(struct disasm_state *s, const struct disasm_raw *raw, struct insn *insn)
{
	uint64_t next = raw->addr + raw->len;
	struct x86_insn x;

	if (!split(&x, raw, s->is_64)) {
		insn->kind = INSN_BAD;
		return;
	}
	uint32_t op = x.opcode;
	if (op == 0xe8) {
		set_relative(insn, INSN_CALL, next, trailing(&x, 4));
		s->cmp[0] = CMP_OTHER;
	} else if (op == 0xe9) {
		set_relative(insn, INSN_JUMP, next, trailing(&x, 4));
	} else if (op == 0xeb) {
		set_relative(insn, INSN_JUMP, next, trailing(&x, 1));
	} else if (op >= 0x70 && op <= 0x7f) {
		set_relative(insn, INSN_BRANCH, next, trailing(&x, 1));
		insn->test = test_of(s->cmp[0], op & 15);
	} else if (op >= 0x0f80 && op <= 0x0f8f) {
		set_relative(insn, INSN_BRANCH, next, trailing(&x, 4));
		insn->test = test_of(s->cmp[0], op & 15);
	} else if (op >= 0xe0 && op <= 0xe3) {	/* loop, jcxz */
		set_relative(insn, INSN_BRANCH, next, trailing(&x, 1));
	} else if (op == 0xc2 || op == 0xc3 || op == 0xca || op == 0xcb || op == 0xcf ||
		   op == 0x0f07 || op == 0x0f35) {	/* ret, lret, iret, sysret, sysexit */
		insn->kind = INSN_RETURN;
	} else if (op == 0xcc || op == 0x0f0b || op == 0x0fb9) {	/* int3, ud2, ud1 */
		insn->kind = INSN_TRAP;
	} else if (op == 0xff) {
		classify_ff(s, &x, insn);
		note_flags(s, &x);
	} else if (op == 0x0f1f && raw->len == 5) {
		insn->kind = INSN_NOP_PATCHED;
	} else {
		bool to_register = (op == 0xc7 && x.p < x.end && *x.p >= 0xc0) || (op >= 0xb8 && op <= 0xbf);
		if (to_register)	/* mov imm32; the imm64 form of b8 ends in a sign too */
			insn->error_value = is_error_value(trailing(&x, 4));
		note_flags(s, &x);
		note_load(s, &x);
	}
}
