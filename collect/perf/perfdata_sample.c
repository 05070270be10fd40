/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perfdata_sample.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "perfdata.h"
#include "perfdata_map.h"
#include "perfscript_line.h"

/* A record holds at most 64 KiB. */
enum {
	MAX_FRAMES = (1 << 16) / 8,
	BRANCH_ENTRY = 24,
	MEMO_BITS = 13,
	NR_MEMOS = 1 << MEMO_BITS,
	MEMO_HEAD = 3,		/* words before the frames: ticket, how many, the sampled address */
	MAX_WORDS = 1 << 20,
};

void perfdata_sampler_init(struct perfdata_sampler *s, struct perfdata_map *map, struct profile *p)
{
	memset(s, 0, sizeof(*s));
	s->p = p;
	s->map = map;
	s->addrs = xcalloc(1 + MAX_FRAMES, sizeof(*s->addrs));
	s->frames = xcalloc(1 + MAX_FRAMES, sizeof(*s->frames));
	s->entries = xcalloc(MAX_FRAMES, sizeof(*s->entries));
}

void perfdata_sampler_release(struct perfdata_sampler *s)
{
	for (uint32_t i = 0; i < s->nr_lanes; i++) {
		struct perfdata_lane *lane = s->lanes[i];

		if (!lane)
			continue;
		chain_release(&lane->chain);
		free(lane->memos);
		free(lane->words);
		free(lane);
	}
	free(s->lanes);
	free(s->addrs);
	free(s->frames);
	free(s->entries);
	memset(s, 0, sizeof(*s));
}

static __attribute__((noinline)) struct perfdata_lane *new_lane(struct perfdata_sampler *s, uint32_t event)
{
	if (event >= s->nr_lanes) {
		s->lanes = xreallocarray(s->lanes, event + (size_t)1, sizeof(*s->lanes));
		while (s->nr_lanes <= event)
			s->lanes[s->nr_lanes++] = NULL;
	}
	struct perfdata_lane *lane = s->lanes[event] = xcalloc(1, sizeof(*lane));
	chain_init(&lane->chain, s->p, s->map->syms);
	chain_sort(&lane->chain);
	lane->memos = xcalloc(NR_MEMOS, sizeof(*lane->memos));
	return lane;
}

static inline struct perfdata_lane *get_lane(struct perfdata_sampler *s, uint32_t event)
{
	return event < s->nr_lanes && s->lanes[event] ? s->lanes[event] : new_lane(s, event);
}

/* The kernel frames of the sample, innermost first, run-time addresses less the slide, from addrs + 1 on. */
static uint32_t kernel_frames(struct perfdata_sampler *s, bool swap, const struct perfdata_sample *sample)
{
	uint64_t *addrs = s->addrs + 1;
	bool in_kernel = false;
	uint32_t nr = 0;

	for (uint64_t i = 0; i < sample->nr_chain; i++) {
		uint64_t addr = perfdata_u64(sample->chain + 8 * i, swap);

		if (addr >= PERFDATA_CONTEXT_MAX) {
			in_kernel = addr == PERFDATA_CONTEXT_KERNEL;
		} else if (in_kernel) {
			addrs[nr++] = addr - s->map->slide;
		}
	}
	s->depth += nr;
	if (!nr && sample->ip)
		addrs[nr++] = sample->ip - s->map->slide;
	return nr;
}

/*
 * Most samples repeat a chain, so that is found out before anything is copied. The
 * sampled address, which is the first frame's if not exacter, and a few of the others
 * choose where it may be remembered; all are compared there.
 */
