/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols in memory: order, aliases, sizes, identities, look-up. */
#include "symtab.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "lib/str.h"
#include "lib/symtab_build.h"

struct symtab_text {
	struct symtab_text *next;
	size_t used, size;
	char bytes[];
};

void symtab_begin(struct symtab *st)
{
	memset(st, 0, sizeof(*st));
	st->names = xcalloc(1, sizeof(*st->names));
}

void symtab_release(struct symtab *st)
{
	struct symtab_names *n = st->names;

	if (n) {
		for (struct symtab_text *t = n->text, *next; t; t = next) {
			next = t->next;
			free(t);
		}
		index_release(&n->by_name);
		index_release(&n->ids);
		free(n->values);
		free(n->named);
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

const char *symtab_keep_bytes(struct symtab *st, const char *bytes, size_t size)
{
	struct symtab_text *t = st->names->text;

	if (!t || t->size - t->used <= size) {
		size_t room = size < 65000 ? 65000 : size + 1;

		t = xmalloc(sizeof(*t) + room);
		*t = (struct symtab_text){ st->names->text, 0, room };
		st->names->text = t;
	}
	char *p = t->bytes + t->used;
	memcpy(p, bytes, size);
	p[size] = '\0';
	t->used += size + 1;
	return p;
}

const char *symtab_keep(struct symtab *st, const char *s)
{
	return symtab_keep_bytes(st, s, strlen(s));
}

void symtab_reserve(struct symtab *st, uint32_t nr)
{
	ALLOC_GROW(st->names->values, nr, st->names->alloc_values);
	ALLOC_GROW(st->syms, nr, st->names->alloc_syms);
}

void symtab_add_value(struct symtab *st, const char *name, uint64_t value, bool global)
{
	struct symtab_names *n = st->names;

	ALLOC_GROW(n->values, n->nr_values + 1, n->alloc_values);
	n->values[n->nr_values++] = (struct symtab_value){ name, value, global, *name };
}

static uint32_t hash_name(const char *name)
{
	uint64_t h = 0;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

void symtab_add_func(struct symtab *st, const struct sym *s)
{
	ALLOC_GROW(st->syms, st->nr_syms + 1, st->names->alloc_syms);
	st->syms[st->nr_syms] = *s;
	st->syms[st->nr_syms++].name_hash = hash_name(s->name);
}

bool symtab_is_mapping_name(const char *name)
{
	if (name[0] == '.')
		return name[1] == 'L';
	/* arm, arm64 and riscv mark code and data: $a, $t, $x, $d, also $d.12 and $xrv64i2p1_... */
	return name[0] == '$' && name[1] && strchr("atxdpbm", name[1]);
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
	if (str_ends(name, "text_start") || str_ends(name, "text_end"))
		return true;
	return unsized && name[0] == '_' && name[1] == '_' &&
	       (str_ends(name, "_start") || str_ends(name, "_end") || str_ends(name, "_begin"));
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

struct sym_key {
	uint64_t key;
	uint32_t sym;
};

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS };

/* Stable; as many rounds as the largest key needs. Returns keys or spare. */
static struct sym_key *sort_keys(struct sym_key *keys, struct sym_key *spare, uint32_t nr, uint64_t largest)
{
	for (int shift = 0; shift < 64 && largest >> shift; shift += RADIX_BITS) {
		uint32_t at[RADIX + 1] = { 0 };

		for (uint32_t i = 0; i < nr; i++)
			at[(keys[i].key >> shift & (RADIX - 1)) + 1]++;
		for (uint32_t i = 0; i < RADIX; i++)
			at[i + 1] += at[i];
		for (uint32_t i = 0; i < nr; i++)
			spare[at[keys[i].key >> shift & (RADIX - 1)]++] = keys[i];
		struct sym_key *sorted = spare;
		spare = keys;
		keys = sorted;
	}
	return keys;
}

/* Into the order of the keys, along the cycles of the permutation. */
static void permute_syms(struct sym *syms, struct sym_key *keys, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct sym first = syms[i];
		uint32_t to = i, from;

		while ((from = keys[to].sym) != i) {
			syms[to] = syms[from];
			keys[to].sym = to;
			to = from;
		}
		syms[to] = first;
		keys[to].sym = to;
	}
}

static void sort_syms(struct symtab *st)
{
	uint32_t nr = st->nr_syms;
	struct sym_key *keys = xcalloc(2 * (size_t)nr, sizeof(*keys));
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t i = 0; i < nr; i++) {
		low = st->syms[i].addr < low ? st->syms[i].addr : low;
		high = st->syms[i].addr > high ? st->syms[i].addr : high;
	}
	for (uint32_t i = 0; i < nr; i++)
		keys[i] = (struct sym_key){ st->syms[i].addr - low, i };
	permute_syms(st->syms, sort_keys(keys, keys + nr, nr, high - low), nr);
	for (uint32_t i = 0, start = 0; i < nr; start = i) {
		while (++i < nr && st->syms[i].addr == st->syms[start].addr)
			;
		if (i - start > 1)
			qsort(st->syms + start, i - start, sizeof(*st->syms), cmp_syms);
	}
	free(keys);
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
		struct file_count *c = &counts[index_add_ref(files, s->file, strlen(s->file))];
		if (!c->addrs || c->last_addr != s->addr)
			c->addrs++;
		c->last_addr = s->addr;
	}
	return counts;
}

