/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linker scripts: read, written unchanged, rewritten, the complement globs, broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ldscripts/lds/lds.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"

#define DATA "tests/data/lds/"
#define HOT ". = ALIGN(64);\n*(.text.vfs_read)\n"

static const char *const scripts[] = {
	DATA "x86-64-6.1.lds", DATA "x86-64-6.12.lds", DATA "x86-64-6.13.lds", DATA "x86-64-dce.lds", DATA "ppc32.lds", DATA "ppc64.lds",
	DATA "arm64.lds", DATA "arm.lds", DATA "riscv.lds",
};

static void load(struct lds *l, const char *path)
{
	struct mapfile m;

	assert_int_equal(mapfile_init(&m, path), 0);
	assert_int_equal(lds_init(l, path, m.data, m.size), 0);
	mapfile_release(&m);
}

/* The rewritten text, or NULL when refused. */
static char *rewrite(const struct lds *l, const struct lds_changes *c)
{
	char *text;
	size_t size;
	FILE *fp = open_memstream(&text, &size);
	int ret = lds_rewrite(l, c, fp);

	fclose(fp);
	if (ret) {
		assert_int_equal(size, 0);
		free(text);
		return NULL;
	}
	return text;
}

static void test_unchanged(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct lds l;

		load(&l, scripts[i]);
		assert_true(lds_is_kernel(l.text, l.size));
		char *out = rewrite(&l, &(struct lds_changes){ 0 });
		assert_string_equal(out, l.text);
		free(out);
		lds_release(&l);
	}
}

/* What was not inserted is the old text: removing the insertions gives it back. */
static void cut(char *text, const char *what)
{
	char *at = strstr(text, what);

	assert_non_null(at);
	memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
}

static void test_hot_region(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct lds l;

		load(&l, scripts[i]);
		char *out = rewrite(&l, &(struct lds_changes){ .hot = HOT, .take_in = true });
		const char *hot = strstr(out, HOT), *main_text = strstr(out, "*(.text .text");
		const char *glob = strstr(out, ".text.[0-9");

		assert_non_null(hot);
		if (!main_text)
			main_text = strstr(out, "*(.text.hot .text.hot.* .text ");
		assert_true(strstr(out, "_stext = .;") < hot);
		assert_true(hot < main_text);
		assert_true(hot < strstr(out, "*(.text.unlikely") || !strstr(out, "*(.text.unlikely"));
		assert_true(hot < strstr(out, ".text.hot"));
		assert_true(glob > hot && glob < strstr(out, "__sched_text_start"));
		if (strstr(l.text, "*(.entry.text)") && strncmp(scripts[i], DATA "x86-64-6.1.", 22) &&
		    !strstr(scripts[i], "riscv"))
			assert_true(strstr(out, "*(.entry.text)") < hot);
		cut(out, "\n" HOT);
		if (!strstr(l.text, ".text.[0-9")) {
			char *start = strstr(out, " .text.[0-9"), *end = strchr(start, ')');

			memmove(start, end, strlen(end) + 1);
		}
		assert_string_equal(out, l.text);
		free(out);
		lds_release(&l);
	}
}

static void test_groups(void **state)
{
	struct lds_group_order groups[] = {
		{ (char *)".sched.text", (char *)"[k]ernel/sched/core.o(.sched.text)\n", true },
		{ (char *)".noinstr.text", (char *)"", true },
		{ (char *)".kprobes.text", (char *)"[k]/p.o(.kprobes.text)\n", false },
	};
	struct lds l, again;

	(void)state;
	load(&l, DATA "x86-64-6.1.lds");
	char *out = rewrite(&l, &(struct lds_changes){ .hot = HOT, .take_in = true, .groups = groups, .nr_groups = 3 });
	assert_non_null(out);
	const char *hot = strstr(out, HOT), *sched = strstr(out, "__sched_text_start = .;");

	assert_non_null(strstr(out, HOT ". = ALIGN(8); __sched_text_start = .; \n[k]ernel/sched/core.o(.sched.text)\n *(.sched.text)"));
	assert_true(hot < sched && sched < strstr(out, "__noinstr_text_start"));
	assert_true(strstr(out, "__noinstr_text_end = .;") < strstr(out, "*(.text.hot"));
	assert_null(strstr(sched + 1, "__sched_text_start"));
	assert_null(strstr(strstr(out, "__noinstr_text_start") + 1, "__noinstr_text_start"));
	assert_non_null(strstr(out, "__kprobes_text_start = .; \n[k]/p.o(.kprobes.text)\n *(.kprobes.text)"));
	assert_int_equal(lds_init(&again, "again", out, strlen(out)), 0);
	lds_release(&again);
	free(out);
	lds_release(&l);

	/* A group inside another goes along with it; the two cannot both be moved. */
	load(&l, DATA "x86-64-6.13.lds");
	groups[0].section = (char *)".cpuidle.text";
	out = rewrite(&l, &(struct lds_changes){ .hot = HOT, .groups = groups, .nr_groups = 1 });
	assert_non_null(strstr(out, HOT ". = ALIGN(8); __noinstr_text_start = .; *(.noinstr.text) __cpuidle_text_start"));
	free(out);
	groups[0].section = (char *)".missing.text";
	assert_null(rewrite(&l, &(struct lds_changes){ .hot = HOT, .groups = groups, .nr_groups = 1 }));
	lds_release(&l);
}

