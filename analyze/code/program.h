/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The control flow of a whole kernel, one function at a time, on demand. */
#ifndef ANALYZE_CODE_PROGRAM_H
#define ANALYZE_CODE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/code/flow.h"
#include "analyze/image/text.h"

struct image;

enum program_trait {
	PROGRAM_NORETURN = 1,		/* panic() and its kin */
	PROGRAM_RETURN_THUNK = 2,	/* x86: stands for ret */
	PROGRAM_INDIRECT_THUNK = 4,	/* x86: stands for an indirect jump or call */
	PROGRAM_PATCHED_OUT = 8,	/* calls of it are nops in a running kernel: __fentry__ */
	PROGRAM_COLD = 16,		/* .cold part, or in the business of reporting trouble */
	PROGRAM_TRACED = 64,		/* calls __fentry__ or mcount first: the function tracers see it */
	PROGRAM_LOADED = 32,		/* flows[] is filled in, or known to be missing */
};

struct patched_insn {
	uint64_t addr;
	uint64_t target;	/* of a jump that may come to stand there, 0: none does */
};

struct program {
	const struct image *img;	/* borrowed; outlives the program */
	struct text text;
	struct disasm *disasm;
	struct patched_insn *patched;	/* what x86's alternatives replace, by address */
	uint32_t nr_patched;
	struct flow *flows;		/* [image func]; use program_flow() */
	unsigned char *traits;		/* [image func], enum program_trait */
};

/* 1 or, without a word, 0: whether there is a disassembler for a kernel. -1 after reporting what is amiss. */
int program_can_read(const char *vmlinux);

/* Errors are reported: an unreadable vmlinux, no disassembler for its machine. */
int program_init(struct program *p, const struct image *img, const char *vmlinux);
void program_release(struct program *p);

/*
 * Control flow of an image function, NULL where its bytes are not at hand. Valid until
 * program_release(). The callee of its calls is the image function that a direct call or tail jump enters at its
 * first byte, else INDEX_NONE: indirect, into the middle of something (a .cold part), patched out.
 */
const struct flow *program_flow(struct program *p, uint32_t func);

/* The image function that holds the target, wherever in it; *off is how far behind its start. */
uint32_t program_target(const struct program *p, const struct flow_call *call, uint32_t *off);

#endif
