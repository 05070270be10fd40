/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/tlb/pageset.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tlb/machine.h"
#include "lib/mem.h"

/* A kernel's text ends long before: addresses further away are not counted, nor memory taken for them. */
enum { MAX_SLOTS = 1 << 24 };

void pageset_init(struct pageset *s, uint64_t page_bytes, uint64_t text_start)
{
	memset(s, 0, sizeof(*s));
	s->page_bytes = page_bytes;
	s->text_start = text_start;
}

void pageset_init_for(struct pageset *s, const struct machine *m, uint64_t text_start)
{
	uint32_t page = machine_entry_bytes(m), block = machine_block_bytes(m);

	pageset_init(s, page ? page : 4096, text_start);
	if (!machine_has_edges(m) || block == page)
		return;
	s->blocks_first = page_number(m->blocks_start, text_start, page);
	s->blocks_end = page_number(m->blocks_end, text_start, page);
	s->block_pages = block / page;
}

void pageset_release(struct pageset *s)
{
	free(s->weight);
	free(s->stamp);
	memset(s, 0, sizeof(*s));
}

void pageset_clear(struct pageset *s)
{
	if (s->nr)
		memset(s->weight, 0, s->nr * sizeof(*s->weight));
}

/* Make slots for pages first..last. False when that is too far. */
static bool reach(struct pageset *s, int64_t first, int64_t last)
{
	if (s->nr && first >= s->first && last < s->first + s->nr)
		return true;

	int64_t from = s->nr && s->first < first ? s->first : first;
	int64_t to = s->nr && s->first + s->nr > last ? s->first + s->nr : last + 1;
	if (to - from > MAX_SLOTS)
		return false;
	/* Grow past the need, so that ascending touches do not copy each time. */
	to += (to - from) / 2 + 64;

	uint32_t nr = (uint32_t)(to - from);
	uint64_t *weight = xcalloc(nr, sizeof(*weight));
	uint32_t *stamp = xcalloc(nr, sizeof(*stamp));
	if (s->nr) {
		memcpy(weight + (s->first - from), s->weight, s->nr * sizeof(*weight));
		memcpy(stamp + (s->first - from), s->stamp, s->nr * sizeof(*stamp));
	}
	free(s->weight);
	free(s->stamp);
	s->weight = weight;
	s->stamp = stamp;
	s->first = from;
	s->nr = nr;
	return true;
}

void pageset_begin(struct pageset *s, uint64_t weight)
{
	s->path++;
	s->touched = 0;
	s->path_weight = weight;
}

/* The page that stands for it. */
static int64_t fold(const struct pageset *s, int64_t page)
{
	return page >= s->blocks_first && page < s->blocks_end ? page - (page - s->blocks_first) % s->block_pages : page;
}

void pageset_touch(struct pageset *s, uint64_t start, uint64_t end)
{
	if (end <= start)
		return;

	int64_t first = fold(s, page_number(start, s->text_start, s->page_bytes));
	int64_t last = page_number(end - 1, s->text_start, s->page_bytes);
	if (!reach(s, first, last))
		return;
	for (int64_t pg = first; pg <= last; pg++) {
		size_t slot = (size_t)(fold(s, pg) - s->first);

		if (s->stamp[slot] == s->path)
			continue;
		s->stamp[slot] = s->path;
		s->weight[slot] += s->path_weight;
		s->touched++;
	}
}

uint32_t pageset_end(struct pageset *s)
{
	return s->touched;
}

uint64_t pageset_count(const struct pageset *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		n += s->weight[i] != 0;
	return n;
}

void histogram_add(struct histogram *h, uint32_t value, uint64_t weight)
{
	uint32_t old = h->alloc;

	ALLOC_GROW(h->weight, value + 1, h->alloc);
	if (h->alloc > old)
		memset(h->weight + old, 0, (h->alloc - old) * sizeof(*h->weight));
	if (value >= h->nr)
		h->nr = value + 1;
	h->weight[value] += weight;
}

void histogram_release(struct histogram *h)
{
	free(h->weight);
	memset(h, 0, sizeof(*h));
}

static double total(const struct histogram *h)
{
	double sum = 0;

	for (uint32_t i = 0; i < h->nr; i++)
		sum += (double)h->weight[i];
	return sum;
}

double histogram_mean(const struct histogram *h)
{
	double sum = 0, all = total(h);

	for (uint32_t i = 0; i < h->nr; i++)
		sum += (double)h->weight[i] * i;
	return all > 0 ? sum / all : 0;
}

double histogram_percentile(const struct histogram *h, double percent)
{
	double want = total(h) * percent / 100, sum = 0;

	for (uint32_t i = 0; i < h->nr; i++) {
		sum += (double)h->weight[i];
		if (h->weight[i] && sum >= want)
			return i;
	}
	return 0;
}
