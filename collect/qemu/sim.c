/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_page(const char **p, unsigned int *shift)
{
	char *end;
	unsigned long n = strtoul(*p, &end, 10);

	if (end == *p || !n || n > 1 << 20)
		return false;
	if (*end == 'K' || *end == 'M' || *end == 'G')
		n <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 30, end++;
	if (n & (n - 1) || n < 256)
		return false;
	*shift = (unsigned int)__builtin_ctzl(n);
	*p = end;
	return true;
}

static bool parse_word(struct sim_spec *spec, const char *word)
{
	static const char *const policies[] = { "lru", "fifo", "rr", "random" };
	static const char *const flushes[] = { "flush=none", "flush=user", "flush=all" };

	for (unsigned int i = 0; i < 4; i++)
		if (!strcmp(word, policies[i]))
			return spec->policy = (enum sim_policy)i, true;
	for (unsigned int i = 0; i < 3; i++)
		if (!strcmp(word, flushes[i]))
			return spec->flush = (enum sim_flush)i, true;
	if (!strcmp(word, "user=apart"))
		return spec->user_apart = true;
	if (!parse_page(&word, &spec->kernel_shift))
		return false;
	spec->user_shift = spec->kernel_shift;
	if (*word == '/' && (word++, !parse_page(&word, &spec->user_shift)))
		return false;
	return !*word;
}

bool sim_parse(struct sim_spec *spec, const char *text)
{
	char copy[128], *end, *save, *word;
	unsigned long n;

	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	word = strtok_r(copy, ":", &save);
	if (!word)
		return false;
	*spec = (struct sim_spec){ .kernel_shift = 12, .user_shift = 12 };
	n = strtoul(word, &end, 10);
	if (end == word || !n || n > 1 << 16)
		return false;
	spec->entries = spec->ways = (uint32_t)n;
	if (*end == 'x') {
		word = end + 1;
		n = strtoul(word, &end, 10);
		if (end == word || !n || n > spec->entries || spec->entries % n)
			return false;
		spec->ways = (uint32_t)n;
	}
	if (*end)
		return false;
	while ((word = strtok_r(NULL, ":", &save)))
		if (!parse_word(spec, word))
			return false;
	uint32_t sets = spec->entries / spec->ways;
	return !(sets & (sets - 1));
}

static int put_page(char *buf, unsigned long size, unsigned int shift)
{
	unsigned int unit = shift >= 30 ? 30 : shift >= 20 ? 20 : shift >= 10 ? 10 : 0;

	return snprintf(buf, size, "%lu%s", 1UL << (shift - unit),
			unit == 30 ? "G" : unit == 20 ? "M" : unit ? "K" : "");
}

void sim_describe(const struct sim_spec *spec, char *buf, unsigned long size)
{
	static const char *const policies[] = { "lru", "fifo", "rr", "random" };
	static const char *const flushes[] = { "", " flush=user", " flush=all" };
	char page[24], user[24], ways[24] = "";

	put_page(page, sizeof(page), spec->kernel_shift);
	put_page(user, sizeof(user), spec->user_shift);
	if (spec->ways != spec->entries)
		snprintf(ways, sizeof(ways), " %u-way", spec->ways);
	bool two_sizes = spec->user_shift != spec->kernel_shift;

	snprintf(buf, size, "%ux%s%s%s%s %s%s%s", spec->entries, page, two_sizes ? "/" : "", two_sizes ? user : "", ways,
		 policies[spec->policy], flushes[spec->flush], spec->user_apart ? " user=apart" : "");
}

bool sim_init(struct sim *s, const struct sim_spec *spec)
{
	memset(s, 0, sizeof(*s));
	s->spec = *spec;
	s->nr_sets = spec->entries / spec->ways;
	s->tags = malloc(spec->entries * sizeof(*s->tags));
	s->next = calloc(s->nr_sets, sizeof(*s->next));
	if (!s->tags || !s->next)
		return false;
	memset(s->tags, 0xff, spec->entries * sizeof(*s->tags));
	s->last = SIM_EMPTY;
	s->random = 0x9e3779b97f4a7c15u;
	return true;
}

void sim_release(struct sim *s)
{
	free(s->tags);
	free(s->next);
	memset(s, 0, sizeof(*s));
}

/* xorshift64, Marsaglia 2003: the same stream every run. */
static uint32_t sim_random(struct sim *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (uint32_t)(s->random >> 32);
}

static uint32_t pick_victim(struct sim *s, uint32_t set, const uint64_t *tags)
{
	uint32_t ways = s->spec.ways, way;

	/* Round robin is a hardware counter that goes on whatever is empty; the others fill holes first. */
	if (s->spec.policy != SIM_RR)
		for (way = 0; way < ways; way++)
			if (tags[way] == SIM_EMPTY)
				return way;
	if (s->spec.policy == SIM_RANDOM)
		return sim_random(s) % ways;
	way = s->next[set];
	s->next[set] = way + 1 == ways ? 0 : way + 1;
	return way;
}

void sim_touch_tag(struct sim *s, uint64_t tag, bool kernel)
{
	uint32_t set = (uint32_t)(tag >> 1) & (s->nr_sets - 1), ways = s->spec.ways, way;
	uint64_t *tags = s->tags + (size_t)set * ways;

	s->last = tag;
	s->counts.fetches[kernel]++;
	for (way = 0; way < ways; way++)
		if (tags[way] == tag)
			break;
	if (s->spec.policy == SIM_LRU) {
		if (way == ways) {
			s->counts.misses[kernel]++;
			way--;
		}
		memmove(tags + 1, tags, way * sizeof(*tags));
		tags[0] = tag;
	} else if (way == ways) {
		s->counts.misses[kernel]++;
		tags[pick_victim(s, set, tags)] = tag;
	}
}

void sim_switch(struct sim *s)
{
	uint32_t ways = s->spec.ways;

	if (s->spec.flush == SIM_FLUSH_NONE) {
		s->space = (s->space + (1ull << SIM_SPACE_SHIFT)) & ((1ull << (SIM_SPACE_SHIFT + SIM_SPACE_BITS)) - 1);
		return;
	}
	s->last = SIM_EMPTY;
	for (uint32_t set = 0; set < s->nr_sets; set++) {
		uint64_t *tags = s->tags + (size_t)set * ways;
		uint32_t kept = 0;

		for (uint32_t way = 0; way < ways; way++) {
			bool keep = s->spec.flush == SIM_FLUSH_USER && tags[way] & 1;

			/* LRU order closes up; elsewhere an entry stays in its slot. */
			if (keep && s->spec.policy == SIM_LRU)
				tags[kept++] = tags[way];
			else if (!keep && s->spec.policy != SIM_LRU)
				tags[way] = SIM_EMPTY;
		}
		if (s->spec.policy == SIM_LRU)
			memset(tags + kept, 0xff, (ways - kept) * sizeof(*tags));
	}
}
