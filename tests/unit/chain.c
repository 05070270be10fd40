/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Roots by name; chains into paths, calls and successions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/chain.h"
#include "collect/root.h"
#include "lib/mem.h"

static void test_roots(void **state)
{
	static const struct { const char *name; enum root_kind kind; const char *shown; } cases[] = {
		{ "__x64_sys_read", ROOT_SYSCALL, "read" }, { "__se_sys_write", ROOT_SYSCALL, "write" },
		{ "sys_mmap", ROOT_SYSCALL, "mmap" }, { "ksys_semctl.constprop.0", ROOT_SYSCALL, "semctl" },
		{ "__arm64_sys_openat", ROOT_SYSCALL, "openat" },
		{ "__ia32_compat_sys_ioctl", ROOT_SYSCALL, "ioctl" },
		{ "__do_sys_fork@fork.c", ROOT_SYSCALL, "fork" },
		{ "sys_imageblit", ROOT_NONE, "sys_imageblit" },
		{ "sys_", ROOT_NONE, "sys_" }, { "vfs_read", ROOT_NONE, "vfs_read" },
		{ "do_syscall_64", ROOT_NONE, "do_syscall_64" },
		{ "el0t_64_sync", ROOT_NONE, "el0t_64_sync" },
		{ "asm_sysvec_apic_timer_interrupt", ROOT_INTERRUPT, "asm_sysvec_apic_timer_interrupt" },
		{ "asm_exc_page_fault", ROOT_EXCEPTION, "asm_exc_page_fault" },
		{ "exc_nmi", ROOT_INTERRUPT, "exc_nmi" }, { "do_IRQ", ROOT_INTERRUPT, "do_IRQ" },
		{ "HardwareInterrupt_virt", ROOT_INTERRUPT, "HardwareInterrupt_virt" },
		{ "DataStorage_virt", ROOT_EXCEPTION, "DataStorage_virt" },
		{ "__irq_usr", ROOT_INTERRUPT, "__irq_usr" },
		{ "__dabt_svc", ROOT_EXCEPTION, "__dabt_svc" },
		{ "el1h_64_irq_handler", ROOT_INTERRUPT, "el1h_64_irq_handler" },
		{ "ret_from_fork", ROOT_TASK, "ret_from_fork" }, { "kthread", ROOT_TASK, "kthread" },
		{ "kthread_stop", ROOT_NONE, "kthread_stop" },
		{ "__switch_to_asm", ROOT_SWITCH, "__switch_to_asm" },
		{ "_switch", ROOT_SWITCH, "_switch" }, { "cpu_switch_to", ROOT_SWITCH, "cpu_switch_to" },
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(root_kind(cases[i].name), cases[i].kind);
		assert_string_equal(root_display_name(cases[i].name, buf, sizeof(buf)), cases[i].shown);
	}
	assert_true(root_is_syscall_entry("el0_svc"));
	assert_false(root_is_syscall_entry("vfs_read"));
	assert_string_equal(root_display_name("__x64_sys_read", buf, 4), "rea");
	/* No name is too long to be asked about. */
	char *longest = xcalloc(1, 5000);
	memset(longest, 'x', 4999);
	assert_int_equal(root_kind(longest), ROOT_NONE);
	free(longest);
}

static struct chain_frame at(struct chain *c, const char *name, uint32_t off)
{
	return (struct chain_frame){ profile_func(c->profile, name), off };
}

static char *text_of(const struct profile *p)
{
	char *text = NULL;
	size_t len;
	FILE *fp = open_memstream(&text, &len);

	profile_write(p, fp);
	fclose(fp);
	return text;
}

static void finish(struct chain *c, char **text)
{
	struct profile *p = c->profile;

	chain_finish(c, profile_add_source(p, "test"));
	*text = text_of(p);
	chain_release(c);
	profile_release(p);
}

