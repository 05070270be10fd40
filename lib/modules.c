/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Modules in memory: names, functions by address and by identity; kallsyms text. */
#include "lib/modules.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/modules_build.h"
#include "lib/number.h"

/* The longest a function without a successor in kallsyms can be. */
enum { MAX_LAST_SIZE = 4096, MAX_MODULE_NAME = 256 };

void module_name_of(const char *filename, char *buf, size_t size)
{
	const char *base = strrchr(filename, '/');

	base = base ? base + 1 : filename;
	if (*base == '[')
		base++;
	size_t n = strcspn(base, ".]");
	n = n < size ? n : size - 1;
	memcpy(buf, base, n);
	buf[n] = '\0';
	for (char *s = buf; *s; s++)
		if (*s == '-')
			*s = '_';
}

struct module *modules_add(struct modules *ms, const char *name)
{
	uint32_t had = ms->names.nr_keys, id = index_add_str(&ms->names, name);

	if (id == had) {
		ALLOC_GROW(ms->items, had + 1, ms->alloc_items);
		ms->items[id] = (struct module){ .name = index_str(&ms->names, id) };
	}
	return &ms->items[id];
}

void module_add_func(struct module *m, const struct module_func *f)
{
	ALLOC_GROW(m->funcs, m->nr_funcs + 1, m->alloc_funcs);
	m->funcs[m->nr_funcs++] = *f;
}

/* nftw() passes no context. */
static struct modules *walked;
static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const char *base = path + ftw->base, *ko = strstr(base, ".ko");
	char name[MAX_MODULE_NAME];

	(void)st;
	if (type != FTW_F || !ko || (ko[3] && ko[3] != '.') || strchr(base, '.') != ko)
		return 0;
	module_name_of(base, name, sizeof(name));
	struct module *m = modules_add(walked, name);
	/* Of two of one name the one whose path sorts first, in whatever order folders list them. */
	if (!m->path || strcmp(path, m->path) < 0) {
		free(m->path);
		m->path = xstrdup(path);
	}
	return 0;
}

static int cmp_funcs(const void *va, const void *vb)
{
	const struct module_func *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->id, b->id);
}

static int cmp_by_id(const void *va, const void *vb)
{
	const struct module_func *a = va, *b = vb;
	int c = strcmp(a->id, b->id);

	return c ? c : cmp_funcs(va, vb);
}

/* id holds the bare name so far. */
static void give_ids(struct modules *ms, struct module *m)
{
	uint32_t run = 0;

	qsort(m->funcs, m->nr_funcs, sizeof(*m->funcs), cmp_by_id);
	for (uint32_t i = 0; i < m->nr_funcs; i += run) {
		const char *name = m->funcs[i].id;

		for (run = 1; i + run < m->nr_funcs && !strcmp(m->funcs[i + run].id, name); run++)
			;
		for (uint32_t k = 0; k < run; k++) {
			char *id = run > 1 ? xasprintf("%s#%u@%s.ko", name, k + 1, m->name) :
					     xasprintf("%s@%s.ko", name, m->name);

			m->funcs[i + k].id = index_str(&ms->strings, index_add_str(&ms->strings, id));
			free(id);
		}
	}
}

/* Of aliases the first remains, the longest. */
static void drop_aliases(struct module *m)
{
	uint32_t n = 0;

	qsort(m->funcs, m->nr_funcs, sizeof(*m->funcs), cmp_funcs);
	for (uint32_t i = 0; i < m->nr_funcs; i++)
		if (!n || m->funcs[i].addr != m->funcs[n - 1].addr)
			m->funcs[n++] = m->funcs[i];
	m->nr_funcs = n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t room = i + 1 < n ? m->funcs[i + 1].addr - m->funcs[i].addr : (uint64_t)MAX_LAST_SIZE;

		if (!m->funcs[i].size)
			m->funcs[i].size = room;
	}
}

void module_finish(struct modules *ms, struct module *m)
{
	if (m->nr_funcs) {
		drop_aliases(m);
		give_ids(ms, m);
		qsort(m->funcs, m->nr_funcs, sizeof(*m->funcs), cmp_funcs);
	}
	m->state = MODULE_READ;
}

/* "ffffffffc0123450 t ext4_readpage\t[ext4]"; other lines are the kernel's. */
static int add_line(struct modules *ms, char *line)
{
	const char *p = line;
	uint64_t addr;

	if (!scan_hex(&p, &addr) || p[0] != ' ' || !p[1] || p[2] != ' ')
		return -1;
	char *name = line + (p + 3 - line), *module = name + strcspn(name, " \t");
	if (!*module || !strchr("tTwW", p[1]))
		return 0;
	*module++ = '\0';
	module += strspn(module, " \t");
	char *end = strchr(module, ']');
	if (!*name || *module != '[' || !end || end == ++module)
		return -1;
	*end = '\0';
	if (!addr)
		return 1;
	module_add_func(modules_add(ms, module), &(struct module_func){
		.addr = addr, .id = index_str(&ms->strings, index_add_str(&ms->strings, name)) });
	return 0;
}

