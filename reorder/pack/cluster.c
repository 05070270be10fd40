/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
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
	uint32_t first_fan;	/* those whose best it is: a list */
	uint32_t next_fan, prev_fan;
};

struct joiner {
	struct clustering *c;
	struct use *use;
	struct candidate *k;
	uint32_t capacity;
	bool fill;		/* second stage: the most in common, then the fullest */
	uint32_t *alive, nr_alive;	/* leaders, ascending */
	uint32_t *first, *nr_users;	/* [sample]: in users */
	uint32_t *users;		/* the leaders that use a sample, in no order */
	uint16_t *common;	/* [leader]: samples in common with the one looked at */
	uint32_t *tree, leaves;	/* tree[1]: the one of the highest score; tree[i]: the better of 2i and 2i + 1 */
};

static bool fits(const struct joiner *j, uint32_t a, uint32_t b)
{
	return j->c->bytes[a] + j->c->bytes[b] <= j->capacity && !(j->c->anchored[a] && j->c->anchored[b]);
}

/* How well two clusters go together. */
static double score_of(const struct joiner *j, uint32_t a, uint32_t b)
{
	uint32_t common = j->common[b];

	if (!j->fill)
		return common ? (double)common / (j->k[a].used + j->k[b].used - common) : 0;
	return common + (double)(j->c->bytes[a] + j->c->bytes[b]) / (j->capacity + 1.0);
}

/* With less in common than this, none goes better with a than its best so far. */
static uint32_t least_common(const struct joiner *j, uint32_t a)
{
	return (uint32_t)(j->fill ? j->k[a].score : j->k[a].score * j->k[a].used);
}

/* Go through the users of a's samples, or where those are many through the bits of all. */
static void count_common(struct joiner *j, uint32_t a)
{
	uint64_t steps = 0;

	for_each_sample(s, j->use, a)
		steps += j->nr_users[s];
	if (steps > (uint64_t)j->nr_alive * j->use->words) {
		for (uint32_t i = 0; i < j->nr_alive; i++)
			j->common[j->alive[i]] = (uint16_t)use_common(j->use, a, j->alive[i]);
		return;
	}
	memset(j->common, 0, j->c->nr * sizeof(*j->common));
	for_each_sample(s, j->use, a)
		for (uint32_t i = j->first[s]; i < j->first[s] + j->nr_users[s]; i++)
			j->common[j->users[i]]++;
}

static void set_best(struct joiner *j, uint32_t a, uint32_t b)
{
	struct candidate *k = &j->k[a];

	if (k->best != INDEX_NONE) {
		if (k->prev_fan != INDEX_NONE)
			j->k[k->prev_fan].next_fan = k->next_fan;
		else
			j->k[k->best].first_fan = k->next_fan;
		if (k->next_fan != INDEX_NONE)
			j->k[k->next_fan].prev_fan = k->prev_fan;
	}
	k->best = b;
	if (b == INDEX_NONE)
		return;
	k->prev_fan = INDEX_NONE;
	k->next_fan = j->k[b].first_fan;
	if (k->next_fan != INDEX_NONE)
		j->k[k->next_fan].prev_fan = a;
	j->k[b].first_fan = a;
}

static uint32_t better(const struct joiner *j, uint32_t a, uint32_t b)
{
	if (a == INDEX_NONE || b == INDEX_NONE)
		return a == INDEX_NONE ? b : a;
	if (j->k[a].score < j->k[b].score)
		return b;
	return j->k[a].score > j->k[b].score || a < b ? a : b;
}

/* In or, where it has no best, out of the tree. */
static void rank(struct joiner *j, uint32_t a)
{
	uint32_t at = j->leaves + a;

	j->tree[at] = j->k[a].best == INDEX_NONE ? INDEX_NONE : a;
	while (at /= 2)
		j->tree[at] = better(j, j->tree[2 * at], j->tree[2 * at + 1]);
}

static void find_best(struct joiner *j, uint32_t a)
{
	uint32_t best = INDEX_NONE;

	count_common(j, a);
	j->k[a].score = 0;
	uint32_t least = least_common(j, a);
	for (uint32_t i = 0; i < j->nr_alive; i++) {
		uint32_t b = j->alive[i];

		if (j->common[b] < least || b == a || !fits(j, a, b))
			continue;
		double score = score_of(j, a, b);
		if (score > j->k[a].score) {
			j->k[a].score = score;
			best = b;
			least = least_common(j, a);
		}
	}
	set_best(j, a, best);
	rank(j, a);
}

