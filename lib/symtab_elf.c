/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols, build-id and release of a linked kernel, through libelf. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf_note.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/symtab_build.h"

struct section {
	GElf_Shdr sh;
	const char *name;	/* kept by the symtab */
	Elf_Scn *scn;
	bool code;		/* allocated and executable */
};

struct kernel {
	struct symtab *st;
	const char *path;
	int fd;
	Elf *elf;
	struct section *sections;
	size_t nr_sections;
	struct section *opd;	/* function descriptors of 64-bit PowerPC's first ABI; NULL elsewhere */
	Elf_Data *opd_data;
	uint64_t banner;	/* linux_banner, 0 when there is none */
};

static int fail(const struct kernel *k, const char *why)
{
	return error("cannot read '%s': %s", k->path, why);
}

static int open_elf(struct kernel *k)
{
	GElf_Ehdr eh;

	elf_version(EV_CURRENT);
	k->fd = open(k->path, O_RDONLY | O_CLOEXEC);
	if (k->fd < 0)
		return fail(k, strerror(errno));
	k->elf = elf_begin(k->fd, ELF_C_READ_MMAP, NULL);
	if (!k->elf)
		return fail(k, elf_errmsg(-1));
	if (elf_kind(k->elf) != ELF_K_ELF)
		return fail(k, "not an ELF file");
	if (!gelf_getehdr(k->elf, &eh))
		return fail(k, elf_errmsg(-1));
	if (eh.e_type == ET_REL)
		return fail(k, "an object file, not a linked kernel");
	k->st->e_machine = eh.e_machine;
	k->st->is_64 = eh.e_ident[EI_CLASS] == ELFCLASS64;
	k->st->big_endian = eh.e_ident[EI_DATA] == ELFDATA2MSB;
	return 0;
}

/* Section numbers past 64k stand in section 0, which elf_getshdrnum and _shdrstrndx know. */
static int read_sections(struct kernel *k)
{
	size_t strndx;

	if (elf_getshdrnum(k->elf, &k->nr_sections) || elf_getshdrstrndx(k->elf, &strndx))
		return fail(k, elf_errmsg(-1));
	k->sections = xcalloc(k->nr_sections, sizeof(*k->sections));
	for (size_t i = 1; i < k->nr_sections; i++) {
		struct section *s = &k->sections[i];

		s->scn = elf_getscn(k->elf, i);
		if (!s->scn || !gelf_getshdr(s->scn, &s->sh))
			return fail(k, elf_errmsg(-1));
		const char *name = elf_strptr(k->elf, strndx, s->sh.sh_name);
		s->name = symtab_keep(k->st, name ? name : "");
		s->code = (s->sh.sh_flags & SHF_ALLOC) && (s->sh.sh_flags & SHF_EXECINSTR);
		if (s->sh.sh_addr + s->sh.sh_size < s->sh.sh_addr)
			return fail(k, "a section wraps around the address space");
		if (k->st->e_machine == EM_PPC64 && !strcmp(s->name, ".opd"))
			k->opd = s;
	}
	return 0;
}

static const struct section *section_at(const struct kernel *k, uint64_t addr)
{
	for (size_t i = 1; i < k->nr_sections; i++) {
		const struct section *s = &k->sections[i];

		if (s->code && addr >= s->sh.sh_addr && addr - s->sh.sh_addr < s->sh.sh_size)
			return s;
	}
	return NULL;
}

static uint64_t section_end(void *arg, uint64_t addr)
{
	const struct section *s = section_at(arg, addr);

	return s ? s->sh.sh_addr + s->sh.sh_size : 0;
}

/* A descriptor's first word is the address of the code. */
static bool read_descriptor(struct kernel *k, uint64_t addr, uint64_t *code)
{
	uint64_t off = addr - k->opd->sh.sh_addr;

	if (!k->opd_data)
		k->opd_data = elf_rawdata(k->opd->scn, NULL);
	if (!k->opd_data || !k->opd_data->d_buf || k->opd_data->d_size < 8 || off > k->opd_data->d_size - 8)
		return false;
	const unsigned char *p = (const unsigned char *)k->opd_data->d_buf + off;
	uint64_t v = 0;
	for (int i = 0; i < 8; i++)
		v = v << 8 | p[k->st->big_endian ? i : 7 - i];
	*code = v;
	return true;
}

/* name, file: kept. */
static void add_symbol(struct kernel *k, const GElf_Sym *es, size_t shndx, const char *name, const char *file)
{
	int type = GELF_ST_TYPE(es->st_info), bind = GELF_ST_BIND(es->st_info);
	bool global = bind == STB_GLOBAL || bind == STB_WEAK;
	uint64_t addr = es->st_value;

	if (!*name || type == STT_SECTION || type == STT_FILE || symtab_is_mapping_name(name))
		return;
	symtab_add_value(k->st, name, addr, global);
	if (global && type == STT_OBJECT && !strcmp(name, "linux_banner"))
		k->banner = addr;
	if (shndx == SHN_UNDEF || shndx >= k->nr_sections || (type != STT_FUNC && type != STT_NOTYPE))
		return;
	const struct section *s = &k->sections[shndx];
	if (k->opd && s == k->opd && type == STT_FUNC) {
		if (!read_descriptor(k, addr, &addr) || !(s = section_at(k, addr)))
			return;
	} else if (k->st->e_machine == EM_ARM && type == STT_FUNC) {
		addr &= ~(uint64_t)1;	/* Thumb code is marked in bit 0 */
	}
	if (!s->code || addr < s->sh.sh_addr || addr - s->sh.sh_addr >= s->sh.sh_size)
		return;
	if (type == STT_NOTYPE && !es->st_size && global && symtab_is_boundary_name(name, true))
		return;
	uint64_t room = s->sh.sh_addr + s->sh.sh_size - addr;
	symtab_add_func(k->st, &(struct sym){
		.addr = addr,
		.size = es->st_size > room ? room : es->st_size,
		.name = name,
		.file = global ? NULL : file,
		.section = s->name,
		.flags = (type == STT_FUNC ? SYM_FUNC : 0u) | (global ? SYM_GLOBAL : 0u) |
			 (bind == STB_WEAK ? SYM_WEAK : 0u) | (es->st_size ? SYM_SIZED : 0u),
	});
}

