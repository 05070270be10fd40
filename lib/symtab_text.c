/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols from text: /proc/kallsyms, System.map, nm. */
#include <string.h>
#include <stdlib.h>

#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab_build.h"

/* What follows a function without another function behind it: its last possible byte. */
enum { MAX_LAST_SIZE = 4096 };

struct bounds {
	uint64_t *addrs;	/* of every symbol, sorted: each ends what stands before it */
	uint32_t nr_addrs, alloc_addrs;
};

static int cmp_u64(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

static uint64_t next_symbol(void *arg, uint64_t addr)
{
	const struct bounds *b = arg;
	uint32_t lo = 0, hi = b->nr_addrs;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (b->addrs[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < b->nr_addrs && b->addrs[lo] - addr < (1u << 20))
		return b->addrs[lo];
	return addr + MAX_LAST_SIZE < addr ? UINT64_MAX : addr + MAX_LAST_SIZE;
}

/* Split `address type name [module]` in place; false when the line is none. */
static bool parse_line(char *line, uint64_t *addr, char *type, char **name, bool *module)
{
	const char *p = line;

	if (!scan_hex(&p, addr) || p[0] != ' ' || !p[1] || p[2] != ' ' || !p[3])
		return false;
	*type = p[1];
	*name = line + (p + 3 - line);
	size_t n = strcspn(*name, " \t");
	*module = (*name)[n] != '\0';
	(*name)[n] = '\0';
	return n > 0;
}

static int read_lines(struct symtab *st, struct input *in, struct bounds *b)
{
	uint64_t addr, all = 0;
	char *line, *name, type;
	bool module;

	while ((line = input_line(in, NULL))) {
		if (!*line)
			continue;
		if (!parse_line(line, &addr, &type, &name, &module)) {
			return error("cannot read '%s': line %lu is not 'address type name'", input_name(in),
				     input_lineno(in));
		}
		if (module || type == 'U' || type == 'a' || type == 'A')
			continue;
		all |= addr;
		bool weak = type == 'w' || type == 'W', global = weak || (type >= 'A' && type <= 'Z');
		if (symtab_is_mapping_name(name))
			continue;
		const char *kept = symtab_keep(st, name);
		symtab_add_value(st, kept, addr, global);
		ALLOC_GROW(b->addrs, b->nr_addrs + 1, b->alloc_addrs);
		b->addrs[b->nr_addrs++] = addr;
		if (!strchr("tTwW", type) || symtab_is_boundary_name(name, false))
			continue;
		symtab_add_func(st, &(struct sym){ .addr = addr, .name = kept,
						   .flags = SYM_FUNC | (global ? SYM_GLOBAL : 0u) |
							    (weak ? SYM_WEAK : 0u) });
	}
	if (input_failed(in))
		return -1;
	if (!all && st->nr_syms)
		return error("cannot use '%s': every address is zero (kernel.kptr_restrict hides them)",
			     input_name(in));
	return 0;
}

int symtab_read_kallsyms(struct symtab *st, const char *path)
{
	struct bounds b = { 0 };
	int ret = -1;

	symtab_begin(st);
	struct input *in = input_open(path);
	if (in && !read_lines(st, in, &b)) {
		sort_array(b.addrs, b.nr_addrs, sizeof(*b.addrs), cmp_u64);
		ret = symtab_finish(st, path, next_symbol, &b);
	}
	input_close(in);
	free(b.addrs);
	if (ret)
		symtab_release(st);
	return ret;
}
