// SPDX-License-Identifier: GPL-3.0-or-later
/* From a function's bytes to its blocks, edges and calls. */
#include "analyze/code/flow.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/code/flow-internal.h"
#include "analyze/image/text.h"
#include "lib/mem.h"

enum {
	MAX_FUNCTION = 1 << 20,	/* bytes; beyond it the size is a mistake */
	MAX_TABLE = 4096,	/* entries of a jump table */
};

struct placed_insn {
	struct insn insn;
	uint32_t off;
};

struct builder {
	struct flow *f;
	const struct text *text;
	const struct flow_oracle *oracle;
	struct placed_insn *insns;
	uint32_t nr_insns, alloc_insns;
	unsigned char *leader;		/* [byte]: a block starts here */
	uint32_t *block_of;		/* [byte]: non-empty block starting here, else FLOW_NONE */
};

static bool ask(bool (*fn)(void *, uint64_t), const struct builder *b, uint64_t addr)
{
	return fn && addr && fn(b->oracle->ctx, addr);
}

static bool is_patched(const struct builder *b, uint64_t addr, uint64_t *target)
{
	*target = 0;
	return b->oracle && b->oracle->is_patched && b->oracle->is_patched(b->oracle->ctx, addr, target);
}

/* A jump that may be patched away may fall through. */
static void see_patched(const struct builder *b, uint64_t addr, struct insn *insn)
{
	uint64_t target;

	if (insn->kind != INSN_JUMP || !is_patched(b, addr, &target))
		return;
	insn->kind = INSN_BRANCH;
	if (target)	/* static_cpu_has(): until then it goes to code that is freed after boot */
		insn->target = target;
}

/* Thunks stand for the instruction they replaced. */
static void see_through_thunks(const struct builder *b, const struct disasm *d, struct insn *insn)
{
	unsigned int reg;

	if (!b->oracle || (insn->kind != INSN_JUMP && insn->kind != INSN_CALL))
		return;
	if (insn->kind == INSN_JUMP && ask(b->oracle->is_return_thunk, b, insn->target)) {
		insn->kind = INSN_RETURN;
	} else if (b->oracle->is_indirect_thunk && b->oracle->is_indirect_thunk(b->oracle->ctx, insn->target, &reg)) {
		insn->kind = insn->kind == INSN_JUMP ? INSN_JUMP_INDIRECT : INSN_CALL_INDIRECT;
		insn->slot = disasm_slot(d, reg);
	}
}

static void decode(struct builder *b, struct disasm *d, const unsigned char *bytes)
{
	uint32_t off = 0;

	disasm_reset(d);
	while (off < b->f->size) {
		ALLOC_GROW(b->insns, b->nr_insns + 1, b->alloc_insns);
		struct placed_insn *p = &b->insns[b->nr_insns++];
		p->off = off;
		disasm_next(d, b->f->addr + off, bytes + off, b->f->size - off, &p->insn);
		see_through_thunks(b, d, &p->insn);
		see_patched(b, b->f->addr + off, &p->insn);
		off += p->insn.len;
	}
}

