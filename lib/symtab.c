/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols in memory: order, aliases, sizes, identities, look-up. */
#include "symtab.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "lib/symtab_build.h"

void symtab_begin(struct symtab *st)
{
	memset(st, 0, sizeof(*st));
	st->names = xcalloc(1, sizeof(*st->names));
}

void symtab_release(struct symtab *st)
{
	struct symtab_names *n = st->names;

	if (n) {
		index_release(&n->strings);
		index_release(&n->names);
		index_release(&n->ids);
		free(n->values);
		free(n->global);
		free(n->id_sym);
		free(n->primary);
		free(n->parent);
		free(n->bucket);
		free(n);
	}
	free(st->syms);
	free(st->release);
	memset(st, 0, sizeof(*st));
}

const char *symtab_keep(struct symtab *st, const char *s)
{
	return index_str(&st->names->strings, index_add_str(&st->names->strings, s));
}

void symtab_add_value(struct symtab *st, const char *name, uint64_t value, bool global)
{
	struct symtab_names *n = st->names;
	uint32_t had = n->names.nr_keys;
	uint32_t id = index_add_str(&n->names, name);

	ALLOC_GROW(n->values, n->names.nr_keys, n->alloc_values);
	ALLOC_GROW(n->global, n->names.nr_keys, n->alloc_global);
	if (id < had && (n->global[id] || !global))
		return;
	n->values[id] = value;
	n->global[id] = global;
}

void symtab_add_func(struct symtab *st, const struct sym *s)
{
	ALLOC_GROW(st->syms, st->nr_syms + 1, st->names->alloc_syms);
	st->syms[st->nr_syms++] = *s;
}

bool symtab_is_mapping_name(const char *name)
{
	if (name[0] == '.')
		return name[1] == 'L';
	/* arm, arm64 and riscv mark code and data: $a, $t, $x, $d, also $d.12 and $xrv64i2p1_... */
	return name[0] == '$' && name[1] && strchr("atxdpbm", name[1]);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

bool symtab_is_boundary_name(const char *name, bool unsized)
{
	static const char *const exact[] = {
		"_text", "_stext", "_etext", "_start", "_end", "_sinittext", "_einittext", "_sextratext",
		"_eextratext", "__init_begin", "__init_end", "__inittext_begin", "__inittext_end",
		"_einitext",
		"__start_rodata", "__exittext_begin", "__exittext_end",
	};

	for (size_t i = 0; i < ARRAY_SIZE(exact); i++)
		if (!strcmp(name, exact[i]))
			return true;
	if (ends_with(name, "text_start") || ends_with(name, "text_end"))
		return true;
	return unsized && name[0] == '_' && name[1] == '_' &&
	       (ends_with(name, "_start") || ends_with(name, "_end") || ends_with(name, "_begin"));
}

/* By address, then functions before labels, sized ones first, strong, weak, local, name, file. */
static int cmp_syms(const void *va, const void *vb)
{
	const struct sym *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	uint32_t fa = a->flags & (SYM_FUNC | SYM_SIZED), fb = b->flags & (SYM_FUNC | SYM_SIZED);
	if ((fa ^ fb) & SYM_FUNC)
		return fa & SYM_FUNC ? -1 : 1;
	if ((fa ^ fb) & SYM_SIZED)
		return fa & SYM_SIZED ? -1 : 1;
	if ((a->flags ^ b->flags) & SYM_GLOBAL)
		return a->flags & SYM_GLOBAL ? -1 : 1;
	if ((a->flags ^ b->flags) & SYM_WEAK)
		return a->flags & SYM_WEAK ? 1 : -1;
	int c = strcmp(a->name, b->name);
	return c ? c : strcmp(a->file ? a->file : "", b->file ? b->file : "");
}

/*
 * A label without a size inside a function that has one (x86's SYM_INNER_LABEL,
 * `nested_nmi`) is a place in that function, not a function.
 */
static void drop_inner_labels(struct symtab *st)
{
	uint64_t end = 0;
	uint32_t out = 0;

	for (uint32_t i = 0; i < st->nr_syms; i++) {
		const struct sym *s = &st->syms[i];

		if (!(s->flags & (SYM_FUNC | SYM_SIZED)) && s->addr < end &&
		    !(out && st->syms[out - 1].addr == s->addr))
			continue;
		if (s->flags & SYM_SIZED && s->addr + s->size > end)
			end = s->addr + s->size;
		st->syms[out++] = *s;
	}
	st->nr_syms = out;
}

static void give_sizes(struct symtab *st, uint64_t (*section_end)(void *arg, uint64_t addr), void *arg)
{
	uint64_t next = UINT64_MAX, at = UINT64_MAX, first_size = 0;

	for (uint32_t i = st->nr_syms; i-- > 0;) {
		struct sym *s = &st->syms[i];

		if (s->addr != at) {
			next = at;
			at = s->addr;
		}
		if (s->size)
			continue;
		uint64_t end = section_end(arg, s->addr);
		if (end > next || end <= s->addr)
			end = next;
		s->size = end - s->addr;
	}
	at = UINT64_MAX;
	for (uint32_t i = 0; i < st->nr_syms; i++) {
		struct sym *s = &st->syms[i];

		if (i && s->addr == at) {
			s->flags |= SYM_ALIAS;
			if (!(s->flags & SYM_SIZED))
				s->size = first_size;
		} else {
			first_size = s->size;
		}
		at = s->addr;
	}
}

/* Bring the symbols of one name together, in the order of their addresses. */
static const struct symtab *sorting;	/* qsort passes no context */
static int cmp_by_name(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	int c = strcmp(sorting->syms[a].name, sorting->syms[b].name);

	return c ? c : a < b ? -1 : 1;
}

/* How many addresses of a run each source file holds. */
struct file_count {
	uint64_t last_addr;
	uint32_t addrs;
};

static struct file_count *count_files(const struct symtab *st, const uint32_t *run, uint32_t nr,
				      struct index *files)
{
	struct file_count *counts = xcalloc(nr, sizeof(*counts));

	for (uint32_t i = 0; i < nr; i++) {
		const struct sym *s = &st->syms[run[i]];

		if (!s->file)
			continue;
		struct file_count *c = &counts[index_add(files, &s->file, sizeof(s->file))];
		if (!c->addrs || c->last_addr != s->addr)
			c->addrs++;
		c->last_addr = s->addr;
	}
	return counts;
}

/* run: symbols of one name, by address. */
static void name_run(struct symtab *st, const uint32_t *run, uint32_t nr)
{
	bool unique = st->syms[run[0]].addr == st->syms[run[nr - 1]].addr;
	struct index files = { 0 };
	struct file_count *counts = unique ? NULL : count_files(st, run, nr, &files);
	uint32_t nth = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct sym *s = &st->syms[run[i]];

		if (!i || s->addr != st->syms[run[i - 1]].addr)
			nth++;
		if (s->flags & SYM_ALIAS)
			continue;
		if (unique) {
			s->id = s->name;
			continue;
		}
		uint32_t f = s->file ? index_find(&files, &s->file, sizeof(s->file)) : INDEX_NONE;
		bool by_file = f != INDEX_NONE && counts[f].addrs == 1;
		char *id = by_file ? xasprintf("%s@%s", s->name, s->file) : xasprintf("%s#%u", s->name, nth);
		s->id = symtab_keep(st, id);
		free(id);
	}
	free(counts);
	index_release(&files);
}