/* run: symbols of one name at several addresses, in their order. */
static void tell_apart(struct symtab *st, const uint32_t *run, uint32_t nr)
{
	struct index files = { 0 };
	struct file_count *counts = count_files(st, run, nr, &files);
	uint32_t nth = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct sym *s = &st->syms[run[i]];

		if (!i || s->addr != st->syms[run[i - 1]].addr)
			nth++;
		if (s->flags & SYM_ALIAS)
			continue;
		uint32_t f = s->file ? index_find_str(&files, s->file) : INDEX_NONE;
		bool by_file = f != INDEX_NONE && counts[f].addrs == 1;
		char *id = by_file ? xasprintf("%s@%s", s->name, s->file) : xasprintf("%s#%u", s->name, nth);
		s->id = symtab_keep(st, id);
		free(id);
	}
	free(counts);
	index_release(&files);
}

static void name_run(struct symtab *st, const uint32_t *run, uint32_t nr)
{
	if (st->syms[run[0]].addr != st->syms[run[nr - 1]].addr)
		tell_apart(st, run, nr);
}

/* Bring the symbols of one name together, in the order of their addresses. */
static const struct symtab *sorting;	/* qsort passes no context */
static int cmp_by_name(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	int c = strcmp(sorting->syms[a].name, sorting->syms[b].name);

	return c ? c : a < b ? -1 : 1;
}

/* run: several symbols whose names have one hash. */
static void name_hash_run(struct symtab *st, uint32_t *run, uint32_t nr)
{
	sorting = st;
	qsort(run, nr, sizeof(*run), cmp_by_name);
	for (uint32_t i = 1, start = 0; i <= nr; i++) {
		if (i < nr && !strcmp(st->syms[run[i]].name, st->syms[run[start]].name))
			continue;
		name_run(st, run + start, i - start);
		start = i;
	}
}

