/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a recording's kernel addresses lie: the kernel's text, moved by KASLR; and
 * ranges outside it, of modules, BPF programs, and code that the kernel wrote itself.
 *
 *   run-time   |.. kernel text ..|        |[ext4]|  |bpf_prog_x|
 *                 - slide = address in vmlinux
 */
#ifndef COLLECT_PERF_PERFDATA_MAP_H
#define COLLECT_PERF_PERFDATA_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "perfdata.h"

struct module;
struct modules;
struct symtab;

/* Code that is not the kernel image's. */
struct perfdata_range {
	uint64_t start, end;
	uint64_t load;		/* where the module begins, of which this may be a part */
	uint32_t name;		/* id in names: the identity that counts where no function of a module is known */
	const struct module *module;	/* NULL when its functions are not known */
};

/*
 * Ranges announced one after the other, the later winning. Sorted arrays, none of
 * whose ranges overlap; each array is later and smaller than the one before it, so that
 * many ranges are taken in by a few merges.
 */
struct perfdata_layer {
	struct perfdata_range *ranges;
	uint32_t nr;
};

struct perfdata_map {
	const struct symtab *syms;
	struct modules *modules;	/* borrowed; NULL: none given */
	const struct perfdata *d;	/* borrowed: build-ids of modules */
	uint64_t slide;
	bool placed;		/* the kernel's own mapping was seen: slide is known */
	struct perfdata_layer layers[32];	/* the last is the latest */
	uint32_t nr_layers, nr_ranges;	/* announced so far */
	uint32_t nr_lookups;	/* since layers were merged last */
	uint64_t low, high;	/* bounds of all ranges */
	struct index names;
	uint32_t nr_changes;	/* what an address meant before may be wrong now */
};

void perfdata_map_init(struct perfdata_map *m, const struct symtab *syms, struct modules *modules,
		       const struct perfdata *d);
void perfdata_map_release(struct perfdata_map *m);

/* Take in a mapping of kernel mode, a KSYMBOL, or a TEXT_POKE record. False when it is malformed. */
bool perfdata_map_add(struct perfdata_map *m, const struct perfdata_record *rec, bool swap);

/* Whether an address may lie in such a range: a quick bound. */
static inline bool perfdata_map_may_name(const struct perfdata_map *m, uint64_t addr)
{
	return addr >= m->low && addr < m->high;
}

/*
 * The identity that a run-time address outside the image has; NULL when none. Valid
 * until the release. off: in the function, or UINT64_MAX where only the range is known.
 */
const char *perfdata_map_name(struct perfdata_map *m, uint64_t addr, uint64_t *off);

#endif
