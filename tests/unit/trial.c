/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes from the map of a trial link, and the layout that goes by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/image/image.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/trial.h"

static struct unit units[] = {
	{ .section = ".head.text", .object = "head.o", .addr = 0x1000, .size = 0x10, .align = 4, .group = GROUP_HEAD },
	{ .section = ".text.f", .object = "a.o", .addr = 0x1010, .size = 0x20, .align = 2, .group = GROUP_MAIN, .movable = true },
	{ .section = ".text.f", .object = "b.o", .addr = 0x1030, .size = 0x20, .align = 2, .group = GROUP_MAIN, .movable = true },
	{ .section = ".text", .object = "c.o", .addr = 0x1050, .size = 0x20, .align = 4, .group = GROUP_MAIN },
};
static const struct image img = {
	.units = units, .nr_units = ARRAY_SIZE(units), .text_start = 0x1000, .text_end = 0x1070,
};

static uint32_t *read_sizes(const char *sections)
{
	char path[] = "/tmp/hottext-trial-XXXXXX";
	int fd = mkstemp(path);
	char *text = xasprintf("Linker script and memory map\n\n"
			       ".text           0x0000000000001000      0x100\n%s\n"
			       "OUTPUT(vmlinux elf64-littleriscv)\n", sections);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	uint32_t *sizes = trial_sizes(&img, path);
	unlink(path);
	free(text);
	return sizes;
}

static void test_sizes(void **state)
{
	struct layout l;

	(void)state;
	uint32_t *sizes = read_sizes(
		" .head.text     0x0000000000001000       0x10 head.o\n"
		" .text.f        0x0000000000001010       0x1a b.o\n"
		"                                         0x24 (size before relaxing)\n"
		" .text.f        0x000000000000102a       0x24 a.o\n"
		" .text          0x0000000000001050        0x8 c.o\n"
		" .text          0x0000000000001058        0x8 c.o\n");
	assert_non_null(sizes);
	assert_int_equal(sizes[0], 0x10);
	assert_int_equal(sizes[1], 0x24);
	assert_int_equal(sizes[2], 0x1a);
	assert_int_equal(sizes[3], 0x20);	/* two of one name: not told apart */

	layout_init(&l, &img);
	l.sizes = sizes;
	layout_append(&l, 2, 0);
	layout_append(&l, 1, 0);
	layout_assign(&l);
	assert_int_equal(l.addr[2], 0x1010);
	assert_int_equal(l.addr[1], 0x102a);
	assert_int_equal(l.addr[3], 0x1050);	/* 0x104e up to 4 */
	assert_int_equal(l.text_end, 0x1070);
	layout_release(&l);
	free(sizes);
}

static void test_other_kernel(void **state)
{
	(void)state;
	assert_null(read_sizes(" .text.g        0x0000000000001010       0x1a b.o\n"));
	assert_null(read_sizes(" .head.text     0x0000000000001000       0x10 head.o\n"));
	assert_null(trial_sizes(&img, "/nonexistent/vmlinux.map"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_other_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