static void give_ids(struct symtab *st)
{
	uint32_t *order = xcalloc(st->nr_syms, sizeof(*order));
	uint32_t start = 0;

	for (uint32_t i = 0; i < st->nr_syms; i++)
		order[i] = i;
	sorting = st;
	qsort(order, st->nr_syms, sizeof(*order), cmp_by_name);
	for (uint32_t i = 1; i <= st->nr_syms; i++) {
		if (i < st->nr_syms && !strcmp(st->syms[order[i]].name, st->syms[order[start]].name))
			continue;
		name_run(st, order + start, i - start);
		start = i;
	}
	free(order);
	for (uint32_t i = 1; i < st->nr_syms; i++)
		if (st->syms[i].flags & SYM_ALIAS)
			st->syms[i].id = st->syms[i - 1].id;
}

static void index_ids(struct symtab *st)
{
	struct symtab_names *n = st->names;

	n->id_sym = xcalloc(st->nr_syms, sizeof(*n->id_sym));
	for (uint32_t i = 0; i < st->nr_syms; i++) {
		if (st->syms[i].flags & SYM_ALIAS)
			continue;
		uint32_t had = n->ids.nr_keys, id = index_add_str(&n->ids, st->syms[i].id);

		if (id == had)
			n->id_sym[id] = i;
	}
}

/* Buckets so many that each holds about one function, whatever the spread of the addresses. */
static void index_addrs(struct symtab *st)
{
	struct symtab_names *n = st->names;
	uint32_t top = INDEX_NONE;

	n->primary = xcalloc(st->nr_syms, sizeof(*n->primary));
	n->parent = xcalloc(st->nr_syms, sizeof(*n->parent));
	for (uint32_t i = 0; i < st->nr_syms; i++)
		if (!(st->syms[i].flags & SYM_ALIAS))
			n->primary[n->nr_primary++] = i;
	for (uint32_t i = 0; i < n->nr_primary; i++) {
		const struct sym *s = &st->syms[n->primary[i]];

		while (top != INDEX_NONE) {
			const struct sym *t = &st->syms[n->primary[top]];
			if (s->addr - t->addr < t->size)
				break;
			top = n->parent[top];
		}
		n->parent[i] = top;
		top = i;
	}
	if (!n->nr_primary)
		return;
	n->base = st->syms[n->primary[0]].addr;
	uint64_t span = st->syms[n->primary[n->nr_primary - 1]].addr - n->base;
	while ((span >> n->shift) > 2 * (uint64_t)n->nr_primary)
		n->shift++;
	n->nr_buckets = (uint32_t)(span >> n->shift) + 1;
	n->bucket = xcalloc(n->nr_buckets, sizeof(*n->bucket));
	uint32_t i = 0;
	for (uint32_t b = 0; b < n->nr_buckets; b++) {
		while (i + 1 < n->nr_primary &&
		       (st->syms[n->primary[i + 1]].addr - n->base) >> n->shift <= b)
			i++;
		n->bucket[b] = i;
	}
}

