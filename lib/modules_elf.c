/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of a .ko file, where the kernel's loader will put them; libdw opens compressed ones. */
#include <errno.h>
#include <fcntl.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf_note.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/modules.h"
#include "lib/modules_build.h"

struct ko {
	struct modules *ms;
	struct module *m;
	Elf *elf;
	size_t nr_sections;
	uint64_t *place;	/* [section]: offset from the load address, NOWHERE when not of the core's text */
	uint64_t *size;		/* [section] */
};

static const uint64_t NOWHERE = UINT64_MAX;

static int fail(const struct ko *k, const char *why)
{
	return error("cannot read '%s': %s", k->m->path, why);
}

/*
 * The loader (layout_sections() in kernel/module/main.c) puts executable sections
 * first, in the order of the section table, each aligned as it wants to be; those
 * named .init* go to memory of their own.
 */
static int place_sections(struct ko *k)
{
	size_t strndx;
	uint64_t at = 0;

	if (elf_getshdrnum(k->elf, &k->nr_sections) || elf_getshdrstrndx(k->elf, &strndx))
		return fail(k, elf_errmsg(-1));
	k->place = xcalloc(k->nr_sections, sizeof(*k->place));
	k->size = xcalloc(k->nr_sections, sizeof(*k->size));
	for (size_t i = 1; i < k->nr_sections; i++) {
		Elf_Scn *scn = elf_getscn(k->elf, i);
		GElf_Shdr sh;

		k->place[i] = NOWHERE;
		if (!scn || !gelf_getshdr(scn, &sh))
			return fail(k, elf_errmsg(-1));
		const char *name = elf_strptr(k->elf, strndx, sh.sh_name);
		if (sh.sh_type == SHT_NOTE)
			elf_note_build_id(scn, k->m->build_id, &k->m->build_id_size);
		if (!(sh.sh_flags & SHF_ALLOC) || !(sh.sh_flags & SHF_EXECINSTR) || !name || !strncmp(name, ".init", 5))
			continue;
		uint64_t align = sh.sh_addralign ? sh.sh_addralign : 1;
		if ((align & (align - 1)) || align > 1 << 20 || sh.sh_size > 1 << 30)
			return fail(k, "a section's size or alignment cannot be");
		at = (at + align - 1) & -align;
		k->place[i] = at;
		k->size[i] = sh.sh_size;
		at += sh.sh_size;
	}
	return 0;
}

static int add_symbols(struct ko *k, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);

	if (!data)
		return fail(k, elf_errmsg(-1));
	size_t nr = data->d_size / gelf_fsize(k->elf, ELF_T_SYM, 1, EV_CURRENT);
	for (size_t i = 1; i < nr && i < INT32_MAX; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			return fail(k, elf_errmsg(-1));
		size_t s = sym.st_shndx;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || s >= k->nr_sections || k->place[s] == NOWHERE ||
		    sym.st_value >= k->size[s])
			continue;
		const char *name = elf_strptr(k->elf, sh->sh_link, sym.st_name);
		if (!name)
			return fail(k, "a symbol's name lies outside the string table");
		uint64_t room = k->size[s] - sym.st_value;
		if (*name)
			module_add_func(k->m, &(struct module_func){
				.addr = k->place[s] + sym.st_value,
				.size = sym.st_size && sym.st_size < room ? sym.st_size : room,
				.id = index_str(&k->ms->strings, index_add_str(&k->ms->strings, name)) });
	}
	return 0;
}

static int read_symbols(struct ko *k)
{
	for (size_t i = 1; i < k->nr_sections; i++) {
		Elf_Scn *scn = elf_getscn(k->elf, i);
		GElf_Shdr sh;

		if (scn && gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB)
			return add_symbols(k, scn, &sh);
	}
	return fail(k, "no .symtab (stripped?)");
}

int module_read_ko(struct modules *ms, struct module *m)
{
	struct ko k = { .ms = ms, .m = m };
	GElf_Ehdr eh;
	int ret = -1, fd = open(m->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error("cannot read '%s': %s", m->path, strerror(errno));
	elf_version(EV_CURRENT);
	k.elf = dwelf_elf_begin(fd);
	if (!k.elf || !gelf_getehdr(k.elf, &eh))
		fail(&k, "not an ELF file");
	else if (eh.e_type != ET_REL)
		fail(&k, "not a module");
	else if (!place_sections(&k) && !read_symbols(&k))
		ret = 0;
	if (!ret)
		module_finish(ms, m);
	free(k.place);
	free(k.size);
	elf_end(k.elf);
	close(fd);
	return ret;
}