/* The string table, copied at once: names stay where they are in it. NULL: libelf says why. */
static const char *read_strings(struct kernel *k, size_t section, size_t *size)
{
	Elf_Scn *scn = elf_getscn(k->elf, section);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	if (!data)
		return NULL;
	*size = data->d_buf ? data->d_size : 0;		/* of a section without bytes in the file libelf tells a size, too */
	return symtab_keep_bytes(k->st, *size ? data->d_buf : "", *size);
}

static int read_symbols(struct kernel *k, const struct section *s)
{
	Elf_Data *data = elf_getdata(s->scn, NULL), *xndx = NULL;
	size_t size;
	const char *file = NULL, *strings = read_strings(k, s->sh.sh_link, &size);

	if (!data || !strings)
		return fail(k, elf_errmsg(-1));
	if (!s->sh.sh_entsize)
		return fail(k, "the symbol table's entry size is zero");
	for (size_t i = 1; i < k->nr_sections; i++)
		if (k->sections[i].sh.sh_type == SHT_SYMTAB_SHNDX &&
		    k->sections[i].sh.sh_link == elf_ndxscn(s->scn))
			xndx = elf_getdata(k->sections[i].scn, NULL);
	size_t nr = data->d_size / gelf_fsize(k->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (nr > INT32_MAX)
		return fail(k, "too many symbols");
	symtab_reserve(k->st, (uint32_t)nr);
	for (size_t i = 1; i < nr; i++) {
		GElf_Sym es;
		Elf32_Word high = 0;

		if (!gelf_getsymshndx(data, xndx, (int)i, &es, &high))
			return fail(k, elf_errmsg(-1));
		if (es.st_name >= size)
			return fail(k, "a symbol's name lies outside the string table");
		const char *name = strings + es.st_name;
		if (GELF_ST_TYPE(es.st_info) == STT_FILE) {
			file = *name ? name : NULL;
			continue;
		}
		size_t shndx = es.st_shndx < SHN_LORESERVE ? es.st_shndx
			       : es.st_shndx == SHN_XINDEX ? high : 0;
		add_symbol(k, &es, shndx, name, file);
	}
	return 0;
}

static int read_symtab(struct kernel *k)
{
	for (size_t i = 1; i < k->nr_sections; i++)
		if (k->sections[i].sh.sh_type == SHT_SYMTAB)
			return read_symbols(k, &k->sections[i]);
	return fail(k, "no .symtab (stripped?)");
}

/* "Linux version 6.1.192 (user@host) ...", which the kernel prints first, from byte off of the section on. */
static bool read_banner(struct kernel *k, const struct section *s, uint64_t off)
{
	static const char banner[] = "Linux version ";
	Elf_Data *data = elf_rawdata(s->scn, NULL);

	if (!data || !data->d_buf || off >= data->d_size)
		return false;
	const char *p = data->d_buf, *end = p + data->d_size;
	for (p += off; (p = memmem(p, (size_t)(end - p), banner, sizeof(banner) - 1));) {
		p += sizeof(banner) - 1;
		size_t n = 0;
		while (p + n < end && n < 128 && p[n] > ' ' && p[n] < 127)
			n++;
		if (n && p[0] >= '0' && p[0] <= '9') {
			k->st->release = xstrndup(p, n);
			return true;
		}
	}
	return false;
}

/* Where its symbol says, else wherever data has it. */
static void find_banner(struct kernel *k)
{
	for (int anywhere = 0; anywhere < 2; anywhere++)
		for (size_t i = 1; i < k->nr_sections && !k->st->release; i++) {
			const struct section *s = &k->sections[i];
			uint64_t off = k->banner - s->sh.sh_addr;

			if (s->sh.sh_type != SHT_PROGBITS || !(s->sh.sh_flags & SHF_ALLOC) || s->code)
				continue;
			if (anywhere || (k->banner && off < s->sh.sh_size))
				read_banner(k, s, anywhere ? 0 : off);
		}
}

static void read_identity(struct kernel *k)
{
	for (size_t i = 1; i < k->nr_sections; i++) {
		const struct section *s = &k->sections[i];

		if (s->sh.sh_type == SHT_NOTE && !k->st->build_id_size)
			elf_note_build_id(s->scn, k->st->build_id, &k->st->build_id_size);
	}
	find_banner(k);
}

int symtab_read_vmlinux(struct symtab *st, const char *path)
{
	struct kernel k = { .st = st, .path = path, .fd = -1 };
	int ret = -1;

	symtab_begin(st);
	if (!open_elf(&k) && !read_sections(&k) && !read_symtab(&k)) {
		read_identity(&k);
		ret = symtab_finish(st, path, section_end, &k);
	}
	free(k.sections);
	elf_end(k.elf);
	if (k.fd >= 0)
		close(k.fd);
	if (ret)
		symtab_release(st);
	return ret;
}
