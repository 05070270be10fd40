/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json_text.h"

#include <stdlib.h>

#include "lib/utf8.h"

json_t *json_text(const char *s)
{
	json_t *j = s ? json_string(s) : json_null();

	if (j)
		return j;
	char *mended = utf8_mended(s);
	j = json_string(mended);
	free(mended);
	return j;
}
