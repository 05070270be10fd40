/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random kernels under random plans, linked by GNU ld through the wrapper: every
 * address as laid out, every function there once, every group whole.
 * HOTTEXT_LINK_CASES sets how many (default 50); HOTTEXT_LINK_SEED the first.
 * HOTTEXT_LINK_KERNEL=FOLDER does the same with the objects of a finished kernel build, one bare link a case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "ldscripts/fragment.h"
#include "ldscripts/verify.h"
#include "ldscripts/wrapper/wrapper.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/plan/plan.h"

struct arch {
	const char *as, *ld, *script, *call, *nop_fill;
	const char *without;	/* groups that its script has no place for */
	uint32_t unit;		/* bytes of an instruction's alignment */
};

static const struct arch archs[] = {
	{ "as", "ld", "x86-64-6.1.lds", "call", "0x90", "", 1 },
	{ "as", "ld", "x86-64-6.13.lds", "call", "0x90", "", 1 },
	{ "powerpc-linux-gnu-as", "powerpc-linux-gnu-ld", "ppc32.lds", "bl", "0x60", ".entry.text", 4 },
	{ "aarch64-linux-gnu-as", "aarch64-linux-gnu-ld", "arm64.lds", "bl", "0x1f", ".kprobes.text .cpuidle.text", 4 },
};

static char root[PATH_MAX], work[PATH_MAX];
static uint64_t seed;

/* xorshift64*: the same kernels everywhere. */
static uint32_t rnd(uint32_t n)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * 0x2545f4914f6cdd1dull) >> 33) % n;
}

