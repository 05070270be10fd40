/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Interning: equal byte strings get one small id, in order of first sight.
 * Ids are dense from 0, so they index arrays; ids, not hashes, decide every order.
 */
#ifndef LIB_INDEX_H
#define LIB_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_key {
	/* owned by the index, aligned to 8 bytes, NUL-terminated one past len; or as index_add_ref() was given it */
	const void *data;
	uint32_t len;
	uint32_t hash;
};

struct index {
	struct index_key *keys;	/* [id] */
	uint32_t nr_keys, alloc_keys;
	uint32_t *slots;	/* open addressing, id + 1, power of two of them */
	uint32_t nr_slots;
	void *arena;		/* chunks that hold the key bytes */
};

/* A zeroed struct index is an empty one. */
void index_release(struct index *x);

/* Id of the key, added when new. */
uint32_t index_add(struct index *x, const void *data, size_t len);
uint32_t index_add_str(struct index *x, const char *s);

/* The same without a copy of the key, which has to outlive the index. */
uint32_t index_add_ref(struct index *x, const void *data, size_t len);

/* Make room for so many keys at once. */
void index_reserve(struct index *x, uint32_t nr_keys);

/* Id of the key or INDEX_NONE. */
uint32_t index_find(const struct index *x, const void *data, size_t len);
uint32_t index_find_str(const struct index *x, const char *s);

/* The string behind an id; valid until index_release. */
static inline const char *index_str(const struct index *x, uint32_t id)
{
	return x->keys[id].data;
}

#endif