/* An interrupt on a system call: two paths, one after the other, and no call between them. */
static void test_cut(void **state)
{
	struct profile p = { 0 };
	struct chain c;
	char *text;

	(void)state;
	chain_init(&c, &p, NULL);
	struct chain_frame frames[] = {
		at(&c, "tick", 4), at(&c, "sysvec_timer", 20), at(&c, "asm_sysvec_timer", 3),
		at(&c, "vfs_read", 0), at(&c, "__x64_sys_read", 40), { INDEX_NONE, 0 },
	};
	struct chain_sample s = { 2, CHAIN_NO_TASK, 0 };
	chain_add(&c, frames, ARRAY_SIZE(frames), &s);
	finish(&c, &text);
	assert_string_equal(text,
		"hottext-profile 1\n"
		"source test - - - - 1 1 1 0 0\n"
		"func tick 2 0\n"
		"touch tick 0x0 2\n"
		"call __x64_sys_read 0x28 vfs_read 2\n"
		"call asm_sysvec_timer 0x3 sysvec_timer 2\n"
		"call sysvec_timer 0x14 tick 2\n"
		"path fa3e4f6611b07fc1 syscall __x64_sys_read 2 __x64_sys_read:4 vfs_read:1\n"
		"path 677ab17d0d84376a interrupt asm_sysvec_timer 2 "
		"asm_sysvec_timer:1 sysvec_timer:2 tick:1\n"
		"next fa3e4f6611b07fc1 677ab17d0d84376a 2\n");
	free(text);
}

/* Repeats are held back, and come out as if each had been added at once. */
static void test_repeats(void **state)
{
	char *texts[2];

	(void)state;
	for (int held = 0; held < 2; held++) {
		struct profile p = { 0 };
		struct chain c;

		chain_init(&c, &p, NULL);
		struct chain_frame a[] = { at(&c, "f", 1), at(&c, "sys_a", 9) };
		struct chain_frame b[] = { at(&c, "g", 1), at(&c, "sys_b", 9) };
		for (uint64_t i = 0; i < 10; i++) {
			struct chain_sample s = { 1, 7, i * 1000000 };

			if (!held)
				c.seen_bytes = SIZE_MAX;	/* forget what was seen */
			chain_add(&c, i % 3 ? a : b, 2, &s);
		}
		finish(&c, &texts[held]);
	}
	assert_string_equal(texts[0], texts[1]);
	assert_non_null(strstr(texts[0], "func f 6 0\nfunc g 4 0\n"));
	free(texts[0]);
	free(texts[1]);
}

/* Neighbours are samples of one task, in ascending time, at most 50 ms apart. */
static void test_next(void **state)
{
	static const struct { uint64_t task, ms; } samples[] = {
		{ 1, 10 }, { 2, 20 }, { 1, 60 }, { 1, 111 }, { 1, 100 }, { CHAIN_NO_TASK, 101 }, { 2, 70 },
	};
	struct profile p = { 0 };
	struct chain c;

	(void)state;
	chain_init(&c, &p, NULL);
	struct chain_frame f[] = { at(&c, "f", 1), at(&c, "sys_a", 9) };
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct chain_sample s = { 1, samples[i].task, samples[i].ms * 1000000 };
		chain_add(&c, f, 2, &s);
	}
	chain_finish(&c, profile_add_source(&p, "test"));
	assert_int_equal(p.nexts.nr_keys, 1);
	assert_int_equal(p.next_weights[0], 2);
	chain_release(&c);
	profile_release(&p);
}

/* Runs of any length in any order, many samples at one time: by time, and as they came. */
static void test_sort(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 200; seed++) {
		struct succession s[300];
		uint32_t nr = seed % 7 ? 300 - seed : seed % 3, x = seed;
		uint64_t time_ns = 0;

		for (uint32_t i = 0; i < nr; i++) {
			x = x * 1103515245 + 12345;
			time_ns = (x >> 16) % seed ? time_ns + (x >> 20) % 2 : (x >> 16) % 50;
			s[i] = (struct succession){ time_ns, x, i };
		}
		successions_sort(s, nr);
		for (uint32_t i = 1; i < nr; i++) {
			assert_true(s[i - 1].time_ns <= s[i].time_ns);
			assert_true(s[i - 1].time_ns < s[i].time_ns || s[i - 1].path < s[i].path);
		}
	}
}

