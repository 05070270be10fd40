/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An instruction TLB simulated exactly while the guest runs. One level, kernel
 * and user pages share it:
 *
 *   set 0 | page page page ... |   ways entries; LRU: most recent first,
 *   set 1 | page page page ... |   others: by slot, next[] is the victim
 *
 * User pages are tagged by the number of switches before, as analyze/tlb/tlb.h does:
 * after a switch they mean other memory. Without a flush their entries stay and age.
 * Plain C without the program's lib/: it is linked into the plugin.
 */
#ifndef COLLECT_QEMU_SIM_H
#define COLLECT_QEMU_SIM_H

#include <stdbool.h>
#include <stdint.h>

enum sim_policy { SIM_LRU, SIM_FIFO, SIM_RR, SIM_RANDOM };
enum sim_flush { SIM_FLUSH_NONE, SIM_FLUSH_USER, SIM_FLUSH_ALL };	/* at an address-space switch */

/* ENTRIES[xWAYS][:PAGE[/USERPAGE]][:lru|fifo|rr|random][:flush=none|user|all][:user=apart] */
struct sim_spec {
	uint32_t entries, ways;		/* ways == entries: fully associative */
	unsigned int kernel_shift, user_shift;	/* log2 of the page sizes */
	enum sim_policy policy;
	enum sim_flush flush;
	bool user_apart;	/* user pages have an array of their own, which is not simulated */
};

struct sim_counts {
	uint64_t misses[2], fetches[2];	/* [1]: kernel. A fetch touches another page than the last */
};

struct sim {
	struct sim_spec spec;
	uint32_t nr_sets;
	uint64_t *tags;		/* [set * ways + way]: page << 1 | kernel; SIM_EMPTY */
	uint32_t *next;		/* [set]: victim of fifo and rr */
	uint64_t last;		/* tag touched last */
	uint64_t space;		/* address-space number, shifted above the page's */
	uint64_t random;
	struct sim_counts counts;
};

#define SIM_EMPTY UINT64_MAX
/* User addresses have 52 bits at most: page numbers of 40, then the kernel's bit. */
enum { SIM_SPACE_SHIFT = 41, SIM_SPACE_BITS = 22 };

/* False when text is no specification. */
bool sim_parse(struct sim_spec *spec, const char *text);

/* "32x4K lru", with /WAYS and flush where they are not the default. */
void sim_describe(const struct sim_spec *spec, char *buf, unsigned long size);

/* False when out of memory. */
bool sim_init(struct sim *s, const struct sim_spec *spec);
void sim_release(struct sim *s);
void sim_touch_tag(struct sim *s, uint64_t tag, bool kernel);
void sim_switch(struct sim *s);

/* The bytes first..last are fetched; they span at most two pages. */
static inline void sim_touch(struct sim *s, uint64_t first, uint64_t last, bool kernel)
{
	unsigned int shift = kernel ? s->spec.kernel_shift : s->spec.user_shift;
	uint64_t above = kernel ? 1 : s->space;
	uint64_t a = (first >> shift) << 1 | above, b = (last >> shift) << 1 | above;

	if (s->spec.user_apart && !kernel)
		return;
	if (a != s->last)
		sim_touch_tag(s, a, kernel);
	if (b != a)
		sim_touch_tag(s, b, kernel);
}

#endif
