/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both ways to units share: the text of the vmlinux, the groups, the arrays. */
#include "analyze/image/units.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/mem.h"

const char *const group_names[NR_GROUPS] = {
	[GROUP_HEAD] = "head", [GROUP_MAIN] = "main", [GROUP_NOINSTR] = "noinstr", [GROUP_SCHED] = "sched",
	[GROUP_LOCK] = "lock", [GROUP_KPROBES] = "kprobes", [GROUP_ENTRY] = "entry", [GROUP_IRQENTRY] = "irqentry",
	[GROUP_SOFTIRQENTRY] = "softirqentry", [GROUP_CPUIDLE] = "cpuidle", [GROUP_STATIC_CALL] = "static_call",
	[GROUP_THUNK] = "thunk", [GROUP_REF] = "ref", [GROUP_INIT] = "init",
};

/* include/asm-generic/vmlinux.lds.h names these symbols and sections; that of thunks has two dots from 6.5 on. */
const struct group_bounds group_bounds[] = {
	{ GROUP_NOINSTR, "__noinstr_text_start", "__noinstr_text_end", ".noinstr.text", NULL },
	{ GROUP_SCHED, "__sched_text_start", "__sched_text_end", ".sched.text", NULL },
	{ GROUP_LOCK, "__lock_text_start", "__lock_text_end", ".spinlock.text", NULL },
	{ GROUP_KPROBES, "__kprobes_text_start", "__kprobes_text_end", ".kprobes.text", NULL },
	{ GROUP_ENTRY, "__entry_text_start", "__entry_text_end", ".entry.text", NULL },
	{ GROUP_IRQENTRY, "__irqentry_text_start", "__irqentry_text_end", ".irqentry.text", NULL },
	{ GROUP_SOFTIRQENTRY, "__softirqentry_text_start", "__softirqentry_text_end", ".softirqentry.text", NULL },
	{ GROUP_CPUIDLE, "__cpuidle_text_start", "__cpuidle_text_end", ".cpuidle.text", NULL },
	{ GROUP_STATIC_CALL, "__static_call_text_start", "__static_call_text_end", ".static_call.text", NULL },
	{ GROUP_THUNK, "__indirect_thunk_start", "__indirect_thunk_end", ".text..__x86.indirect_thunk",
	  ".text.__x86.indirect_thunk" },
	{ GROUP_REF, "__hyp_text_start", "__hyp_text_end", ".hyp.text", NULL },
	{ GROUP_REF, "__idmap_text_start", "__idmap_text_end", ".idmap.text", NULL },
	{ GROUP_REF, "__hibernate_exit_text_start", "__hibernate_exit_text_end", ".hibernate_exit.text", NULL },
	{ GROUP_REF, "__entry_tramp_text_start", "__entry_tramp_text_end", ".entry.tramp.text", NULL },
	{ GROUP_REF, "__relocate_new_kernel_start", "__relocate_new_kernel_end", ".kexec_relocate.text", NULL },
};
const uint32_t nr_group_bounds = ARRAY_SIZE(group_bounds);

const char *group_why_fixed(enum group g)
{
	switch (g) {
	case GROUP_MAIN:
		return NULL;
	case GROUP_HEAD:
		return "boot code at the start of text";
	case GROUP_ENTRY:
		return "entry text is mapped into user page tables";
	case GROUP_THUNK:
		return "thunks keep to their own section";
	case GROUP_REF:
		return "its section has a place of its own in the script";
	case GROUP_INIT:
		return "init text is freed after boot";
	default:
		return "stays between its group's boundary symbols";
	}
}

bool is_section_of(const struct group_bounds *g, const char *section)
{
	return !strcmp(section, g->section) || (g->also && !strcmp(section, g->also));
}

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static enum group classify(const char *s)
{
	for (uint32_t i = 0; i < nr_group_bounds; i++)
		if (is_section_of(&group_bounds[i], s))
			return group_bounds[i].group;
	if (begins(s, ".head.text"))
		return GROUP_HEAD;
	if (begins(s, ".text..__x86.") || begins(s, ".text.__x86."))
		return GROUP_THUNK;
	/* INIT_TEXT and EXIT_TEXT take these, too. */
	if (!strcmp(s, ".text.startup") || !strcmp(s, ".text.exit"))
		return GROUP_INIT;
	if (begins(s, ".text..") || begins(s, ".ref.text") || begins(s, ".text.asan.") || begins(s, ".text.tsan."))
		return GROUP_REF;
	if (begins(s, ".init.text") || begins(s, ".exit.text") || begins(s, ".meminit.text") ||
	    begins(s, ".memexit.text") || begins(s, ".devinit.text") || begins(s, ".cpuinit.text"))
		return GROUP_INIT;
	return GROUP_MAIN;
}

enum group group_of_section(const char *section, const char **why_fixed)
{
	enum group g = classify(section);