/* b, which a has been joined with, leaves its samples to a. */
static void give_up_samples(struct joiner *j, uint32_t b, uint32_t a)
{
	for_each_sample(s, j->use, b) {
		uint32_t *users = &j->users[j->first[s]], i = 0;

		while (users[i] != b)
			i++;
		if (use_of(j->use, a)[s / 64] >> s % 64 & 1)
			users[i] = users[--j->nr_users[s]];
		else
			users[i] = a;
	}
}

static void leave(struct joiner *j, uint32_t b)
{
	uint32_t lo = 0, hi = j->nr_alive;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (j->alive[mid] <= b)
			lo = mid;
		else
			hi = mid;
	}
	j->nr_alive--;
	memmove(&j->alive[lo], &j->alive[lo + 1], (j->nr_alive - lo) * sizeof(*j->alive));
	set_best(j, b, INDEX_NONE);
	rank(j, b);
}

static void join(struct joiner *j, uint32_t a, uint32_t b)
{
	uint64_t *x = use_of(j->use, a);
	const uint64_t *y = use_of(j->use, b);

	give_up_samples(j, b, a);
	for (uint32_t i = 0; i < j->use->words; i++)
		x[i] |= y[i];
	j->k[a].used = use_count(j->use, a);
	j->c->bytes[a] += j->c->bytes[b];
	j->c->anchored[a] |= j->c->anchored[b];
	j->c->leader[b] = a;
	leave(j, b);
}

/* Join the best pair until none is left. */
static void join_best(struct joiner *j)
{
	memset(j->tree, 0xff, 2 * (size_t)j->leaves * sizeof(*j->tree));
	for (uint32_t i = 0; i < j->nr_alive; i++)
		find_best(j, j->alive[i]);
	for (uint32_t a; (a = j->tree[1]) != INDEX_NONE;) {
		uint32_t b = j->k[a].best;

		join(j, a, b);
		/* Those that find a again come before the first, and are not met twice. */
		for (uint32_t fan = j->k[a].first_fan, next; fan != INDEX_NONE; fan = next) {
			next = j->k[fan].next_fan;
			find_best(j, fan);
		}
		while (j->k[b].first_fan != INDEX_NONE)		/* a among them */
			find_best(j, j->k[b].first_fan);
	}
}

static void list_users(struct joiner *j)
{
	uint32_t samples = j->use->words * 64, nr = 0;

	for (uint32_t i = 0; i < j->nr_alive; i++)
		for_each_sample(s, j->use, j->alive[i])
			j->nr_users[s]++;
	for (uint32_t s = 0; s < samples; s++) {
		j->first[s] = nr;
		nr += j->nr_users[s];
		j->nr_users[s] = 0;
	}
	j->users = xcalloc(nr, sizeof(*j->users));
	for (uint32_t i = 0; i < j->nr_alive; i++)
		for_each_sample(s, j->use, j->alive[i])
			j->users[j->first[s] + j->nr_users[s]++] = j->alive[i];
}

static void joiner_init(struct joiner *j)
{
	struct clustering *c = j->c;

	BUG_ON(j->use->words > UINT16_MAX / 64);
	for (j->leaves = 1; j->leaves < c->nr;)
		j->leaves *= 2;
	j->tree = xcalloc(2 * (size_t)j->leaves, sizeof(*j->tree));
	j->k = xcalloc(c->nr, sizeof(*j->k));
	j->alive = xcalloc(c->nr, sizeof(*j->alive));
	j->common = xcalloc(c->nr, sizeof(*j->common));
	j->first = xcalloc((size_t)j->use->words * 64, sizeof(*j->first));
	j->nr_users = xcalloc((size_t)j->use->words * 64, sizeof(*j->nr_users));
	for (uint32_t i = 0; i < c->nr; i++) {
		j->k[i] = (struct candidate){ use_count(j->use, i), INDEX_NONE, 0, INDEX_NONE, INDEX_NONE, INDEX_NONE };
		if (c->leader[i] == i)
			j->alive[j->nr_alive++] = i;
	}
	list_users(j);
}

static void joiner_release(struct joiner *j)
{
	free(j->tree);
	free(j->k);
	free(j->alive);
	free(j->common);
	free(j->first);
	free(j->nr_users);
	free(j->users);
}

void cluster(struct clustering *c, struct use *use, uint32_t capacity, bool fill)
{
	struct joiner j = { .c = c, .use = use, .capacity = capacity };

	joiner_init(&j);
	join_best(&j);
	if (fill) {
		j.fill = true;
		join_best(&j);
	}
	joiner_release(&j);
}
