/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lds.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lds_lex.h"
#include "lib/error.h"
#include "lib/mem.h"

bool lds_is_kernel(const char *text, size_t size)
{
	/* Programs that start a kernel have _stext, too (arch/arm/boot/bootp); no freed memory and no scheduler. */
	static const char *const names[] = { "_stext", "_sinittext", "__init_begin", "__sched_text_start" };
	struct lds_lex lex = { .text = text, .size = size, .quiet = true };
	bool has[ARRAY_SIZE(names)] = { false };
	size_t last = ARRAY_SIZE(names);	/* the name before this token */

	while (lds_next(&lex)) {
		if (last < ARRAY_SIZE(names) && lds_is(&lex, '='))
			has[last] = true;
		for (last = 0; last < ARRAY_SIZE(names) && !lds_word_is(&lex, names[last]); last++)
			;
	}
	return has[0] && (has[1] || has[2] || has[3]);
}

static int unexpected_end(const struct lds_lex *lex)
{
	if (!lex->failed)
		error("cannot read '%s': unbalanced braces", lex->name);
	return -1;
}

/* The token just read is `(`: go to its `)`, which is left as the current token. */
static int skip_parens(struct lds_lex *lex)
{
	unsigned int depth = 1;

	while (depth) {
		if (!lds_next(lex))
			return unexpected_end(lex);
		if (lds_is(lex, '('))
			depth++;
		else if (lds_is(lex, ')'))
			depth--;
	}
	return 0;
}

/* Likewise for braces. */
static int skip_braces(struct lds_lex *lex)
{
	unsigned int depth = 1;

	while (depth) {
		if (!lds_next(lex))
			return unexpected_end(lex);
		if (lds_is(lex, '{'))
			depth++;
		else if (lds_is(lex, '}'))
			depth--;
	}
	return 0;
}

static int skip_to_semicolon(struct lds_lex *lex)
{
	do {
		if (!lds_next(lex))
			return unexpected_end(lex);
		if (lds_is(lex, '{') || lds_is(lex, '}'))
			return error("cannot read '%s': line %u: expected ';'", lex->name, lds_line(lex));
	} while (!lds_is(lex, ';'));
	return 0;
}

static void add_pattern(struct lds_stmt *s, const struct lds_lex *lex)
{
	ALLOC_GROW(s->patterns, s->nr_patterns + 1, s->alloc_patterns);
	s->patterns[s->nr_patterns++] = lds_token(lex);
}

/*
 * Section patterns up to the `)` that closes them. SORT(...) and SORT_BY_NAME(...)
 * wrap patterns, EXCLUDE_FILE(...) wraps file names.
 */
static int read_patterns(struct lds_lex *lex, struct lds_stmt *s)
{
	unsigned int depth = 1;
	bool excluded = false;
	unsigned int excluded_depth = 0;

	s->patterns_end = lex->end;
	for (;;) {
		if (!lds_next(lex))
			return unexpected_end(lex);
		if (lds_is(lex, '(')) {
			depth++;
		} else if (lds_is(lex, ')')) {
			if (--depth == 0)
				return 0;
			if (depth <= excluded_depth)
				excluded = false;
		} else if (lex->kind == LDS_WORD || lex->kind == LDS_STRING) {
			if (lds_word_is(lex, "EXCLUDE_FILE")) {
				excluded = true;
				excluded_depth = depth;
			} else if (!excluded && lds_peek(lex) != '(') {
				add_pattern(s, lex);
			}
		}
		if (depth == 1)
			s->patterns_end = lex->end;
	}
}

/* A statement that began with words up to `(`, the current token; first is the first word, file the last. */
static int read_call(struct lds_lex *lex, struct lds_stmt *s, const char *first, const char *file)
{
	static const char *const provides[] = { "PROVIDE", "PROVIDE_HIDDEN", "HIDDEN" };
	static const char *const others[] = { "ASSERT", "BYTE", "SHORT", "LONG", "QUAD", "SQUAD", "FILL", "ASCIZ",
					      "ASCII", "SORT" };

	for (size_t i = 0; i < ARRAY_SIZE(provides); i++) {
		if (strcmp(first, provides[i]))
			continue;
		s->kind = LDS_ASSIGN;
		if (!lds_next(lex))
			return unexpected_end(lex);
		s->symbol = lds_token(lex);
		return lds_is(lex, ')') ? 0 : skip_parens(lex);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(first, others[i]))
			return skip_parens(lex);
	s->kind = LDS_INPUT;
	s->file = xstrdup(file);
	s->any_file = !strcmp(file, "*");
	return read_patterns(lex, s);
}

