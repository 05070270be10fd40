/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tokens of a linker script, as spans of its text. A word is whatever GNU ld takes
 * for a name or a pattern; a comment begins only where a token could (GNU ld
 * ldlex.l: a slash and a star inside a pattern open none).
 */
#ifndef LDSCRIPTS_LDS_LDS_LEX_H
#define LDSCRIPTS_LDS_LDS_LEX_H

#include <stdbool.h>
#include <stddef.h>

enum lds_token_kind {
	LDS_WORD,
	LDS_STRING,	/* quotes included in the span */
	LDS_PUNCT,	/* one of {}();,:= */
};

struct lds_lex {
	const char *name;	/* for messages */
	const char *text;
	size_t size;
	size_t start, end;	/* the current token */
	enum lds_token_kind kind;
	bool quiet;		/* say nothing of what is wrong */
	bool failed;		/* an endless comment or string, reported unless quiet */
};

/* Go to the next token; false at the end or when failed. */
bool lds_next(struct lds_lex *lex);

/* First byte of the token after the current one, NUL when there is none. */
char lds_peek(const struct lds_lex *lex);

/* Line of the current token, from 1. */
unsigned int lds_line(const struct lds_lex *lex);

/* The current token without its quotes; the caller frees. */
char *lds_token(const struct lds_lex *lex);

bool lds_is(const struct lds_lex *lex, char punct);
bool lds_word_is(const struct lds_lex *lex, const char *word);

#endif