/* Names that only one symbol has are identities; of the others each hash's are gone through. */
static void give_ids(struct symtab *st)
{
	uint32_t nr = st->nr_syms, *run = xcalloc(nr, sizeof(*run));
	struct sym_key *keys = xcalloc(2 * (size_t)nr, sizeof(*keys)), *k;

	for (uint32_t i = 0; i < nr; i++) {
		st->syms[i].id = st->syms[i].name;
		keys[i] = (struct sym_key){ st->syms[i].name_hash, i };
	}
	k = sort_keys(keys, keys + nr, nr, UINT32_MAX);
	for (uint32_t i = 0, start = 0; i < nr; start = i) {
		for (; i < nr && k[i].key == k[start].key; i++)
			run[i - start] = k[i].sym;
		if (i - start > 1)
			name_hash_run(st, run, i - start);
	}
	free(keys);
	free(run);
	for (uint32_t i = 1; i < nr; i++)
		if (st->syms[i].flags & SYM_ALIAS)
			st->syms[i].id = st->syms[i - 1].id;
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

/* The first global symbol of a name counts, else the first. */
static void index_values(struct symtab_names *n)
{
	n->named = xcalloc(n->nr_values, sizeof(*n->named));
	index_reserve(&n->by_name, n->nr_values);
	for (uint32_t i = 0; i < n->nr_values; i++) {
		const struct symtab_value *v = &n->values[i];
		uint32_t had = n->by_name.nr_keys, id = index_add_ref(&n->by_name, v->name, strlen(v->name));

		if (id == had || (v->global && !n->values[n->named[id]].global))
			n->named[id] = i;
	}
}

static const struct symtab_value *search_value(const struct symtab_names *n, const char *name)
{
	const struct symtab_value *found = NULL;

	for (uint32_t i = 0; i < n->nr_values; i++) {
		const struct symtab_value *v = &n->values[i];

		if (v->first == name[0] && (!found || (v->global && !found->global)) && !strcmp(v->name, name))
			found = v;
	}
	return found;
}

/* An index of all names costs as much as reading them: whoever asks but a few times goes without. */
bool symtab_value(const struct symtab *st, const char *name, uint64_t *value)
{
	enum { FEW = 6 };
	struct symtab_names *n = st->names;
	const struct symtab_value *v = NULL;

	if (!n || !n->nr_values)
		return false;
	if (!n->named && n->nr_searches++ < FEW) {
		v = search_value(n, name);
	} else {
		if (!n->named)
			index_values(n);
		uint32_t i = index_find_str(&n->by_name, name);
		if (i != INDEX_NONE)
			v = &n->values[n->named[i]];
	}
	if (v)
		*value = v->value;
	return v;
}

bool symtab_goes_by(const struct symtab *st, const struct sym *sym, const char *name, uint64_t start)
{
	uint64_t value;

	if (!strcmp(sym->name, name) || (symtab_value(st, name, &value) && value == start))
		return true;
	for (const struct sym *s = sym + 1; s < st->syms + st->nr_syms && s->addr == sym->addr; s++)
		if (!strcmp(s->name, name))
			return true;
	return false;
}

int symtab_finish(struct symtab *st, const char *path, uint64_t (*section_end)(void *arg, uint64_t addr),
		  void *arg)
{
	bool stext = symtab_value(st, "_stext", &st->stext_addr);
	bool etext = symtab_value(st, "_etext", &st->etext_addr);

	if (!symtab_value(st, "_text", &st->text_addr)) {
		if (!stext)
			return error("cannot read '%s': no _text or _stext (not a kernel?)", path);
		st->text_addr = st->stext_addr;
	}
	if (!stext)
		st->stext_addr = st->text_addr;
	if (!st->nr_syms)
		return error("cannot read '%s': no functions", path);
	sort_syms(st);
	drop_inner_labels(st);
	give_sizes(st, section_end, arg);
	give_ids(st);
	index_addrs(st);
	if (!etext) {
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

static void index_ids(const struct symtab *st)
{
	struct symtab_names *n = st->names;

	n->id_sym = xcalloc(n->nr_primary, sizeof(*n->id_sym));
	index_reserve(&n->ids, n->nr_primary);
	for (uint32_t i = 0; i < n->nr_primary; i++) {
		const char *id = st->syms[n->primary[i]].id;
		uint32_t had = n->ids.nr_keys, k = index_add_ref(&n->ids, id, strlen(id));

		if (k == had)
			n->id_sym[k] = n->primary[i];
	}
}

const struct sym *symtab_find_id(const struct symtab *st, const char *id)
{
	if (!st->names || !st->names->nr_primary)
		return NULL;
	if (!st->names->id_sym)
		index_ids(st);
	uint32_t i = index_find_str(&st->names->ids, id);
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): index_ids() has made it */
	return i == INDEX_NONE ? NULL : &st->syms[st->names->id_sym[i]];
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
	return strchr(identity, '@') && str_ends(identity, ".ko");
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