static bool any_matches(const char *patterns, const char *name)
{
	char *copy = xstrdup(patterns), *save = NULL;
	bool ret = false;

	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
		ret |= !fnmatch(p, name, 0);
	free(copy);
	return ret;
}

/* Whether a statement of another place than the main text's takes the name. */
static bool others_match(const struct lds *l, const struct lds_stmt *m, const char *name)
{
	for (unsigned int i = 0; i < l->nr_sections; i++)
		for (unsigned int j = 0; j < l->sections[i].nr_stmts; j++) {
			const struct lds_stmt *s = &l->sections[i].stmts[j];

			for (unsigned int k = 0; s != m && k < s->nr_patterns; k++)
				if (!fnmatch(s->patterns[k], name, 0))
					return true;
		}
	return false;
}

static const struct lds_stmt *main_stmt(const struct lds *l)
{
	for (unsigned int i = 0; i < l->nr_sections; i++)
		for (unsigned int j = 0; !strcmp(l->sections[i].name, ".text") && j < l->sections[i].nr_stmts; j++)
			for (unsigned int k = 0; k < l->sections[i].stmts[j].nr_patterns; k++)
				if (!strcmp(l->sections[i].stmts[j].patterns[k], ".text"))
					return &l->sections[i].stmts[j];
	return NULL;
}

static const char claiming[] =
	"SECTIONS { .text : { _stext = .; KEEP(*(.head.text)) *(.text.asan.*) *(.text.hot .text.hot.*)\n"
	" *(.text .text.fixup .ref.text) *(EXCLUDE_FILE(*x.o) .text.unlikely.*) lib/a.o(.text.own .text.b*) l.a:m.o(.text.member)\n"
	" __t_start = .; *(.text.__x86.*) *(SORT(.text.sorted.[a-c]*)) __t_end = .; _etext = .; }\n"
	" .init.text : { _sinittext = .; *(.text.startup) } /DISCARD/ : { *(.text.gone) } }";

/* What the script has a place for outside of main text, and what it leaves to main text. */
static void test_claims(void **state)
{
	static const struct {
		const char *object, *section;
		bool claimed;
	} cases[] = {
		{ "a.o", ".text", false }, { NULL, ".text.vfs_read", false }, { "a.o", ".text.hot.f", false },
		{ "a.o", ".text.fixup", false }, { "x.o", ".text.unlikely.f", false }, { "a.o", ".text.startup_f", false },
		{ "a.o", ".text.sorted.d", false }, { "a.o", ".ref.text", false }, { "a.o", ".text.__x86", false },
		{ "a.o", ".text.asan.f", true }, { NULL, ".text.__x86.indirect_thunk", true }, { "a.o", ".text.startup", true },
		{ "a.o", ".text.gone", true }, { "a.o", ".text.sorted.cd", true }, { "a.o", ".head.text", true },
		{ "lib/a.o", ".text.own", true }, { "fs/a.o", ".text.own", false }, { NULL, ".text.own", true },
		{ "lib/a.o", ".text.big", true }, { "lib/lib.a(a.o)", ".text.own", true }, { "m.o", ".text.member", true },
	};
	static const char *const not_main[] = { ".text.asan.*", ".text.__x86.*", ".text..x", ".text.hottest", ".data", ".textual" };
	struct lds l;

	(void)state;
	assert_int_equal(lds_init(&l, "claiming", claiming, strlen(claiming)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (lds_claims(&l, cases[i].object, cases[i].section) != cases[i].claimed)
			fail_msg("%s of %s", cases[i].section, cases[i].object ? cases[i].object : "any");
	lds_release(&l);
	for (size_t i = 0; i < ARRAY_SIZE(not_main); i++)
		assert_false(lds_is_main_pattern(not_main[i]));
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		load(&l, scripts[i]);
		assert_false(lds_claims(&l, "a.o", ".text"));
		assert_false(lds_claims(&l, "a.o", ".text.vfs_read"));
		assert_false(lds_claims(&l, "a.o", ".text.unlikely.vfs_read"));
		assert_false(lds_claims(&l, "a.o", ".text.hot.vfs_read"));
		/* The others end before init text. */
		if (!strstr(scripts[i], "ppc64") && !strstr(scripts[i], "dce"))
			assert_true(lds_claims(&l, "a.o", ".text.startup"));
		lds_release(&l);
	}
}

/* Names that begin like the kept ones, cut at any length and gone on in any way. */
static void test_complement(void **state)
{
	static const char *const stems[] = { "unlikely", "unknown", "hot", "asan", "tsan", "split", "startup", "exit",
					     "fixup", "vfs_read", "0abc", "_x", "Zed" };
	static const char *const tails[] = { "", ".", ".f", ".constprop.0", "_f", "y", "0", ".f.part.0", "$x", "..a_f" };

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(scripts); f++) {
		struct lds l;

		load(&l, scripts[f]);
		const struct lds_stmt *m = main_stmt(&l);
		char *patterns = lds_main_patterns(&l, m);

		for (size_t i = 0; *patterns && i < ARRAY_SIZE(stems); i++)
			for (size_t len = 1; len <= strlen(stems[i]); len++)
				for (size_t t = 0; t < ARRAY_SIZE(tails); t++) {
					char *name = xasprintf(".text.%.*s%s", (int)len, stems[i], tails[t]);

					if (strncmp(name, ".text.split.", 12) || !strstr(scripts[f], "6.13"))
						assert_int_equal(any_matches(patterns, name),
								 !others_match(&l, m, name));
					else
						assert_false(any_matches(patterns, name));
					free(name);
				}
		assert_false(any_matches(patterns, ".text..refcount"));
		assert_false(any_matches(patterns, ".text"));
		free(patterns);
		lds_release(&l);
	}
}

