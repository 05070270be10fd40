/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "objects.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/file.h"
#include "lib/index.h"
#include "lib/mem.h"

/* Relocations of branches that reach 32 KB to 1 MB only; numbers from <elf.h>. */
static bool reaches_short(uint16_t machine, uint64_t type)
{
	switch (machine) {
	case EM_PPC:
		return type >= R_PPC_REL14 && type <= R_PPC_REL14_BRNTAKEN;
	case EM_PPC64:
		return type >= R_PPC64_REL14 && type <= R_PPC64_REL14_BRNTAKEN;
	case EM_AARCH64:
		return type == R_AARCH64_TSTBR14 || type == R_AARCH64_CONDBR19;
	case EM_RISCV:
		return type == R_RISCV_BRANCH || type == R_RISCV_JAL || type == R_RISCV_RVC_BRANCH ||
		       type == R_RISCV_RVC_JUMP;
	default:
		return false;
	}
}

struct objects {
	char *dir;
	struct index files;		/* object names as asked for: opened, or tried */
	struct index sections;		/* {file id, name id} */
	struct object_section *infos;	/* [sections id] */
	uint32_t alloc_infos;
	struct index names;		/* section names */
	struct index targets;		/* symbols reached by short branches */
};

struct objects *objects_new(const char *dir)
{
	struct objects *o = xcalloc(1, sizeof(*o));

	elf_version(EV_CURRENT);
	o->dir = xstrdup(dir);
	return o;
}

void objects_free(struct objects *o)
{
	if (!o)
		return;
	index_release(&o->files);
	index_release(&o->sections);
	index_release(&o->names);
	index_release(&o->targets);
	free(o->infos);
	free(o->dir);
	free(o);
}

static void add_section(struct objects *o, uint32_t file, const char *name, const GElf_Shdr *sh)
{
	uint32_t key[2] = { file, index_add_str(&o->names, name) };
	uint32_t before = o->sections.nr_keys, id = index_add(&o->sections, key, sizeof(key));
	uint64_t align = sh->sh_addralign ? sh->sh_addralign : 1;

	if (align & (align - 1) || align > 1u << 31)
		align = 1;
	if (id < before) {
		struct object_section *s = &o->infos[id];

		/* An empty section beside a full one of the same name is no rival. */
		s->repeated |= s->size && sh->sh_size;
		s->size = s->size > sh->sh_size ? s->size : sh->sh_size;
		s->align = s->align > align ? s->align : (uint32_t)align;
		return;
	}
	ALLOC_GROW(o->infos, id + 1, o->alloc_infos);
	o->infos[id] = (struct object_section){
		.size = sh->sh_size, .align = (uint32_t)align, .code = sh->sh_flags & SHF_EXECINSTR,
	};
}

static struct object_section *find_section(struct objects *o, Elf *elf, uint32_t file, size_t shstr, size_t number)
{
	Elf_Scn *scn = elf_getscn(elf, number);
	GElf_Shdr sh;
	const char *name = scn && gelf_getshdr(scn, &sh) ? elf_strptr(elf, shstr, sh.sh_name) : NULL;
	uint32_t key[2] = { file, name ? index_find_str(&o->names, name) : INDEX_NONE };
	uint32_t id = index_find(&o->sections, key, sizeof(key));

	return id == INDEX_NONE ? NULL : &o->infos[id];
}

/* The symbols of a relocation section. */
struct symbols {
	Elf_Data *data, *indices;	/* indices: of sections that sym.st_shndx cannot tell; NULL: none */
	size_t strings;
};

static bool get_symbols(Elf *elf, size_t number, struct symbols *s)
{
	Elf_Scn *scn = elf_getscn(elf, number);
	int indices = scn ? elf_scnshndx(scn) : 0;
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh))
		return false;
	s->data = elf_getdata(scn, NULL);
	s->indices = indices > 0 ? elf_getdata(elf_getscn(elf, (size_t)indices), NULL) : NULL;
	s->strings = sh.sh_link;
	return s->data;
}

/*
 * Note the short branches of one relocation section that leave the section they stand in, and their targets:
 * by name what another object may define, by section what this one does. Local labels have no name.
 */