/* The samples of one processor after those of another, between which a task moved to and fro. */
static void test_unsorted(void **state)
{
	static const struct { char name; uint64_t task, ms; } samples[] = {
		{ 'a', 1, 10 }, { 'c', 1, 30 }, { 'x', 2, 31 }, { 'b', 1, 20 }, { 'd', 1, 40 }, { 'd', 1, 40 },
	};
	char *texts[2], name[] = "sys__";

	(void)state;
	for (int sorted = 0; sorted < 2; sorted++) {
		struct profile p = { 0 };
		struct chain c;

		chain_init(&c, &p, NULL);
		if (sorted)
			chain_sort(&c);
		for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
			struct chain_sample s = { 1, samples[i].task, samples[i].ms * 1000000 };

			name[4] = samples[i].name;
			struct chain_frame f[] = { at(&c, "f", 1), at(&c, name, 9) };
			chain_add(&c, f, 2, &s);
		}
		assert_int_equal(p.nexts.nr_keys, 0);
		chain_finish(&c, profile_add_source(&p, "test"));
		assert_int_equal(p.nexts.nr_keys, sorted ? 3 : 2);	/* a c d, else a b c d */
		chain_release(&c);
		p.nexts.nr_keys = 0;
		texts[sorted] = text_of(&p);
		profile_release(&p);
	}
	assert_string_equal(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
}

/* More than may wait: two processors' samples in turn, by rounds of 1,000. */
static void test_window(void **state)
{
	enum { ROUND = 1000, NR = CHAIN_WINDOW / ROUND * ROUND * 3 };
	struct profile p = { 0 };
	struct chain c;

	(void)state;
	chain_init(&c, &p, NULL);
	chain_sort(&c);
	struct chain_frame a[] = { at(&c, "f", 1), at(&c, "sys_a", 9) }, b[] = { at(&c, "f", 1), at(&c, "sys_b", 9) };
	for (uint64_t i = 0; i < NR; i++) {
		uint64_t begin = i / ROUND * ROUND, at = i % ROUND, odd = at >= ROUND / 2;
		struct chain_sample s = { 1, 1, (begin + 2 * (at % (ROUND / 2)) + odd) * 1000 };

		chain_add(&c, odd ? b : a, 2, &s);
		assert_true(c.alloc_late <= CHAIN_WINDOW);
	}
	chain_finish(&c, profile_add_source(&p, "test"));
	assert_int_equal(p.nexts.nr_keys, 2);		/* from a to b, from b to a */
	assert_int_equal(p.next_weights[0] + p.next_weights[1], NR - 1);
	assert_in_range(p.next_weights[0], NR / 2 - 1, NR / 2);
	chain_release(&c);
	profile_release(&p);
}

/* Sampled in the function that was just left: it has the sample, the path and its calls are the chain's. */
static void test_apart(void **state)
{
	struct profile p = { 0 };
	struct chain c;
	char *text;

	(void)state;
	chain_init(&c, &p, NULL);
	struct chain_frame frames[] = {
		at(&c, "left", 0x30), at(&c, "vfs_read", 0x10), at(&c, "__x64_sys_read", 40),
	};
	struct chain_sample s = { 2, 7, 5 };
	chain_add(&c, frames, 3, &s);		/* the same frames are another chain when none stands apart */
	chain_add_apart(&c, frames, 3, &s);
	chain_add_apart(&c, frames, 3, &s);
	chain_add_apart(&c, frames, 2, &s);	/* of a chain of one frame nothing is known but the sample */
	finish(&c, &text);
	assert_string_equal(text,
		"hottext-profile 1\n"
		"source test - - - - 4 4 4 0 0\n"
		"func left 8 0\n"
		"touch left 0x30 8\n"
		"call __x64_sys_read 0x28 vfs_read 6\n"
		"call vfs_read 0x10 left 2\n"
		"path 52cd65220aaeeef9 syscall __x64_sys_read 2 __x64_sys_read:4 left:8 vfs_read:2\n"
		"path fa3e4c6611b07aa8 syscall __x64_sys_read 4 __x64_sys_read:4 vfs_read:2\n");
	free(text);
}