static void test_not_kernels(void **state)
{
	static const char *const others[] = {
		"", "SECTIONS { .text : { _text = .; *(.text) _etext = .; } }",
		"SECTIONS { /* _stext = .; */ .text : { *(.text) } }", "SECTIONS { .x : { *(._stext) } } ASSERT(_stext, \"_stext = \")",
		"/* endless", "\"endless", "SECTIONS { PROVIDE(_stext = .); }", "SECTIONS { __init_begin = .; __sched_text_start = .; }",
		/* arch/arm/boot/bootp/bootp.lds */
		"SECTIONS { . = 0; .text : { _stext = .; *(.start) *(.text) initrd_size = initrd_end - initrd_start; _etext = .; } }",
	};

	static const char *const kernels[] = {
		"SECTIONS { PROVIDE(_stext = .); _sinittext = .; }", "SECTIONS { __init_begin = .; _stext=.; }",
		"SECTIONS { _stext = .; .text : { __sched_text_start = .; } }",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(lds_is_kernel(others[i], strlen(others[i])));
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++)
		assert_true(lds_is_kernel(kernels[i], strlen(kernels[i])));
}

static void test_broken(void **state)
{
	static const char *const broken[] = {
		"SECTIONS", "SECTIONS {", "SECTIONS { .text : {", "SECTIONS { .text : { *(.text } }",
		"SECTIONS { .text : { _stext = . } }", "SECTIONS { .text : { *(.text) ) } }", "SECTIONS { .text : { KEEP(*(.a) } }",
		"SECTIONS { .text : { /* } }", "SECTIONS { .text : { \"a } }", "SECTIONS { . = ALIGN(8 }", "SECTIONS { .text : }",
		"SECTIONS { .text : { *(.text) } >", "SECTIONS { .text : { x +", "SECTIONS { .text : { KEEP", "SECTIONS { .text : { a:",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct lds l;

		if (!lds_init(&l, "broken", broken[i], strlen(broken[i])))
			fail_msg("'%s' was read", broken[i]);
	}
	/* Any prefix of a script is refused or read, never more. */
	struct mapfile m;
	assert_int_equal(mapfile_init(&m, scripts[0]), 0);
	for (size_t n = 0; n < m.size; n++) {
		struct lds l;

		if (!lds_init(&l, "cut", m.data, n))
			lds_release(&l);
	}
	mapfile_release(&m);
}

static void test_no_text(void **state)
{
	struct lds l;

	(void)state;
	load(&l, DATA "no-text.lds");
	assert_null(rewrite(&l, &(struct lds_changes){ .hot = HOT }));
	lds_release(&l);
	const char *empty = "SECTIONS { .text : { _stext = .; *(.head.text) } }";
	assert_int_equal(lds_init(&l, "empty", empty, strlen(empty)), 0);
	assert_null(rewrite(&l, &(struct lds_changes){ .hot = HOT }));
	lds_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unchanged), cmocka_unit_test(test_hot_region), cmocka_unit_test(test_groups),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_complement), cmocka_unit_test(test_not_kernels), cmocka_unit_test(test_broken),
		cmocka_unit_test(test_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
