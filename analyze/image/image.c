/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/image/linkmap.h"
#include "analyze/image/units.h"
#include "lib/error.h"
#include "lib/kind.h"
#include "lib/mem.h"
#include "lib/str.h"

/* Whether a map describes this vmlinux: same code sections, same globals; else *why says what differs. */
static bool map_matches(const struct image *img, const struct linkmap *map, const struct code *t, char **why)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < map->nr_outputs; i++) {
		const struct linkmap_output *o = &map->outputs[i];
		const struct code_section *s = o->size ? code_at(t, o->addr) : NULL;

		if (o->size && (!s || s->addr != o->addr || s->size != o->size || strcmp(s->name, o->name))) {
			*why = xasprintf("section '%s' is not at %#llx with size %#llx", o->name,
					 (unsigned long long)o->addr, (unsigned long long)o->size);
			return false;
		}
	}
	for (uint32_t i = 0; i < map->nr_symbols; i++) {
		const struct linkmap_symbol *s = &map->symbols[i];
		uint64_t value;

		if (!symtab_value(&img->symtab, s->name, &value))
			continue;
		known++;
		/* 64-bit PowerPC's first ABI: the symbol is a descriptor elsewhere. */
		if (value != s->addr && code_at(t, value)) {
			*why = xasprintf("symbol '%s' is not at %#llx", s->name, (unsigned long long)s->addr);
			return false;
		}
	}
	if (!map->nr_sections || known < map->nr_symbols / 2) {
		*why = xstrdup("it does not name this kernel's symbols");
		return false;
	}
	return true;
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? xstrndup(path, slash > path ? (size_t)(slash - path) : 1) : xstrdup(".");
}

/*
 * VMLINUX.map or VMLINUX.map.zst; NULL when there is none. From 6.15 on vmlinux is a copy of
 * vmlinux.unstripped, which the linker made: the map may be called after either.
 */
