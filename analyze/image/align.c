/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Alignments of input sections, from addresses alone.
 *
 * ld puts a section at align_up(dot, A). So A divides the address (a bound from
 * above), and the gap is smaller than A (a bound from below, where there is a gap):
 *
 *   dot = ...0ee, addr = ...0f0: gap 2, so A is 4, 8 or 16
 *   dot = addr = ...820: anything up to 32
 *
 * One section rarely decides; but a compiler gives all sections of a kind the same
 * alignment. A class takes the largest power of two, 64 at most, that divides nine
 * addresses in ten and that a gap of some member proves; each section then takes
 * the class's, forced into its own bounds. A class in which no gap proves anything
 * gets the largest that divides all addresses when there are many of them (their
 * agreement would be chance otherwise), and 1 when there are few.
 */
#include <stdlib.h>

#include "analyze/image/units.h"
#include "lib/mem.h"

enum { MAX_LOG = 6, MANY = 16 };

struct class {
	uint32_t nr;
	uint32_t divides[MAX_LOG + 1];	/* members whose address 1 << i divides */
	uint32_t proved;		/* log of the largest lower bound that a 1 << MAX_LOG member shows */
	bool gap;
};

static uint32_t upper_log(uint64_t addr)
{
	uint32_t log = addr ? (uint32_t)__builtin_ctzll(addr) : MAX_LOG;

	return log < MAX_LOG ? log : MAX_LOG;
}

/* The least A that makes this gap. */
static uint32_t lower_log(const struct align_item *it)
{
	uint64_t gap = it->addr - it->dot;

	return gap ? 64 - (uint32_t)__builtin_clzll(gap) : 0;
}

static uint32_t class_log(const struct class *c)
{
	uint32_t log = 0;

	while (log < MAX_LOG && (uint64_t)c->divides[log + 1] * 10 >= (uint64_t)c->nr * 9)
		log++;
	if (c->gap)
		return log < c->proved ? log : c->proved;
	while (log && c->divides[log] < c->nr)
		log--;
	return c->nr >= MANY ? log : 0;
}

void align_infer(struct align_item *items, uint32_t nr, uint32_t nr_classes)
{
	struct class *classes = xcalloc(nr_classes, sizeof(*classes));

	for (uint32_t i = 0; i < nr; i++) {
		struct class *c = &classes[items[i].class];
		uint32_t up = upper_log(items[i].addr), low = lower_log(&items[i]);

		c->nr++;
		for (uint32_t l = 0; l <= up; l++)
			c->divides[l]++;
		if (low && low <= up) {
			c->gap = true;
			if (low > c->proved)
				c->proved = low;
		}
	}
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t up = upper_log(items[i].addr), low = lower_log(&items[i]);
		uint32_t log = class_log(&classes[items[i].class]);

		if (items[i].align)
			continue;
		if (log > up)
			log = up;
		if (log < low && low <= up)
			log = low;
		items[i].align = 1u << log;
	}
	free(classes);
}