static void test_branches(void **state)
{
	struct profile p = { 0 };
	struct chain c;
	char *text;

	(void)state;
	chain_init(&c, &p, NULL);
	struct chain_frame user = { INDEX_NONE, 0 };
	struct chain_branch b[] = {	/* newest first: entry, call, loop, return, back to user mode */
		{ at(&c, "entry", 0x60), user, false },
		{ at(&c, "f", 0x40), at(&c, "entry", 0x20), false },
		{ at(&c, "f", 0x38), at(&c, "f", 0x10), false },
		{ at(&c, "entry", 0x1f), at(&c, "f", 0), false },
		{ user, at(&c, "entry", 0), true },
	};
	struct chain_sample s = { 1, 7, 5 };
	chain_add_branches(&c, b, ARRAY_SIZE(b), true, &s);
	finish(&c, &text);
	assert_string_equal(text,
		"hottext-profile 1\n"
		"source test - - - - 0 0 0 0 0\n"
		"func entry 0 1\n"
		"func f 0 1\n"
		"touch entry 0x0 1\n" "touch entry 0x10 1\n" "touch entry 0x20 1\n" "touch entry 0x30 1\n"
		"touch entry 0x40 1\n" "touch entry 0x50 1\n" "touch entry 0x60 1\n"
		"touch f 0x0 1\n" "touch f 0x10 2\n" "touch f 0x20 2\n" "touch f 0x30 2\n" "touch f 0x40 1\n"
		"call entry 0x1f f 1\n"
		"path dab148d9452bb6d8 chain entry 1 entry:f7 f:f1\n");
	free(text);
}

/* A filter of the kernel's branches leaves out those that leave it: two system calls stand one behind the other. */
static void test_entered_anew(void **state)
{
	struct profile p = { 0 };
	struct chain c;
	char *text;

	(void)state;
	chain_init(&c, &p, NULL);
	struct chain_frame user = { INDEX_NONE, 0 };
	struct chain_branch b[] = {	/* newest first */
		{ at(&c, "entry", 0x1f), at(&c, "g", 0), false },
		{ user, at(&c, "entry", 0), true },
		{ at(&c, "entry", 0x1f), at(&c, "f", 0), false },
		{ user, at(&c, "entry", 0), true },
	};
	struct chain_sample s = { 1, 7, 5 };
	chain_add_branches(&c, b, ARRAY_SIZE(b), true, &s);
	finish(&c, &text);
	assert_non_null(strstr(text, " chain entry 1 entry:3 f:1\n"));
	assert_non_null(strstr(text, " chain entry 1 entry:3 g:1\n"));
	assert_null(strstr(text, "f:1 g:1"));
	free(text);
}

/* Of calls alone, the code between two may not have run in a line. */
static void test_some_branches(void **state)
{
	struct profile p = { 0 };
	struct chain c;
	char *text;

	(void)state;
	chain_init(&c, &p, NULL);
	struct chain_frame user = { INDEX_NONE, 0 };
	struct chain_branch b[] = {
		{ at(&c, "entry", 0x8f), at(&c, "g", 0), false },
		{ at(&c, "entry", 0x1f), at(&c, "f", 0), false },
		{ user, at(&c, "entry", 0), true },
	};
	struct chain_sample s = { 1, 7, 5 };
	chain_add_branches(&c, b, ARRAY_SIZE(b), false, &s);
	finish(&c, &text);
	assert_non_null(strstr(text, " chain entry 1 entry:301 f:1 g:1\n"));
	assert_null(strstr(text, "touch entry"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_unsorted),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_entered_anew),
		cmocka_unit_test(test_some_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
