/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Images of a small kernel that is built here from tests/fixtures/image: with a link
 * map and objects, without objects, without a map, with another kernel's map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/image/image.h"
#include "lib/error.h"
#include "lib/mem.h"

static char dir[] = "/tmp/hottext-image-XXXXXX";

static int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int sh(const char *fmt, ...)
{
	char cmd[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	return system(cmd);
}

static int build(const char *where, const char *cc, const char *ld)
{
	char cwd[1024];

	if (!getcwd(cwd, sizeof(cwd)))
		return -1;
	return sh("mkdir -p %s/%s && cd %s/%s && F='%s/tests/fixtures/image' && "
		  "%s -O2 -fno-pic -fno-pie -ffunction-sections -c $F/one.c $F/two.c $F/asm.S 2>cc.log && "
		  "%s -T $F/kernel.lds -Map=vmlinux.map -o vmlinux one.o two.o asm.o 2>ld.log",
		  dir, where, dir, where, cwd, cc, ld);
}

static int setup(void **state)
{
	(void)state;
	verbosity = -1;
	if (!mkdtemp(dir))
		return -1;
	return build("a", "${CC:-cc}", "${LD:-ld}");
}

static int teardown(void **state)
{
	(void)state;
	return sh("rm -rf %s", dir);
}

static const char *file(const char *name)
{
	static char bufs[4][256];
	static unsigned int n;
	char *buf = bufs[n++ % 4];

	snprintf(buf, sizeof(bufs[0]), "%s/%s", dir, name);
	return buf;
}

static const struct unit *unit_named(const struct image *img, const char *object, const char *section)
{
	for (uint32_t i = 0; i < img->nr_units; i++)
		if (!strcmp(img->units[i].section, section) &&
		    (!object || (img->units[i].object && !strcmp(img->units[i].object, object))))
			return &img->units[i];
	return NULL;
}

/* Compute every address of .text as ld does, from the groups' and units' alignments. */
static void check_addresses(const struct image *img)
{
	uint64_t dot = img->symtab.text_addr;
	uint32_t g = 0;

	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i];

		if (u->group == GROUP_INIT)
			continue;
		for (; g < img->nr_groups && img->groups[g].start <= u->addr; g++)
			dot = (dot + img->groups[g].align - 1) & ~((uint64_t)img->groups[g].align - 1);
		dot = (dot + u->align - 1) & ~((uint64_t)u->align - 1);
		assert_int_equal(dot, u->addr);
		dot += u->size;
	}
}

static void exact(void **state)
{
	(void)state;
	struct image img;
	const struct unit *u;

	assert_int_equal(image_init(&img, file("a/vmlinux"), NULL), 0);
	assert_true(img.exact_units);
	assert_true(img.exact_align);
	check_addresses(&img);
	assert_non_null(unit_named(&img, "one.o", ".text.helper"));
	u = unit_named(&img, "two.o", ".text.helper");
	assert_non_null(u);
	assert_true(u->movable);
	assert_int_equal(u->nr_funcs, 1);
	assert_string_equal(img.funcs[u->first_func].id, "helper@two.c");
	u = unit_named(&img, "asm.o", ".text");
	assert_non_null(u);
	assert_true(u->movable);
	assert_int_equal(u->nr_funcs, 2);
	assert_int_equal(u->align, 16);
	u = unit_named(&img, "one.o", ".sched.text");
	assert_non_null(u);
	assert_int_equal(u->group, GROUP_SCHED);
	assert_false(u->movable);
	assert_non_null(u->why_fixed);
	u = unit_named(&img, "one.o", ".entry.text");
	assert_non_null(u);
	assert_int_equal(u->group, GROUP_ENTRY);
	assert_int_equal(unit_named(&img, NULL, ".head.text")->group, GROUP_HEAD);
	assert_null(unit_named(&img, NULL, ".text.nothing"));
	image_release(&img);
}

