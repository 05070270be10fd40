/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine files: all that are shipped, one from disk, and wrong ones. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/tlb/machine.h"
#include "analyze/tlb/pageset.h"
#include "analyze/tlb/tlb.h"
#include "lib/error.h"
#include "lib/symtab.h"

static int read_text(struct machine *m, const char *text)
{
	char path[] = "/tmp/hottext.machine-XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	ret = machine_init(m, path);
	unlink(path);
	return ret;
}

static void shipped(void **state)
{
	(void)state;
	const char *const *names = machine_names();
	struct machine m;

	for (uint32_t i = 0; names[i]; i++) {
		assert_true(!i || strcmp(names[i - 1], names[i]) < 0);
		assert_int_equal(machine_init(&m, names[i]), 0);
		assert_string_equal(m.name, names[i]);
		assert_true(m.about[0]);
		struct tlb *t = tlb_new(&m);
		tlb_fetch(t, 0xc0000000, 100, true);
		tlb_free(t);
		machine_release(&m);
	}
}

static void values(void **state)
{
	(void)state;
	struct machine m;
	double min, max;

	assert_int_equal(machine_init(&m, "mpc8xx"), 0);
	assert_int_equal(m.nr_levels, 1);
	assert_int_equal(m.levels[0].entries, 32);
	assert_int_equal(m.levels[0].policy, TLB_ROUND_ROBIN);
	assert_int_equal(m.text_page, 4096);
	/* 340,313 misses at 48 MHz: 0.16 s by the memory read alone, 0.99 s as measured. */
	assert_true(machine_miss_seconds(&m, 340313, &min, &max));
	assert_float_equal(min, 0.163, 0.001);
	assert_float_equal(max, 0.993, 0.001);
	assert_null(machine_why_no_saving(&m, 0xc0000000, 0xc0000000 + (3u << 20)));
	machine_release(&m);

	assert_int_equal(machine_init(&m, "ppc440"), 0);
	assert_true(m.pinned_text);
	assert_non_null(machine_why_no_saving(&m, 0xc0000000, 0xc0000000 + (3u << 20)));
	machine_release(&m);
	assert_int_equal(machine_init(&m, "ppc405-16m"), 0);
	assert_non_null(machine_why_no_saving(&m, 0xc0000000, 0xc0000000 + (3u << 20)));
	assert_null(machine_why_no_saving(&m, 0xc0000000, 0xc0000000 + (20u << 20)));
	assert_null(machine_why_no_saving(&m, 0xc0f00000, 0xc1100000));
	assert_int_equal(machine_entry_bytes(&m), 16 << 20);
	machine_release(&m);
	/* Sections of 1 MB do not help a TLB that holds 4 KB of them each. */
	assert_int_equal(machine_init(&m, "cortex-a15"), 0);
	assert_null(machine_why_no_saving(&m, 0xc0000000, 0xc0000000 + (1u << 20)));
	assert_int_equal(machine_entry_bytes(&m), 4096);
	machine_release(&m);
	assert_int_equal(machine_init(&m, "generic-4k-32"), 0);
	assert_false(machine_miss_seconds(&m, 1, &min, &max));
	machine_release(&m);
}

static void from_file(void **state)
{
	(void)state;
	struct machine m;

	assert_int_equal(read_text(&m, "# mine\nabout two levels # here\narch any\n"
				   "level 8 policy fifo locked 2\nlevel 64 ways 4 policy plru unified max-page 64K\n"
				   "text-page 1M\nuser-page 4K\tpage\n"), -1);
	assert_int_equal(read_text(&m, "about two levels\nlevel 8 policy fifo locked 2\n"
				   "level 64 ways 4 policy plru unified max-page 64K large 8\n"
				   "text-page 1M\t# a comment\nmiss-cycles 10 20\nclock 1.5 GHz\nflush-on-switch yes\n"), 0);
	assert_int_equal(m.nr_levels, 2);
	assert_int_equal(m.levels[0].locked, 2);
	assert_int_equal(m.levels[1].ways, 4);
	assert_int_equal(m.levels[1].max_page, 65536);
	assert_int_equal(m.levels[1].large_ways, 8);
	assert_true(m.levels[1].unified && m.flush_on_switch && !m.flush_global);
	assert_float_equal(m.clock_hz, 1.5e9, 1);
	assert_string_equal(m.arch, "any");
	machine_release(&m);
	assert_int_equal(read_text(&m, "# mine\r\n\r\nversion 1\r\nabout\t two words # here\r\nlevel 8\r\ntext-page\t4K\r\n"), 0);
	assert_string_equal(m.about, "two words # here");
	machine_release(&m);
}

