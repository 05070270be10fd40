/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands on a line of `perf script`: a sample's header, a frame, or branches. */
#ifndef COLLECT_PERF_PERFSCRIPT_LINE_H
#define COLLECT_PERF_PERFSCRIPT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symtab;

enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,		/* the kernel proper or a module */
	FRAME_GENERATED,	/* BPF programs, trampolines: code that is no symbol of the image */
	FRAME_GUEST,
	FRAME_INLINED,		/* no place of its own */
};

struct text_frame {
	uint64_t addr, off;
	const char *name;	/* NULL: no symbol */
	const char *module;	/* NULL: the kernel proper; what generated code is called */
	enum frame_kind kind;
	bool has_addr, has_off;
	bool located;		/* addr is that of the symbols, which have the name there */
};

struct text_sample {
	uint64_t time_ns;
	uint64_t task;		/* a key; CHAIN_NO_TASK */
	char event[256];	/* "-" when the text has none */
};

static inline const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* The header of a sample; returns what follows the event, NULL when the line is none. */
const char *perfscript_sample(const char *line, struct text_sample *s);

/*
 * A record that is no sample, "init 1 [000] 0.1: PERF_RECORD_COMM: init:1/1", which --show-task-events and the like have
 * printed. *lost: the samples that it says were lost.
 */
bool perfscript_record(const char *line, uint64_t *lost);

/* What -F +srcline, +srccode, +insn and +insnlen put on lines of their own behind a frame. */
bool perfscript_aside(const char *line);

/* Whether a line behind a tab is a frame as perf prints it: tells its text from others' where samples do not. */
bool perfscript_looks_framed(const char *line);

/* "name+0x12" in place. */
void perfscript_symbol(struct text_frame *f, char *s);

/* "  ffffffffaa34917d name+0x24d (dso)" in place; syms may be NULL. False when the line is no frame. */
bool perfscript_frame(char *line, const struct symtab *syms, struct text_frame *f);

/* Set kind and module by "(dso)" and the address; dso is changed, and module may point into it. */
void perfscript_dso(char *dso, const struct symtab *syms, struct text_frame *f);

/* Whether the kernel's code lies there, as far as an address tells. syms may be NULL. */
bool perfscript_is_kernels(const struct symtab *syms, uint64_t addr);

/* Once kind is known: a kernel's frame whose name could be no function's has none. */
void perfscript_check_name(struct text_frame *f);

/*
 * A branch, "from/to/P/-/-/0". perf puts blanks within and between branches, or none,
 * as its release and its options would have it; only the marks tell them apart.
 */

/* The next branch's marks and what follows them; NULL when there is none. */
char *perfscript_marks(char *s, char **end);

/* The slash between the two ends, of which marks ends the second; NULL when malformed. */
char *perfscript_middle(char *s, char *marks);

/* One of the ends, in place; syms may be NULL. False when malformed. */
bool perfscript_branch_end(char *s, const struct symtab *syms, struct text_frame *f);

/*
 * Where the first branch begins behind a header's address, "addr name+0x1 (dso)from/to/P/-/-/0";
 * rest is what perfscript_sample() returned. *head_end is where the address's text ends. When
 * nothing tells the name before the branch from the branch's own, it is mid, and neither is known.
 */
char *perfscript_branches(char *rest, char *mid, const struct symtab *syms, char **head_end);

#endif