static void lookups(void **state)
{
	(void)state;
	struct image img;
	enum match how;

	assert_int_equal(image_init(&img, file("a/vmlinux"), NULL), 0);
	for (uint32_t i = 0; i < img.nr_funcs; i++) {
		const struct func *f = &img.funcs[i];

		assert_int_equal(image_find_func(&img, f->addr), i);
		assert_int_equal(image_find_func(&img, f->addr + f->size - 1), i);
		assert_int_equal(image_find_unit(&img, f->addr), f->unit);
		assert_int_equal(image_match(&img, f->id, &how), i);
		assert_int_equal(how, MATCH_EXACT);
	}
	assert_int_equal(image_find_func(&img, 1), INDEX_NONE);
	assert_int_equal(image_find_unit(&img, UINT64_MAX), INDEX_NONE);
	assert_int_equal(image_find_unit(&img, img.text_start - 1), INDEX_NONE);
	image_release(&img);
}

static void matching(void **state)
{
	(void)state;
	struct image img;
	enum match how;
	uint32_t f;

	assert_int_equal(image_init(&img, file("a/vmlinux"), NULL), 0);
	f = image_match(&img, "one@old/one.c", &how);
	assert_int_equal(how, MATCH_NAME);
	assert_string_equal(img.funcs[f].id, "one");
	/* An alias leads to its function. */
	assert_int_equal(image_match(&img, "write_alias", NULL), image_match(&img, "write_file", NULL));
	f = image_match(&img, "two.constprop.0", &how);
	assert_int_equal(how, MATCH_NORMALIZED);
	assert_string_equal(img.funcs[f].id, "two");
	/* Two of that name, and a cold part that is not its function. */
	assert_int_equal(image_match(&img, "helper", &how), INDEX_NONE);
	assert_int_equal(how, MATCH_NONE);
	assert_int_equal(image_match(&img, "two.cold", &how), INDEX_NONE);
	assert_int_equal(image_match(&img, "vfs_read", &how), INDEX_NONE);
	image_release(&img);
}

/* Without objects the alignments are inferred; they must explain every address all the same. */
static void no_objects(void **state)
{
	(void)state;
	struct image_options opts = { .objects = "/nonexistent" };
	struct image img;

	assert_int_equal(image_init(&img, file("a/vmlinux"), &opts), 0);
	assert_true(img.exact_units);
	assert_false(img.exact_align);
	check_addresses(&img);
	image_release(&img);
}

/* An object that was rebuilt since the link has other sizes: it is not believed. */
static void stale_objects(void **state)
{
	(void)state;
	struct image_options opts = { .objects = file("stale") };
	struct image img;

	assert_int_equal(sh("cd %s && mkdir -p stale && cp a/one.o a/asm.o stale && cp a/one.o stale/two.o", dir), 0);
	assert_int_equal(image_init(&img, file("a/vmlinux"), &opts), 0);
	assert_false(img.exact_align);
	check_addresses(&img);
	image_release(&img);
}

static void archives(void **state)
{
	(void)state;
	struct image_options opts = { .map = file("ar/vmlinux.map"), .objects = file("ar") };
	struct image img;

	for (int thin = 0; thin < 2; thin++) {
		/* The map of a link from lib/k.a: same sections, objects spelled as members. */
		assert_int_equal(sh("rm -rf %s/ar && mkdir -p %s/ar/lib && cp %s/a/*.o %s/ar/lib && cd %s/ar/lib && "
				    "ar rc%s k.a one.o two.o asm.o && cd .. && sed 's,\\([a-z]*\\.o\\)$,lib/k.a(\\1),' "
				    "../a/vmlinux.map > vmlinux.map", dir, dir, dir, dir, dir, thin ? "T" : ""), 0);
		if (!thin)
			assert_int_equal(sh("rm %s/ar/lib/*.o", dir), 0);
		assert_int_equal(image_init(&img, file("a/vmlinux"), &opts), 0);
		assert_true(img.exact_align);
		assert_non_null(unit_named(&img, "lib/k.a(two.o)", ".text.two"));
		image_release(&img);
	}
}