static int run(const char *prog, ...)
{
	char *argv[64] = { (char *)prog };
	int n = 1, status;
	va_list ap;

	va_start(ap, prog);
	while (n < 63 && (argv[n] = va_arg(ap, char *)))
		n++;
	va_end(ap);
	pid_t pid = fork();
	if (!pid) {
		execvp(prog, argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *hottext(void)
{
	const char *name = getenv("HOTTEXT");

	return name ? name : "hottext";
}

/* The wrapper as a command of its own, since it may become the linker. */
static int wrapper(const struct arch *a, const char *plan, const char *output)
{
	char *script = xasprintf("--script=%s/tests/data/lds/%s", root, a->script);
	char *argv[] = { script, (char *)"--no-warn-rwx-segments", (char *)"-e", (char *)"0", (char *)"-o", (char *)output,
			 (char *)"--whole-archive", (char *)"vmlinux.a", NULL };
	int status;

	pid_t pid = fork();
	if (!pid) {
		setenv("HOTTEXT_LD", a->ld, 1);
		if (plan)
			setenv("HOTTEXT_PLAN", plan, 1);
		_exit(wrapper_run(8, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	free(script);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* One of the links: a synthetic kernel's in the working folder, or a real one's in its own. */
static int link_kernel(const struct arch *a, const char *plan, const char *output)
{
	if (!a) {
		char *script = path_join(root, "tests/kernel/final-link.sh"), *out = path_join(work, output);
		char *dir = path_join(work, "plan"), *ld = xasprintf("%s/%s ld", root, hottext());

		if (plan)
			setenv("HOTTEXT_PLAN", dir, 1);
		int ret = run(script, getenv("HOTTEXT_LINK_KERNEL"), out, ld, NULL);
		unsetenv("HOTTEXT_PLAN");
		free(script);
		free(out);
		free(dir);
		free(ld);
		return ret;
	}
	return wrapper(a, plan, output);
}

static void put_function(FILE *fp, const struct arch *a, const char *section, const char *name, bool global)
{
	static const char *const targets[] = { "startup_64", "f0_0", "f1_0", "f2_0" };
	uint32_t skip = a->unit * (1 + rnd((rnd(4) ? 60 : 3000) / a->unit));

	fprintf(fp, "\t.section %s,\"ax\",@progbits\n\t.balign %u\n\t.type %s,@function\n", section,
		a->unit == 4 ? 4u << rnd(4) : 1u << rnd(7), name);
	if (global)
		fprintf(fp, "\t.globl %s\n", name);
	fprintf(fp, "%s:\t%s %s\n\t.skip %u,%s\n\t.size %s, . - %s\n", name, a->call, targets[rnd(ARRAY_SIZE(targets))],
		skip, a->nop_fill, name, name);
}

/* One object: functions, cold parts, statics of the same name in all objects, members of groups, plain .text. */
static void put_object(FILE *fp, const struct arch *a, unsigned int n)
{
	static const char *const groups[] = { ".noinstr.text", ".sched.text", ".spinlock.text", ".kprobes.text",
					      ".softirqentry.text", ".cpuidle.text", ".entry.text", ".init.text" };
	char section[64], name[32];

	if (!n)
		put_function(fp, a, ".head.text", "startup_64", true);
	for (unsigned int i = 0, nr = 1 + rnd(8); i < nr; i++) {
		snprintf(name, sizeof(name), "f%u_%u", n, i);
		snprintf(section, sizeof(section), ".text.%s", name);
		put_function(fp, a, section, name, !i || rnd(2));
		/* Every kernel has some unlikely text: by it the layout tells where 6.13's script aligns. */
		if (rnd(4) && (n || i))
			continue;
		snprintf(section, sizeof(section), ".text.unlikely.%s", name);
		strcat(name, ".cold");
		put_function(fp, a, section, name, false);
	}
	put_function(fp, a, ".text.helper", "helper", false);
	for (unsigned int i = 0; i < ARRAY_SIZE(groups); i++) {
		snprintf(name, sizeof(name), "g%u_%u", n, i);
		if (!rnd(3) && !strstr(a->without, groups[i]))
			put_function(fp, a, groups[i], name, rnd(2));
	}
	snprintf(name, sizeof(name), "asm%u", n);
	if (!rnd(3))
		put_function(fp, a, ".text", name, true);
}

/* In the working folder: objects with paths that end alike, and a thin archive of them. */
static void make_kernel(const struct arch *a)
{
	static const char *const names[] = { "a.o", "fs/file.o", "fs/xfs/file.o", "xfs/file.o", "lib/a.o", "x/lib/a.o" };
	unsigned int nr = 3 + rnd(4);

	mkdir("fs", 0777);
	mkdir("fs/xfs", 0777);
	mkdir("xfs", 0777);
	mkdir("lib", 0777);
	mkdir("x", 0777);
	mkdir("x/lib", 0777);
	unlink("vmlinux.a");
	for (unsigned int i = 0; i < nr; i++) {
		FILE *fp = fopen("in.s", "w");

		assert_non_null(fp);
		put_object(fp, a, i);
		fclose(fp);
		assert_int_equal(run(a->as, "-o", names[i], "in.s", NULL), 0);
		assert_int_equal(run("ar", "rcSTP", "vmlinux.a", names[i], NULL), 0);
	}
}

/* Some of the movable units in any order, with an alignment here and there. */
static void random_layout(struct layout *l, const struct image *img, uint32_t share)
{
	uint32_t *units = xcalloc(img->nr_units + 1, sizeof(*units)), nr = 0;
	bool groups = rnd(2);

	layout_init(l, img);
	for (uint32_t i = 0; i < img->nr_units; i++)
		if (layout_can_take(img, i) && (img->units[i].movable || groups) && rnd(share + 1) < 2)
			units[nr++] = i;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t j = i + rnd(nr - i), u = units[j];

		units[j] = units[i];
		layout_append(l, u, rnd(10) ? 0 : 16u << rnd(8));
	}
	layout_assign(l);
	free(units);
}

static void write_fragment(const struct layout *l)
{
	FILE *fp = fopen("plan/hottext.ld", "w");
	struct fragment_totals t;

	assert_non_null(fp);
	fragment_write(fp, l, &t);
	assert_int_equal(fclose(fp), 0);
	assert_int_equal(t.units, l->nr_hot);
	assert_int_equal(t.dropped, 0);
}

static void make_plan(struct plan *p, const struct image *img, const struct layout *l)
{
	struct layout before;
	struct profile profile = { 0 };
	struct callgraph cg;
	struct machine m;

	layout_init(&before, img);
	layout_assign(&before);
	assert_int_equal(machine_init(&m, "generic-4k-32"), 0);
	for (uint32_t i = 0; i < img->nr_funcs; i += 3)
		profile_add_samples(&profile, profile_func(&profile, img->funcs[i].id), 0, 1 + rnd(100));
	assert_int_equal(callgraph_init(&cg, img, &profile), 0);
	plan_init(p);
	plan_fill(p, img, &cg, &before, l, &m, &profile);
	callgraph_release(&cg);
	profile_release(&profile);
	machine_release(&m);
	layout_release(&before);
}

/* "OBJECT SECTION" of every unit, n-th of its name; the units of index i have id i. */
static void index_units(struct index *x, const struct image *img)
{
	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i];
		uint32_t nr = x->nr_keys;

		for (unsigned int n = 0; x->nr_keys == nr; n++) {
			char *key = xasprintf("%s %s %u", u->object, u->section, n);

			index_add_str(x, key);
			free(key);
		}
	}
}

/* Every unit of the old kernel is in the new one, once, where the layout says. */
static void check_addresses(const struct layout *l, const struct image *now, uint64_t id)
{
	const struct image *img = l->image;
	struct index before = { 0 }, after = { 0 };

	assert_true(now->exact_units);
	assert_int_equal(now->nr_units, img->nr_units);
	index_units(&before, img);
	index_units(&after, now);
	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i];
		uint32_t j = index_find_str(&after, index_str(&before, i));

		assert_int_not_equal(j, INDEX_NONE);
		if (now->units[j].addr != l->addr[i] && u->addr >= img->text_start && u->addr < img->text_end)
			fail_msg("case %llu: %s(%s) is at %#llx, laid out at %#llx", (unsigned long long)id, u->object,
				 u->section, (unsigned long long)now->units[j].addr, (unsigned long long)l->addr[i]);
	}
	index_release(&before);
	index_release(&after);
}

static void check_verify(const struct plan *p, const struct image *now, bool obeyed)
{
	struct verify v;

	assert_int_equal(verify_init(&v, p, now, &(struct verify_options){ .exact = true }), 0);
	for (uint32_t i = 0; obeyed && i < v.nr_strays; i++)
		print_error("%s: %s\n", v.strays[i].name, v.strays[i].why);
	assert_int_equal(verify_passed(&v), obeyed);
	assert_int_equal(v.lost, 0);
	assert_int_equal(v.outside, 0);
	assert_int_equal(v.groups_broken, 0);
	assert_true(v.groups >= 5);
	verify_release(&v);
}

static void one_case(const struct arch *a, uint64_t id)
{
	struct image_options opts = { .objects = a ? NULL : getenv("HOTTEXT_LINK_KERNEL") };
	struct image old, now;
	struct layout l;
	struct plan p;

	seed = 0x9e3779b97f4a7c15ull * (id + 1);
	for (int i = 0; i < 8; i++)
		rnd(2);
	if (a)
		make_kernel(a);
	/* A real kernel in link order is the same in all cases. */
	if (a || access("old", F_OK))
		assert_int_equal(link_kernel(a, NULL, "old"), 0);
	assert_int_equal(image_init(&old, "old", &opts), 0);
	random_layout(&l, &old, a ? 2 : 1 + rnd(60));
	write_fragment(&l);
	make_plan(&p, &old, &l);
	assert_int_equal(link_kernel(a, "plan", "now"), 0);
	assert_int_equal(image_init(&now, "now", &opts), 0);
	check_addresses(&l, &now, id);
	check_verify(&p, &now, true);
	if (l.nr_hot > 1 && l.hot_start != l.addr[l.hot[0].unit])
		check_verify(&p, &old, false);
	plan_release(&p);
	layout_release(&l);
	image_release(&now);
	image_release(&old);
}

static bool has_program(const char *name)
{
	return run("sh", "-c", "command -v \"$0\" > /dev/null", name, NULL) == 0;
}

static void test_random_plans(void **state)
{
	const char *env = getenv("HOTTEXT_LINK_CASES"), *first = getenv("HOTTEXT_LINK_SEED");
	uint64_t nr = env ? strtoull(env, NULL, 10) : 50, from = first ? strtoull(first, NULL, 10) : 0;

	unsigned int done[ARRAY_SIZE(archs)] = { 0 };

	(void)state;
	verbosity = -1;
	for (uint64_t i = from; i < from + nr; i++) {
		if (getenv("HOTTEXT_LINK_KERNEL")) {
			one_case(NULL, i);
			continue;
		}
		const struct arch *a = &archs[i % ARRAY_SIZE(archs)];

		if (!has_program(a->as) || !has_program(a->ld))
			continue;
		one_case(a, i);
		done[i % ARRAY_SIZE(archs)]++;
	}
	if (getenv("HOTTEXT_LINK_KERNEL"))
		printf("# %llu random plans of a real kernel, linked and verified\n", (unsigned long long)nr);
	for (size_t i = 0; i < ARRAY_SIZE(archs) && !getenv("HOTTEXT_LINK_KERNEL"); i++)
		printf("# %u random plans by %s under %s, linked and verified\n", done[i], archs[i].ld, archs[i].script);
}

static int set_up(void **state)
{
	(void)state;
	if (!getcwd(root, sizeof(root)))
		return -1;
	snprintf(work, sizeof(work), "%s/hottext-link.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	return !mkdtemp(work) || chdir(work) || mkdir("plan", 0777) ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	return chdir(root) || run("rm", "-rf", work, NULL) ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_plans),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
