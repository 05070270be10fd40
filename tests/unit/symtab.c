/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols of small kernels made here with libelf: byte orders, word sizes, many sections, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/symtab.h"

struct made_sym {
	const char *name;
	uint64_t value, size;
	int type, bind;
	uint32_t section;	/* 1 + extra: .text, 2 + extra: .rodata */
};

struct made_elf {
	int class, data, machine;
	uint32_t extra_sections;	/* empty ones before .text */
	const struct made_sym *syms;
	size_t nr_syms;
	size_t entsize;		/* 0: right */
	uint64_t text_addr, text_size;
};

static char *strtab;
static size_t strtab_len;

static GElf_Word add_string(const char *s)
{
	size_t at = strtab_len, n = strlen(s) + 1;

	strtab = xreallocarray(strtab, at + n, 1);
	memcpy(strtab + at, s, n);
	strtab_len += n;
	return (GElf_Word)at;
}

static Elf_Scn *add_section(Elf *elf, const char *name, GElf_Word type, GElf_Xword flags, GElf_Addr addr,
			    void *buf, size_t size, Elf_Type dtype)
{
	Elf_Scn *scn = elf_newscn(elf);
	GElf_Shdr sh;

	assert_non_null(scn);
	if (size) {
		Elf_Data *d = elf_newdata(scn);
		d->d_buf = buf;
		d->d_size = size;
		d->d_type = dtype;
		d->d_align = 1;
		d->d_version = EV_CURRENT;
	}
	assert_non_null(gelf_getshdr(scn, &sh));
	sh.sh_name = add_string(name);
	sh.sh_type = type;
	sh.sh_flags = flags;
	sh.sh_addr = addr;
	assert_true(gelf_update_shdr(scn, &sh));
	return scn;
}

/* Section numbers from SHN_LORESERVE on go to the table of extended indices. */
static void add_symtab(Elf *elf, const struct made_elf *m, void **owned, void **owned_ndx)
{
	size_t entry = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	void *buf = xcalloc(m->nr_syms + 1, sizeof(GElf_Sym));
	Elf32_Word *ndx = xcalloc(m->nr_syms + 1, sizeof(*ndx));
	Elf_Scn *scn = add_section(elf, ".symtab", SHT_SYMTAB, 0, 0, buf, (m->nr_syms + 1) * entry,
				   ELF_T_SYM);
	Elf_Scn *xscn = add_section(elf, ".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 0, ndx,
				    (m->nr_syms + 1) * sizeof(*ndx), ELF_T_WORD);
	Elf_Data *d = elf_getdata(scn, NULL), *xd = elf_getdata(xscn, NULL);
	GElf_Shdr sh;

	for (size_t i = 0; i < m->nr_syms; i++) {
		const struct made_sym *s = &m->syms[i];
		uint32_t section = s->section ? s->section + m->extra_sections : 0;
		bool far = section >= SHN_LORESERVE;
		GElf_Sym es = { .st_name = add_string(s->name), .st_value = s->value, .st_size = s->size,
				.st_info = (unsigned char)GELF_ST_INFO(s->bind, s->type),
				.st_shndx = (GElf_Section)(far ? SHN_XINDEX : section) };
		if (s->type == STT_FILE)
			es.st_shndx = SHN_ABS;
		assert_true(gelf_update_symshndx(d, xd, (int)i + 1, &es, far ? section : 0));
	}
	assert_non_null(gelf_getshdr(xscn, &sh));
	sh.sh_link = (GElf_Word)elf_ndxscn(scn);
	gelf_update_shdr(xscn, &sh);
	assert_non_null(gelf_getshdr(scn, &sh));
	sh.sh_link = (GElf_Word)elf_ndxscn(xscn) + 1;
	sh.sh_entsize = entry;
	gelf_update_shdr(scn, &sh);
	*owned = buf;
	*owned_ndx = ndx;
}

