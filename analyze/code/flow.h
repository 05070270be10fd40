/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The control flow of one function.
 *
 *   block 0 [0, 18) ---- branch ----> block 2 [40, 64) ---> ...
 *         \                               | call of g at 44
 *          `--- falls through --> block 1 [18, 40)
 *
 * Calls do not end blocks: what is called returns, but for functions known not to.
 * A jump out of the function is a tail call; where it is conditional, an empty
 * block of its own (start == end) stands on the taken edge and holds it.
 */
#ifndef ANALYZE_CODE_FLOW_H
#define ANALYZE_CODE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/code/disasm.h"

struct text;

#define FLOW_NONE UINT32_MAX

enum flow_flags {
	FLOW_RETURNS = 1,	/* ends in a return */
	FLOW_TRAPS = 2,		/* ends in ud2 and the like: BUG() or WARN() */
	FLOW_NORETURN = 4,	/* ends in a call of a function that does not return */
	FLOW_TAIL = 8,		/* ends in a jump out of the function */
	FLOW_SWITCH = 16,	/* ends in an indirect jump within the function */
	FLOW_UNKNOWN = 32,	/* ends in an indirect jump whose targets are not known: a switch or a tail call */
	FLOW_REACHED = 64,	/* from the entry */
	FLOW_ERROR_VALUE = 128,	/* loads a constant -errno */
	FLOW_BAD = 256,		/* holds what is no instruction */
	FLOW_LOOP_HEAD = 512,
};

struct flow_block {
	uint32_t start, end;		/* bytes from the function's start */
	uint32_t first_succ, nr_succs;	/* in flow.edges; of a branch: falls through first, taken second */
	uint32_t first_pred, nr_preds;	/* in flow.preds */
	uint32_t first_call, nr_calls;	/* in flow.calls */
	uint32_t idom;			/* block, FLOW_NONE for the entry and what it does not reach */
	uint32_t ipdom;			/* block, FLOW_NONE when only the exit or nothing post-dominates it */
	uint32_t flags;			/* enum flow_flags */
	uint32_t depth;			/* of loops */
	uint32_t dominated;		/* bytes of the blocks it dominates, itself included; 0 when not reached */
	enum insn_test test;		/* of the closing branch */
};

struct flow_call {
	uint32_t off, end;	/* bytes from the function's start: of the instruction and behind it */
	uint32_t block;
	uint64_t target;	/* address, 0: indirect */
	uint32_t callee;	/* for the caller of flow_init() to fill in: which function that is */
	int32_t slot;		/* of indirect calls, see insn.slot */
	bool is_tail;
	bool is_patched;	/* may be another instruction in the running kernel */
};

struct flow {
	uint64_t addr;
	uint32_t size;			/* bytes */
	struct flow_block *blocks;	/* sorted by (start, end) */
	uint32_t nr_blocks, alloc_blocks;
	uint32_t *edges, nr_edges, alloc_edges;	/* successors */
	uint32_t *preds;		/* nr_edges of them: blocks */
	uint32_t *pred_edges;		/* the same as edges */
	bool has_loops;
	struct flow_call *calls;	/* sorted by off */
	uint32_t nr_calls, alloc_calls;
	uint32_t *rpo, nr_rpo;		/* reached blocks, each before its successors but for loops */
};

/* What the caller knows about functions by address. */
struct flow_oracle {
	/* Whether the function at addr never returns. */
	bool (*is_noreturn)(void *ctx, uint64_t addr);
	/* Jumps to these are returns, calls of them are indirect calls: __x86_return_thunk, __x86_indirect_thunk_*. */
	bool (*is_return_thunk)(void *ctx, uint64_t addr);
	bool (*is_indirect_thunk)(void *ctx, uint64_t addr, unsigned int *reg);	/* reg: x86's number of the register */
	/*
	 * Whether the kernel may replace the instruction at addr when it starts: x86's
	 * alternatives. target: where a jump goes that may stand there then, else 0.
	 */
	bool (*is_patched)(void *ctx, uint64_t addr, uint64_t *target);
	void *ctx;
};

/* Analyse the function [addr, addr + size). -1, in silence, when its bytes are not in text or it is empty. */
int flow_init(struct flow *f, const struct text *text, struct disasm *d, const struct flow_oracle *oracle,
	      uint64_t addr, uint32_t size);
void flow_release(struct flow *f);

/* The block that holds the byte at off; FLOW_NONE beyond the end. */
uint32_t flow_block_at(const struct flow *f, uint32_t off);

/* Whether block a dominates b: every way from the entry to b leads through a. */
bool flow_dominates(const struct flow *f, uint32_t a, uint32_t b);

/* The nearest block that dominates both; FLOW_NONE when one is not reached. */
uint32_t flow_common_dominator(const struct flow *f, uint32_t a, uint32_t b);

/* The call whose instruction holds off, or ends at off (as a return address does); FLOW_NONE when none. */
uint32_t flow_call_at(const struct flow *f, uint32_t off);

#endif