static uint64_t hash_chain(uint64_t ip, const unsigned char *chain, uint64_t nr)
{
	const uint64_t last = 8 * (nr - 1), second = last < 16 ? last : 16, third = last < 24 ? last : 24,
		       fifth = last < 40 ? last : 40, seventh = last < 56 ? last : 56;
	/* Products that do not wait for each other; odd numbers of the golden ratio's kind. */
	uint64_t h = ip * 0x9e3779b97f4a7c15u +
		     perfdata_u64(chain + second, false) * 0xd1342543de82ef95u +
		     perfdata_u64(chain + third, false) * 0xaf251af3b0f025b5u +
		     perfdata_u64(chain + fifth, false) * 0xb564ef22ec7aece5u +
		     perfdata_u64(chain + seventh, false) * 0xf7c2ebc08f67f2b5u;

	return (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
}

/* How many kernel frames begin the chain; 0 when it goes back into the kernel later. */
static uint32_t leading_frames(const unsigned char *chain, uint64_t nr)
{
	uint64_t i = 1, again = 0;

	while (i < nr && perfdata_u64(chain + 8 * i, false) < PERFDATA_CONTEXT_MAX)
		i++;
	for (uint64_t k = i; k < nr; k++)
		again |= perfdata_u64(chain + 8 * k, false) == PERFDATA_CONTEXT_KERNEL;
	return again ? 0 : (uint32_t)i - 1;
}

static void renew_memos(struct perfdata_lane *lane, const struct perfdata_map *map)
{
	if (lane->map_changes == map->nr_changes && lane->nr_words <= MAX_WORDS)
		return;
	memset(lane->memos, 0, NR_MEMOS * sizeof(*lane->memos));
	lane->nr_words = 0;
	lane->map_changes = map->nr_changes;
}

/* Whether the sample is at this address, these are its chain's first frames, no more are, and none comes later. */
static bool begins_with(const struct perfdata_sample *sample, const uint64_t *words)
{
	const unsigned char *chain = sample->chain;
	uint64_t again = 0, i = words[1] + 1, nr = sample->nr_chain;

	if (words[2] != sample->ip || i > nr || memcmp(chain + 8, words + MEMO_HEAD, words[1] * sizeof(*words)) != 0 ||
	    (i < nr && perfdata_u64(chain + 8 * i, false) < PERFDATA_CONTEXT_MAX))
		return false;
	for (; i < nr; i++)
		again |= perfdata_u64(chain + 8 * i, false) == PERFDATA_CONTEXT_KERNEL;
	return !again;
}

/* Where a chain may be remembered: here, else in the place beside it. */
static uint32_t *memo_place(const struct perfdata_lane *lane, uint64_t hash)
{
	return &lane->memos[hash >> (64 - MEMO_BITS)];
}

static uint32_t *memo_beside(const struct perfdata_lane *lane, const uint32_t *memo)
{
	return &lane->memos[(uint32_t)(memo - lane->memos) ^ 1];
}

static void remember(struct perfdata_lane *lane, uint64_t hash, struct chain_ticket ticket,
		     const struct perfdata_sample *sample, uint32_t nr)
{
	uint32_t *memo = memo_place(lane, hash);

	ALLOC_GROW(lane->words, (size_t)lane->nr_words + MEMO_HEAD + nr, lane->alloc_words);
	uint64_t *words = lane->words + lane->nr_words;
	words[0] = (uint64_t)ticket.stamp << 32 | ticket.id;
	words[1] = nr;
	words[2] = sample->ip;
	memcpy(words + MEMO_HEAD, sample->chain + 8, nr * sizeof(*words));
	if (*memo)
		*memo_beside(lane, memo) = *memo;
	*memo = lane->nr_words + 1;
	lane->nr_words += MEMO_HEAD + nr;
}

/* Count a chain that is remembered. */
static bool add_again(struct perfdata_sampler *s, struct perfdata_lane *lane, uint64_t hash,
		      const struct perfdata_sample *sample, const struct chain_sample *cs)
{
	const uint32_t *memo = memo_place(lane, hash);

	if (!*memo || !begins_with(sample, lane->words + *memo - 1)) {
		memo = memo_beside(lane, memo);
		if (!*memo || !begins_with(sample, lane->words + *memo - 1))
			return false;
	}
	const uint64_t *words = lane->words + *memo - 1;
	struct chain_ticket ticket = { (uint32_t)words[0], (uint32_t)(words[0] >> 32) };
	if (!chain_ticket_valid(&lane->chain, ticket))
		return false;
	s->depth += words[1];
	chain_add_again(&lane->chain, ticket, cs);
	return true;
}

/* A frame that may lie outside the image; named: in no function that is known. */
static struct chain_frame resolve(struct perfdata_sampler *s, struct chain *c, uint64_t addr, bool is_return,
				  bool *named)
{
	struct chain_frame f = chain_resolve(c, addr, is_return);

	*named = false;
	if (f.func == INDEX_NONE) {
		uint64_t off;
		const char *name = perfdata_map_name(s->map, addr + s->map->slide - is_return, &off);

		if (name) {
			f.func = profile_func(s->p, name);
			f.off = off < PROFILE_MAX_BYTES ? (uint32_t)off : PROFILE_OFF_UNKNOWN;
			*named = off == UINT64_MAX;
		}
	}
	return f;
}

static void add_mixed(struct perfdata_sampler *s, struct perfdata_lane *lane, const uint64_t *addrs, uint32_t nr,
		      bool apart, const struct chain_sample *cs)
{
	struct chain *c = &lane->chain;
	const uint32_t first = apart ? 1 : 0;	/* of the chain's own */
	bool named;

	for (uint32_t i = 0; i < nr; i++) {
		s->frames[i] = resolve(s, c, addrs[i], i > first, &named);
		if (!i)
			lane->named += named;
		else if (i > first && chain_cuts(c, s->frames[i - 1].func, s->frames[i].func))
			s->frames[i] = resolve(s, c, addrs[i], false, &named);
	}
	if (apart)
		chain_add_apart(c, s->frames, nr, cs);
	else
		chain_add(c, s->frames, nr, cs);
}

/* A chain that is not remembered, or cannot be. False when some of it may lie outside the image. */
static bool add_chain(struct perfdata_sampler *s, struct perfdata_lane *lane, const uint64_t *addrs, uint32_t nr,
		      bool apart, const struct chain_sample *cs, struct chain_ticket *ticket)
{
	bool mixed = false;

	for (uint32_t i = 0; i < nr && !mixed; i++)
		mixed = perfdata_map_may_name(s->map, addrs[i] + s->map->slide);
	if (mixed)
		add_mixed(s, lane, addrs, nr, apart, cs);
	else
		*ticket = chain_add_addrs(&lane->chain, addrs, nr, apart, cs);
	return !mixed;
}

/*
 * The processor may tell exactly which instruction was sampled (PEBS, IBS), while the
 * callchain is of the interrupt some instructions later: within the same function, the
 * exact address stands for it; in another, it stands apart from the chain. Returns
 * whether it is put before the chain.
 */
static bool put_exact(struct perfdata_sampler *s, struct perfdata_lane *lane, const struct perfdata_sample *sample)
{
	uint64_t ip = sample->ip - s->map->slide;
	bool named;

	if (!sample->ip || ip == s->addrs[1])
		return false;
	uint32_t func = resolve(s, &lane->chain, ip, false, &named).func;
	if (func == INDEX_NONE)		/* user mode, or nothing that is known */
		return false;
	bool apart = func != resolve(s, &lane->chain, s->addrs[1], false, &named).func;
	s->addrs[!apart] = ip;
	return apart;
}

static void add_kernel(struct perfdata_sampler *s, struct perfdata_lane *lane, bool swap,
		       const struct perfdata_sample *sample, const struct chain_sample *cs)
{
	struct chain_ticket ticket;
	uint64_t hash = 0;
	uint32_t leading = 0, nr;

	s->kernel++;
	renew_memos(lane, s->map);
	if (!swap && sample->nr_chain > 1 && perfdata_u64(sample->chain, false) == PERFDATA_CONTEXT_KERNEL) {
		hash = hash_chain(sample->ip, sample->chain, sample->nr_chain);
		if (add_again(s, lane, hash, sample, cs))
			return;
		leading = leading_frames(sample->chain, sample->nr_chain);
	}
	nr = kernel_frames(s, swap, sample);
	if (!nr)
		s->addrs[++nr] = 0;	/* in the kernel, nothing said of where: unresolved */
	bool apart = put_exact(s, lane, sample);
	if (add_chain(s, lane, s->addrs + !apart, nr + apart, apart, cs, &ticket) && leading)
		remember(lane, hash, ticket, sample, leading);
}

static void add_branches(struct perfdata_sampler *s, struct perfdata_lane *lane, bool swap,
			 const struct perfdata_sample *sample, const struct chain_sample *cs)
{
	bool named, any = false;

	s->branches += sample->nr_branches;
	for (uint64_t i = 0; i < sample->nr_branches; i++) {
		const unsigned char *p = sample->branches + i * BRANCH_ENTRY;
		struct chain_branch *b = &s->entries[i];

		uint64_t from = perfdata_u64(p, swap);

		b->from = resolve(s, &lane->chain, from - s->map->slide, false, &named);
		b->to = resolve(s, &lane->chain, perfdata_u64(p + 8, swap) - s->map->slide, false, &named);
		b->enters = from && b->from.func == INDEX_NONE && !perfscript_is_kernels(s->map->syms, from);
		any |= b->from.func != INDEX_NONE || b->to.func != INDEX_NONE;
	}
	if (any)
		chain_add_branches(&lane->chain, s->entries, (uint32_t)sample->nr_branches, !sample->some_branches,
				   cs);
}

void perfdata_sampler_add(struct perfdata_sampler *s, uint32_t event, uint16_t misc, bool swap,
			  const struct perfdata_sample *sample)
{
	struct perfdata_lane *lane = get_lane(s, event);
	uint64_t task = (uint64_t)sample->pid << 32 | sample->tid;
	/* All idle tasks are 0. */
	struct chain_sample cs = { 1, task ? task : 1ull << 63 | sample->cpu, sample->time };

	s->samples++;
	if ((misc & PERFDATA_CPUMODE_MASK) == PERFDATA_CPUMODE_KERNEL) {
		add_kernel(s, lane, swap, sample, &cs);
	} else {
		chain_add_other(&lane->chain);
		/* Addresses of a guest or hypervisor are those of another kernel. */
		if ((misc & PERFDATA_CPUMODE_MASK) >= PERFDATA_CPUMODE_HYPERVISOR)
			return;
	}
	if (sample->nr_branches)
		add_branches(s, lane, swap, sample, &cs);
}

void perfdata_sampler_finish(struct perfdata_sampler *s, uint32_t event, struct profile_source *source)
{
	struct perfdata_lane *lane = get_lane(s, event);

	chain_finish(&lane->chain, source);
	source->resolved -= lane->named;
	source->unresolved += lane->named;
}