static void set_string_section(Elf *elf, size_t ndx)
{
	GElf_Ehdr eh;
	GElf_Shdr zero;

	gelf_getehdr(elf, &eh);
	eh.e_shstrndx = (GElf_Half)(ndx < SHN_LORESERVE ? ndx : SHN_XINDEX);
	gelf_update_ehdr(elf, &eh);
	if (ndx < SHN_LORESERVE)
		return;
	assert_non_null(gelf_getshdr(elf_getscn(elf, 0), &zero));
	zero.sh_link = (GElf_Word)ndx;
	gelf_update_shdr(elf_getscn(elf, 0), &zero);
}

static const char banner[] = "%s version %s (host)\0Linux version 6.1.42-test (someone@somewhere)";

static char *make_elf(const struct made_elf *m)
{
	char *path = xstrdup("/tmp/hottext-elf-XXXXXX");
	int fd = mkstemp(path);
	void *text = xcalloc(1, m->text_size), *syms, *ndx;
	struct {
		Elf32_Word n, d, t;
		char name[4];
		unsigned char id[20];
	} note = { 4, 20, NT_GNU_BUILD_ID, "GNU", { 0xab, 1 } };
	GElf_Ehdr eh;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	assert_true(gelf_newehdr(elf, m->class));
	gelf_getehdr(elf, &eh);
	eh.e_ident[EI_DATA] = (unsigned char)m->data;
	eh.e_machine = (GElf_Half)m->machine;
	eh.e_type = ET_EXEC;
	gelf_update_ehdr(elf, &eh);
	strtab = NULL;
	strtab_len = 0;
	add_string("");
	for (uint32_t i = 0; i < m->extra_sections; i++)
		add_section(elf, "", SHT_PROGBITS, 0, 0, NULL, 0, ELF_T_BYTE);
	add_section(elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, m->text_addr, text, m->text_size,
		    ELF_T_BYTE);
	add_section(elf, ".rodata", SHT_PROGBITS, SHF_ALLOC, m->text_addr + 0x100000,
		    (void *)(uintptr_t)banner, sizeof(banner), ELF_T_BYTE);
	if (m->data == ELFDATA2MSB) {	/* the note's words in the file's order, as ELF_T_BYTE takes them */
		note.n = __builtin_bswap32(4);
		note.d = __builtin_bswap32(20);
		note.t = __builtin_bswap32(NT_GNU_BUILD_ID);
	}
	add_section(elf, ".notes", SHT_NOTE, SHF_ALLOC, m->text_addr + 0x200000, &note, sizeof(note),
		    ELF_T_BYTE);
	add_symtab(elf, m, &syms, &ndx);
	GElf_Word name = add_string(".strtab");
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *d = elf_newdata(scn);
	GElf_Shdr sh;
	gelf_getshdr(scn, &sh);
	sh.sh_name = name;
	sh.sh_type = SHT_STRTAB;
	gelf_update_shdr(scn, &sh);
	d->d_buf = strtab;
	d->d_size = strtab_len;
	d->d_align = 1;
	set_string_section(elf, elf_ndxscn(scn));
	assert_true(elf_update(elf, ELF_C_WRITE) > 0);
	elf_end(elf);
	close(fd);
	free(text);
	free(syms);
	free(ndx);
	free(strtab);
	return path;
}