static void wrong(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"level 32\n",
		"text-page 4K\n",
		"level 0\ntext-page 4K\n",
		"level 32 ways 5\ntext-page 4K\n",
		"level 24 ways 8\ntext-page 4K\n",
		"level 64 ways 64 policy plru\ntext-page 4K\n",
		"level 32 policy best\ntext-page 4K\n",
		"level 32 ways\ntext-page 4K\n",
		"level 32 locked 32\ntext-page 4K\n",
		"level 32 ways 8 locked 4\ntext-page 4K\n",
		"level 32 colour red\ntext-page 4K\n",
		"level 99999999999999999999\ntext-page 4K\n",
		"level 32\ntext-page 3K\n",
		"level 32\ntext-page 4G\n",
		"level 32\ntext-page 4K 8K\n",
		"level 32\ntext-page 4K\ntext-page 4K\n",
		"level 1\nlevel 1\nlevel 1\nlevel 1\ntext-page 4K\n",
		"level 32\ntext-page 4K\npinned-text maybe\n",
		"level 32\ntext-page 4K\nmiss-cycles 20 10\n",
		"level 32\ntext-page 4K\nclock 48\n",
		"level 32\ntext-page 4K\nclock nan MHz\n",
		"level 32\ntext-page 4K\nl1i 32K 3 64\n",
		"level 32\ntext-page 4K\nl1i 32K 8 48\n",
		"level 32\ntext-page 4K\nl1i 0 8 64\nl2i 1 1 1\n",
		"about one\nabout two\nlevel 32\ntext-page 4K\n",
		"about one\nlevel 32\nabout\ttwo\ntext-page 4K\n",
		"about one\nversion 1\nlevel 32\ntext-page 4K\n",
		"level 32\nversion 1\ntext-page 4K\n",
		"level 32 large-ways 4\ntext-page 4K\n",
		"level 32\ntext-page 64K\nedge-page 128K\n",
	};
	struct machine m;

	verbosity = -1;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(read_text(&m, bad[i]), -1);
	assert_int_equal(machine_init(&m, "no-such-machine"), -1);
	assert_int_equal(machine_init(&m, "/nonexistent/x.machine"), -1);
	verbosity = 0;
}

static void defaults(void **state)
{
	(void)state;
	static const struct { uint16_t e_machine; const char *name; uint64_t stext, etext; } want[] = {
		{ .e_machine = EM_X86_64, .name = "x86-64-2m" }, { .e_machine = EM_IA_64, .name = "itanium2" },
		{ .e_machine = EM_RISCV, .name = "sifive-u74" }, { .e_machine = EM_SPARCV9, .name = "ultrasparc" },
		{ .e_machine = EM_MIPS, .name = "generic-4k-32" },
		/* Text that fills no whole 2 MB, though it is longer; and that just does. */
		{ EM_AARCH64, "arm64-64k", 0xffffffc008010000, 0xffffffc008300000 },
		{ EM_AARCH64, "arm64-64k", 0xffffffc008010000, 0xffffffc0083ff000 },
		{ EM_AARCH64, "arm64-2m", 0xffffffc008010000, 0xffffffc008400000 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct symtab st = { .e_machine = want[i].e_machine, .is_64 = true, .stext_addr = want[i].stext,
				     .etext_addr = want[i].etext };
		struct machine m;

		assert_int_equal(machine_init_for(&m, &st), 0);
		assert_string_equal(m.name, want[i].name);
		machine_release(&m);
	}
}

/* Whole text pages between text's edges, and what is counted of a kernel so mapped. */
static void edges(void **state)
{
	(void)state;
	const uint64_t start = 0xffffffc008010000;
	struct pageset s;
	struct machine m;

	assert_int_equal(machine_init(&m, "arm64-2m"), 0);
	assert_int_equal(machine_entry_bytes(&m), 2 << 20);
	machine_map_text(&m, start, start + (5 << 20));
	assert_int_equal(m.blocks_start, 0xffffffc008200000);
	assert_int_equal(m.blocks_end, 0xffffffc008400000);
	assert_int_equal(machine_entry_bytes(&m), 65536);
	assert_int_equal(machine_block_bytes(&m), 2 << 20);
	assert_null(machine_why_no_saving(&m, start, start + (5 << 20)));
	pageset_init_for(&s, &m, start);
	pageset_begin(&s, 1);
	pageset_touch(&s, start, start + 4);				/* its piece */
	pageset_touch(&s, 0xffffffc0081efffe, 0xffffffc0081f0002);	/* two */
	pageset_touch(&s, 0xffffffc008200000, 0xffffffc008200004);	/* the block */
	pageset_touch(&s, 0xffffffc008280000, 0xffffffc0082a0000);
	pageset_touch(&s, 0xffffffc0083ffffe, 0xffffffc008400002);	/* and the piece behind it */
	assert_int_equal(pageset_end(&s), 5);
	assert_int_equal(pageset_count(&s), 5);
	pageset_begin(&s, 1);
	pageset_touch(&s, start + 0x20000, 0xffffffc008410001);		/* all: 29 pieces, the block, 2 pieces */
	assert_int_equal(pageset_end(&s), 29 + 1 + 2);
	pageset_release(&s);
	/* No whole page: pieces everywhere. */
	machine_map_text(&m, start, start + (2 << 20));
	assert_int_equal(m.blocks_start, m.blocks_end);
	assert_int_equal(machine_entry_bytes(&m), 65536);
	machine_release(&m);
	/* A level of small pieces holds neither whole. */
	assert_int_equal(read_text(&m, "level 8 max-page 4K\ntext-page 2M\nedge-page 64K\n"), 0);
	machine_map_text(&m, start, start + (5 << 20));
	assert_int_equal(machine_entry_bytes(&m), 4096);
	assert_int_equal(machine_block_bytes(&m), 4096);
	machine_release(&m);
	/* Other machines do not mind. */
	assert_int_equal(machine_init(&m, "x86-64-2m"), 0);
	machine_map_text(&m, start, start + (5 << 20));
	assert_false(machine_has_edges(&m));
	assert_int_equal(machine_entry_bytes(&m), 2 << 20);
	machine_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped), cmocka_unit_test(values), cmocka_unit_test(from_file),
		cmocka_unit_test(wrong), cmocka_unit_test(defaults), cmocka_unit_test(edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
