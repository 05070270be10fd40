/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perfdata_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "lib/modules.h"

enum { MAX_RANGES = 1 << 20, MAX_NAME = 256 };

void perfdata_map_init(struct perfdata_map *m, const struct symtab *syms, struct modules *modules,
		       const struct perfdata *d)
{
	memset(m, 0, sizeof(*m));
	m->syms = syms;
	m->modules = modules;
	m->d = d;
	m->low = UINT64_MAX;
}

void perfdata_map_release(struct perfdata_map *m)
{
	while (m->nr_layers)
		free(m->layers[--m->nr_layers].ranges);
	index_release(&m->names);
	memset(m, 0, sizeof(*m));
}

/* All ranges of the later layer, and of the earlier one what they leave of it. Both are freed. */
static struct perfdata_layer merge(struct perfdata_layer early, struct perfdata_layer late)
{
	/* Within a range of the early layer, each late one makes two of it at most. */
	struct perfdata_range *all = xreallocarray(NULL, early.nr + 2 * (size_t)late.nr, sizeof(*all)), *to = all;
	struct perfdata_range *e = early.ranges, *end = e + early.nr;

	for (const struct perfdata_range *l = late.ranges; l < late.ranges + late.nr; l++) {
		for (; e < end && e->end <= l->start; e++)
			*to++ = *e;
		if (e < end && e->start < l->start) {
			*to = *e;
			to++->end = l->start;
		}
		*to++ = *l;
		while (e < end && e->end <= l->end)
			e++;
		if (e < end && e->start < l->end)
			e->start = l->end;
	}
	while (e < end)
		*to++ = *e++;
	free(early.ranges);
	free(late.ranges);
	return (struct perfdata_layer){ all, (uint32_t)(to - all) };
}

static void merge_last(struct perfdata_map *m)
{
	m->nr_layers--;
	m->layers[m->nr_layers - 1] = merge(m->layers[m->nr_layers - 1], m->layers[m->nr_layers]);
}

/* The range that holds addr; NULL when none does. */
static const struct perfdata_range *find_range(struct perfdata_map *m, uint64_t addr)
{
	if (!perfdata_map_may_name(m, addr))
		return NULL;
	/* As many look-ups as there are ranges pay for one array of all. */
	if (m->nr_layers > 1 && m->nr_lookups++ >= m->nr_ranges) {
		while (m->nr_layers > 1)
			merge_last(m);
		m->nr_lookups = 0;
	}
	for (uint32_t i = m->nr_layers; i-- > 0;) {
		const struct perfdata_range *r = m->layers[i].ranges;
		uint32_t low = 0, high = m->layers[i].nr;

		while (low < high) {
			uint32_t mid = low + (high - low) / 2;

			if (r[mid].end <= addr)
				low = mid + 1;
			else
				high = mid;
		}
		if (low < m->layers[i].nr && r[low].start <= addr)
			return &r[low];
	}
	return NULL;
}

/* The new range hides what it covers of those before. */
static void add_range(struct perfdata_map *m, uint64_t start, uint64_t len, const char *name,
		      const struct module *module)
{
	if (!len || len > UINT64_MAX - start || m->nr_ranges >= MAX_RANGES)
		return;
	struct perfdata_range *r = xmalloc(sizeof(*r));
	*r = (struct perfdata_range){ start, start + len, start, index_add_str(&m->names, name), module };
	m->layers[m->nr_layers++] = (struct perfdata_layer){ r, 1 };
	while (m->nr_layers > 1 && m->layers[m->nr_layers - 2].nr <= 2 * m->layers[m->nr_layers - 1].nr)
		merge_last(m);
	m->low = start < m->low ? start : m->low;
	m->high = start + len > m->high ? start + len : m->high;
	m->nr_ranges++;
	m->nr_changes++;
}

/*
 * The kernel's mapping is named "[kernel.kallsyms]" and a reference symbol, whose
 * run-time address is its page offset; 0 there means that kptr_restrict hid it.
 */
static void place_kernel(struct perfdata_map *m, const struct perfdata_mmap *map, const char *ref)
{
	uint64_t value;

	if (!map->pgoff)
		return;
	if (!*ref || !symtab_value(m->syms, ref, &value))
		value = m->syms->text_addr;
	m->slide = map->pgoff - value;
	m->placed = true;
	m->nr_changes++;
}

