/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of any bytes, taken apart into characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/utf8.h"

#define REPLACED "\xef\xbf\xbd"

/* The first and the last of each length, and what stands next to them (RFC 3629). */
static void test_length(void **state)
{
	static const struct { const char *s; size_t length; } of[] = {
		{ "", 0 }, { "a", 1 }, { "\x7f", 1 }, { "\x80", 0 }, { "\xbf", 0 },
		{ "\xc1\xbf", 0 }, { "\xc2\x80", 2 }, { "\xdf\xbf", 2 }, { "\xc2", 0 }, { "\xc2z", 0 },
		{ "\xe0\x9f\xbf", 0 }, { "\xe0\xa0\x80", 3 }, { "\xef\xbf\xbf", 3 }, { "\xe0\xa0", 0 },
		{ "\xed\x9f\xbf", 3 }, { "\xed\xa0\x80", 0 }, { "\xee\x80\x80", 3 },
		{ "\xf0\x8f\xbf\xbf", 0 }, { "\xf0\x90\x80\x80", 4 }, { "\xf4\x8f\xbf\xbf", 4 },
		{ "\xf4\x90\x80\x80", 0 }, { "\xf5\x80\x80\x80", 0 }, { "\xf0\x90\x80", 0 }, { "\xff", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		assert_int_equal(utf8_length(of[i].s), of[i].length);
		assert_int_equal(utf8_step(of[i].s), of[i].length ? of[i].length : *of[i].s != '\0');
	}
}

static void test_shows(void **state)
{
	static const char *const shown[] = { " ", "~", "\xc2\xa0", "\xc3\xb6", "\xe2\x80\xa7", "\xe2\x80\xaf", "\xe2\x81\xa5",
					     "\xe2\x81\xaa", "\xf0\x9f\x90\xa7" };
	static const char *const not[] = { "", "\n", "\x1b", "\x7f", "\xc2\x80", "\xc2\x9b", "\xc2\x9f", "\xe2\x80\xa8",
					   "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9", "\x80", "\xff" };

	(void)state;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		assert_true(utf8_shows(shown[i]));
	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++)
		assert_false(utf8_shows(not[i]));
}

static void test_columns(void **state)
{
	(void)state;
	assert_int_equal(utf8_columns(""), 0);
	assert_int_equal(utf8_columns("gr\xc3\xb6\xc3\x9f" "e"), 5);
	assert_int_equal(utf8_columns("\x80\xe2\x82\xac\xc3"), 3);
}

static void test_mended(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" }, { "vfs_read", "vfs_read" }, { "a\xff" "b", "a" REPLACED "b" }, { "\xe2\x82", REPLACED REPLACED },
		{ "\x80\xc3\xb6\xfe", REPLACED "\xc3\xb6" REPLACED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *mended = utf8_mended(pairs[i][0]);

		assert_string_equal(mended, pairs[i][1]);
		free(mended);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_shows),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