static const struct made_sym kernel[] = {
	{ "core.c", 0, 0, STT_FILE, STB_LOCAL, 0 },
	{ "helper", 0x10100, 0x20, STT_FUNC, STB_LOCAL, 1 },
	{ "init_once", 0x10120, 0x10, STT_FUNC, STB_LOCAL, 1 },
	{ "inode.c", 0, 0, STT_FILE, STB_LOCAL, 0 },
	{ "helper", 0x10130, 0x20, STT_FUNC, STB_LOCAL, 1 },
	{ "init_once", 0x10150, 0x10, STT_FUNC, STB_LOCAL, 1 },
	{ "inode.c", 0, 0, STT_FILE, STB_LOCAL, 0 },
	{ "init_once", 0x10160, 0x10, STT_FUNC, STB_LOCAL, 1 },
	{ "$x", 0x10100, 0, STT_NOTYPE, STB_LOCAL, 1 },
	{ ".Lloop", 0x10108, 0, STT_NOTYPE, STB_LOCAL, 1 },
	{ "a_table", 0x110000, 0x40, STT_OBJECT, STB_LOCAL, 2 },
	{ "entry", 0x10000, 0x80, STT_NOTYPE, STB_GLOBAL, 1 },
	{ "entry_inner", 0x10040, 0, STT_NOTYPE, STB_GLOBAL, 1 },
	{ "label", 0x100a0, 0, STT_NOTYPE, STB_LOCAL, 1 },
	{ "next_label", 0x100c0, 0, STT_NOTYPE, STB_LOCAL, 1 },
	{ "weak_first", 0x10180, 0x10, STT_FUNC, STB_WEAK, 1 },
	{ "z_strong", 0x10180, 0x10, STT_FUNC, STB_GLOBAL, 1 },
	{ "outside", 0x20000, 0x10, STT_FUNC, STB_GLOBAL, 1 },
	{ "too_long", 0x101f0, 0x1000, STT_FUNC, STB_GLOBAL, 1 },
	{ "_text", 0x10000, 0, STT_NOTYPE, STB_GLOBAL, 1 },
	{ "_stext", 0x10000, 0, STT_NOTYPE, STB_GLOBAL, 1 },
	{ "_etext", 0x10200, 0, STT_NOTYPE, STB_GLOBAL, 1 },
	{ "__sched_text_start", 0x101a0, 0, STT_NOTYPE, STB_GLOBAL, 1 },
	{ "undefined", 0, 0, STT_FUNC, STB_GLOBAL, 0 },
};

static const struct made_elf plain = {
	.class = ELFCLASS64, .data = ELFDATA2LSB, .machine = EM_X86_64, .syms = kernel,
	.nr_syms = ARRAY_SIZE(kernel),
	.text_addr = 0x10000, .text_size = 0x200,
};

static void expect_at(const struct symtab *st, uint64_t addr, const char *id)
{
	const struct sym *s = symtab_find(st, addr);

	if (!id) {
		assert_null(s);
		return;
	}
	assert_non_null(s);
	assert_string_equal(s->id, id);
	assert_ptr_equal(symtab_find_id(st, id), s);
	assert_true(addr >= s->addr && addr < s->addr + s->size);
}

static void expect_kernel(const struct symtab *st)
{
	uint64_t v;
	char hex[2 * BUILD_ID_MAX + 1];

	expect_at(st, 0xffff, NULL);
	expect_at(st, 0x10000, "entry");
	expect_at(st, 0x10041, "entry");		/* an inner label is no function */
	expect_at(st, 0x10090, NULL);
	expect_at(st, 0x100a0, "label");
	expect_at(st, 0x100bf, "label");		/* reaches to the next symbol */
	expect_at(st, 0x100ff, "next_label");
	expect_at(st, 0x10100, "helper@core.c");
	expect_at(st, 0x10131, "helper@inode.c");
	expect_at(st, 0x10120, "init_once@core.c");
	expect_at(st, 0x10150, "init_once#2");	/* two files have the name inode.c */
	expect_at(st, 0x10160, "init_once#3");
	expect_at(st, 0x10185, "z_strong");		/* strong before weak */
	expect_at(st, 0x101f8, "too_long");
	expect_at(st, 0x10200, NULL);		/* cut at the section's end */
	expect_at(st, UINT64_MAX, NULL);
	assert_null(symtab_find_id(st, "outside"));
	assert_null(symtab_find_id(st, "__sched_text_start"));
	assert_true(symtab_value(st, "__sched_text_start", &v));
	assert_int_equal(v, 0x101a0);
	assert_true(symtab_value(st, "weak_first", &v));
	assert_false(symtab_value(st, "$x", &v));
	assert_int_equal(st->stext_addr, 0x10000);
	assert_int_equal(st->etext_addr, 0x10200);
	assert_string_equal(st->release, "6.1.42-test");
	assert_int_equal(st->build_id_size, 20);
	assert_memory_equal(build_id_hex(st->build_id, st->build_id_size, hex), "ab0100", 6);
}

