/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perfscript_line.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "lib/number.h"
#include "lib/symtab.h"

static const char *const unknown = "[unknown]";

/* Behind a field of marks between slashes; NULL when it is none. Digits only where type and cycles may be. */
static char *behind_mark(char *s, bool first_three)
{
	char *from = s;

	while (isupper((unsigned char)*s) || *s == '-' || (!first_three && (isdigit((unsigned char)*s) || *s == '_')))
		s++;
	return (first_three && s == from) || (*s && *s != '/' && *s != ' ' && *s != '\t') ? NULL : s;
}

char *perfscript_marks(char *s, char **end)
{
	while ((s = strchr(s, '/'))) {
		char *p = s, *at = s;

		for (int nr = 0; p && (nr < 3 || *p == '/'); nr++) {
			at = p;
			p = *p == '/' ? behind_mark(p + 1, nr < 3) : NULL;
		}
		if (p) {
			*end = p;
			return s;
		}
		s = at + (*at == '/');	/* what begins before there ends there, too */
	}
	return NULL;
}

/* Where the "(dso)" begins that ends the text before end, with the blanks before it; end when there is none. */
static char *before_dso(char *s, char *end)
{
	char *from = end - s > PATH_MAX ? end - PATH_MAX : s;
	int depth = 0;

	if (end == s || end[-1] != ')')
		return end;
	for (char *p = end; p > from;) {
		p--;
		depth += *p == ')' ? 1 : *p == '(' ? -1 : 0;
		if (depth)
			continue;
		while (p > s && p[-1] == ' ')
			p--;
		return p;
	}
	return end;
}

/* The "[unknown]" or the "0x12" that ends the text before end; NULL when neither does. */
static char *end_of_place(char *s, char *end)
{
	char *p = end;

	if (end - s >= 9 && !memcmp(end - 9, unknown, 9))
		return end - 9;
	while (p > s && isxdigit((unsigned char)p[-1]))
		p--;
	return p < end && p - s >= 2 && p[-1] == 'x' && p[-2] == '0' ? p - 2 : NULL;
}

char *perfscript_middle(char *s, char *marks)
{
	/* Names and files have slashes too, "operator/(int)+0x10/main+0x0", but no offsets before them. */
	for (char *p = s; (p = memchr(p, '/', (size_t)(marks - p))); p++)
		if (end_of_place(s, before_dso(s, p)))
			return p;
	return NULL;
}

bool perfscript_branch_end(char *s, const struct symtab *syms, struct text_frame *f)
{
	char *end = s + strlen(s), *name_end = before_dso(s, end), *dso = NULL;
	const char *p = s + 2;

	*f = (struct text_frame){ .kind = FRAME_KERNEL };
	if (name_end < end) {
		dso = name_end + strspn(name_end, " ") + 1;
		end[-1] = *name_end = '\0';
	}
	if (s[0] == '0' && s[1] == 'x') {
		if (!scan_hex(&p, &f->addr) || *p)
			return false;
		f->has_addr = true;
		f->kind = perfscript_is_kernels(syms, f->addr) ? FRAME_KERNEL : FRAME_USER;
	} else {
		perfscript_symbol(f, s);
		/* Programs have functions too: only names that the kernel has, where that is known. */
		uint64_t value;
		if (!f->name || (syms && !symtab_value(syms, f->name, &value)))
			f->kind = FRAME_USER;
	}
	if (dso)
		perfscript_dso(dso, syms, f);
	perfscript_check_name(f);
	return true;
}

/* ---- between the header's address and the first branch ---- */

/* Whether the symbols have the name [s, end). */
static bool is_known(const struct symtab *syms, char *s, char *end)
{
	char was = *end;
	uint64_t value;

	*end = '\0';
	bool known = syms && symtab_value(syms, s, &value);
	*end = was;
	return known;
}

/*
 * The name of a branch begins in [first, last], behind the name at s or its offset, and
 * ends at end. NULL when several places fit, or none.
 */
static char *split_names(char *s, char *first, char *last, char *end, const struct symtab *syms)
{
	enum { LONGEST = 2 * 512 };	/* KSYM_NAME_LEN, of both names */
	char *found = NULL, *only = NULL;
	int nr_found = 0, nr = 0;

	if (end - (s ? s : first) > LONGEST)
		return NULL;
	for (char *p = first; p <= last; p++) {
		if (isdigit((unsigned char)*p))
			continue;
		nr++;
		only = p;
		if (is_known(syms, p, end) && (!s || is_known(syms, s, p))) {
			nr_found++;
			found = p;
		}
	}
	return nr_found == 1 ? found : s || nr != 1 ? NULL : only;
}

/* Behind "(dso)" at s; NULL when its end is not before end. */
static char *behind_dso(char *s, char *end)
{
	int depth = 0;

	for (; s < end; s++) {
		depth += *s == '(' ? 1 : *s == ')' ? -1 : 0;
		if (!depth)
			return s + 1;
	}
	return NULL;
}

static char *find_in(char *s, char *end, const char *what)
{
	return memmem(s, (size_t)(end - s), what, strlen(what));
}

/* "name+0x1 (dso)name" at s, of which the last is a branch's: where that begins. */
static char *split_head(char *s, char *end, const struct symtab *syms)
{
	char *off = find_in(s, end, "+0x"), *q = off ? off + 3 : NULL;
	bool is_unknown = end - s >= 9 && !memcmp(s, unknown, 9);

	if (is_unknown)
		q = s + 9;
	else if (q)
		while (q < end && isxdigit((unsigned char)*q))
			q++;
	else if (!(q = find_in(s, end, " (")) && !(q = find_in(s, end, "  ")))
		return split_names(s, s + 1, end - 1, end, syms);
	if (q + 1 < end && q[0] == ' ' && q[1] == '(')
		q = behind_dso(q + 1, end);
	else if (*q != ' ' && !is_unknown)
		return split_names(NULL, off + 4, q, end, syms);
	return q ? q + (skip_blanks(q) - q) : NULL;
}

char *perfscript_branches(char *rest, char *mid, const struct symtab *syms, char **head_end)
{
	enum { WIDTH = 2 + 16 };	/* the address is the end of that, unless it is followed by a blank */
	char *s = rest + (skip_blanks(rest) - rest), *p = s, *end, *place;

	while (isxdigit((unsigned char)*p))
		p++;
	if (p > s && *p != ' ' && p - rest >= WIDTH && s - rest >= 2)
		p = rest + WIDTH;
	else if (p == s || *p != ' ')
		return *head_end = s;	/* no address */
	*head_end = p;
	s = p + (skip_blanks(p) - p);
	end = before_dso(s, mid);
	place = s < mid ? end_of_place(s, end) : NULL;
	if (!place)
		return mid;
	if (place > s && place[-1] == '+' && (s == p || s - p > 1))
		return *head_end = s;	/* "addr name+0x1" would be the frame's */
	if (place > s && place[-1] == '+')
		place = split_head(s, place - 1, syms);
	return place ? *head_end = place : mid;
}