/* KEEP(, EXCLUDE_FILE(...) and INPUT_SECTION_FLAGS(...) stand before or around the file pattern. */
static int read_wrapped(struct lds_lex *lex, struct lds_stmt *s, bool keep)
{
	char *file = NULL;
	int ret = -1;

	for (;;) {
		if (!lds_next(lex)) {
			unexpected_end(lex);
			break;
		}
		if (lds_is(lex, '(')) {
			if (file && (!strcmp(file, "EXCLUDE_FILE") || !strcmp(file, "INPUT_SECTION_FLAGS"))) {
				if (skip_parens(lex))
					break;
				continue;
			}
			ret = read_call(lex, s, file ? file : "", file ? file : "");
			break;
		}
		if (lex->kind == LDS_PUNCT && !lds_is(lex, ':')) {
			error("cannot read '%s': line %u: unexpected '%c'", lex->name, lds_line(lex),
			      lex->text[lex->start]);
			break;
		}
		free(file);
		file = lds_token(lex);
	}
	free(file);
	if (!ret && keep && (!lds_next(lex) || !lds_is(lex, ')')))
		ret = lex->failed ? -1 : error("cannot read '%s': line %u: expected ')'", lex->name, lds_line(lex));
	return ret;
}

static int read_assign(struct lds_lex *lex, struct lds_stmt *s, const char *symbol)
{
	s->kind = LDS_ASSIGN;
	s->symbol = xstrdup(symbol);
	return skip_to_semicolon(lex);
}

/* The next token is a word: whether it is an operator glued to a `=`, as in `. += 64`. */
static bool next_is_operator(struct lds_lex lex)
{
	lex.quiet = true;
	return lds_next(&lex) && lex.kind == LDS_WORD && lex.end - lex.start <= 2 && lds_peek(&lex) == '=';
}

/* What follows a first word, up to the statement's last token but its `;`. */
static int read_rest(struct lds_lex *lex, struct lds_stmt *s, const char *first)
{
	char *file = xstrdup(first);
	int ret = 0;

	while (lds_peek(lex) == ':' && !ret) {	/* ARCHIVE:FILE */
		/* NOLINTNEXTLINE(misc-redundant-expression): the colon, and what follows it */
		if (!lds_next(lex) || !lds_next(lex))
			ret = unexpected_end(lex);
		free(file);
		file = lds_token(lex);
	}
	if (ret) {
		;
	} else if (lds_peek(lex) == '(') {
		lds_next(lex);
		if (!strcmp(first, "KEEP"))
			ret = read_wrapped(lex, s, true);
		else if (!strcmp(first, "EXCLUDE_FILE") || !strcmp(first, "INPUT_SECTION_FLAGS"))
			ret = skip_parens(lex) ? -1 : read_wrapped(lex, s, false);
		else
			ret = read_call(lex, s, first, file);
	} else if (lds_peek(lex) == '=' || next_is_operator(*lex)) {
		ret = read_assign(lex, s, first);
	} else if (!strcmp(first, "INCLUDE") && !lds_next(lex)) {
		ret = unexpected_end(lex);
	}
	free(file);
	return ret;
}

static int read_stmt(struct lds_lex *lex, struct lds_section *sec)
{
	ALLOC_GROW(sec->stmts, sec->nr_stmts + 1, sec->alloc_stmts);
	struct lds_stmt *s = &sec->stmts[sec->nr_stmts++];

	memset(s, 0, sizeof(*s));
	s->kind = LDS_OTHER;
	s->start = lex->start;
	if (lex->kind == LDS_WORD || lex->kind == LDS_STRING) {
		char *first = lds_token(lex);
		int ret = read_rest(lex, s, first);

		free(first);
		if (ret)
			return -1;
	} else if (!lds_is(lex, ';')) {
		return error("cannot read '%s': line %u: unexpected '%c'", lex->name, lds_line(lex),
			     lex->text[lex->start]);
	}
	if (!lds_is(lex, ';') && lds_peek(lex) == ';')
		lds_next(lex);
	s->end = lex->end;
	return 0;
}

/* The body of an output section; the current token is its `{`, then its `}`. */
static int read_section(struct lds_lex *lex, struct lds *l, char *name)
{
	ALLOC_GROW(l->sections, l->nr_sections + 1, l->alloc_sections);
	struct lds_section *sec = &l->sections[l->nr_sections++];

	memset(sec, 0, sizeof(*sec));
	sec->name = name;
	sec->body_start = lex->end;
	for (;;) {
		if (!lds_next(lex))
			return unexpected_end(lex);
		if (lds_is(lex, '}'))
			break;
		if (read_stmt(lex, sec))
			return -1;
	}
	sec->body_end = lex->start;
	return 0;
}

