/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampled callchains and branch stacks into a profile. Every reader that has some
 * hands them over here, so that equal samples give equal profiles whatever the
 * format they came in.
 *
 *   frame 0   the sampled instruction           -> a sample at its offset
 *   frame 1   return address into the caller    -> a call from there to frame 0's function
 *   ...       (the byte before it is the call's last)
 *   frame n   the outermost kernel function
 *
 * A chain is one path; where an interrupt or exception entry stands within it, it
 * is cut there, since what was interrupted is a path of its own.
 */
#ifndef COLLECT_CHAIN_H
#define COLLECT_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/profile.h"
#include "collect/successions.h"

struct symtab;
struct sym;

/* A place in the kernel: a function and a byte in it. */
struct chain_frame {
	uint32_t func;	/* of the profile; INDEX_NONE: in no function known */
	uint32_t off;	/* bytes from its start; PROFILE_OFF_UNKNOWN when only the function is known */
};

struct chain_branch {
	struct chain_frame from, to;	/* INDEX_NONE in func: user mode, or in no function known */
	bool enters;			/* from is in user mode */
};

struct chain_sample {
	uint64_t weight;	/* what the sample counts for, normally 1 */
	uint64_t task;		/* pid << 32 | tid, or any key of what runs in sequence; CHAIN_NO_TASK */
	uint64_t time_ns;	/* when; samples of a task come in ascending time, unless chain_sort() was called */
};

#define CHAIN_NO_TASK UINT64_MAX

/* A chain that was added; zeroed: none. */
struct chain_ticket {
	uint32_t id, stamp;
};

/* A succession that is about to be counted. */
struct chain_wait {
	uint32_t path, next;
};

/* Samples of one task further apart are not taken for neighbours. */
enum { CHAIN_NEAR_NS = 50 * 1000 * 1000 };

/* As many samples wait to be sorted; when full, the earlier half is done with. */
enum { CHAIN_WINDOW = 1 << 20 };

/* Bits of what a chain that was seen is: of frames or of addresses, its first one apart or not. */
enum { CHAIN_ADDRS = 1, CHAIN_APART = 2, CHAIN_KINDS = 4 };

struct chain {
	struct profile *profile;		/* borrowed */
	const struct symtab *syms;		/* borrowed; NULL when the source brings names only */
	uint64_t samples, kernel, resolved, unresolved;	/* so far, for the source */

	/* The rest is the module's own. */
	struct path_walk walk;
	struct chain_place *places;		/* small cache of resolved addresses */
	uint32_t *func_of_sym;			/* [index in syms]: func + 1 */
	unsigned char *roots;			/* [func]: enum root_kind + 1, and whether it is but a name */
	uint32_t alloc_roots;
	struct index seen[CHAIN_KINDS];		/* whole chains by their bytes */
	struct chain_seen *seen_items[CHAIN_KINDS];
	uint32_t alloc_seen[CHAIN_KINDS];
	size_t seen_bytes;
	uint32_t nr_flushes;
	struct chain_next *nexts;		/* small cache of successions not yet added */
	struct chain_wait waiting[8];		/* the last of them, not yet in it */
	uint64_t nr_waits;
	struct succession *late;		/* samples to be sorted; NULL: they come in order */
	uint32_t nr_late, alloc_late;
	struct index tasks;
	struct chain_near *near;		/* small cache of ids in tasks */
	struct chain_task *task_items;
	uint32_t alloc_tasks;
	struct chain_frame *frames;
	uint32_t alloc_frames;
};

void chain_init(struct chain *c, struct profile *p, const struct symtab *syms);

/* Samples come in any order: what follows what is found out once they are sorted. Call before the first. */
void chain_sort(struct chain *c);

/* Add what is still pending to the profile, and the counts to the source. Call once, before chain_release. */
void chain_finish(struct chain *c, struct profile_source *source);
void chain_release(struct chain *c);

/*
 * The place of an address in the link-time terms of syms (take the KASLR slide
 * away first). is_return: addr follows a call, whose last byte is meant.
 */
struct chain_frame chain_resolve(struct chain *c, uint64_t addr, bool is_return);

/*
 * The place `name+off` that a text names; where syms hold that name once, its
 * identity and aliases are settled by them. module NULL: the kernel proper.
 */
struct chain_frame chain_resolve_name(struct chain *c, const char *name, const char *module, uint64_t off,
				      bool is_return);

/* Whether it counts as resolved: not a mere name that syms lack, or have several times; only_name says that it is one. */
bool chain_is_known(const struct chain *c, uint32_t func);
void chain_only_name(struct chain *c, uint32_t func);

/* True when inner's function interrupted outer's: outer's address is exact, no return address. */
bool chain_cuts(struct chain *c, uint32_t inner, uint32_t outer);

/* A sample in user mode, or one that says nothing of the kernel: counted only. */
void chain_add_other(struct chain *c);

/*
 * A kernel sample: frames innermost first, nr >= 1, as resolved by the above with
 * is_return false for frame 0 and where chain_cuts() says so.
 */
void chain_add(struct chain *c, const struct chain_frame *frames, uint32_t nr, const struct chain_sample *s);

/* Where frame 0 is but the place that was sampled; the chain of that moment begins at frame 1, an exact address. */
void chain_add_apart(struct chain *c, const struct chain_frame *frames, uint32_t nr, const struct chain_sample *s);

/*
 * Either of these from link-time addresses of the kernel proper, innermost first; fast
 * on repeated chains. Frames of modules and of JIT code need those above.
 */
struct chain_ticket chain_add_addrs(struct chain *c, const uint64_t *addrs, uint32_t nr, bool apart,
				    const struct chain_sample *s);

/* For readers that can tell a repeated chain cheaply: the chain of a valid ticket once more. */
bool chain_ticket_valid(const struct chain *c, struct chain_ticket t);
void chain_add_again(struct chain *c, struct chain_ticket t, const struct chain_sample *s);

/* One branch out of any order: the call and the entry that it is, if it is one. */
void chain_add_branch(struct chain *c, const struct chain_branch *b, uint64_t weight);

/*
 * A branch stack, newest first. Where every taken branch is in it, code between one branch's target and the next one's
 * source ran straight through; of branches chosen by their type that is not known. Adds no sample: chain_add() or
 * chain_add_other() does.
 */
void chain_add_branches(struct chain *c, const struct chain_branch *branches, uint32_t nr, bool every,
			const struct chain_sample *s);

#endif