/* The instruction that holds the byte at off: x86 alternatives jump behind a lock prefix. */
static uint32_t insn_at(const struct builder *b, uint32_t off)
{
	uint32_t lo = 0, hi = b->nr_insns;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (b->insns[mid].off <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

static bool is_inside(const struct flow *f, uint64_t target)
{
	return target >= f->addr && target - f->addr < f->size;
}

static uint32_t local_target(const struct builder *b, uint64_t target)
{
	return b->insns[insn_at(b, (uint32_t)(target - b->f->addr))].off;
}

/* Offset of table entry i, or false at the table's end. */
static bool table_entry(const struct builder *b, const struct insn *insn, uint32_t i, uint32_t *off)
{
	uint64_t value, word = b->text->is_64 ? 8 : 4;

	if (!insn->table || i >= MAX_TABLE || !text_word(b->text, insn->table + i * word, &value))
		return false;
	if (!is_inside(b->f, value))
		return false;
	*off = local_target(b, value);
	return true;
}

static bool ends_block(const struct builder *b, const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_JUMP: case INSN_JUMP_INDIRECT: case INSN_BRANCH: case INSN_BRANCH_INDIRECT:
	case INSN_RETURN: case INSN_TRAP:
		return true;
	case INSN_CALL:
		return b->oracle && ask(b->oracle->is_noreturn, b, insn->target);
	default:
		return false;
	}
}

static void mark_leaders(struct builder *b)
{
	uint32_t off;

	b->leader[0] = 1;
	for (uint32_t i = 0; i < b->nr_insns; i++) {
		const struct placed_insn *p = &b->insns[i];
		if (ends_block(b, &p->insn))
			b->leader[p->off + p->insn.len] = 1;
		if ((p->insn.kind == INSN_JUMP || p->insn.kind == INSN_BRANCH) && is_inside(b->f, p->insn.target))
			b->leader[local_target(b, p->insn.target)] = 1;
		if (p->insn.kind == INSN_JUMP_INDIRECT)
			for (uint32_t k = 0; table_entry(b, &p->insn, k, &off); k++)
				b->leader[off] = 1;
	}
}

static struct flow_block *add_block(struct flow *f, uint32_t start)
{
	ALLOC_GROW(f->blocks, f->nr_blocks + 1, f->alloc_blocks);
	struct flow_block *blk = &f->blocks[f->nr_blocks++];
	memset(blk, 0, sizeof(*blk));
	blk->start = blk->end = start;
	blk->first_call = f->nr_calls;
	blk->idom = blk->ipdom = FLOW_NONE;
	return blk;
}

static void add_call(struct builder *b, const struct placed_insn *p, uint64_t target, bool is_tail)
{
	struct flow *f = b->f;
	uint64_t replaced;

	ALLOC_GROW(f->calls, f->nr_calls + 1, f->alloc_calls);
	f->calls[f->nr_calls++] = (struct flow_call){
		.off = p->off, .end = p->off + p->insn.len, .block = f->nr_blocks - 1, .target = target,
		.slot = p->insn.slot, .is_tail = is_tail,
		.is_patched = is_patched(b, f->addr + p->off, &replaced),
	};
	f->blocks[f->nr_blocks - 1].nr_calls++;
}

/* The empty block on the taken edge of a branch that leaves the function. */
static void add_exit_block(struct builder *b, const struct placed_insn *p)
{
	struct flow_block *blk = add_block(b->f, p->off + p->insn.len);

	if (p->insn.kind == INSN_BRANCH) {
		blk->flags |= FLOW_TAIL;
		add_call(b, p, p->insn.target, true);
	} else {
		blk->flags |= FLOW_RETURNS;
	}
}

/* What the last instruction of a block says of how it ends. */
static void close_block(struct builder *b, const struct placed_insn *p)
{
	struct flow *f = b->f;
	struct flow_block *blk = &f->blocks[f->nr_blocks - 1];
	uint32_t off;

	switch (p->insn.kind) {
	case INSN_RETURN:
		blk->flags |= FLOW_RETURNS;
		break;
	case INSN_TRAP:
		blk->flags |= FLOW_TRAPS;
		break;
	case INSN_CALL:
		if (ends_block(b, &p->insn) || p->off + p->insn.len >= f->size)
			blk->flags |= FLOW_NORETURN;
		break;
	case INSN_JUMP:
		if (!is_inside(f, p->insn.target)) {
			blk->flags |= FLOW_TAIL;
			add_call(b, p, p->insn.target, true);
		}
		break;
	case INSN_JUMP_INDIRECT:
		blk->flags |= table_entry(b, &p->insn, 0, &off) ? FLOW_SWITCH : FLOW_UNKNOWN;
		if (blk->flags & FLOW_UNKNOWN)
			add_call(b, p, 0, true);
		break;
	case INSN_BRANCH:
		blk->test = p->insn.test;
		if (!is_inside(f, p->insn.target))
			add_exit_block(b, p);
		break;
	case INSN_BRANCH_INDIRECT:
		blk->test = p->insn.test;
		add_exit_block(b, p);
		break;
	default:
		break;
	}
}

static void make_blocks(struct builder *b)
{
	struct flow *f = b->f;

	for (uint32_t i = 0; i < b->nr_insns; i++) {
		const struct placed_insn *p = &b->insns[i];
		if (b->leader[p->off]) {
			add_block(f, p->off);
			b->block_of[p->off] = f->nr_blocks - 1;
		}
		struct flow_block *blk = &f->blocks[f->nr_blocks - 1];
		blk->end = p->off + p->insn.len;
		if (p->insn.error_value)
			blk->flags |= FLOW_ERROR_VALUE;
		if (p->insn.kind == INSN_BAD)
			blk->flags |= FLOW_BAD;
		if (p->insn.kind == INSN_CALL && p->insn.target != f->addr + blk->end)
			add_call(b, p, p->insn.target, false);
		else if (p->insn.kind == INSN_CALL_INDIRECT)
			add_call(b, p, 0, false);
		if (i + 1 == b->nr_insns || b->leader[blk->end])
			close_block(b, p);
	}
}

static void add_edge(struct flow *f, struct flow_block *blk, uint32_t to)
{
	if (to == FLOW_NONE)
		return;
	ALLOC_GROW(f->edges, f->nr_edges + 1, f->alloc_edges);
	f->edges[f->nr_edges++] = to;
	blk->nr_succs++;
}

static uint32_t block_starting(const struct builder *b, uint32_t off)
{
	return off < b->f->size ? b->block_of[off] : FLOW_NONE;
}

static void connect_block(struct builder *b, uint32_t k, const struct placed_insn *last)
{
	struct flow *f = b->f;
	struct flow_block *blk = &f->blocks[k];
	uint32_t off;

	switch (last->insn.kind) {
	case INSN_JUMP:
		if (is_inside(f, last->insn.target))
			add_edge(f, blk, block_starting(b, local_target(b, last->insn.target)));
		return;
	case INSN_BRANCH:
		add_edge(f, blk, block_starting(b, blk->end));
		add_edge(f, blk, is_inside(f, last->insn.target) ?
			 block_starting(b, local_target(b, last->insn.target)) : k + 1);
		return;
	case INSN_BRANCH_INDIRECT:
		add_edge(f, blk, block_starting(b, blk->end));
		add_edge(f, blk, k + 1);
		return;
	case INSN_JUMP_INDIRECT:
		for (uint32_t i = 0; table_entry(b, &last->insn, i, &off); i++)
			add_edge(f, blk, block_starting(b, off));
		return;
	case INSN_RETURN: case INSN_TRAP:
		return;
	default:
		if (!(blk->flags & FLOW_NORETURN))
			add_edge(f, blk, block_starting(b, blk->end));
		return;
	}
}

/* Targets of an unknown indirect jump: the blocks that nothing else leads to. */
static void connect_unknown(struct flow *f, struct flow_block *blk, const unsigned char *has_pred)
{
	uint32_t before = f->nr_edges;

	for (uint32_t i = 1; i < f->nr_blocks; i++) {
		const struct flow_block *to = &f->blocks[i];
		if (!has_pred[i] && to->start != to->end && !(to->flags & (FLOW_TRAPS | FLOW_BAD)))
			add_edge(f, blk, i);
	}
	if (f->nr_edges == before)
		return;
	blk->flags = (blk->flags & ~(uint32_t)FLOW_UNKNOWN) | FLOW_SWITCH;
	f->calls[blk->first_call + blk->nr_calls - 1].block = FLOW_NONE;	/* it was no tail call */
	blk->nr_calls--;
}

static void drop_dead_calls(struct flow *f)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->nr_calls; i++)
		if (f->calls[i].block != FLOW_NONE)
			f->calls[kept++] = f->calls[i];
	f->nr_calls = kept;
	for (uint32_t i = 0, c = 0; i < f->nr_blocks; i++) {
		f->blocks[i].first_call = c;
		c += f->blocks[i].nr_calls;
	}
}

