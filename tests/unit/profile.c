/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profile and its text format: merging in any split and order gives the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/profile.h"
#include "collect/profile_sort.h"
#include "lib/input.h"
#include "lib/mem.h"

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
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

static int read_text(struct profile *p, const char *text)
{
	char name[] = "/tmp/hottext-profile-XXXXXX";
	int fd = mkstemp(name), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	struct input *in = input_open(name);
	ret = profile_read(p, in);
	input_close(in);
	unlink(name);
	return ret;
}

static const char *const names[] = {
	"read", "write page", "do_idle", "f%b", "a:b", "naïve", "init_once@inode.c", "",
};

static uint32_t any_func(struct profile *p)
{
	return profile_func(p, names[random_below(ARRAY_SIZE(names))]);
}

static uint32_t add_random_path(struct profile *p)
{
	struct path_walk w = { 0 };

	for (uint32_t n = 1 + random_below(3); n; n--)
		path_walk_touch(&w, any_func(p), random_below(3000), random_below(3) * 20);
	uint32_t path = path_walk_end(&w, p, random_below(NR_PATH_KINDS), any_func(p), random_below(9));
	path_walk_release(&w);
	return path;
}

/* One of the things a reader does; the same draw does the same to any profile. */
static void add_random_item(struct profile *p)
{
	static const char *const hosts[] = { "alpha", "beta", "-" };
	struct profile_source *s;
	uint32_t a = any_func(p), b = any_func(p), path;

	switch (random_below(6)) {
	case 0:
		profile_add_samples(p, a, random_below(2000), random_below(5));
		break;
	case 1:
		profile_add_entries(p, a, random_below(5));
		break;
	case 2:
		profile_add_call(p, a, random_below(2) ? random_below(99) : PROFILE_OFF_UNKNOWN, b, 1);
		break;
	case 3:
		path = add_random_path(p);
		profile_add_next(p, path, add_random_path(p), 2);
		break;
	case 4:
		add_random_path(p);
		break;
	default:
		s = profile_add_source(p, "test");
		profile_set(&s->host, hosts[random_below(3)]);
		s->samples = random_below(100);
		s->lost = 1;
	}
}

enum { PARTS = 5, ITEMS = 400 };

/* The same items dealt over several profiles, merged in some order, against one profile of all. */
static void test_merge_any_split(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 30; round++) {
		struct profile whole = { 0 }, parts[PARTS] = { { 0 } }, left = { 0 }, right = { 0 };

		for (uint32_t i = 0; i < ITEMS; i++) {
			uint32_t draw = round * ITEMS + i;

			seed = draw * 7919u;
			add_random_item(&whole);
			seed = draw * 7919u;
			add_random_item(&parts[(draw * 31u + round) % PARTS]);
		}
		/* (0 + 1) + 2 + (4 + 3), and all of it from the right. */
		for (int i = 0; i < PARTS; i++)
			profile_merge(&left, &parts[i]);
		profile_merge(&parts[4], &parts[3]);
		profile_merge(&right, &parts[4]);
		profile_merge(&parts[0], &parts[1]);
		profile_merge(&parts[2], &parts[0]);
		profile_merge(&right, &parts[2]);
		char *a = text_of(&whole), *b = text_of(&left), *c = text_of(&right);
		assert_string_equal(a, b);
		assert_string_equal(a, c);
		free(a);
		free(b);
		free(c);
		profile_release(&whole);
		profile_release(&left);
		profile_release(&right);
		for (int i = 0; i < PARTS; i++)
			profile_release(&parts[i]);
	}
}

static void test_text_round_trip(void **state)
{
	struct profile p = { 0 }, q = { 0 }, twice = { 0 };

	(void)state;
	seed = 5;
	for (int i = 0; i < ITEMS; i++)
		add_random_item(&p);
	char *a = text_of(&p);
	assert_int_equal(read_text(&q, a), 0);
	char *b = text_of(&q);
	assert_string_equal(a, b);
	/* Concatenation is merging. */
	char *both = xasprintf("%s%s", a, b);
	assert_int_equal(read_text(&twice, both), 0);
	profile_merge(&p, &q);
	char *c = text_of(&p), *d = text_of(&twice);
	assert_string_equal(c, d);
	free(a);
	free(b);
	free(c);
	free(d);
	free(both);
	profile_release(&p);
	profile_release(&q);
	profile_release(&twice);
}

/* Lines in any order, as `sort` leaves them: nexts before their paths. */
static void test_text_any_order(void **state)
{
	struct profile p = { 0 }, q = { 0 };
	char *lines[4096], *a, *b, *save = NULL;
	size_t nr = 0, len = 0;

	(void)state;
	seed = 9;
	for (int i = 0; i < 100; i++)
		add_random_item(&p);
	a = text_of(&p);
	char *copy = xstrdup(a), *mixed = xcalloc(strlen(a) + 2, 1);
	for (char *l = strtok_r(copy, "\n", &save); l && nr < ARRAY_SIZE(lines);
	     l = strtok_r(NULL, "\n", &save))
		lines[nr++] = l;
	while (nr--)
		len += (size_t)sprintf(mixed + len, "%s\n", lines[nr]);
	assert_int_equal(read_text(&q, mixed), 0);
	b = text_of(&q);
	assert_string_equal(a, b);
	free(a);
	free(b);
	free(copy);
	free(mixed);
	profile_release(&p);
	profile_release(&q);
}