static void scan_relocs(struct objects *o, Elf *elf, uint32_t file, Elf_Scn *scn, const GElf_Shdr *sh, uint16_t machine,
			size_t shstr)
{
	struct object_section *from = find_section(o, elf, file, shstr, sh->sh_info);
	Elf_Data *data = elf_getdata(scn, NULL);
	struct symbols s;
	GElf_Rela rela;
	GElf_Sym sym;

	if (!from || !data || !sh->sh_entsize || !get_symbols(elf, sh->sh_link, &s))
		return;
	for (uint64_t i = 0; i < sh->sh_size / sh->sh_entsize && i < INT32_MAX; i++) {
		Elf32_Word index = 0;

		if (!gelf_getrela(data, (int)i, &rela))
			return;
		if (!reaches_short(machine, GELF_R_TYPE(rela.r_info)) ||
		    !gelf_getsymshndx(s.data, s.indices, (int)GELF_R_SYM(rela.r_info), &sym, &index))
			continue;
		if (sym.st_shndx != SHN_XINDEX)
			index = sym.st_shndx < SHN_LORESERVE ? sym.st_shndx : SHN_UNDEF;
		if (index == sh->sh_info)
			continue;
		from->short_branch = true;
		struct object_section *to = index ? find_section(o, elf, file, shstr, index) : NULL;
		if (to)
			to->short_target = true;
		const char *name = elf_strptr(elf, s.strings, sym.st_name);
		if (name && *name)
			index_add_str(&o->targets, name);
	}
}

static void scan_branches(struct objects *o, Elf *elf, uint32_t file, uint16_t machine, size_t shstr)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh, target;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Scn *of;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA)
			continue;
		of = elf_getscn(elf, sh.sh_info);
		if (of && gelf_getshdr(of, &target) && target.sh_flags & SHF_EXECINSTR)
			scan_relocs(o, elf, file, scn, &sh, machine, shstr);
	}
}

static void read_object(struct objects *o, Elf *elf, uint32_t file)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	GElf_Shdr sh;
	size_t shstr;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) || elf_getshdrstrndx(elf, &shstr))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC))
			continue;
		name = elf_strptr(elf, shstr, sh.sh_name);
		if (name)
			add_section(o, file, name, &sh);
	}
	if (eh.e_machine == EM_PPC || eh.e_machine == EM_PPC64 || eh.e_machine == EM_AARCH64 ||
	    eh.e_machine == EM_RISCV)
		scan_branches(o, elf, file, eh.e_machine, shstr);
}

static char *resolve(const struct objects *o, const char *name)
{
	return name[0] == '/' ? xstrdup(name) : path_join(o->dir, name);
}

/* An object that is gone is normal, one that cannot be opened is worth a word: alignments come from it. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		warn("cannot read '%s': %s", path, strerror(errno));
	return fd;
}

static void open_plain(struct objects *o, const char *name, uint32_t file)
{
	char *path = resolve(o, name);
	int fd = open_file(path);

	if (fd >= 0) {
		Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

		if (elf)
			read_object(o, elf, file);
		elf_end(elf);
		close(fd);
	}
	free(path);
}

/* "dir/lib.a(member.o)": the members of a plain archive are inside, those of a thin one lie beside it. */
static void open_member(struct objects *o, const char *archive, const char *member, uint32_t file)
{
	char *path = resolve(o, archive), magic[8] = "";
	int fd = open_file(path);

	if (fd >= 0 && pread(fd, magic, 8, 0) == 8 && !memcmp(magic, "!<thin>\n", 8)) {
		const char *slash = strrchr(archive, '/');
		char *name = xasprintf("%.*s%s", slash ? (int)(slash + 1 - archive) : 0, archive, member);

		open_plain(o, name, file);
		free(name);
	} else if (fd >= 0) {
		Elf *ar = elf_begin(fd, ELF_C_READ_MMAP, NULL), *elf;
		Elf_Cmd cmd = ELF_C_READ_MMAP;

		while (ar && elf_kind(ar) == ELF_K_AR && (elf = elf_begin(fd, cmd, ar))) {
			const Elf_Arhdr *ah = elf_getarhdr(elf);

			if (ah && ah->ar_name && !strcmp(ah->ar_name, member))
				read_object(o, elf, file);
			cmd = elf_next(elf);
			elf_end(elf);
		}
		elf_end(ar);
	}
	if (fd >= 0)
		close(fd);
	free(path);
}

static uint32_t open_object(struct objects *o, const char *object)
{
	uint32_t before = o->files.nr_keys, file = index_add_str(&o->files, object);
	size_t len = strlen(object);
	const char *paren = strrchr(object, '(');

	if (file < before)
		return file;
	if (paren && paren > object && len && object[len - 1] == ')') {
		char *archive = xstrndup(object, (size_t)(paren - object));
		char *member = xstrndup(paren + 1, len - (size_t)(paren - object) - 2);

		open_member(o, archive, member, file);
		free(archive);
		free(member);
	} else {
		open_plain(o, object, file);
	}
	return file;
}

bool objects_section(struct objects *o, const char *object, const char *section, struct object_section *out)
{
	uint32_t file = open_object(o, object);
	uint32_t key[2] = { file, index_find_str(&o->names, section) };
	uint32_t id = index_find(&o->sections, key, sizeof(key));

	if (id == INDEX_NONE)
		return false;
	*out = o->infos[id];
	return true;
}

bool objects_short_target(const struct objects *o, const char *symbol)
{
	return index_find_str(&o->targets, symbol) != INDEX_NONE;
}