/* The module whose functions are in the range: the very one by build-id, or of the same boot by addresses. */
static const struct module *find_module(const struct perfdata_map *m, const char *name,
					const struct perfdata_mmap *map)
{
	char theirs[2 * BUILD_ID_MAX + 1], ours[2 * BUILD_ID_MAX + 1];
	const struct module *module = m->modules ? modules_find(m->modules, name) : NULL;
	uint32_t size = map->build_id_size;
	const unsigned char *id = map->build_id ? map->build_id : perfdata_module_build_id(m->d, name, &size);

	if (!module || !module->nr_funcs)
		return NULL;
	if (!module->path && (module->funcs[0].addr < map->addr || module->funcs[0].addr - map->addr >= map->len)) {
		warn("module '%s' was loaded elsewhere when '%s' was recorded: its functions are not told apart", name,
		     m->d->name);
		return NULL;
	}
	if (!module->path || !id || !size || !module->build_id_size ||
	    (size == module->build_id_size && !memcmp(id, module->build_id, size)))
		return module;
	build_id_hex(id, size, theirs);
	build_id_hex(module->build_id, module->build_id_size, ours);
	warn("module '%s' of '%s' is %s, '%s' is %s: its functions are not told apart", name, m->d->name, theirs,
	     module->path, ours);
	return NULL;
}

static void add_module(struct perfdata_map *m, const struct perfdata_mmap *map)
{
	char module[MAX_NAME], name[MAX_NAME + 2];

	module_name_of(map->filename, module, sizeof(module));
	snprintf(name, sizeof(name), "[%s]", module);
	add_range(m, map->addr, map->len, name, find_module(m, module, map));
}

static bool add_mmap(struct perfdata_map *m, const struct perfdata_record *rec, bool swap)
{
	struct perfdata_mmap map;

	if (!perfdata_mmap_parse(rec, swap, &map))
		return false;
	if ((rec->misc & PERFDATA_CPUMODE_MASK) != PERFDATA_CPUMODE_KERNEL)
		return true;	/* user and guest mappings; "[guest.kernel..." among them */
	if (!strncmp(map.filename, "[kernel.kallsyms]", 17)) {
		place_kernel(m, &map, map.filename + 17);
	} else if (map.filename[0] == '[' ? map.filename[1] != 'k' && map.filename[1] != 'g' :
		   strstr(map.filename, ".ko") != NULL) {
		add_module(m, &map);
	}
	return true;
}

/* BPF programs and other code that is no symbol of the image: attributed, unmovable. */
static bool add_ksymbol(struct perfdata_map *m, const struct perfdata_record *rec, bool swap)
{
	enum { UNREGISTER = 1, TYPE_BPF = 1 };
	struct perfdata_ksymbol k;
	char name[MAX_NAME];

	if (!perfdata_ksymbol_parse(rec, swap, &k))
		return false;
	if (k.flags & UNREGISTER || !*k.name)
		return true;
	snprintf(name, sizeof(name), "%.200s@[%s]", k.name, k.ksym_type == TYPE_BPF ? "bpf" : "generated");
	add_range(m, k.addr, k.len, name, NULL);
	return true;
}

/* u64 addr, u16 old and new length: code written at run time. Inside the image it stays its function. */
static bool add_text_poke(struct perfdata_map *m, const struct perfdata_record *rec, bool swap)
{
	if (rec->size < 12)
		return false;
	uint64_t addr = perfdata_u64(rec->body, swap);
	uint16_t len = perfdata_u16(rec->body + 10, swap);
	if (!symtab_find(m->syms, addr - m->slide) && !find_range(m, addr))
		add_range(m, addr, len, "[text_poke]", NULL);
	return true;
}

bool perfdata_map_add(struct perfdata_map *m, const struct perfdata_record *rec, bool swap)
{
	switch (rec->type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
		return add_mmap(m, rec, swap);
	case PERFDATA_KSYMBOL:
		return add_ksymbol(m, rec, swap);
	case PERFDATA_TEXT_POKE:
		return add_text_poke(m, rec, swap);
	default:
		return true;
	}
}

const char *perfdata_map_name(struct perfdata_map *m, uint64_t addr, uint64_t *off)
{
	const struct perfdata_range *r = find_range(m, addr);

	if (!r)
		return NULL;
	const struct module_func *f = r->module ? module_find(r->module, r->load, addr, off) : NULL;
	if (f)
		return f->id;
	*off = UINT64_MAX;
	return index_str(&m->names, r->name);
}
