/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact simulation of one machine's instruction TLB (and of its L1I when it has one).
 *
 *   level 0 (micro TLB) --miss--> level 1 --miss--> last level --miss--> walk, counted
 *
 * A page found in a level is filled into all nearer ones; a page found nowhere into
 * all. Levels evict on their own (none includes another). Within a set:
 *   lru          the page least recently used goes
 *   fifo         the page that came first goes
 *   random       way r % ways goes; r from xorshift64 (13, 7, 17) seeded with
 *                0x9e3779b97f4a7c15 + level, one step an eviction
 *   round-robin  a pointer to the next way, moved on by every fill
 *   plru         a binary tree of bits, each pointing away from the half last used
 * All but round-robin fill empty ways first, the lowest one; round-robin never looks.
 * The set is the page number modulo the number of sets.
 */
#ifndef ANALYZE_TLB_TLB_H
#define ANALYZE_TLB_TLB_H

#include <stdbool.h>
#include <stdint.h>

struct machine;
struct tlb;

struct tlb_counts {
	uint64_t kernel_fetches, user_fetches;	/* page touches handed in, repeats of the same page folded */
	uint64_t kernel_misses, user_misses;	/* of the last level */
	uint64_t l1i_kernel_misses, l1i_user_misses;
	uint64_t data_misses;		/* of the modelled data side (machine.h), in the last level if that is unified */
};

struct tlb *tlb_new(const struct machine *m);
void tlb_free(struct tlb *t);	/* accepts NULL */

/* Bytes [addr, addr + len) are fetched, kernel or user. */
void tlb_fetch(struct tlb *t, uint64_t addr, uint32_t len, bool kernel);

/*
 * Kernel addresses in [start, end) are the kernel image, mapped with text_page, or edge_page
 * (machine_map_text()); others are modules', with module_page. Until called, all are the image.
 */
void tlb_set_text(struct tlb *t, uint64_t start, uint64_t end);

/*
 * The address space was switched: user pages now mean other memory. Their entries
 * stay under an old tag and age, or leave at once when the machine flushes.
 */
void tlb_switch(struct tlb *t);
struct tlb_counts tlb_get_counts(const struct tlb *t);

#endif
