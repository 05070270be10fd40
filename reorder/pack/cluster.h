/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Things used by samples of execution, one bit a sample, and their clustering:
 * the two most alike are joined, again and again, while they fit together.
 */
#ifndef REORDER_PACK_CLUSTER_H
#define REORDER_PACK_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

struct use {
	uint32_t words;		/* 64-bit words a set */
	uint32_t nr;		/* sets */
	uint64_t *bits;		/* [nr * words] */
};

void use_init(struct use *u, uint32_t nr, uint32_t samples);	/* samples: a multiple of 64 */
void use_copy(struct use *u, const struct use *from);
void use_release(struct use *u);

static inline uint64_t *use_of(const struct use *u, uint32_t i)
{
	return u->bits + (uint64_t)i * u->words;
}

static inline void use_set(struct use *u, uint32_t i, uint32_t sample)
{
	use_of(u, i)[sample / 64] |= UINT64_C(1) << sample % 64;
}

/* s: a uint64_t of the loop's own, the samples that use i in ascending order. */
#define for_each_sample(s, use, i) \
	for (uint32_t s##_word = 0; s##_word < (use)->words; s##_word++) \
		for (uint64_t s##_bits = use_of(use, i)[s##_word], s; \
		     s##_bits && (s = s##_word * 64 + (uint32_t)__builtin_ctzll(s##_bits), true); \
		     s##_bits &= s##_bits - 1)

uint32_t use_count(const struct use *u, uint32_t i);			/* samples that use i */
uint32_t use_common(const struct use *u, uint32_t i, uint32_t j);	/* that use both */

struct clustering {
	uint32_t nr;
	uint32_t *bytes;	/* [item]: its size; joined ones add up */
	bool *anchored;		/* [item]: two anchored ones are never joined */
	uint32_t *leader;	/* out: [item]: the item it was joined to, itself at the end of the chain */
};

void clustering_init(struct clustering *c, uint32_t nr);
void clustering_release(struct clustering *c);

/*
 * Join by similarity (samples in common over samples in either) while sizes add
 * up to at most capacity; use's sets are joined in place. With fill, what is
 * left is then joined wherever it fits, the most in common first: putting two
 * half-empty pages together never costs.
 */
void cluster(struct clustering *c, struct use *use, uint32_t capacity, bool fill);

static inline uint32_t cluster_leader(const struct clustering *c, uint32_t i)
{
	while (c->leader[i] != i)
		i = c->leader[i];
	return i;
}

#endif
