/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json_text.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

/* How many bytes at s are one character that jansson takes; 0: none. */
static size_t character(const char *s, size_t left)
{
	for (size_t n = 1; n <= 4 && n <= left; n++) {
		json_t *one = json_stringn(s, n);

		json_decref(one);
		if (one)
			return n;
	}
	return 0;
}

json_t *json_text(const char *s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	json_t *j = s ? json_string(s) : json_null();

	if (j)
		return j;
	size_t len = strlen(s), used = 0, n;
	char *mended = xmalloc(len * (sizeof(replacement) - 1) + 1);

	for (size_t i = 0; i < len; i += n ? n : 1) {
		n = character(s + i, len - i);
		memcpy(mended + used, n ? s + i : replacement, n ? n : sizeof(replacement) - 1);
		used += n ? n : sizeof(replacement) - 1;
	}
	j = json_stringn(mended, used);
	free(mended);
	return j;
}
