/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Link maps as text: what GNU ld 2.40 writes, and what nobody should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/image/linkmap.h"

#define TITLE "Discarded input sections\n\n .text.gone    0x0000000000000000       0x10 gone.o\n\n" \
	      "Linker script and memory map\n\n"
#define END "OUTPUT(vmlinux elf64-x86-64)\n"

static int read_text(struct linkmap *m, const char *text)
{
	char path[] = "/tmp/hottext-linkmap-XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	ret = linkmap_read(m, path);
	unlink(path);
	return ret;
}

/* Hundreds of expected messages would hide one that is not. */
static int silence(void)
{
	int kept = dup(STDERR_FILENO);

	assert_non_null(freopen("/dev/null", "w", stderr));
	return kept;
}

static void restore(int kept)
{
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
}

static void shapes(void **state)
{
	(void)state;
	struct linkmap m;

	assert_int_equal(read_text(&m, TITLE
		"LOAD old/ld/lists/objects/here.o\n"
		"                0x0000000000001000                . = 0x1000\n\n"
		".text           0x0000000000001000      0x200 load address 0x0000000000000000\n"
		"                0x0000000000001000                _text = .\n"
		" *(.head.text)\n"
		" .head.text     0x0000000000001000       0x13 arch/x86/kernel/head_64.o\n"
		"                0x0000000000001000                startup_64\n"
		"                0x0000000000001018                . = ALIGN (0x8)\n"
		" *fill*         0x0000000000001013        0x5 cccc\n"
		" *(.text.hot .text.hot.*)\n"
		" *fs/read_write.o(.text.vfs_read)\n"
		" .text          0x0000000000001018        0x0 fs/with space.o\n"
		" .text.unlikely.sanitize_boot_params.constprop.0\n"
		"                0x0000000000001018       0x7e lib/lib.a(head64.o)\n"
		"                0x0000000000001018                early\n"
		"                [!provide]                        PROVIDE (x = .)\n"
		" LONG 0x90909090\n"
		"                0x0000000000001096        0x1 BYTE 0x90\n"
		" .text.relaxed  0x00000000000010a0       0x20 a.o\n"
		"                                         0x24 (size before relaxing)\n"
		" .text.twice    0x00000000000010c0        0x4 vmlinux.o\n"
		" .text.twice    0x00000000000010c4        0x4 vmlinux.o\n"
		" .text.twice    0x00000000000010c8        0x4 b.o\n"
		" .text.dropped  0x0000000000000000        0x0 b.o\n"
		"                0x0000000000001100                . = (. + 0x10)\n"
		"                0x0000000000001100                _etext = .\n"
		"\n"
		".a_very_long_output_section.text\n"
		"                0x0000000000002000       0x10\n"
		" .text.orphan   0x0000000000002000       0x10 c.o\n\n"
		".rodata         0x0000000000003000       0x10\n"
		" .rodata        0x0000000000003000       0x10 c.o\n"
		END), 0);
	assert_int_equal(m.nr_outputs, 2);
	assert_string_equal(m.outputs[1].name, ".a_very_long_output_section.text");
	assert_int_equal(m.nr_sections, 8);
	assert_string_equal(m.sections[0].object, "arch/x86/kernel/head_64.o");
	assert_string_equal(m.sections[1].object, "fs/with space.o");
	assert_int_equal(m.sections[1].size, 0);
	assert_string_equal(m.sections[2].name, ".text.unlikely.sanitize_boot_params.constprop.0");
	assert_string_equal(m.sections[2].object, "lib/lib.a(head64.o)");
	assert_int_equal(m.sections[2].addr, 0x1018);
	assert_int_equal(m.sections[2].size, 0x7e);
	assert_int_equal(m.sections[3].size, 0x20);
	assert_true(m.sections[4].fused);
	assert_true(m.sections[5].fused);
	assert_false(m.sections[6].fused);
	assert_int_equal(m.sections[7].output, 1);
	assert_int_equal(m.nr_symbols, 2);
	assert_string_equal(m.symbols[1].name, "early");
	assert_int_equal(m.nr_marks, 4);
	assert_string_equal(m.marks[0].symbol, "_text");
	assert_int_equal(m.marks[1].align, 8);
	assert_int_equal(m.marks[1].before, 1);
	assert_int_equal(m.marks[2].align, 0);
	assert_null(m.marks[2].symbol);
	linkmap_release(&m);
}

static void refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"             VMA              LMA     Size Align Out     In      Symbol\n",	/* lld's, cut off */
		TITLE ".text 0x1000 0x10\n .text 0x1000 0x10 a.o\n",				/* cut off */
		TITLE ".text 0x1000 0x10\n .text.a 0x1000 0x20 a.o\n" END,
		TITLE ".text 0x1000 0x10\n .text.a 0x2000 0x4 a.o\n" END,
		TITLE ".text 0x1000 0x100\n .text.a 0x1000 0x20 a.o\n .text.b 0x1010 0x20 a.o\n" END,
		TITLE ".text 0xfffffffffffffff0 0x100\n" END,
	};
	struct linkmap m;

	int kept = silence();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(read_text(&m, bad[i]), -1);
	restore(kept);
}

