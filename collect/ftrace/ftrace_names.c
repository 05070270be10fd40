/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ftrace_names.h"

#include <stdlib.h>
#include <string.h>

#include "collect/profile.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/modules.h"
#include "lib/number.h"
#include "lib/symtab.h"

void ftrace_names_init(struct ftrace_names *n, const struct symtab *syms, struct profile *p)
{
	memset(n, 0, sizeof(*n));
	n->syms = syms;
	n->p = p;
}

void ftrace_names_release(struct ftrace_names *n)
{
	index_release(&n->addrs);
	index_release(&n->strings);
	free(n->places);
	free(n->named);
	memset(n, 0, sizeof(*n));
}

/* The one function of that name, or that an alias or boundary symbol of that name is at; NULL when none. */
static const struct sym *unique_sym(const struct symtab *st, const char *name)
{
	const struct sym *sym = symtab_find_id(st, name);
	uint64_t value;

	if (sym || !symtab_value(st, name, &value))
		return sym;
	sym = symtab_find(st, value);
	return sym && sym->addr == value && strcmp(sym->name, name) != 0 ? sym : NULL;
}

/* By name alone: the identity of that name, else the name itself, which may match later in its normalised form. */
static struct ftrace_place by_name(const struct ftrace_names *n, const char *name, uint64_t off)
{
	const struct sym *sym = n->syms ? unique_sym(n->syms, name) : NULL;

	return (struct ftrace_place){
		.func = profile_func(n->p, sym ? sym->id : name),
		.off = off < PROFILE_MAX_BYTES ? (uint32_t)off : PROFILE_OFF_UNKNOWN,
		.resolved = sym || !n->syms,
	};
}

static struct ftrace_place find(struct ftrace_names *n, uint64_t addr, const char *name, uint64_t start)
{
	const struct sym *sym;

	if (!n->syms)
		return name ? by_name(n, name, addr - start)
			    : (struct ftrace_place){ INDEX_NONE, PROFILE_OFF_UNKNOWN, false };
	if (!n->placed && name && (sym = symtab_find_id(n->syms, name)) && !strcmp(sym->name, sym->id)) {
		n->slide = start - sym->addr;
		n->placed = true;
	}
	sym = symtab_find(n->syms, addr - n->slide);
	uint64_t off = 0;
	const struct module_func *f = !sym && n->modules ? modules_find_addr(n->modules, addr, &off) : NULL;
	if (f)
		return (struct ftrace_place){
			.func = profile_func(n->p, f->id),
			.off = off < PROFILE_MAX_BYTES ? (uint32_t)off : PROFILE_OFF_UNKNOWN,
			.resolved = true,
		};
	if (!name && !sym)
		return (struct ftrace_place){ INDEX_NONE, PROFILE_OFF_UNKNOWN, false };
	if (name) {
		bool same = sym && symtab_goes_by(n->syms, sym, name, start - n->slide);

		n->agreed += same;
		n->differed += !same;
		if (!same)
			return by_name(n, name, addr - start);
	}
	off = addr - n->slide - sym->addr;
	return (struct ftrace_place){
		.func = profile_func(n->p, sym->id),
		.off = off < PROFILE_MAX_BYTES ? (uint32_t)off : PROFILE_OFF_UNKNOWN,
		.resolved = true,
	};
}

const struct ftrace_place *ftrace_names_seen(const struct ftrace_names *n, uint64_t addr)
{
	uint32_t id = index_find(&n->addrs, &addr, sizeof(addr));

	return id == INDEX_NONE ? NULL : &n->places[id];
}

const struct ftrace_place *ftrace_names_addr(struct ftrace_names *n, uint64_t addr, const char *name,
					     uint64_t start)
{
	const struct ftrace_place *seen = ftrace_names_seen(n, addr);

	if (seen)
		return seen;
	n->last = find(n, addr, name, start);
	if (n->syms && !n->placed)
		return &n->last;	/* not final: a later name may show where the kernel lies */
	uint32_t id = index_add(&n->addrs, &addr, sizeof(addr));
	ALLOC_GROW(n->places, id + 1, n->alloc_places);
	n->places[id] = n->last;
	return &n->places[id];
}

/* "name+0x1c/0x80 [module]": any part behind the name may be missing. */
static struct ftrace_place find_text(const struct ftrace_names *n, const char *text)
{
	size_t len = strcspn(text, " \t"), bare = strcspn(text, "+ \t");
	const char *module = strchr(text + len, '[');
	uint64_t off = PROFILE_OFF_UNKNOWN;
	char *name = xstrndup(text, bare);

	if (text[bare] == '+') {
		const char *p = text + bare + 1;

		if (p[0] == '0' && p[1] == 'x')
			p += 2;
		if (!scan_hex(&p, &off))
			off = PROFILE_OFF_UNKNOWN;
	}
	struct ftrace_place place;
	if (module) {
		char *of = xstrndup(module + 1, strcspn(module + 1, "]"));

		place = (struct ftrace_place){ profile_module_func(n->p, name, of), PROFILE_OFF_UNKNOWN, !n->syms };
		if (off < PROFILE_MAX_BYTES)
			place.off = (uint32_t)off;
		free(of);
	} else {
		place = by_name(n, name, off);
	}
	free(name);
	return place;
}

const struct ftrace_place *ftrace_names_text(struct ftrace_names *n, const char *name)
{
	uint32_t had = n->strings.nr_keys, id = index_add_str(&n->strings, name);

	if (id == had) {
		ALLOC_GROW(n->named, had + 1, n->alloc_named);
		n->named[id] = find_text(n, name);
	}
	return &n->named[id];
}

void ftrace_names_report(const struct ftrace_names *n, const char *what)
{
	if (n->differed > n->agreed / 10)
		warn("'%s': %llu of %llu functions are not where the symbols have them: matched by name", what,
		     (unsigned long long)n->differed, (unsigned long long)(n->agreed + n->differed));
}