static void inferred(void **state)
{
	(void)state;
	struct image_options opts = { .infer = true };
	struct image img;
	const struct unit *u;

	assert_int_equal(image_init(&img, file("a/vmlinux"), &opts), 0);
	assert_false(img.exact_units);
	check_addresses(&img);
	u = unit_named(&img, NULL, ".text.one");
	assert_non_null(u);
	assert_true(u->movable);
	/* Namesakes cannot be told apart without their objects. */
	assert_false(unit_named(&img, NULL, ".text.helper")->movable);
	assert_int_equal(unit_named(&img, NULL, ".sched.text")->group, GROUP_SCHED);
	assert_int_equal(unit_named(&img, NULL, ".head.text")->group, GROUP_HEAD);
#if defined(__x86_64__)
	/* Nops between them: copy_user and clear_user are one section. */
	u = unit_named(&img, NULL, ".text.copy_user");
	assert_non_null(u);
	assert_int_equal(u->nr_funcs, 2);
	assert_false(u->movable);
	assert_non_null(unit_named(&img, NULL, ".text.unlikely.complain"));
#endif
	image_release(&img);
}

static void other_map(void **state)
{
	(void)state;
	struct image_options opts = { .map = file("other.map") };
	struct image img;

	assert_int_equal(sh("sed 's/81000020  /81000024  /; s/0x0*81000020 *one$/  0x0000000081000024    one/' "
			    "%s/a/vmlinux.map > %s/other.map", dir, dir), 0);
	assert_int_equal(image_init(&img, file("a/vmlinux"), &opts), -1);
	/* Found beside the vmlinux it is no error, but not used. */
	assert_int_equal(sh("mkdir -p %s/b && cd %s && cp a/vmlinux b && cp other.map b/vmlinux.map", dir, dir), 0);
	assert_int_equal(image_init(&img, file("b/vmlinux"), NULL), 0);
	assert_false(img.exact_units);
	image_release(&img);
	opts.map = file("nothing.map");
	assert_int_equal(image_init(&img, file("a/vmlinux"), &opts), -1);
}

static void compressed_map(void **state)
{
	(void)state;
	struct image img;

	if (sh("command -v zstd >/dev/null"))
		skip();
	assert_int_equal(sh("cd %s && mkdir -p z && cp a/vmlinux a/*.o z && zstd -q a/vmlinux.map -o z/vmlinux.map.zst",
			    dir), 0);
	assert_int_equal(image_init(&img, file("z/vmlinux"), NULL), 0);
	assert_true(img.exact_align);
	image_release(&img);
}

static void bad_files(void **state)
{
	(void)state;
	struct image img;

	assert_int_equal(sh("cd %s && cp a/vmlinux stripped && strip stripped && head -c 9000 a/vmlinux > cut && "
			    "printf 'int main(void) { return 0; }' | ${CC:-cc} -xc -o program - && : > empty", dir), 0);
	assert_int_equal(image_init(&img, file("stripped"), NULL), -1);
	assert_int_equal(image_init(&img, file("cut"), NULL), -1);
	assert_int_equal(image_init(&img, file("program"), NULL), -1);
	assert_int_equal(image_init(&img, file("empty"), NULL), -1);
	assert_int_equal(image_init(&img, file("nothing"), NULL), -1);
	assert_int_equal(image_init(&img, file("a/one.o"), NULL), -1);
}

static void big_endian(void **state)
{
	(void)state;
	struct image_options opts = { .infer = true };
	struct image img;

	if (build("ppc", "powerpc-linux-gnu-gcc -m32", "powerpc-linux-gnu-ld -m elf32ppc"))
		skip();
	assert_int_equal(image_init(&img, file("ppc/vmlinux"), NULL), 0);
	assert_true(img.exact_align);
	assert_true(img.symtab.big_endian);
	check_addresses(&img);
	image_release(&img);
	assert_int_equal(image_init(&img, file("ppc/vmlinux"), &opts), 0);
	assert_non_null(unit_named(&img, NULL, ".text.one"));
	image_release(&img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),
		cmocka_unit_test(lookups),
		cmocka_unit_test(matching),
		cmocka_unit_test(no_objects),
		cmocka_unit_test(stale_objects),
		cmocka_unit_test(archives),
		cmocka_unit_test(inferred),
		cmocka_unit_test(other_map),
		cmocka_unit_test(compressed_map),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(big_endian),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
