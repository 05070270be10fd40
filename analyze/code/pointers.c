// SPDX-License-Identifier: GPL-3.0-or-later
/* Data objects from the symbol table, and the words in them that are function addresses. */
#include "analyze/code/pointers.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "analyze/image/text.h"
#include "lib/mem.h"

enum { MAX_OBJECT = 1 << 16 };	/* bytes; larger ones are buffers, or the system call table's kind */

static void add_object(struct pointers *p, const GElf_Sym *sym)
{
	if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT || !sym->st_size || sym->st_size > MAX_OBJECT)
		return;
	ALLOC_GROW(p->objects, p->nr_objects + 1, p->alloc_objects);
	p->objects[p->nr_objects++] = (struct pointer_object){ .addr = sym->st_value, .size = sym->st_size };
}

static void read_symbols(struct pointers *p, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	if (!data || !sh->sh_entsize || sh->sh_size / sh->sh_entsize > INT32_MAX)
		return;
	for (int i = 0; i < (int)(sh->sh_size / sh->sh_entsize); i++)
		if (gelf_getsym(data, i, &sym))
			add_object(p, &sym);
}

static void read_objects(struct pointers *p, const struct text *text)
{
	Elf *elf = elf_memory((char *)(uintptr_t)text->file.data, text->file.size);
	Elf_Scn *scn = NULL;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB)
			read_symbols(p, scn, &sh);
	}
	elf_end(elf);
}

/* By address; of those at one address the largest first. */
static int compare_objects(const void *pa, const void *pb)
{
	const struct pointer_object *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

static void scan_object(struct pointers *p, struct pointer_object *o, uint32_t number, const struct text *text,
			const struct image *img)
{
	uint64_t word = text->is_64 ? 8 : 4, value;
	size_t avail;

	o->first = p->nr_items;
	if (!text_bytes(text, o->addr, &avail))
		return;
	for (uint64_t slot = 0; slot + word <= o->size && slot + word <= avail; slot += word) {
		if (!text_word(text, o->addr + slot, &value) || !value)
			continue;
		uint32_t f = image_find_func(img, value);
		if (f == INDEX_NONE || img->funcs[f].addr != value)
			continue;
		ALLOC_GROW(p->items, p->nr_items + 1, p->alloc_items);
		p->items[p->nr_items++] = (struct pointer){ number, (uint32_t)slot, f };
		o->nr++;
	}
}

static void scan_objects(struct pointers *p, const struct text *text, const struct image *img)
{
	uint32_t kept = 0;
	uint64_t end = 0;

	sort_array(p->objects, p->nr_objects, sizeof(*p->objects), compare_objects);
	for (uint32_t i = 0; i < p->nr_objects; i++) {
		struct pointer_object o = p->objects[i];
		if (o.addr < end)	/* an alias of the one before, or a part of it */
			continue;
		end = o.addr + o.size;
		scan_object(p, &o, kept, text, img);
		if (o.nr)
			p->objects[kept++] = o;
	}
	p->nr_objects = kept;
}

struct slotted {
	uint32_t slot, item;
};

static int compare_slotted(const void *pa, const void *pb)
{
	const struct slotted *a = pa, *b = pb;

	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

static void sort_by_slot(struct pointers *p)
{
	struct slotted *s = xcalloc((size_t)p->nr_items + 1, sizeof(*s));

	p->by_slot = xcalloc((size_t)p->nr_items + 1, sizeof(*p->by_slot));
	for (uint32_t i = 0; i < p->nr_items; i++)
		s[i] = (struct slotted){ p->items[i].slot, i };
	qsort(s, p->nr_items, sizeof(*s), compare_slotted);
	for (uint32_t i = 0; i < p->nr_items; i++)
		p->by_slot[i] = s[i].item;
	free(s);
}

void pointers_init(struct pointers *p, const struct text *text, const struct image *img)
{
	memset(p, 0, sizeof(*p));
	read_objects(p, text);
	scan_objects(p, text, img);
	sort_by_slot(p);
}

void pointers_release(struct pointers *p)
{
	free(p->objects);
	free(p->items);
	free(p->by_slot);
	memset(p, 0, sizeof(*p));
}

static uint32_t first_not_below(const struct pointers *p, uint64_t slot)
{
	uint32_t lo = 0, hi = p->nr_items;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (p->items[p->by_slot[mid]].slot < slot)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t pointers_at(const struct pointers *p, uint32_t slot, uint32_t *end)
{
	*end = first_not_below(p, (uint64_t)slot + 1);
	return first_not_below(p, slot);
}