static void assert_same_keys(const struct index *a, const uint64_t *a_weights, const struct index *b,
			     const uint64_t *b_weights)
{
	assert_int_equal(a->nr_keys, b->nr_keys);
	for (uint32_t i = 0; i < a->nr_keys; i++) {
		assert_int_equal(a->keys[i].len, b->keys[i].len);
		assert_memory_equal(a->keys[i].data, b->keys[i].data, a->keys[i].len);
		if (a_weights)
			assert_int_equal(a_weights[i], b_weights[i]);
	}
}

/* Read from text, and merged the other way round: sorted, they are the same to the last id; and nothing is lost. */
static void test_sort(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 20; round++) {
		struct profile p = { 0 }, halves[2] = { { 0 } }, q = { 0 };

		for (uint32_t i = 0; i < ITEMS; i++) {
			seed = (round * ITEMS + i) * 7919u;
			add_random_item(&p);
			seed = (round * ITEMS + i) * 7919u;
			add_random_item(&halves[i % 3 > 0]);
		}
		profile_func(&p, "mentioned by nothing");
		profile_merge(&halves[1], &halves[0]);
		char *before = text_of(&p);
		assert_int_equal(read_text(&q, before), 0);
		profile_sort(&p);
		char *after = text_of(&p);
		assert_string_equal(before, after);
		profile_sort(&q);
		profile_sort(&halves[1]);
		for (const struct profile *o = &q; o; o = o == &q ? &halves[1] : NULL) {
			assert_same_keys(&p.names, NULL, &o->names, NULL);
			assert_memory_equal(p.funcs, o->funcs, p.names.nr_keys * sizeof(*p.funcs));
			assert_same_keys(&p.touches, p.touch_weights, &o->touches, o->touch_weights);
			assert_same_keys(&p.calls, p.call_weights, &o->calls, o->call_weights);
			assert_same_keys(&p.feet, NULL, &o->feet, NULL);
			assert_same_keys(&p.paths, p.path_weights, &o->paths, o->path_weights);
			assert_same_keys(&p.nexts, p.next_weights, &o->nexts, o->next_weights);
			assert_int_equal(p.nr_sources, o->nr_sources);
		}
		free(before);
		free(after);
		profile_release(&p);
		profile_release(&q);
		profile_release(&halves[0]);
		profile_release(&halves[1]);
	}
}

static void test_text_refuses(void **state)
{
	static const char *const bad[] = {
		"hottext-profile 2\n", "hottext-profile 1x\n", "hottext-profile 1\nfunc a 1\n",
		"func a 1 -1\n",
		"func a 99999999999999999999 1\n", "func  1 1\n", "func %4 1 1\n", "func %00 1 1\n",
		"touch a 16 1\n", "touch a 0x100000 1\n", "call a 0x5 b\n", "call a 5 b 1\n",
		"source r e h k b 1 2 3 4\n", "path 0123 chain a 1 a\n",
		"path 0123456789abcdef chain a 1 a\n",
		"next 1 2 3\n", "nonsense\n", "",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct profile p = { 0 };

		assert_int_equal(read_text(&p, bad[i]), -1);
		profile_release(&p);
	}
}

static void test_walk(void **state)
{
	struct profile p = { 0 };
	struct path_walk w = { 0 };
	uint32_t f = profile_func(&p, "f"), g = profile_func(&p, "g");

	(void)state;
	assert_int_equal(path_walk_end(&w, &p, PATH_CHAIN, f, 1), UINT32_MAX);
	path_walk_touch(&w, g, 15, 2);		/* chunks 0 and 1 */
	path_walk_touch(&w, f, 32 * 16, 1);	/* chunk 32: the second word */
	path_walk_touch(&w, g, 64, 16);		/* chunk 4 */
	uint32_t a = path_walk_end(&w, &p, PATH_SYSCALL, f, 3);
	struct profile_path path = profile_get_path(&p, a);
	assert_int_equal(path.nr_feet, 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct profile_foot foot = profile_get_foot(&p, path.feet[i]);
		assert_int_equal(foot.nr_words, foot.func == f ? 2 : 1);
		assert_int_equal(foot.chunks[0], foot.func == f ? 0 : 0x13);
	}
	/* The next path does not inherit bytes, and equal paths are one. */
	path_walk_touch(&w, f, 0, 16);
	uint32_t b = path_walk_end(&w, &p, PATH_SYSCALL, f, 1);
	path_walk_touch(&w, f, 3, 1);
	assert_int_equal(path_walk_end(&w, &p, PATH_SYSCALL, f, 2), b);
	assert_int_not_equal(a, b);
	assert_int_equal(p.path_weights[b], 3);
	path_walk_release(&w);
	profile_release(&p);
}

/* Two feet of one function in one path are united. */
static void test_path_unites_feet(void **state)
{
	struct profile p = { 0 };
	uint32_t f = profile_func(&p, "f"), one = 1, two = 2;

	(void)state;
	uint32_t feet[3] = {
		profile_foot(&p, f, &one, 1), profile_foot(&p, f, NULL, 0), profile_foot(&p, f, &two, 1),
	};
	struct profile_path path = profile_get_path(&p, profile_add_path(&p, PATH_CHAIN, f, feet, 3, 1));
	assert_int_equal(path.nr_feet, 1);
	assert_int_equal(profile_get_foot(&p, path.feet[0]).chunks[0], 3);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge_any_split),
		cmocka_unit_test(test_text_round_trip),
		cmocka_unit_test(test_text_any_order),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_text_refuses),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_path_unites_feet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