static void check_variant(int class, int data, int machine, uint32_t extra, const char *arch)
{
	struct made_elf m = plain;
	struct symtab st;

	m.class = class;
	m.data = data;
	m.machine = machine;
	m.extra_sections = extra;
	char *path = make_elf(&m);
	assert_int_equal(symtab_read_vmlinux(&st, path), 0);
	expect_kernel(&st);
	assert_string_equal(symtab_arch(&st), arch);
	assert_int_equal(st.big_endian, data == ELFDATA2MSB);
	symtab_release(&st);
	unlink(path);
	free(path);
}

static void test_little_64(void **state)
{
	(void)state;
	check_variant(ELFCLASS64, ELFDATA2LSB, EM_X86_64, 0, "x86_64");
}

static void test_big_32(void **state)
{
	(void)state;
	check_variant(ELFCLASS32, ELFDATA2MSB, EM_PPC, 0, "ppc");
}

static void test_little_32(void **state)
{
	(void)state;
	check_variant(ELFCLASS32, ELFDATA2LSB, EM_RISCV, 0, "riscv32");
}

static void test_big_64(void **state)
{
	(void)state;
	check_variant(ELFCLASS64, ELFDATA2MSB, EM_S390, 0, "s390");
}

static void test_many_sections(void **state)
{
	(void)state;
	check_variant(ELFCLASS64, ELFDATA2LSB, EM_AARCH64, 70000, "arm64");
}

static void test_thumb_bit(void **state)
{
	static const struct made_sym syms[] = {
		{ "_text", 0x10000, 0, STT_NOTYPE, STB_GLOBAL, 1 },
		{ "thumb", 0x10011, 8, STT_FUNC, STB_GLOBAL, 1 },
	};
	struct made_elf m = plain;
	struct symtab st;

	(void)state;
	m.class = ELFCLASS32;
	m.machine = EM_ARM;
	m.syms = syms;
	m.nr_syms = ARRAY_SIZE(syms);
	char *path = make_elf(&m);
	assert_int_equal(symtab_read_vmlinux(&st, path), 0);
	expect_at(&st, 0x10010, "thumb");
	symtab_release(&st);
	unlink(path);
	free(path);
}

/* Cut anywhere, the file is refused or read, and nothing past its end is touched. */
static void test_truncated(void **state)
{
	char *path = make_elf(&plain);
	int fd = open(path, O_RDONLY), null = open("/dev/null", O_WRONLY), err = dup(2);
	off_t size = lseek(fd, 0, SEEK_END);

	(void)state;
	close(fd);
	dup2(null, 2);
	for (off_t n = size - 1; n > 0; n -= n > 256 ? 37 : 1) {
		struct symtab st;

		assert_int_equal(truncate(path, n), 0);
		if (!symtab_read_vmlinux(&st, path))
			symtab_release(&st);
	}
	dup2(err, 2);
	close(err);
	close(null);
	unlink(path);
	free(path);
}

static void read_damaged(int fd, const char *path, off_t at, char value)
{
	struct symtab st;
	char was;

	assert_int_equal(pread(fd, &was, 1, at), 1);
	if (was == value)
		return;
	assert_int_equal(pwrite(fd, &value, 1, at), 1);
	if (!symtab_read_vmlinux(&st, path))
		symtab_release(&st);
	assert_int_equal(pwrite(fd, &was, 1, at), 1);
}

