/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instruction TLB contents as debuggers print them.
 *
 * MPC8xx, the CAM and RAM words of each entry, in turn or one register after the
 * other (MPC860 user manual, "IMMU CAM entry read register" and the two behind it):
 *
 *   SPR  816 : 0xc009e01f  -1073094625
 *              |    | |||
 *              |    | ||+- sub-pages valid (4 bits)   0xf
 *              |    | |+-- shared (0x10)              and, above, the address space's
 *              |    | +--- number (4 bits)
 *              |    +----- page size (3 bits): 0 4K, 1 16K, 3 512K, 7 8M
 *              +---------- page number (20 bits)
 *   SPR  817: real page number; SPR  818: bit 0x2, the page is valid
 *
 * Any other CPU: `address size` lines, the size as 4096 or 4K. '#' begins a comment.
 */
#ifndef ANALYZE_TLB_TLBDUMP_H
#define ANALYZE_TLB_TLBDUMP_H

#include <stdbool.h>
#include <stdint.h>

struct tlb_entry {
	uint64_t addr;		/* virtual, of the page's first byte */
	uint64_t size;		/* bytes */
	uint64_t real;		/* its real address; UINT64_MAX when the dump does not say */
	bool valid;
	bool shared;		/* whatever the address space */
	uint32_t space;		/* address-space number, 0 when shared or not known */
};

struct tlbdump {
	struct tlb_entry *entries;
	uint32_t nr_entries, alloc_entries;
};

/* Read a dump; an empty file is an empty TLB. Errors are reported with their line. */
int tlbdump_read(struct tlbdump *d, const char *path);
void tlbdump_release(struct tlbdump *d);	/* a zeroed one is fine */

/* The valid entries of after that before lacks, in after's order, each once. out is to be released. */
void tlbdump_appeared(const struct tlbdump *before, const struct tlbdump *after, struct tlbdump *out);

#endif
