/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perfdata_sample.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "perfdata.h"
#include "perfdata_map.h"

/* A record holds at most 64 KiB. */
enum { MAX_FRAMES = (1 << 16) / 8, BRANCH_ENTRY = 24, NR_MEMOS = 1 << 13, MAX_WORDS = 1 << 20 };

struct perfdata_memo {
	struct chain_ticket ticket;
	uint32_t first, nr;	/* in the lane's words */
};

void perfdata_sampler_init(struct perfdata_sampler *s, struct perfdata_map *map, struct profile *p)
{
	memset(s, 0, sizeof(*s));
	s->p = p;
	s->map = map;
	s->addrs = xcalloc(MAX_FRAMES, sizeof(*s->addrs));
	s->frames = xcalloc(MAX_FRAMES, sizeof(*s->frames));
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

static struct perfdata_lane *get_lane(struct perfdata_sampler *s, uint32_t event)
{
	if (event >= s->nr_lanes) {
		s->lanes = xreallocarray(s->lanes, event + (size_t)1, sizeof(*s->lanes));
		while (s->nr_lanes <= event)
			s->lanes[s->nr_lanes++] = NULL;
	}
	if (!s->lanes[event]) {
		s->lanes[event] = xcalloc(1, sizeof(**s->lanes));
		chain_init(&s->lanes[event]->chain, s->p, s->map->syms);
		s->lanes[event]->memos = xcalloc(NR_MEMOS, sizeof(*s->lanes[event]->memos));
	}
	return s->lanes[event];
}

/*
 * The kernel frames of the sample, innermost first, run-time addresses less the slide.
 * plain: they begin the chain and are all in one run.
 */
static uint32_t kernel_frames(struct perfdata_sampler *s, bool swap, const struct perfdata_sample *sample,
			      bool *plain)
{
	bool in_kernel = false;
	uint32_t nr = 0, runs = 0;

	for (uint64_t i = 0; i < sample->nr_chain; i++) {
		uint64_t addr = perfdata_u64(sample->chain + 8 * i, swap);

		if (addr >= PERFDATA_CONTEXT_MAX) {
			in_kernel = addr == PERFDATA_CONTEXT_KERNEL;
			runs += in_kernel;
		} else if (in_kernel) {
			s->addrs[nr++] = addr - s->map->slide;
		}
	}
	s->depth += nr;
	*plain = nr && runs == 1 && perfdata_u64(sample->chain, swap) == PERFDATA_CONTEXT_KERNEL;
	if (!nr && sample->ip)
		s->addrs[nr++] = sample->ip - s->map->slide;
	return nr;
}

/*
 * Most samples repeat a chain, so that is found out before anything is copied. A few
 * of its frames choose the memo, all are compared. NULL when the chain begins otherwise.
 */
static struct perfdata_memo *find_memo(const struct perfdata_lane *lane, bool swap, const unsigned char *chain,
				       uint64_t nr)
{
	uint64_t hash = 0;

	if (swap || nr < 2 || perfdata_u64(chain, false) != PERFDATA_CONTEXT_KERNEL)
		return NULL;
	for (uint64_t i = 1; i < nr && i <= 16; i += i)
		hash = (hash ^ perfdata_u64(chain + 8 * i, false)) * 0x9e3779b97f4a7c15u;
	return &lane->memos[(hash ^ hash >> 32) % NR_MEMOS];
}

static void renew_memos(struct perfdata_lane *lane, const struct perfdata_map *map)
{
	if (lane->map_changes == map->nr_changes && lane->nr_words <= MAX_WORDS)
		return;
	memset(lane->memos, 0, NR_MEMOS * sizeof(*lane->memos));
	lane->nr_words = 0;
	lane->map_changes = map->nr_changes;
}

static void remember(struct perfdata_lane *lane, struct perfdata_memo *m, struct chain_ticket ticket,
		     const struct perfdata_sample *sample, uint32_t nr)
{
	ALLOC_GROW(lane->words, (size_t)lane->nr_words + nr, lane->alloc_words);
	memcpy(lane->words + lane->nr_words, sample->chain + 8, nr * sizeof(*lane->words));
	*m = (struct perfdata_memo){ ticket, lane->nr_words, nr };
	lane->nr_words += nr;
}

/* Count a chain that a memo remembers: its kernel frames are these, no more of them, and in no other run. */
static bool add_again(struct perfdata_sampler *s, struct perfdata_lane *lane, const struct perfdata_memo *m,
		      const struct perfdata_sample *sample, const struct chain_sample *cs)
{
	const unsigned char *p = sample->chain + 8;
	uint64_t have = sample->nr_chain - 1;

	if (!m->nr || m->nr > have || memcmp(p, lane->words + m->first, m->nr * sizeof(*lane->words)) != 0 ||
	    (m->nr < have && perfdata_u64(p + 8 * (size_t)m->nr, false) < PERFDATA_CONTEXT_MAX) ||
	    !chain_ticket_valid(&lane->chain, m->ticket))
		return false;
	for (uint64_t i = m->nr; i < have; i++)
		if (perfdata_u64(p + 8 * i, false) == PERFDATA_CONTEXT_KERNEL)
			return false;
	s->depth += m->nr;
	chain_add_again(&lane->chain, m->ticket, cs);
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

static void add_mixed(struct perfdata_sampler *s, struct perfdata_lane *lane, uint32_t nr,
		      const struct chain_sample *cs)
{
	struct chain *c = &lane->chain;
	bool named;

	for (uint32_t i = 0; i < nr; i++) {
		s->frames[i] = resolve(s, c, s->addrs[i], i > 0, &named);
		if (!i)
			lane->named += named;
		else if (chain_cuts(c, s->frames[i - 1].func, s->frames[i].func))
			s->frames[i] = resolve(s, c, s->addrs[i], false, &named);
	}
	chain_add(c, s->frames, nr, cs);
}

/* memo: to be filled, or NULL. */
static void add_chain(struct perfdata_sampler *s, struct perfdata_lane *lane, uint32_t nr,
		      const struct chain_sample *cs, const struct perfdata_sample *sample, struct perfdata_memo *memo)
{
	bool mixed = false;

	for (uint32_t i = 0; i < nr && !mixed; i++)
		mixed = perfdata_map_may_name(s->map, s->addrs[i] + s->map->slide);
	if (mixed) {
		add_mixed(s, lane, nr, cs);
		return;
	}
	struct chain_ticket ticket = chain_add_addrs(&lane->chain, s->addrs, nr, cs);
	if (memo)
		remember(lane, memo, ticket, sample, nr);
}

static void add_branches(struct perfdata_sampler *s, struct perfdata_lane *lane, bool swap,
			 const struct perfdata_sample *sample, const struct chain_sample *cs)
{
	bool named, any = false;

	s->branches += sample->nr_branches;
	for (uint64_t i = 0; i < sample->nr_branches; i++) {
		const unsigned char *p = sample->branches + i * BRANCH_ENTRY;
		struct chain_branch *b = &s->entries[i];

		b->from = resolve(s, &lane->chain, perfdata_u64(p, swap) - s->map->slide, false, &named);
		b->to = resolve(s, &lane->chain, perfdata_u64(p + 8, swap) - s->map->slide, false, &named);
		any |= b->from.func != INDEX_NONE || b->to.func != INDEX_NONE;
	}
	if (any)
		chain_add_branches(&lane->chain, s->entries, (uint32_t)sample->nr_branches, cs);
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
		renew_memos(lane, s->map);
		struct perfdata_memo *memo = find_memo(lane, swap, sample->chain, sample->nr_chain);

		s->kernel++;
		if (!memo || !add_again(s, lane, memo, sample, &cs)) {
			bool plain;
			uint32_t nr = kernel_frames(s, swap, sample, &plain);

			if (!nr)
				s->addrs[nr++] = 0;	/* in the kernel, nothing said of where: unresolved */
			add_chain(s, lane, nr, &cs, sample, plain ? memo : NULL);
		}
	} else {
		chain_add_other(&lane->chain);
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
