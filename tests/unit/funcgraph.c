/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries and exits into calls, paths and what follows what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "collect/ftrace/funcgraph.h"
#include "collect/profile.h"
#include "lib/mem.h"

static struct profile profile;
static struct funcgraph graph;

static int set_up(void **state)
{
	(void)state;
	memset(&profile, 0, sizeof(profile));
	funcgraph_init(&graph, &profile);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	funcgraph_release(&graph);
	profile_release(&profile);
	return 0;
}

/*
 * Events as text: "name{" and "name;" enter, the latter leaves at once; "}" leaves;
 * "@N" is task N from here on, "%N" CPU N, "!" events lost. "f<g" is a function event, "f<g*N" that many.
 */
static void play(const char *text)
{
	uint32_t pid = 1, cpu = 0, depth[8] = { 0 };
	char *copy = xstrdup(text), *save;

	for (char *s = strtok_r(copy, " \n", &save); s; s = strtok_r(NULL, " \n", &save)) {
		char *caller = strchr(s, '<'), last = s[strlen(s) - 1];

		if (*s == '@') {
			pid = (uint32_t)atoi(s + 1);
		} else if (*s == '%') {
			cpu = (uint32_t)atoi(s + 1);
		} else if (*s == '!') {
			funcgraph_lost(&graph, cpu);
		} else if (*s == '}') {
			funcgraph_exit(&graph, cpu, pid, --depth[pid]);
		} else if (caller) {
			char *times = strchr(s, '*');

			*caller++ = '\0';
			if (times)
				*times++ = '\0';
			funcgraph_call(&graph, cpu, pid, profile_func(&profile, s), profile_func(&profile, caller), 8,
				       times ? (uint32_t)atoi(times) : 1);
		} else {
			s[strlen(s) - 1] = '\0';
			funcgraph_entry(&graph, cpu, pid, depth[pid], profile_func(&profile, s), PROFILE_OFF_UNKNOWN);
			if (last == ';')
				funcgraph_exit(&graph, cpu, pid, depth[pid]);
			else
				depth[pid]++;
		}
	}
	free(copy);
	funcgraph_finish(&graph);
}

static void want(const char *line, bool there)
{
	char *text = NULL;
	size_t len;
	FILE *fp = open_memstream(&text, &len);

	profile_write(&profile, fp);
	fclose(fp);
	/* Path ids are hashes: they do not matter here. */
	for (char *s = text; (s = strstr(s, "\npath ")); s += 6)
		memmove(s + 6, s + 23, strlen(s + 23) + 1);
	if (!strstr(text, line) == there) {
		printf("# %s '%s' in\n%s", there ? "no" : "a", line, text);
		free(text);
		fail();
	}
	free(text);
}

/* The call's own function is the root, work on the way back belongs to the path, and paths follow each other. */
static void test_syscall(void **state)
{
	(void)state;
	play("x64_sys_call{ __x64_sys_read{ vfs_read; vfs_read; } } exit_to_user_mode_prepare; "
	     "x64_sys_call{ __x64_sys_getpid; }");
	assert_int_equal(graph.paths, 2);
	assert_int_equal(graph.broken, 0);
	want("path syscall __x64_sys_read 1 __x64_sys_read exit_to_user_mode_prepare vfs_read x64_sys_call\n", true);
	want("path syscall __x64_sys_getpid 1 __x64_sys_getpid x64_sys_call\n", true);
	want("call __x64_sys_read - vfs_read 2\n", true);
	want("func vfs_read 0 2\n", true);
	assert_int_equal(profile.nexts.nr_keys, 1);
}

/* An interrupt is a path of its own and no callee of what it interrupts. */
static void test_interrupt(void **state)
{
	(void)state;
	play("x64_sys_call{ __x64_sys_read{ vfs_read{ irq_enter_rcu; __sysvec_apic_timer_interrupt{ tick; } irq_exit_rcu; "
	     "copy; } } }");
	assert_int_equal(graph.paths, 2);
	want("path interrupt __sysvec_apic_timer_interrupt 1 __sysvec_apic_timer_interrupt irq_enter_rcu irq_exit_rcu tick\n",
	     true);
	want("path syscall __x64_sys_read 1 __x64_sys_read copy vfs_read x64_sys_call\n", true);
	want("call vfs_read - __sysvec_apic_timer_interrupt", false);
	want("call vfs_read - copy 1\n", true);
	assert_int_equal(profile.nexts.nr_keys, 0);
}

/* A fault whose entry is not traced shows as several outermost functions. */
static void test_fault(void **state)
{
	(void)state;
	play("lock_mm_and_find_vma; handle_mm_fault{ alloc; } up_read; exit_to_user_mode_prepare; up_read; other;");
	want("path exception handle_mm_fault 1 alloc exit_to_user_mode_prepare handle_mm_fault lock_mm_and_find_vma up_read\n",
	     true);
	want("path chain up_read 1 other up_read\n", true);
}

/* A task sleeps in its call while another runs: each has its own stack, the CPU has the order. */
static void test_switch(void **state)
{
	(void)state;
	play("@1 x64_sys_call{ __x64_sys_read{ schedule{ @2 x64_sys_call{ __x64_sys_write{ wake; } } @1 } } } "
	     "@3 x64_sys_call{ __x64_sys_read{ schedule{ } } }");
	want("path syscall __x64_sys_read 2 __x64_sys_read schedule x64_sys_call\n", true);
	want("path syscall __x64_sys_write 1 __x64_sys_write wake x64_sys_call\n", true);
	assert_int_equal(profile.nexts.nr_keys, 2);	/* write, read; read, read */
}

