/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One instruction at a time, reduced to what control flow needs. libopcodes does
 * the decoding, for every target it knows; operands are not kept.
 */
#ifndef ANALYZE_CODE_DISASM_H
#define ANALYZE_CODE_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_OTHER,		/* falls through */
	INSN_JUMP,		/* to target */
	INSN_JUMP_INDIRECT,
	INSN_BRANCH,		/* to target or through */
	INSN_BRANCH_INDIRECT,	/* elsewhere or through: conditional returns too */
	INSN_CALL,		/* of target */
	INSN_CALL_INDIRECT,
	INSN_RETURN,		/* from function, interrupt or exception */
	INSN_TRAP,		/* not expected to go on: ud2, tw, brk, udf */
	INSN_NOP_PATCHED,	/* as long as a jump: a static branch, which may jump at run time */
	INSN_BAD,		/* no instruction: data in text */
};

/* What a conditional branch looks at, where the target tells: hints of its likelihood. */
enum insn_test {
	TEST_OTHER,
	TEST_EQUAL,		/* of two values */
	TEST_NOT_EQUAL,
	TEST_ZERO,		/* of one value with 0: NULL, false, 0 errors */
	TEST_NOT_ZERO,
	TEST_NEGATIVE,		/* error codes */
	TEST_NOT_NEGATIVE,
	TEST_BIT_CLEAR,		/* of a flag word */
	TEST_BIT_SET,
	TEST_ERRNO_ABOVE,	/* unsigned above -4096: IS_ERR */
	TEST_ERRNO_NOT_ABOVE,
	TEST_ORDER,		/* greater, less */
	NR_INSN_TESTS
};

enum { SLOT_UNKNOWN = -1 };

struct insn {
	uint32_t len;		/* bytes, at least 1 */
	enum insn_kind kind;
	enum insn_test test;	/* of INSN_BRANCH */
	uint64_t target;	/* of direct jumps, branches and calls */
	uint64_t table;		/* of INSN_JUMP_INDIRECT: address of a table of addresses it indexes, else 0 */
	int32_t slot;		/* of indirect calls and jumps: offset of the pointer in the structure it was loaded from */
	bool error_value;	/* loads a small negative constant: -EINVAL and its kin */
};

struct disasm;

/* 1 or, without a word, 0: whether there is one. -1 after reporting that libopcodes cannot be loaded. */
int disasm_knows(uint16_t e_machine, bool is_64, bool big_endian);

/*
 * A disassembler for a kernel of that e_machine, or NULL, reported: "no
 * disassembler for 'ARCH'" (Debian's plain libopcodes knows the host only).
 */
struct disasm *disasm_new(uint16_t e_machine, bool is_64, bool big_endian);
void disasm_free(struct disasm *d);	/* accepts NULL */

/*
 * Decode what lies at addr, of which avail > 0 bytes are given. Never fails: what
 * cannot be decoded is INSN_BAD, as long as the target's smallest instruction.
 * Sequences are seen through `d`: call it in address order, after disasm_reset()
 * at the start of each function.
 */
void disasm_next(struct disasm *d, uint64_t addr, const unsigned char *bytes, size_t avail, struct insn *insn);
void disasm_reset(struct disasm *d);

/* Where register reg was last loaded from, as insn.slot: for calls through a thunk that is named after it. */
int32_t disasm_slot(const struct disasm *d, unsigned int reg);

#endif
