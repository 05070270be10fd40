// SPDX-License-Identifier: GPL-3.0-or-later
/* Finding a kernel's bytes by address, through libelf. */
#include "analyze/image/text.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/mem.h"

static int compare_sections(const void *a, const void *b)
{
	const struct text_section *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void add_section(struct text *t, const GElf_Shdr *sh)
{
	if (!(sh->sh_flags & SHF_ALLOC) || sh->sh_type != SHT_PROGBITS || !sh->sh_size)
		return;
	if (sh->sh_offset > t->file.size || sh->sh_size > t->file.size - sh->sh_offset)
		return;
	if (sh->sh_addr + sh->sh_size < sh->sh_addr)
		return;
	ALLOC_GROW(t->sections, t->nr_sections + 1, t->alloc_sections);
	t->sections[t->nr_sections++] = (struct text_section){
		.addr = sh->sh_addr, .size = sh->sh_size,
		.bytes = (const unsigned char *)t->file.data + sh->sh_offset,
		.is_exec = sh->sh_flags & SHF_EXECINSTR,
	};
}

/* Per-CPU sections of old x86 kernels are linked at address 0 and may overlap others: the first stays. */
static void drop_overlaps(struct text *t)
{
	uint32_t kept = 0;

	sort_array(t->sections, t->nr_sections, sizeof(*t->sections), compare_sections);
	for (uint32_t i = 0; i < t->nr_sections; i++) {
		const struct text_section *last = kept ? &t->sections[kept - 1] : NULL;
		if (!last || t->sections[i].addr >= last->addr + last->size)
			t->sections[kept++] = t->sections[i];
	}
	t->nr_sections = kept;
}

static int read_sections(struct text *t, const char *path)
{
	Elf *elf = elf_memory((char *)(uintptr_t)t->file.data, t->file.size);
	GElf_Ehdr ehdr;
	Elf_Scn *scn = NULL;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr)) {
		const char *why = elf && elf_kind(elf) != ELF_K_ELF ? "not an ELF file" : elf_errmsg(-1);

		elf_end(elf);
		return error("cannot read '%s': %s", path, why);
	}
	t->e_machine = ehdr.e_machine;
	t->is_64 = ehdr.e_ident[EI_CLASS] == ELFCLASS64;
	t->big_endian = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		if (gelf_getshdr(scn, &sh))
			add_section(t, &sh);
	}
	elf_end(elf);
	drop_overlaps(t);
	return 0;
}

int text_init(struct text *t, const char *vmlinux)
{
	memset(t, 0, sizeof(*t));
	elf_version(EV_CURRENT);
	if (mapfile_init(&t->file, vmlinux))
		return -1;
	if (read_sections(t, vmlinux)) {
		text_release(t);
		return -1;
	}
	return 0;
}

void text_release(struct text *t)
{
	mapfile_release(&t->file);
	free(t->sections);
	memset(t, 0, sizeof(*t));
}

static const struct text_section *find_section(const struct text *t, uint64_t addr)
{
	uint32_t lo = 0, hi = t->nr_sections;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->sections[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - t->sections[lo - 1].addr >= t->sections[lo - 1].size)
		return NULL;
	return &t->sections[lo - 1];
}

const unsigned char *text_bytes(const struct text *t, uint64_t addr, size_t *avail)
{
	const struct text_section *s = find_section(t, addr);

	*avail = s ? s->size - (addr - s->addr) : 0;
	return s ? s->bytes + (addr - s->addr) : NULL;
}

bool text_word(const struct text *t, uint64_t addr, uint64_t *value)
{
	size_t avail, len = t->is_64 ? 8 : 4;
	const unsigned char *p = text_bytes(t, addr, &avail);

	if (!p || avail < len)
		return false;
	*value = 0;
	for (size_t i = 0; i < len; i++)
		*value = *value << 8 | p[t->big_endian ? i : len - 1 - i];
	return true;
}