static int read_kallsyms(struct modules *ms, const char *path)
{
	struct input *in = input_open(path);
	bool hidden = false;
	char *line;
	int ret = in ? 0 : -1;

	while (!ret && (line = input_line(in, NULL))) {
		int got = *line ? add_line(ms, line) : 0;

		hidden |= got > 0;
		if (got < 0)
			ret = error("cannot read '%s': line %lu is not 'address type name'", path, input_lineno(in));
	}
	if (!ret && input_failed(in))
		ret = -1;
	if (!ret && hidden)
		ret = error("cannot use '%s': modules' addresses are zero (kernel.kptr_restrict hides them)", path);
	input_close(in);
	for (uint32_t i = 0; !ret && i < ms->names.nr_keys; i++)
		module_finish(ms, &ms->items[i]);
	return ret;
}

int modules_init(struct modules *ms, const char *path)
{
	struct stat st;

	memset(ms, 0, sizeof(*ms));
	walked = ms;
	int ret = stat(path, &st);
	if (!ret && !S_ISDIR(st.st_mode))
		ret = read_kallsyms(ms, path);
	else if (ret || nftw(path, add_file, 16, FTW_PHYS))
		ret = error("cannot read '%s': %s", path, strerror(errno));
	else if (!ms->names.nr_keys)
		warn("'%s' holds no .ko files", path);
	if (!ret)
		return 0;
	modules_release(ms);
	return -1;
}

void modules_release(struct modules *ms)
{
	for (uint32_t i = 0; i < ms->names.nr_keys; i++) {
		free(ms->items[i].path);
		free(ms->items[i].funcs);
	}
	free(ms->items);
	free(ms->id_module);
	free(ms->id_func);
	index_release(&ms->names);
	index_release(&ms->strings);
	index_release(&ms->by_id);
	memset(ms, 0, sizeof(*ms));
}

static void index_funcs(struct modules *ms, uint32_t module)
{
	const struct module *m = &ms->items[module];

	for (uint32_t i = 0; i < m->nr_funcs; i++) {
		uint32_t id = index_add_str(&ms->by_id, m->funcs[i].id);

		ALLOC_GROW(ms->id_module, id + 1, ms->alloc_ids);
		ALLOC_GROW(ms->id_func, id + 1, ms->alloc_id_funcs);
		ms->id_module[id] = module;
		ms->id_func[id] = i;
	}
}

const struct module *modules_find(struct modules *ms, const char *name)
{
	uint32_t id = index_find_str(&ms->names, name);
	struct module *m = id == INDEX_NONE ? NULL : &ms->items[id];

	if (m && m->state == MODULE_UNREAD) {
		if (module_read_ko(ms, m)) {
			warn("functions of module '%s' are not told apart", m->name);
			m->state = MODULE_BAD;
		} else {
			index_funcs(ms, id);
		}
	}
	return m && m->state == MODULE_READ ? m : NULL;
}

const struct module_func *module_find(const struct module *m, uint64_t load, uint64_t addr, uint64_t *off)
{
	uint64_t at = m->path ? addr - load : addr;
	uint32_t low = 0, high = m->nr_funcs;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (m->funcs[mid].addr <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || at - m->funcs[low - 1].addr >= m->funcs[low - 1].size)
		return NULL;
	*off = at - m->funcs[low - 1].addr;
	return &m->funcs[low - 1];
}

const struct module_func *modules_find_addr(const struct modules *ms, uint64_t addr, uint64_t *off)
{
	for (uint32_t i = 0; i < ms->names.nr_keys; i++) {
		const struct module *m = &ms->items[i];

		if (m->path || !m->nr_funcs || addr < m->funcs[0].addr)
			continue;
		const struct module_func *f = module_find(m, 0, addr, off);
		if (f)
			return f;
	}
	return NULL;
}

const struct module_func *modules_find_id(struct modules *ms, const char *id, const struct module **module)
{
	char name[MAX_MODULE_NAME];
	const char *at = strrchr(id, '@');

	if (!at || !identity_is_module(id))
		return NULL;
	module_name_of(at + 1, name, sizeof(name));
	*module = modules_find(ms, name);
	uint32_t i = *module && (*module)->path ? index_find_str(&ms->by_id, id) : INDEX_NONE;
	return i == INDEX_NONE ? NULL : &(*module)->funcs[ms->id_func[i]];
}