static char *find_map(const char *vmlinux)
{
	static const char *const ends[] = { ".map", ".map.zst", ".unstripped.map" };
	size_t len = strlen(vmlinux) - (str_ends(vmlinux, ".unstripped") ? strlen(".unstripped") : 0);

	for (uint32_t i = 0; i < ARRAY_SIZE(ends); i++) {
		char *path = xasprintf("%.*s%s", (int)len, vmlinux, ends[i]);

		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* 1: units are made; 0: go on without a map; -1: reported. */
static int try_map(struct image *img, const char *path, bool wanted, const char *vmlinux,
		   const struct image_options *opts, const struct code *t)
{
	struct linkmap map;
	char *why = NULL, *dir;
	int ret;

	if (linkmap_read(&map, path) < 0) {
		if (!wanted)
			note("'%s' was taken since it lies beside '%s': without it units are inferred from symbols", path,
			     vmlinux);
		return -1;
	}
	if (map_matches(img, &map, t, &why)) {
		dir = opts->objects ? xstrdup(opts->objects) : folder_of(path);
		ret = units_from_map(img, &map, dir, t) < 0 ? -1 : 1;
		free(dir);
	} else if (wanted) {
		ret = error("link map '%s' is not of '%s': %s", path, vmlinux, why);
	} else {
		note("link map '%s' is not used: %s in '%s'", path, why, vmlinux);
		ret = 0;
	}
	free(why);
	linkmap_release(&map);
	return ret;
}

/* objcopy --only-keep-debug leaves symbols and DWARF, and takes the code out. */
static void check_code(const struct code *t, const char *vmlinux)
{
	for (uint32_t i = 0; i < t->nr_sections; i++)
		if (t->sections[i].bytes)
			return;
	if (t->nr_sections)
		warn("'%s' has symbols and no code: a profile is taken as it is, and roots never profiled are not guarded",
		     vmlinux);
}

static int make_units(struct image *img, const char *vmlinux, const struct image_options *opts)
{
	char *path = opts->map ? xstrdup(opts->map) : opts->infer ? NULL : find_map(vmlinux);
	struct code t;
	int ret = 0;

	if (code_open(&t, vmlinux) < 0) {
		free(path);
		return -1;
	}
	check_code(&t, vmlinux);
	if (path)
		ret = try_map(img, path, opts->map, vmlinux, opts, &t);
	if (!ret) {
		detail("no link map: units of '%s' are inferred from its symbols", vmlinux);
		units_from_symbols(img, &t);
	}
	if (ret >= 0)
		ret = units_finish(img, vmlinux);
	code_release(&t);
	free(path);
	return ret;
}

static bool is_cold(const char *name)
{
	const char *p = strstr(name, ".cold");

	return p && (!p[5] || p[5] == '.');
}

/* What two builds' names for one function share; a cold part is not its function. */
static char *normal_name(const char *name)
{
	bool cold = is_cold(name);
	char *s = xasprintf("%s%s", name, "     ");

	s[strlen(name)] = '\0';
	symbol_normalise(s);
	if (cold) {
		char *t = xasprintf("%s.cold", s);

		free(s);
		return t;
	}
	return s;
}

static bool is_prefix_symbol(const char *name)
{
	return !strncmp(name, "__pfx_", 6);
}

/* func under key; a second function under it makes the key useless. */
static void add_key(struct index *x, uint32_t **funcs, uint32_t *alloc, const char *key, uint32_t func)
{
	uint32_t before = x->nr_keys, id = index_add_str(x, key);

	ALLOC_GROW(*funcs, x->nr_keys, *alloc);
	if (id == before)
		(*funcs)[id] = func;
	else if ((*funcs)[id] != func)
		(*funcs)[id] = INDEX_NONE;
}

/* Identities are distinct by construction; names made to look like one (f#2) are told apart here. */
static const char *add_id(struct image *img, const char *id)
{
	uint32_t before = img->by_id.nr_keys, key = index_add_str(&img->by_id, id);

	for (uint32_t n = 1; key != before; n++) {
		char *s = xasprintf("%s~%u", id, n);

		key = index_add_str(&img->by_id, s);
		free(s);
	}
	return index_str(&img->by_id, key);
}

static void add_funcs(struct image *img)
{
	const struct symtab *st = &img->symtab;
	uint32_t alloc_name = 0, alloc_normal = 0, unit = 0;

	img->funcs = xcalloc(st->nr_syms, sizeof(*img->funcs));
	for (uint32_t i = 0; i < st->nr_syms; i++) {
		const struct sym *s = &st->syms[i];
		uint32_t f = img->nr_funcs;

		if (s->flags & SYM_ALIAS) {
			if (f)
				add_key(&img->by_name, &img->name_func, &alloc_name, s->name, f - 1);
			continue;
		}
		while (unit < img->nr_units && img->units[unit].addr + img->units[unit].size <= s->addr)
			unit++;
		bool inside = unit < img->nr_units && s->addr >= img->units[unit].addr;
		img->funcs[img->nr_funcs++] = (struct func){
			.id = add_id(img, s->id), .addr = s->addr,
			.size = s->size > UINT32_MAX ? UINT32_MAX : (uint32_t)s->size,
			.unit = inside ? unit : INDEX_NONE,
		};
		if (inside && !img->units[unit].nr_funcs++)
			img->units[unit].first_func = f;
		add_key(&img->by_name, &img->name_func, &alloc_name, s->name, f);
		if (!is_prefix_symbol(s->name)) {
			char *normal = normal_name(s->name);
			add_key(&img->by_normal, &img->normal_func, &alloc_normal, normal, f);
			free(normal);
		}
	}
}

int image_init(struct image *img, const char *vmlinux, const struct image_options *opts)
{
	static const struct image_options none;

	memset(img, 0, sizeof(*img));
	if (kind_check_kernel(vmlinux) || symtab_read_vmlinux(&img->symtab, vmlinux) < 0)
		return -1;
	img->text_start = img->symtab.stext_addr;
	img->text_end = img->symtab.etext_addr;
	if (make_units(img, vmlinux, opts ? opts : &none) < 0) {
		image_release(img);
		return -1;
	}
	add_funcs(img);
	return 0;
}

void image_release(struct image *img)
{
	symtab_release(&img->symtab);
	free(img->units);
	free(img->funcs);
	free(img->groups);
	free(img->name_func);
	free(img->normal_func);
	index_release(&img->strings);
	index_release(&img->by_id);
	index_release(&img->by_name);
	index_release(&img->by_normal);
	memset(img, 0, sizeof(*img));
}

uint32_t image_find_func(const struct image *img, uint64_t addr)
{
	const struct sym *s = symtab_find(&img->symtab, addr);
	uint32_t lo = 0, hi = img->nr_funcs;

	if (!s)
		return INDEX_NONE;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (img->funcs[mid].addr < s->addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < img->nr_funcs && img->funcs[lo].addr == s->addr ? lo : INDEX_NONE;
}

uint32_t image_find_unit(const struct image *img, uint64_t addr)
{
	uint32_t lo = 0, hi = img->nr_units;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (img->units[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - img->units[lo - 1].addr >= img->units[lo - 1].size)
		return INDEX_NONE;
	return lo - 1;
}

static uint32_t found(uint32_t func, enum match kind, enum match *how)
{
	*how = func == INDEX_NONE ? MATCH_NONE : kind;
	return func;
}

uint32_t image_match(const struct image *img, const char *identity, enum match *how)
{
	enum match ignored;
	uint32_t id = index_find_str(&img->by_id, identity), func;
	char *name, *normal;

	if (!how)
		how = &ignored;
	if (id != INDEX_NONE && id < img->nr_funcs)
		return found(id, MATCH_EXACT, how);
	if (identity_is_module(identity))
		return found(INDEX_NONE, MATCH_NONE, how);
	name = xstrndup(identity, strcspn(identity, "@#"));
	id = index_find_str(&img->by_name, name);
	func = id == INDEX_NONE ? INDEX_NONE : img->name_func[id];
	if (func != INDEX_NONE || id != INDEX_NONE) {
		free(name);
		return found(func, MATCH_NAME, how);
	}
	normal = normal_name(name);
	id = index_find_str(&img->by_normal, normal);
	func = id == INDEX_NONE ? INDEX_NONE : img->normal_func[id];
	free(normal);
	free(name);
	return found(func, MATCH_NORMALIZED, how);
}
