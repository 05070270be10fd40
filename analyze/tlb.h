/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact simulation of one machine's instruction TLB (and of its L1I when it has one). */
#ifndef ANALYZE_TLB_H
#define ANALYZE_TLB_H

#include <stdbool.h>
#include <stdint.h>

struct machine;
struct tlb;

struct tlb_counts {
	uint64_t kernel_fetches, user_fetches;	/* page touches handed in, repeats of the same page folded */
	uint64_t kernel_misses, user_misses;	/* of the last level */
	uint64_t l1i_kernel_misses, l1i_user_misses;
};

struct tlb *tlb_new(const struct machine *m);
void tlb_free(struct tlb *t);	/* accepts NULL */

/* Bytes [addr, addr + len) are fetched, kernel or user. */
void tlb_fetch(struct tlb *t, uint64_t addr, uint32_t len, bool kernel);

/* The address space was switched. */
void tlb_switch(struct tlb *t);
struct tlb_counts tlb_get_counts(const struct tlb *t);

#endif