static void connect(struct builder *b)
{
	struct flow *f = b->f;
	unsigned char *has_pred = xcalloc(f->nr_blocks + 1, 1);
	bool unknown = false;

	for (uint32_t k = 0; k < f->nr_blocks; k++) {
		struct flow_block *blk = &f->blocks[k];
		blk->first_succ = f->nr_edges;
		if (blk->start == blk->end)
			continue;
		connect_block(b, k, &b->insns[insn_at(b, blk->end - 1)]);
		unknown |= blk->flags & FLOW_UNKNOWN;
	}
	for (uint32_t e = 0; unknown && e < f->nr_edges; e++)
		has_pred[f->edges[e]] = 1;
	for (uint32_t k = 0; unknown && k < f->nr_blocks; k++) {
		struct flow_block *blk = &f->blocks[k];
		if (!(blk->flags & FLOW_UNKNOWN))
			continue;
		blk->first_succ = f->nr_edges;
		connect_unknown(f, blk, has_pred);
	}
	if (unknown)
		drop_dead_calls(f);
	free(has_pred);
}

static void build(struct builder *b, struct disasm *d, const unsigned char *bytes)
{
	uint32_t size = b->f->size;

	b->leader = xcalloc(size + 16, 1);
	b->block_of = xmalloc(((size_t)size + 1) * sizeof(*b->block_of));
	memset(b->block_of, 0xff, ((size_t)size + 1) * sizeof(*b->block_of));
	decode(b, d, bytes);
	mark_leaders(b);
	make_blocks(b);
	connect(b);
	free(b->insns);
	free(b->leader);
	free(b->block_of);
}

int flow_init(struct flow *f, const struct text *text, struct disasm *d, const struct flow_oracle *oracle,
	      uint64_t addr, uint32_t size)
{
	struct builder b = { .f = f, .text = text, .oracle = oracle };
	size_t avail;
	const unsigned char *bytes = text_bytes(text, addr, &avail);

	memset(f, 0, sizeof(*f));
	if (!bytes || !size || size > MAX_FUNCTION || avail < size)
		return -1;
	f->addr = addr;
	f->size = size;
	build(&b, d, bytes);
	flow_find_dominators(f);
	return 0;
}

void flow_release(struct flow *f)
{
	free(f->blocks);
	free(f->edges);
	free(f->preds);
	free(f->pred_edges);
	free(f->calls);
	free(f->rpo);
	memset(f, 0, sizeof(*f));
}

uint32_t flow_block_at(const struct flow *f, uint32_t off)
{
	uint32_t lo = 0, hi = f->nr_blocks;

	if (off >= f->size)
		return FLOW_NONE;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (f->blocks[mid].start <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;	/* an empty block sorts before the one that starts where it stands */
}

uint32_t flow_call_at(const struct flow *f, uint32_t off)
{
	uint32_t found = FLOW_NONE;

	for (uint32_t i = 0; i < f->nr_calls && f->calls[i].off <= off; i++)
		if (off <= f->calls[i].end)
			found = i;
	return found;
}