/* What may follow an output section's `}`: >REGION AT>REGION :PHDR =FILL and a comma. */
static int skip_section_tail(struct lds_lex *lex)
{
	for (;;) {
		char c = lds_peek(lex);
		struct lds_lex here = *lex;

		if (c != ':' && c != '=' && c != '>' && c != ',' && c != 'A')
			return 0;
		if (!lds_next(lex))
			return unexpected_end(lex);
		if (c == ',')
			continue;
		if (c == 'A' && lds_word_is(lex, "AT") && lds_peek(lex) == '>') {
			lds_next(lex);
			c = '>';
		} else if (c == 'A' && strncmp(lex->text + lex->start, "AT>", 3)) {
			*lex = here;
			return 0;
		}
		if ((c == '>' || c == 'A') && lex->text[lex->end - 1] != '>')
			continue;
		if (!lds_next(lex))
			return unexpected_end(lex);
		if (lds_is(lex, '(') && skip_parens(lex))
			return -1;
	}
}

/*
 * One statement between the braces of SECTIONS: an output section when a `:` comes
 * before any `=`, an assignment when the `=` comes first, or a call such as ASSERT().
 */
static int read_toplevel(struct lds_lex *lex, struct lds *l)
{
	char *name = lds_token(lex);
	bool call = lds_peek(lex) == '(' && (lds_word_is(lex, "ASSERT") || lds_word_is(lex, "ENTRY") ||
					     lds_word_is(lex, "HIDDEN") || !strncmp(name, "PROVIDE", 7));
	bool colon = false;
	int ret = -1;

	if (lds_is(lex, ';'))
		ret = 0;
	else if (call)
		ret = lds_next(lex) ? skip_parens(lex) : unexpected_end(lex);
	while (ret) {
		if (!lds_next(lex)) {
			ret = unexpected_end(lex);
			break;
		}
		if (lds_is(lex, '(')) {
			if (skip_parens(lex))
				break;
		} else if (lds_is(lex, ':')) {
			colon = true;
		} else if (lds_is(lex, '=') && !colon) {
			ret = skip_to_semicolon(lex);
			break;
		} else if (lds_is(lex, ';')) {
			ret = 0;
		} else if (lds_is(lex, '{')) {
			if (!strcmp(name, "OVERLAY")) {
				ret = skip_braces(lex);
			} else {
				ret = read_section(lex, l, name);
				name = NULL;
			}
			if (!ret)
				ret = skip_section_tail(lex);
			break;
		} else if (lds_is(lex, '}')) {
			error("cannot read '%s': line %u: unexpected '}'", lex->name, lds_line(lex));
			break;
		}
	}
	free(name);
	return ret;
}

int lds_init(struct lds *l, const char *name, const char *text, size_t size)
{
	memset(l, 0, sizeof(*l));
	l->name = xstrdup(name);
	l->text = xmalloc(size + 1);
	memcpy(l->text, text, size);
	l->text[size] = '\0';
	l->size = size;

	struct lds_lex lex = { .name = l->name, .text = l->text, .size = size };

	if (memchr(text, '\0', size)) {
		error("cannot read '%s': no text", name);
		lds_release(l);
		return -1;
	}
	while (lds_next(&lex)) {
		if (!lds_word_is(&lex, "SECTIONS"))
			continue;
		if (!lds_next(&lex) || !lds_is(&lex, '{'))
			goto fail;
		for (;;) {
			if (!lds_next(&lex))
				goto fail;
			if (lds_is(&lex, '}'))
				break;
			if (read_toplevel(&lex, l)) {
				lds_release(l);
				return -1;
			}
		}
	}
	if (!lex.failed)
		return 0;
fail:
	unexpected_end(&lex);
	lds_release(l);
	return -1;
}

void lds_release(struct lds *l)
{
	for (unsigned int i = 0; i < l->nr_sections; i++) {
		struct lds_section *sec = &l->sections[i];

		for (unsigned int j = 0; j < sec->nr_stmts; j++) {
			for (unsigned int k = 0; k < sec->stmts[j].nr_patterns; k++)
				free(sec->stmts[j].patterns[k]);
			free(sec->stmts[j].patterns);
			free(sec->stmts[j].symbol);
			free(sec->stmts[j].file);
		}
		free(sec->stmts);
		free(sec->name);
	}
	free(l->sections);
	free(l->text);
	free(l->name);
	memset(l, 0, sizeof(*l));
}
