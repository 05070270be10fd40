/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lds_lex.h"

#include <string.h>

#include "lib/error.h"
#include "lib/mem.h"

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_punct(char c)
{
	return c && strchr("{}();,:=", c);
}

static bool fail(struct lds_lex *lex, const char *what)
{
	lex->failed = true;
	if (!lex->quiet)
		error("cannot read '%s': line %u: endless %s", lex->name, lds_line(lex), what);
	return false;
}

/* Pass blanks and comments, of # too (a preprocessor's line markers); lex->start is where a token begins. */
static bool skip_blank(struct lds_lex *lex)
{
	const char *t = lex->text;

	for (;;) {
		size_t i = lex->start;

		if (i >= lex->size)
			return false;
		if (is_space(t[i])) {
			lex->start++;
		} else if (t[i] == '/' && i + 1 < lex->size && t[i + 1] == '*') {
			const char *close = i + 2 < lex->size ? memmem(t + i + 2, lex->size - i - 2, "*/", 2) : NULL;

			if (!close)
				return fail(lex, "comment");
			lex->start = (size_t)(close - t) + 2;
		} else if (t[i] == '#') {
			const char *nl = memchr(t + i, '\n', lex->size - i);

			lex->start = nl ? (size_t)(nl - t) : lex->size;
		} else {
			return true;
		}
	}
}

bool lds_next(struct lds_lex *lex)
{
	const char *t = lex->text;

	lex->start = lex->end;
	if (lex->failed || !skip_blank(lex)) {
		lex->end = lex->start;
		return false;
	}
	size_t i = lex->start + 1;
	if (t[lex->start] == '"') {
		const char *close = memchr(t + i, '"', lex->size - i);

		if (!close)
			return fail(lex, "string");
		lex->kind = LDS_STRING;
		i = (size_t)(close - t) + 1;
	} else if (is_punct(t[lex->start])) {
		lex->kind = LDS_PUNCT;
	} else {
		lex->kind = LDS_WORD;
		while (i < lex->size && !is_space(t[i]) && !is_punct(t[i]) && t[i] != '"')
			i++;
	}
	lex->end = i;
	return true;
}

char lds_peek(const struct lds_lex *lex)
{
	struct lds_lex ahead = *lex;

	ahead.quiet = true;
	return lds_next(&ahead) ? ahead.text[ahead.start] : '\0';
}

unsigned int lds_line(const struct lds_lex *lex)
{
	unsigned int line = 1;

	for (size_t i = 0; i < lex->start && i < lex->size; i++)
		line += lex->text[i] == '\n';
	return line;
}

char *lds_token(const struct lds_lex *lex)
{
	size_t quote = lex->kind == LDS_STRING;

	return xstrndup(lex->text + lex->start + quote, lex->end - lex->start - 2 * quote);
}

bool lds_is(const struct lds_lex *lex, char punct)
{
	return lex->kind == LDS_PUNCT && lex->start < lex->end && lex->text[lex->start] == punct;
}

bool lds_word_is(const struct lds_lex *lex, const char *word)
{
	size_t len = strlen(word);

	return lex->kind == LDS_WORD && lex->end - lex->start == len && !memcmp(lex->text + lex->start, word, len);
}
