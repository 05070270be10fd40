/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of any bytes in JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/json_text.h"

#define REPLACED "\xef\xbf\xbd"

static void becomes(const char *s, const char *want)
{
	json_t *j = json_text(s);

	assert_non_null(j);
	assert_string_equal(json_string_value(j), want);
	json_decref(j);
}

static void test_utf8(void **state)
{
	(void)state;
	becomes("", "");
	becomes("vfs_read", "vfs_read");
	becomes("gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x90\xa7", "gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x90\xa7");
}

static void test_no_utf8(void **state)
{
	(void)state;
	becomes("a\xff" "b", "a" REPLACED "b");
	becomes("\xc3", REPLACED);
	becomes("\xe2\x82", REPLACED REPLACED);
	becomes("\x80\xc3\xb6\xfe", REPLACED "\xc3\xb6" REPLACED);
	becomes("\xed\xa0\x80", REPLACED REPLACED REPLACED);	/* half a surrogate */
}

static void test_null(void **state)
{
	(void)state;
	assert_true(json_is_null(json_text(NULL)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_no_utf8),
		cmocka_unit_test(test_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