/* One byte after another set to 0xff and to zero, in turn: entry sizes, links, offsets among them. */
static void test_damaged(void **state)
{
	char *path = make_elf(&plain);
	int fd = open(path, O_RDWR), null = open("/dev/null", O_WRONLY), err = dup(2);
	off_t size = lseek(fd, 0, SEEK_END);

	(void)state;
	dup2(null, 2);
	for (off_t at = 0; at < size; at++) {
		read_damaged(fd, path, at, '\xff');
		read_damaged(fd, path, at, 0);
	}
	dup2(err, 2);
	close(err);
	close(null);
	close(fd);
	unlink(path);
	free(path);
}

static void test_refuses(void **state)
{
	struct made_elf m = plain;
	struct symtab st;

	(void)state;
	assert_int_equal(symtab_read_vmlinux(&st, "/nonexistent"), -1);
	assert_int_equal(symtab_read_vmlinux(&st, "/dev/null"), -1);
	m.nr_syms = 2;	/* no _text */
	char *path = make_elf(&m);
	assert_int_equal(symtab_read_vmlinux(&st, path), -1);
	unlink(path);
	free(path);
}

static void test_kallsyms(void **state)
{
	static const char text[] =
		"ffffffff81000000 T _text\nffffffff81000000 T startup_64\nffffffff81000040 T _stext\n"
		"ffffffff81000040 t helper\nffffffff81000080 t helper\nffffffff81000090 W weak_one\n"
		"ffffffff81000090 T strong_one\nffffffff81000100 T _etext\nffffffff81000100 D data\n"
		"ffffffffc0000000 t ext4_read\t[ext4]\n0000000000001000 A percpu\n";
	char name[] = "/tmp/hottext-kallsyms-XXXXXX";
	int fd = mkstemp(name);
	struct symtab st;

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	assert_int_equal(symtab_read_kallsyms(&st, name), 0);
	assert_int_equal(st.text_addr, 0xffffffff81000000u);
	expect_at(&st, 0xffffffff81000001u, "startup_64");
	expect_at(&st, 0xffffffff81000040u, "helper#1");
	expect_at(&st, 0xffffffff8100008fu, "helper#2");
	expect_at(&st, 0xffffffff810000ffu, "strong_one");
	expect_at(&st, 0xffffffff81000100u, NULL);
	assert_null(symtab_find_id(&st, "ext4_read"));
	symtab_release(&st);
	assert_int_equal(pwrite(fd, "00000000zz", 10, 0), 10);
	assert_int_equal(symtab_read_kallsyms(&st, name), -1);
	close(fd);
	unlink(name);
}

static void test_normalise(void **state)
{
	static const struct { const char *from, *to; } cases[] = {
		{ "f", "f" }, { "f.isra.0", "f" }, { "f.constprop.12.cold", "f" }, { "f.part.0.isra.3", "f" },
		{ "f.llvm.1234567890", "f" }, { "f.lto_priv.0", "f" }, { "__pfx_f", "f" },
		{ "f.cold.7", "f" },
		{ ".cold", ".cold" }, { "f.isra.", "f.isra." }, { "f.other.1", "f.other.1" },
		{ "__pfx_", "__pfx_" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *name = xstrdup(cases[i].from);
		bool changed = symbol_normalise(name);

		assert_string_equal(name, cases[i].to);
		assert_int_equal(changed, strcmp(cases[i].from, cases[i].to) != 0);
		free(name);
	}
}

static void test_modules(void **state)
{
	(void)state;
	assert_true(identity_is_module("ext4_readpage@ext4.ko"));
	assert_false(identity_is_module("init_once@inode.c"));
	assert_false(identity_is_module("strange.ko"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_little_64),
		cmocka_unit_test(test_big_32),
		cmocka_unit_test(test_little_32),
		cmocka_unit_test(test_big_64),
		cmocka_unit_test(test_many_sections),
		cmocka_unit_test(test_thumb_bit),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_normalise),
		cmocka_unit_test(test_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
