/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "mem.h"

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(8) char bytes[];
};

void index_release(struct index *x)
{
	for (struct chunk *c = x->arena, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(x->keys);
	free(x->slots);
	memset(x, 0, sizeof(*x));
}

static const void *keep(struct index *x, const void *data, size_t len)
{
	struct chunk *c = x->arena;
	size_t want = (len + 1 + 7) & ~(size_t)7;

	if (!c || c->size - c->used < want) {
		size_t size = want > 65000 ? want : 65000;

		c = xmalloc(sizeof(*c) + size);
		c->next = x->arena;
		c->used = 0;
		c->size = size;
		x->arena = c;
	}
	char *p = c->bytes + c->used;
	c->used += want;
	if (len)
		memcpy(p, data, len);
	p[len] = '\0';
	return p;
}

/* Eight bytes a step, multiply and fold; the constant is 2^64 divided by the golden ratio. */
static uint32_t hash_bytes(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = len, w;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	if (len) {
		w = 0;
		memcpy(&w, p, len);
		h = (h ^ w) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	h *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

/* The slot that holds the key, or the empty one where it belongs. */
static uint32_t find_slot(const struct index *x, const void *data, size_t len, uint32_t hash)
{
	uint32_t mask = x->nr_slots - 1;

	for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
		if (!x->slots[i])
			return i;
		const struct index_key *k = &x->keys[x->slots[i] - 1];
		if (k->hash == hash && k->len == len && !memcmp(k->data, data, len))
			return i;
	}
}

static void rehash(struct index *x, uint32_t nr_slots)
{
	x->nr_slots = nr_slots;
	free(x->slots);
	x->slots = xcalloc(x->nr_slots, sizeof(*x->slots));
	for (uint32_t id = 0; id < x->nr_keys; id++) {
		uint32_t i = x->keys[id].hash & (x->nr_slots - 1);

		while (x->slots[i])
			i = (i + 1) & (x->nr_slots - 1);
		x->slots[i] = id + 1;
	}
}

void index_reserve(struct index *x, uint32_t nr_keys)
{
	uint32_t slots = x->nr_slots ? x->nr_slots : 64;

	while ((uint64_t)nr_keys * 3 >= (uint64_t)slots * 2 && slots < 1u << 31)
		slots *= 2;
	if (slots > x->nr_slots)
		rehash(x, slots);
	ALLOC_GROW(x->keys, nr_keys, x->alloc_keys);
}

static uint32_t add(struct index *x, const void *data, size_t len, bool copy)
{
	BUG_ON(len > UINT32_MAX || x->nr_keys >= INDEX_NONE - 1);
	if ((uint64_t)x->nr_keys * 3 >= (uint64_t)x->nr_slots * 2)
		rehash(x, x->nr_slots ? x->nr_slots * 2 : 64);
	uint32_t hash = hash_bytes(data, len);
	uint32_t slot = find_slot(x, data, len, hash);
	if (x->slots[slot])
		return x->slots[slot] - 1;
	ALLOC_GROW(x->keys, x->nr_keys + 1, x->alloc_keys);
	x->keys[x->nr_keys] = (struct index_key){ copy ? keep(x, data, len) : data, (uint32_t)len, hash };
	x->slots[slot] = ++x->nr_keys;
	return x->nr_keys - 1;
}

uint32_t index_add(struct index *x, const void *data, size_t len)
{
	return add(x, data, len, true);
}

uint32_t index_add_ref(struct index *x, const void *data, size_t len)
{
	return add(x, data, len, false);
}

uint32_t index_add_str(struct index *x, const char *s)
{
	return index_add(x, s, strlen(s));
}

uint32_t index_find(const struct index *x, const void *data, size_t len)
{
	if (!x->nr_slots)
		return INDEX_NONE;
	uint32_t slot = find_slot(x, data, len, hash_bytes(data, len));
	return x->slots[slot] ? x->slots[slot] - 1 : INDEX_NONE;
}

uint32_t index_find_str(const struct index *x, const char *s)
{
	return index_find(x, s, strlen(s));
}
