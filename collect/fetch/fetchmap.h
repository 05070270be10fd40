/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The blocks of a fetch trace set against a kernel's symbols, each once, so that
 * a pass over the events is table look-ups. A block that runs over the end of a
 * symbol has one piece in each:
 *
 *   block   |<------- 48 bytes, 12 insns ------->|
 *   piece   |<- f + 0x70, 16, 4 ->|<- g + 0, 32, 8 ->|
 */
#ifndef COLLECT_FETCH_FETCHMAP_H
#define COLLECT_FETCH_FETCHMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/root.h"

struct fetch;
struct sym;
struct symtab;

struct fetch_piece {
	uint32_t func;		/* in funcs[] */
	uint32_t off, bytes;	/* in the function */
	uint32_t insns;		/* its share of the block's */
};

enum fetch_where {
	FETCH_USER,
	FETCH_TEXT,		/* kernel text */
	FETCH_ENTRY,		/* kernel entry and exit code, around every visit to the kernel */
	FETCH_VECTOR,		/* entry code that exception vectors go on in, once they are translated */
	FETCH_REAL,		/* exception vectors that run untranslated, and so never miss */
	FETCH_UNKNOWN,		/* kernel addresses outside all symbols: modules, generated code */
};

struct fetch_mapped {
	enum fetch_where where;
	bool at_start;		/* begins at the first byte of its first piece's function */
	uint32_t first_piece, nr_pieces;
};

struct fetch_func {
	const struct sym *sym;
	enum root_kind kind;	/* ROOT_SWITCH: what follows runs for another task */
	bool is_syscall_entry;
	bool is_sched;		/* scheduler code around a switch: never the root of what was resumed */
	bool is_thunk;		/* a jump on the way from caller to callee */
};

struct fetch_map {
	const struct symtab *syms;	/* borrowed */
	struct fetch_mapped *blocks;	/* [block], filled up to nr_blocks */
	uint32_t nr_blocks, alloc_blocks;
	struct fetch_piece *pieces;
	uint32_t nr_pieces, alloc_pieces;
	struct fetch_func *funcs;	/* those met, in order */
	uint32_t nr_funcs, alloc_funcs;
	uint32_t *func_of_sym;		/* [index in syms->syms]: func + 1 */
	uint64_t entry_start, entry_end;	/* __entry_text_start/end, 0: none */
	uint64_t sched_start, sched_end;
};

void fetch_map_init(struct fetch_map *m, const struct symtab *syms);
void fetch_map_release(struct fetch_map *m);

/* Map the blocks that the trace has defined since the last call. */
void fetch_map_grow(struct fetch_map *m, const struct fetch *f);

/*
 * Whether the trace is of this kernel: by build-id where both have one, and by
 * machine. 0, or -1 after reporting. vmlinux: its name for the message.
 */
int fetch_map_check(const struct fetch *f, const struct symtab *syms, const char *trace, const char *vmlinux);

#endif
