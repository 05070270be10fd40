/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perfdata_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { MAX_RANGES = 1 << 20, MAX_NAME = 256 };

void perfdata_map_init(struct perfdata_map *m, const struct symtab *syms)
{
	memset(m, 0, sizeof(*m));
	m->syms = syms;
}

void perfdata_map_release(struct perfdata_map *m)
{
	free(m->ranges);
	index_release(&m->names);
	memset(m, 0, sizeof(*m));
}

/* First range that ends behind addr. */
static uint32_t find_range(const struct perfdata_map *m, uint64_t addr)
{
	uint32_t low = 0, high = m->nr_ranges;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (m->ranges[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The new range replaces those it overlaps. */
static void add_range(struct perfdata_map *m, uint64_t start, uint64_t len, const char *name)
{
	if (!len || len > UINT64_MAX - start || m->nr_ranges >= MAX_RANGES)
		return;
	uint32_t first = find_range(m, start), last = first;
	while (last < m->nr_ranges && m->ranges[last].start < start + len)
		last++;
	ALLOC_GROW(m->ranges, m->nr_ranges + 1, m->alloc_ranges);
	memmove(m->ranges + first + 1, m->ranges + last, (m->nr_ranges - last) * sizeof(*m->ranges));
	m->nr_ranges = m->nr_ranges + 1 - (last - first);
	m->nr_changes++;
	m->ranges[first] = (struct perfdata_range){ start, start + len, index_add_str(&m->names, name) };
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

/* "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz" and "[ext4]" -> "[ext4]", as functions of it are not known. */
static void module_name(const char *filename, char *buf)
{
	const char *base = strrchr(filename, '/');

	base = base ? base + 1 : filename;
	if (*base == '[')
		base++;
	snprintf(buf, MAX_NAME, "[%.*s]", (int)strcspn(base, ".]") & 0x7f, base);
	for (char *s = buf; *s; s++)	/* file names have '-', the modules in them '_' */
		if (*s == '-')
			*s = '_';
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
		char name[MAX_NAME];

		module_name(map.filename, name);
		add_range(m, map.addr, map.len, name);
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
	add_range(m, k.addr, k.len, name);
	return true;
}

/* u64 addr, u16 old and new length: code written at run time. Inside the image it stays its function. */
static bool add_text_poke(struct perfdata_map *m, const struct perfdata_record *rec, bool swap)
{
	if (rec->size < 12)
		return false;
	uint64_t addr = perfdata_u64(rec->body, swap);
	uint16_t len = perfdata_u16(rec->body + 10, swap);
	uint32_t at = find_range(m, addr);
	if (symtab_find(m->syms, addr - m->slide))
		return true;
	if (at == m->nr_ranges || m->ranges[at].start > addr)
		add_range(m, addr, len, "[text_poke]");
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

const char *perfdata_map_name(const struct perfdata_map *m, uint64_t addr)
{
	uint32_t at = find_range(m, addr);

	return at < m->nr_ranges && m->ranges[at].start <= addr ? index_str(&m->names, m->ranges[at].name) : NULL;
}