	*why_fixed = group_why_fixed(g);
	if (g == GROUP_MAIN && strcmp(section, ".text") && !begins(section, ".text."))
		*why_fixed = begins(section, "__ftr_alt") ? "patched into nearby code" :
							    "not a section that main text's pattern takes";
	return g;
}

struct unit *units_add(struct image *img, const char *section, const char *object, uint64_t addr,
		       uint64_t size)
{
	struct index *x = &img->strings;

	ALLOC_GROW(img->units, img->nr_units + 1, img->alloc_units);
	struct unit *u = &img->units[img->nr_units++];
	*u = (struct unit){
		.section = index_str(x, index_add_str(x, section)),
		.object = object ? index_str(x, index_add_str(x, object)) : NULL,
		.addr = addr,
		.size = (uint32_t)size,
		.align = 1,
		.group = GROUP_MAIN,
		.movable = true,
	};
	return u;
}

struct image_group *units_add_group(struct image *img, enum group group, uint64_t start, uint64_t end,
				    uint64_t align)
{
	/* A damaged map or header says anything; ld never aligns text to more, or to no power of two. */
	if (!align || (align & (align - 1)) || align > 1u << 31)
		align = 1;
	img->groups = xreallocarray(img->groups, img->nr_groups + 1, sizeof(*img->groups));
	struct image_group *g = &img->groups[img->nr_groups++];
	*g = (struct image_group){ .group = group, .start = start, .end = end, .align = (uint32_t)align };
	return g;
}

int units_cmp(const void *va, const void *vb)
{
	const struct unit *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int cmp_groups(const void *va, const void *vb)
{
	const struct image_group *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

int units_finish(struct image *img, const char *path)
{
	sort_array(img->units, img->nr_units, sizeof(*img->units), units_cmp);
	sort_array(img->groups, img->nr_groups, sizeof(*img->groups), cmp_groups);
	for (uint32_t i = 1; i < img->nr_units; i++) {
		const struct unit *a = &img->units[i - 1], *b = &img->units[i];

		if (a->addr + a->size > b->addr)
			return error("cannot read '%s': sections '%s' and '%s' overlap", path, a->section, b->section);
	}
	return 0;
}

static int cmp_code(const void *va, const void *vb)
{
	const struct code_section *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int read_code(struct code *t, Elf *elf, const char *path)
{
	size_t nr, strndx;
	GElf_Shdr sh;

	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrnum(elf, &nr) || elf_getshdrstrndx(elf, &strndx))
		return error("cannot read '%s': %s", path,
			     elf && elf_kind(elf) != ELF_K_ELF ? "not an ELF file" : elf_errmsg(-1));
	t->sections = xcalloc(nr, sizeof(*t->sections));
	for (size_t i = 1; i < nr; i++) {
		Elf_Scn *scn = elf_getscn(elf, i);

		if (!scn || !gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC) || !(sh.sh_flags & SHF_EXECINSTR) || !sh.sh_size)
			continue;
		const char *name = elf_strptr(elf, strndx, sh.sh_name);
		Elf_Data *data = sh.sh_type == SHT_NOBITS ? NULL : elf_rawdata(scn, NULL);
		if (sh.sh_type != SHT_NOBITS && (!data || data->d_size < sh.sh_size))
			return error("cannot read '%s': section '%s' is cut off", path, name ? name : "");
		t->sections[t->nr_sections++] = (struct code_section){
			.name = name ? name : "", .addr = sh.sh_addr, .size = sh.sh_size,
			.align = sh.sh_addralign ? sh.sh_addralign : 1,
			.bytes = data ? data->d_buf : NULL,
		};
	}
	sort_array(t->sections, t->nr_sections, sizeof(*t->sections), cmp_code);
	return 0;
}

int code_open(struct code *t, const char *vmlinux)
{
	memset(t, 0, sizeof(*t));
	elf_version(EV_CURRENT);
	t->fd = open(vmlinux, O_RDONLY | O_CLOEXEC);
	if (t->fd < 0)
		return error("cannot read '%s': %s", vmlinux, strerror(errno));
	t->elf = elf_begin(t->fd, ELF_C_READ_MMAP, NULL);
	if (read_code(t, t->elf, vmlinux) < 0) {
		code_release(t);
		return -1;
	}
	return 0;
}

void code_release(struct code *t)
{
	free(t->sections);
	elf_end(t->elf);
	if (t->fd >= 0)
		close(t->fd);
	memset(t, 0, sizeof(*t));
	t->fd = -1;
}

const struct code_section *code_at(const struct code *t, uint64_t addr)
{
	uint32_t lo = 0, hi = t->nr_sections;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->sections[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr - t->sections[lo - 1].addr < t->sections[lo - 1].size ? &t->sections[lo - 1] : NULL;
}