/* Cut, doubled and garbled at every line: whatever it says, no crash. */
static void mangled(void **state)
{
	(void)state;
	static const char good[] = TITLE
		".text           0x0000000000001000      0x200\n"
		" .text.unlikely.x\n                0x0000000000001018       0x7e a.o\n"
		"                0x0000000000001018                early\n"
		"                0x0000000000001100                . = ALIGN (0x3)\n"
		"                0x0000000000001100                . = ALIGN (0xfffffffffffffffffffff)\n"
		" .text.y 0x1100\n .text.z 0x1100 0x4\n .text.w 0xzz 0x4 a.o\n" END;
	char text[sizeof(good)];
	struct linkmap m;

	int kept = silence();
	for (size_t i = 0; i < sizeof(good); i++) {
		memcpy(text, good, i);
		text[i] = '\0';
		if (!read_text(&m, text))
			linkmap_release(&m);
		memcpy(text, good, sizeof(good));
		text[i] = '\n';
		text[sizeof(good) - 1] = '\0';
		if (!read_text(&m, text))
			linkmap_release(&m);
	}
	restore(kept);
}

#define LLD_TITLE "             VMA              LMA     Size Align Out     In      Symbol\n"

static void shapes_of_lld(void **state)
{
	(void)state;
	struct linkmap m;

	assert_int_equal(read_text(&m, LLD_TITLE
		"               0                0 ffffffff81000000     1 . = ( 0xffffffff80000000 + ALIGN ( 0x1000000 ) )\n"
		"    1000                0        0     1 phys_startup_64 = ABSOLUTE ( startup_64 )\n"
		"            1000             1000      800    16 .text\n"
		"            1000             1000        0     1         _text = .\n"
		"            1000             1000       28    16         vmlinux.a(head.o):(.head.text)\n"
		"            1000             1000       28     1                 startup_64\n"
		"            1028             1028        8     1         . = ALIGN ( 16 )\n"
		"            1030             1030       10    16         vmlinux.a(fs/xfs/file.o):(.text.helper)\n"
		"            1030             1030       10     1                 helper\n"
		"            1040             1040       10    16         fs/plain.o:(.text.helper)\n"
		"            1040             1040       10     1                 helper\n"
		"            1050             1050      fb0     1         . = ALIGN ( ( 1 << 12 ) )\n"
		"            2000             2000        0     1         . = ALIGN ( ( 3 << 12 ) )\n"
		"            3000             3000       10     1 .rodata\n"
		"            3000             3000       10     1         fs/plain.o:(.rodata)\n"
		"            4000             4000       10     1 .init.text\n"
		"            4000             4000       10     1         fs/plain.o:(.init.text)\n"
		"               0                0      138     8 .rela.text\n"
		"               0                0      138     8         fs/plain.o:(.rela.text.helper)\n"), 0);
	assert_int_equal(m.nr_outputs, 2);
	assert_int_equal(m.nr_sections, 4);
	assert_string_equal(m.sections[0].object, "vmlinux.a(head.o)");
	assert_string_equal(m.sections[1].object, "fs/xfs/file.o");
	assert_string_equal(m.sections[1].name, ".text.helper");
	assert_string_equal(m.sections[2].object, "fs/plain.o");
	assert_int_equal(m.sections[2].addr, 0x1040);
	assert_int_equal(m.sections[3].output, 1);
	assert_int_equal(m.nr_marks, 4);
	assert_string_equal(m.marks[0].symbol, "_text");
	assert_true(m.marks[1].align == 16 && m.marks[1].addr == 0x1030 && m.marks[1].before == 1);
	assert_true(m.marks[2].align == 4096 && m.marks[2].addr == 0x2000);
	assert_int_equal(m.marks[3].align, 0);
	/* Two helpers: neither symbol tells anything. */
	assert_int_equal(m.nr_symbols, 1);
	assert_string_equal(m.symbols[0].name, "startup_64");
	linkmap_release(&m);
	/* Of 32 bits. */
	assert_int_equal(read_text(&m,
		"     VMA      LMA     Size Align Out     In      Symbol\n"
		"c0008000 c0008000      800    16 .text\n"
		"c0008000 c0008000       28    16         fs/a.o:(.text.a)\n"), 0);
	assert_true(m.nr_sections == 1 && m.sections[0].addr == 0xc0008000);
	linkmap_release(&m);
}

static void refused_of_lld(void **state)
{
	(void)state;
	static const char *const bad[] = {
		LLD_TITLE "word\n",
		LLD_TITLE "1000 1000 10\n",
		LLD_TITLE "1000 1000 10 x .text\n",
		LLD_TITLE "ffffffffffffffff 0 10 1 .text\n",
		LLD_TITLE "1000 1000 10 1 .text\n1008 1008 10 1         a.o:(.text)\n",
		LLD_TITLE "1000 1000 20 1 .text\n1000 1000 10 1         a.o:(.text)\n1008 1008 10 1         b.o:(.text)\n",
	};
	int kept = silence();

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct linkmap m;

		assert_int_equal(read_text(&m, bad[i]), -1);
	}
	restore(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes), cmocka_unit_test(refused), cmocka_unit_test(mangled),
		cmocka_unit_test(shapes_of_lld), cmocka_unit_test(refused_of_lld),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