/* What exits never returns, and is whole all the same. */
static void test_death(void **state)
{
	(void)state;
	play("x64_sys_call{ __x64_sys_exit_group{ do_exit{ do_task_dead{ schedule{ @2 x64_sys_call{ }");
	want("path syscall __x64_sys_exit_group 1 __x64_sys_exit_group do_exit do_task_dead schedule x64_sys_call\n", true);
	assert_int_equal(graph.broken, 0);
}

/* Lost events break the paths that were open on their CPU, not those of others; calls stay counted. */
static void test_lost(void **state)
{
	(void)state;
	play("%0 @1 x64_sys_call{ __x64_sys_read{ vfs_read{ } %1 @2 x64_sys_call{ __x64_sys_write{ %0 ! @1 } } %1 @2 } }");
	assert_int_equal(graph.broken, 1);
	want("path syscall __x64_sys_write 1 ", true);
	want("path syscall __x64_sys_read", false);
	want("func vfs_read 0 1\n", true);
}

/* A task that was open there is broken when it goes on elsewhere, or never; what it does from then on is whole. */
static void test_lost_elsewhere(void **state)
{
	(void)state;
	play("%0 @1 x64_sys_call{ __x64_sys_read{ @2 x64_sys_call{ __x64_sys_write{ @3 x64_sys_call{ "
	     "%1 ! @4 x64_sys_call{ __x64_sys_close; } %0 ! %1 @1 vfs_read; } } x64_sys_call{ __x64_sys_getpid; } "
	     "%0 @2 } } x64_sys_call{ __x64_sys_stat; }");
	assert_int_equal(graph.broken, 3);
	assert_int_equal(graph.paths, 3);
	want("path syscall __x64_sys_close 1 ", true);
	want("path syscall __x64_sys_getpid 1 ", true);
	want("path syscall __x64_sys_stat 1 ", true);
	want("func vfs_read 0 1\n", true);
	want("call __x64_sys_read - vfs_read", false);
}

/* The time for losses does not grow with the tasks. */
static void test_many_losses(void **state)
{
	uint32_t f = profile_func(&profile, "f");
	clock_t begin = clock();

	(void)state;
	for (uint32_t pid = 1; pid <= 100000; pid++) {
		funcgraph_entry(&graph, pid % 4, pid, 0, f, PROFILE_OFF_UNKNOWN);
		funcgraph_lost(&graph, pid % 4);
	}
	play("");
	assert_int_equal(graph.broken, 100000);
	assert_true((clock() - begin) / CLOCKS_PER_SEC < 5);
}

/* Depths that do not fit: an exit without its entry, an entry that skips some. */
static void test_depths(void **state)
{
	uint32_t f = profile_func(&profile, "f"), g = profile_func(&profile, "x64_sys_call");

	(void)state;
	funcgraph_exit(&graph, 0, 1, 3);
	funcgraph_entry(&graph, 0, 1, 2, f, PROFILE_OFF_UNKNOWN);
	funcgraph_exit(&graph, 0, 1, 2);
	funcgraph_entry(&graph, 0, 1, 0, g, PROFILE_OFF_UNKNOWN);
	funcgraph_entry(&graph, 0, 1, 3, f, PROFILE_OFF_UNKNOWN);
	funcgraph_entry(&graph, 0, 1, UINT32_MAX, f, PROFILE_OFF_UNKNOWN);
	funcgraph_exit(&graph, 0, 1, UINT32_MAX);
	funcgraph_exit(&graph, UINT32_MAX, 1, 0);
	funcgraph_entry(&graph, 0, 1, 0, INDEX_NONE, PROFILE_OFF_UNKNOWN);
	funcgraph_exit(&graph, 0, 1, 0);
	play("");
	assert_int_equal(graph.paths, 0);
	want("func f 0 3\n", true);
	want("call x64_sys_call", false);
}

/* The function tracer tells no exits: callers do. */
static void test_function(void **state)
{
	(void)state;
	play("x64_sys_call<do_syscall_64 __x64_sys_read<do_syscall_64 ksys_read<do_syscall_64 vfs_read<ksys_read "
	     "irq_enter_rcu<common_interrupt __common_interrupt<common_interrupt tick<__common_interrupt "
	     "copy<vfs_read find_vma<do_user_addr_fault fsnotify<vfs_read*3 "
	     "exit_to_user_mode_prepare<syscall_exit_to_user_mode "
	     "x64_sys_call<do_syscall_64 __x64_sys_getpid<do_syscall_64");
	want("path syscall __x64_sys_read 1 __x64_sys_read copy do_syscall_64 exit_to_user_mode_prepare fsnotify ksys_read "
	     "syscall_exit_to_user_mode vfs_read x64_sys_call\n", true);
	want("path interrupt common_interrupt 1 __common_interrupt common_interrupt irq_enter_rcu tick\n", true);
	want("path exception do_user_addr_fault 1 do_user_addr_fault find_vma\n", true);
	want("call ksys_read 8 vfs_read 1\n", false);
	want("call ksys_read 0x8 vfs_read 1\n", true);
	want("call vfs_read 0x8 fsnotify 3\n", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_syscall, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_interrupt, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fault, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_switch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_death, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lost_elsewhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_losses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_depths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_function, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