int symtab_finish(struct symtab *st, const char *path, uint64_t (*section_end)(void *arg, uint64_t addr),
		  void *arg)
{
	bool stext = symtab_value(st, "_stext", &st->stext_addr);

	if (!symtab_value(st, "_text", &st->text_addr)) {
		if (!stext)
			return error("cannot read '%s': no _text or _stext (not a kernel?)", path);
		st->text_addr = st->stext_addr;
	}
	if (!stext)
		st->stext_addr = st->text_addr;
	if (!st->nr_syms)
		return error("cannot read '%s': no functions", path);
	qsort(st->syms, st->nr_syms, sizeof(*st->syms), cmp_syms);
	drop_inner_labels(st);
	give_sizes(st, section_end, arg);
	give_ids(st);
	index_ids(st);
	index_addrs(st);
	if (!symtab_value(st, "_etext", &st->etext_addr)) {
		const struct sym *last = &st->syms[st->nr_syms - 1];
		st->etext_addr = last->addr + last->size;
	}
	return 0;
}

const struct sym *symtab_find(const struct symtab *st, uint64_t addr)
{
	const struct symtab_names *n = st->names;

	if (!n || !n->nr_primary || addr < n->base)
		return NULL;
	/* The last function that begins at or before addr is in [low, i]. */
	uint64_t b = (addr - n->base) >> n->shift;
	uint32_t i = b < n->nr_buckets ? n->bucket[b] : n->nr_primary - 1;
	uint32_t low = !b ? 0 : b <= n->nr_buckets ? n->bucket[b - 1] : n->nr_primary - 1;
	while (low < i) {
		uint32_t mid = i - (i - low) / 2;

		if (st->syms[n->primary[mid]].addr <= addr)
			low = mid;
		else
			i = mid - 1;
	}
	while (i != INDEX_NONE) {
		const struct sym *s = &st->syms[n->primary[i]];
		if (addr - s->addr < s->size)
			return s;
		i = n->parent[i];
	}
	return NULL;
}

const struct sym *symtab_find_id(const struct symtab *st, const char *id)
{
	uint32_t i = st->names ? index_find_str(&st->names->ids, id) : INDEX_NONE;

	return i == INDEX_NONE ? NULL : &st->syms[st->names->id_sym[i]];
}

bool symtab_value(const struct symtab *st, const char *name, uint64_t *value)
{
	uint32_t i = st->names ? index_find_str(&st->names->names, name) : INDEX_NONE;

	if (i == INDEX_NONE)
		return false;
	*value = st->names->values[i];
	return true;
}

const char *build_id_hex(const unsigned char *id, uint32_t size, char *buf)
{
	if (!size || size > BUILD_ID_MAX)
		return strcpy(buf, "-");
	for (uint32_t i = 0; i < size; i++)
		sprintf(buf + 2 * i, "%02x", id[i]);
	return buf;
}

const char *symtab_arch(const struct symtab *st)
{
	switch (st->e_machine) {
	case EM_X86_64: return "x86_64";
	case EM_386: return "i386";
	case EM_PPC: return "ppc";
	case EM_PPC64: return "ppc64";
	case EM_ARM: return "arm";
	case EM_AARCH64: return "arm64";
	case EM_RISCV: return st->is_64 ? "riscv64" : "riscv32";
	case EM_S390: return "s390";
	case EM_IA_64: return "ia64";
	case EM_SPARCV9: return "sparc64";
	case EM_SPARC: return "sparc";
	case EM_MIPS: return st->is_64 ? "mips64" : "mips";
	case EM_LOONGARCH: return "loongarch64";
	default: return "any";
	}
}

bool identity_is_module(const char *identity)
{
	return strchr(identity, '@') && ends_with(identity, ".ko");
}

/* Length of a known suffix that ends name[0, len), 0 when there is none. */
static size_t compiler_suffix(const char *name, size_t len)
{
	static const struct { const char *text; bool number; } known[] = {
		{ ".isra.", true }, { ".constprop.", true }, { ".part.", true }, { ".cold.", true },
		{ ".llvm.", true }, { ".lto_priv.", true }, { ".cold", false }, { ".localalias", false },
	};

	size_t digits = 0;
	while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9')
		digits++;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t n = strlen(known[i].text), tail = known[i].number ? digits : 0;

		if (known[i].number && !digits)
			continue;
		if (len > n + tail && !memcmp(name + len - tail - n, known[i].text, n))
			return n + tail;
	}
	return 0;
}

bool symbol_normalise(char *name)
{
	size_t len = strlen(name), had = len, n;

	if (len > 6 && !memcmp(name, "__pfx_", 6)) {
		len -= 6;
		memmove(name, name + 6, len + 1);
	}
	while ((n = compiler_suffix(name, len)))
		len -= n;
	name[len] = '\0';
	return len != had;
}
