/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces written here word by word, replayed under link order and under moved units. */
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

#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "analyze/tlb/replay.h"
#include "collect/qemu/format.h"
#include "lib/mem.h"

static char dir[] = "/tmp/hottext-replay-XXXXXX";
static char trace_path[64];
static struct image img;

static FILE *out;
static uint32_t nr_runs;

static void word(uint32_t w)
{
	for (int i = 0; i < 4; i++)
		assert_int_not_equal(fputc((int)(w >> 8 * i & 0xff), out), EOF);
}

static void begin(uint16_t machine, uint32_t cpus, uint32_t build_id)
{
	out = fopen(trace_path, "wb");
	assert_non_null(out);
	assert_int_equal(fwrite(FETCH_MAGIC, 1, 8, out), 8);
	word(FETCH_VERSION);
	word(machine);
	word(cpus);
	word(0xc0000000);
	word(0);
	word(build_id);
	for (int i = 1; i < 8; i++)
		word(0);
	nr_runs = 0;
}

static void define(uint64_t addr, uint32_t bytes)
{
	word(FETCH_DEFINE);
	word((uint32_t)addr);
	word((uint32_t)(addr >> 32));
	word(bytes);
	word(1);
}

static void run(uint32_t block)
{
	word(block);
	nr_runs++;
}

static void end(void)
{
	word(FETCH_END);
	word(nr_runs);
	word(0);
	word(nr_runs);
	word(0);
	assert_int_equal(fclose(out), 0);
}

static int setup(void **state)
{
	(void)state;
	char cmd[1024];

	if (!mkdtemp(dir))
		return -1;
	snprintf(trace_path, sizeof(trace_path), "%s/trace", dir);
	snprintf(cmd, sizeof(cmd), "${CC:-cc} -c tests/data/tlbdump/kernel.S -o %s/k.o && "
		 "${LD:-ld} --build-id=none -T tests/data/tlbdump/kernel.lds -Map=%s/vmlinux.map -o %s/vmlinux %s/k.o",
		 dir, dir, dir, dir);
	if (system(cmd))
		return -1;
	snprintf(cmd, sizeof(cmd), "%s/vmlinux", dir);
	return image_init(&img, cmd, NULL);
}

static int teardown(void **state)
{
	(void)state;
	char cmd[128];

	image_release(&img);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

static struct machine lru(uint32_t entries)
{
	return (struct machine){
		.text_page = 4096, .user_page = 4096, .module_page = 4096, .nr_levels = 1,
		.levels = { { .entries = entries, .ways = entries } },
	};
}

/* Three functions on three pages, in turn, by two entries: never a hit; on one page: one miss. */
static void moves(void **state)
{
	(void)state;
	static const char *const names[] = { "sys_read", "pipe_read", "clear_page" };
	struct machine small = lru(2), big = lru(4);
	const struct machine *machines[] = { &small, &big };
	uint64_t *addr = xcalloc(img.nr_units, sizeof(*addr));
	const uint64_t *layouts[] = { NULL, addr };
	struct tlb_counts c[4];

	begin(img.symtab.e_machine, 1, 0);
	for (uint32_t i = 0; i < img.nr_units; i++)
		addr[i] = img.units[i].addr;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t f = image_match(&img, names[i], NULL);

		assert_int_not_equal(f, INDEX_NONE);
		define(img.funcs[f].addr + 16, 16);
		addr[img.funcs[f].unit] = 0xc0200000 + 64 * (uint64_t)i;
	}
	for (uint32_t i = 0; i < 30; i++)
		run(i % 3);
	end();
	assert_int_equal(replay_layouts(trace_path, &img, layouts, 2, machines, 2, c), 0);
	assert_int_equal(c[0].kernel_misses, 30);
	assert_int_equal(c[1].kernel_misses, 3);
	assert_int_equal(c[2].kernel_misses, 1);
	assert_int_equal(c[3].kernel_misses, 1);
	assert_int_equal(c[0].kernel_fetches, 30);
	assert_int_equal(c[2].kernel_fetches, 1);
	assert_int_equal(replay_trace(trace_path, &img, addr, machines, 1, c), 0);
	assert_int_equal(c[0].kernel_misses, 1);
	free(addr);
}

/* User pages share the TLB; a switch makes them other pages; repeats and marks cost nothing. */
static void events(void **state)
{
	(void)state;
	struct machine m = lru(4);
	const struct machine *machines[] = { &m };
	struct tlb_counts c;

	begin(img.symtab.e_machine, 1, 0);
	define(0xc004b000, 16);
	define(0x10000000, 16);
	for (int i = 0; i < 2; i++) {
		run(0);
		word(FETCH_REPEAT);
		word(99);
		nr_runs += 99;
		run(1);
		word(FETCH_MARK);
		word((uint32_t)i);
		run(0);
		word(FETCH_SWITCH);
	}
	end();
	assert_int_equal(replay_trace(trace_path, &img, NULL, machines, 1, &c), 0);
	assert_int_equal(c.kernel_misses, 1);
	assert_int_equal(c.user_misses, 2);
}

/* Each CPU has a TLB of its own. */
static void cpus(void **state)
{
	(void)state;
	struct machine m = lru(4);
	const struct machine *machines[] = { &m };
	struct tlb_counts c;

	begin(img.symtab.e_machine, 2, 0);
	define(0xc004b000, 16);
	run(0);
	word(FETCH_CPU);
	word(1);
	run(0);
	word(FETCH_CPU);
	word(0);
	run(0);
	end();
	assert_int_equal(replay_trace(trace_path, &img, NULL, machines, 1, &c), 0);
	assert_int_equal(c.kernel_misses, 2);
}

static void refused(void **state)
{
	(void)state;
	struct machine m = lru(4);
	const struct machine *machines[] = { &m };
	struct tlb_counts c;

	/* Nothing of it lies in this kernel's text. */
	begin(img.symtab.e_machine, 1, 0);
	define(0xc8000000, 16);
	run(0);
	end();
	assert_int_equal(replay_trace(trace_path, &img, NULL, machines, 1, &c), -1);
	begin(img.symtab.e_machine == EM_S390 ? EM_PPC : EM_S390, 1, 0);
	end();
	assert_int_equal(replay_trace(trace_path, &img, NULL, machines, 1, &c), -1);
	/* Cut off. */
	begin(img.symtab.e_machine, 1, 0);
	define(0xc004b000, 16);
	run(0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(replay_trace(trace_path, &img, NULL, machines, 1, &c), -1);
	assert_int_equal(replay_trace("/nonexistent", &img, NULL, machines, 1, &c), -1);
	/* The same build-id word as nothing: images without one are not compared. */
	begin(img.symtab.e_machine, 1, 0x12345678);
	define(0xc004b000, 16);
	run(0);
	end();
	assert_int_equal(replay_trace(trace_path, &img, NULL, machines, 1, &c), 0);
	img.symtab.build_id_size = 20;
	memset(img.symtab.build_id, 1, 20);
	assert_int_equal(replay_trace(trace_path, &img, NULL, machines, 1, &c), -1);
	img.symtab.build_id_size = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves), cmocka_unit_test(events), cmocka_unit_test(cpus), cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
