/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"

/* Whether the terminal shows UTF-8, as far as the environment says (POSIX's order of these). */
static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *s = getenv(names[i]);

		if (s && *s)
			return strcasestr(s, "utf-8") || strcasestr(s, "utf8");
	}
	return false;
}

struct text_style text_style_for(FILE *fp)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	bool tty = isatty(fileno(fp));

	return (struct text_style){ tty && is_utf8(),
				    tty && !(no_color && *no_color) && !(term && !strcmp(term, "dumb")), false };
}

static void attribute(FILE *fp, struct text_style st, const char *code)
{
	if (st.colour)
		fprintf(fp, "\033[%sm", code);
}

void bold(FILE *fp, struct text_style st)
{
	attribute(fp, st, "1");
}

void dim(FILE *fp, struct text_style st)
{
	attribute(fp, st, "2");
}

/* Cyan and bold yellow rather than green and red: told apart by every eye. */
void better(FILE *fp, struct text_style st)
{
	attribute(fp, st, "36");
}

void worse(FILE *fp, struct text_style st)
{
	attribute(fp, st, "1;33");
}

void plain(FILE *fp, struct text_style st)
{
	attribute(fp, st, "0");
}
