/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perfdata_sample.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "perfdata.h"
#include "perfdata_map.h"

/* A record holds at most 64 KiB. */
enum { MAX_FRAMES = (1 << 16) / 8, BRANCH_ENTRY = 24, NR_MEMOS = 1 << 13 };

struct perfdata_memo {
	uint64_t hash;
	struct chain_ticket ticket;
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
		if (s->lanes[i])
			chain_release(&s->lanes[i]->chain);
		if (s->lanes[i])
			free(s->lanes[i]->memos);
		free(s->lanes[i]);
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

/* The kernel frames of the sample, innermost first, run-time addresses less the slide. */
static uint32_t kernel_frames(struct perfdata_sampler *s, bool swap, const struct perfdata_sample *sample)
{
	bool in_kernel = false;
	uint32_t nr = 0;

	for (uint64_t i = 0; i < sample->nr_chain; i++) {
		uint64_t addr = perfdata_u64(sample->chain + 8 * i, swap);

		if (addr >= PERFDATA_CONTEXT_MAX)
			in_kernel = addr == PERFDATA_CONTEXT_KERNEL;
		else if (in_kernel)
			s->addrs[nr++] = addr - s->map->slide;
	}
	s->depth += nr;
	if (!nr && sample->ip)
		s->addrs[nr++] = sample->ip - s->map->slide;
	return nr;
}

/*
 * Most samples repeat a chain, so that is found out before anything is copied: the
 * kernel part begins the chain, and no other follows. Returns its memo and length,
 * NULL when the chain is none of these.
 */
static struct perfdata_memo *find_memo(struct perfdata_lane *lane, bool swap, const struct perfdata_sample *sample,
				       const struct perfdata_map *map, uint32_t *nr)
{
	const unsigned char *p;
	uint64_t hash = 0, n = 0, w = 0;

	if (swap || sample->nr_chain < 2 || perfdata_u64(sample->chain, false) != PERFDATA_CONTEXT_KERNEL)
		return NULL;
	p = sample->chain + 8;
	for (; n + 1 < sample->nr_chain; n++) {
		w = perfdata_u64(p + 8 * n, false);
		if (w >= PERFDATA_CONTEXT_MAX)
			break;
		hash = hash * 0x9e3779b97f4a7c15u + w;
	}
	for (uint64_t i = n; i + 1 < sample->nr_chain; i++)
		if (perfdata_u64(p + 8 * i, false) == PERFDATA_CONTEXT_KERNEL)
			return NULL;
	if (!n)
		return NULL;
	if (lane->map_changes != map->nr_changes) {
		memset(lane->memos, 0, NR_MEMOS * sizeof(*lane->memos));
		lane->map_changes = map->nr_changes;
	}
	hash ^= hash >> 32;
	struct perfdata_memo *m = &lane->memos[(hash ^ hash >> 15) % NR_MEMOS];
	if (m->hash != hash)
		*m = (struct perfdata_memo){ .hash = hash };
	*nr = (uint32_t)n;
	return m;
}

/* Count a chain that a memo remembers; false when it remembers another or none. */
static bool add_again(struct perfdata_sampler *s, struct perfdata_lane *lane, const struct perfdata_memo *m, uint32_t nr,
		      const struct perfdata_sample *sample, const struct chain_sample *cs)
{
	uint32_t had = 0;
	const uint64_t *addrs = chain_ticket_addrs(&lane->chain, m->ticket, &had);
	uint64_t differ = 0;

	if (!addrs || had != nr)
		return false;
	for (uint32_t i = 0; i < nr; i++)
		differ |= addrs[i] ^ (perfdata_u64(sample->chain + 8 + 8 * (size_t)i, false) - s->map->slide);
	if (differ)
		return false;
	s->depth += nr;
	chain_add_again(&lane->chain, m->ticket, cs);
	return true;
}

/* A frame that may lie outside the image. */
static struct chain_frame resolve(struct perfdata_sampler *s, struct chain *c, uint64_t addr, bool is_return,
				  bool *named)
{
	struct chain_frame f = chain_resolve(c, addr, is_return);

	*named = false;
	if (f.func == INDEX_NONE) {
		const char *name = perfdata_map_name(s->map, addr + s->map->slide - is_return);

		if (name) {
			f = (struct chain_frame){ profile_func(s->p, name), PROFILE_OFF_UNKNOWN };
			*named = true;
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

static void add_chain(struct perfdata_sampler *s, struct perfdata_lane *lane, uint32_t nr,
		      const struct chain_sample *cs, struct perfdata_memo *memo)
{
	struct chain_ticket ticket = { 0, 0 };
	bool mixed = false;

	for (uint32_t i = 0; i < nr && !mixed; i++)
		mixed = perfdata_map_may_name(s->map, s->addrs[i] + s->map->slide);
	if (mixed)
		add_mixed(s, lane, nr, cs);
	else
		ticket = chain_add_addrs(&lane->chain, s->addrs, nr, cs);
	if (memo)
		memo->ticket = ticket;
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
		uint32_t nr = 0;
		struct perfdata_memo *memo = find_memo(lane, swap, sample, s->map, &nr);

		s->kernel++;
		if (!memo || !add_again(s, lane, memo, nr, sample, &cs)) {
			nr = kernel_frames(s, swap, sample);
			if (!nr)
				s->addrs[nr++] = 0;	/* in the kernel, nothing said of where: unresolved */
			add_chain(s, lane, nr, &cs, memo);
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
