/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/mem.h"

void use_init(struct use *u, uint32_t nr, uint32_t samples)
{
	u->words = samples / 64;
	u->nr = nr;
	u->bits = xcalloc((size_t)nr * u->words, sizeof(*u->bits));
}

void use_copy(struct use *u, const struct use *from)
{
	*u = *from;
	u->bits = xmemdup(from->bits, (size_t)from->nr * from->words * sizeof(*from->bits));
}

void use_release(struct use *u)
{
	free(u->bits);
	memset(u, 0, sizeof(*u));
}

/* Nearly all of the time goes into counting bits: use the instruction where the processor has it. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
#define COUNTS_BITS __attribute__((target_clones("default", "popcnt")))
#else
#define COUNTS_BITS
#endif

COUNTS_BITS static uint32_t count_bits(const uint64_t *a, const uint64_t *b, uint32_t words)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < words; k++)
		n += (uint32_t)__builtin_popcountll(a[k] & b[k]);
	return n;
}

uint32_t use_count(const struct use *u, uint32_t i)
{
	return count_bits(use_of(u, i), use_of(u, i), u->words);
}

uint32_t use_common(const struct use *u, uint32_t i, uint32_t j)
{
	return count_bits(use_of(u, i), use_of(u, j), u->words);
}

void clustering_init(struct clustering *c, uint32_t nr)
{
	c->nr = nr;
	c->bytes = xcalloc(nr, sizeof(*c->bytes));
	c->anchored = xcalloc(nr, sizeof(*c->anchored));
	c->leader = xcalloc(nr, sizeof(*c->leader));
	for (uint32_t i = 0; i < nr; i++)
		c->leader[i] = i;
}

void clustering_release(struct clustering *c)
{
	free(c->bytes);
	free(c->anchored);
	free(c->leader);
	memset(c, 0, sizeof(*c));
}

/* What is known of each cluster while joining. */
struct candidate {
	uint32_t used;		/* samples that use it */
	uint32_t best;		/* the cluster most alike it, INDEX_NONE: none fits */
	double score;
};

struct joiner {
	struct clustering *c;
	struct use *use;
	struct candidate *k;
	uint32_t capacity;
	bool fill;		/* second stage: the most in common, then the fullest */
	uint32_t *alive, nr_alive;	/* leaders, ascending */
};

static bool fits(const struct joiner *j, uint32_t a, uint32_t b)
{
	return j->c->bytes[a] + j->c->bytes[b] <= j->capacity && !(j->c->anchored[a] && j->c->anchored[b]);
}

/* How well two clusters go together: at most what bound() says. */
static double score_of(const struct joiner *j, uint32_t a, uint32_t b)
{
	uint32_t common = use_common(j->use, a, b);

	if (!j->fill)
		return (double)common / (j->k[a].used + j->k[b].used - common);
	return common + (double)(j->c->bytes[a] + j->c->bytes[b]) / (j->capacity + 1.0);
}

static double bound(const struct joiner *j, uint32_t a, uint32_t b)
{
	uint32_t x = j->k[a].used, y = j->k[b].used, small = x < y ? x : y, large = x < y ? y : x;

	if (!j->fill)
		return large ? (double)small / large : 0;
	return small + 1.0;
}

static void forget_best(struct joiner *j, uint32_t a)
{
	j->k[a].best = INDEX_NONE;
	j->k[a].score = 0;
}

static void offer(struct joiner *j, uint32_t a, uint32_t b, double score)
{
	if (score > j->k[a].score) {
		j->k[a].score = score;
		j->k[a].best = b;
	}
}

static void find_best(struct joiner *j, uint32_t a)
{
	forget_best(j, a);
	for (uint32_t i = 0; i < j->nr_alive; i++) {
		uint32_t b = j->alive[i];

		if (b != a && fits(j, a, b) && bound(j, a, b) > j->k[a].score)
			offer(j, a, b, score_of(j, a, b));
	}
}

/* find_best() of all, each pair looked at once. */
static void find_all(struct joiner *j)
{
	for (uint32_t i = 0; i < j->nr_alive; i++)
		forget_best(j, j->alive[i]);
	for (uint32_t i = 0; i < j->nr_alive; i++) {
		for (uint32_t k = i + 1; k < j->nr_alive; k++) {
			uint32_t a = j->alive[i], b = j->alive[k];
			double most = bound(j, a, b);

			if (!fits(j, a, b) || (most <= j->k[a].score && most <= j->k[b].score))
				continue;
			double score = score_of(j, a, b);
			offer(j, a, b, score);
			offer(j, b, a, score);
		}
	}
}

static void join(struct joiner *j, uint32_t a, uint32_t b)
{
	uint64_t *x = use_of(j->use, a);
	const uint64_t *y = use_of(j->use, b);
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->use->words; i++)
		x[i] |= y[i];
	j->k[a].used = use_count(j->use, a);
	j->c->bytes[a] += j->c->bytes[b];
	j->c->anchored[a] |= j->c->anchored[b];
	j->c->leader[b] = a;
	for (uint32_t i = 0; i < j->nr_alive; i++)
		if (j->alive[i] != b)
			j->alive[n++] = j->alive[i];
	j->nr_alive = n;
}

/* Join the best pair until none is left. */
static void join_best(struct joiner *j)
{
	find_all(j);
	for (;;) {
		uint32_t a = INDEX_NONE;

		for (uint32_t i = 0; i < j->nr_alive; i++) {
			uint32_t b = j->alive[i];

			if (j->k[b].best != INDEX_NONE && (a == INDEX_NONE || j->k[b].score > j->k[a].score))
				a = b;
		}
		if (a == INDEX_NONE)
			return;
		uint32_t b = j->k[a].best;
		join(j, a, b);
		for (uint32_t i = 0; i < j->nr_alive; i++) {
			uint32_t x = j->alive[i];

			if (x == a || j->k[x].best == a || j->k[x].best == b)
				find_best(j, x);
		}
	}
}

void cluster(struct clustering *c, struct use *use, uint32_t capacity, bool fill)
{
	struct joiner j = { .c = c, .use = use, .capacity = capacity };

	j.k = xcalloc(c->nr, sizeof(*j.k));
	j.alive = xcalloc(c->nr, sizeof(*j.alive));
	for (uint32_t i = 0; i < c->nr; i++) {
		j.k[i] = (struct candidate){ .used = use_count(use, i), .best = INDEX_NONE };
		if (c->leader[i] == i)
			j.alive[j.nr_alive++] = i;
	}
	join_best(&j);
	if (fill) {
		j.fill = true;
		join_best(&j);
	}
	free(j.k);
	free(j.alive);
}
