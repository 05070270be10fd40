/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/trial.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "analyze/image/linkmap.h"
#include "lib/error.h"
#include "lib/index.h"
#include "lib/mem.h"

/* The map's sections by "OBJECT\nSECTION". */
struct known {
	struct index keys;
	uint64_t *sizes;	/* [keys id]; UINT64_MAX: several have this name */
	uint32_t alloc_sizes;
};

static uint32_t key_of(struct index *x, const char *object, const char *section, bool add)
{
	char *key = xasprintf("%s\n%s", object, section);
	uint32_t id = add ? index_add_str(x, key) : index_find_str(x, key);

	free(key);
	return id;
}

static void read_sizes(struct known *k, const struct linkmap *m)
{
	for (uint32_t i = 0; i < m->nr_sections; i++) {
		const struct linkmap_section *s = &m->sections[i];

		if (!s->size || !m->outputs[s->output].size)
			continue;
		uint32_t before = k->keys.nr_keys, id = key_of(&k->keys, s->object, s->name, true);

		ALLOC_GROW(k->sizes, id + 1, k->alloc_sizes);
		k->sizes[id] = id < before ? UINT64_MAX : s->size;
	}
}

uint32_t *trial_sizes(const struct image *img, const char *path)
{
	uint32_t *sizes = xcalloc(img->nr_units + 1, sizeof(*sizes)), found = 0, changed = 0;
	struct known k = { .sizes = NULL };
	struct linkmap m;

	if (linkmap_read(&m, path)) {
		free(sizes);
		return NULL;
	}
	read_sizes(&k, &m);
	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i];
		uint32_t id = u->object ? key_of(&k.keys, u->object, u->section, false) : INDEX_NONE;

		sizes[i] = u->size;
		if (id == INDEX_NONE || k.sizes[id] > UINT32_MAX)
			continue;
		found++;
		changed += sizes[i] != k.sizes[id];
		sizes[i] = (uint32_t)k.sizes[id];
	}
	detail("%u of %u sections are in '%s', %u of them with another size", found, img->nr_units, path, changed);
	if (found < img->nr_units / 2) {
		error("link map '%s' is not of this kernel: %u of %u sections are in it", path, found, img->nr_units);
		free(sizes);
		sizes = NULL;
	}
	index_release(&k.keys);
	free(k.sizes);
	linkmap_release(&m);
	return sizes;
}
