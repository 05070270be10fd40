/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function's source lines by heat. Line tables and inlining come from the
 * kernel that the plan was made from, so addresses are those of link order.
 */
#include "report.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/index.h"
#include "lib/kind.h"
#include "lib/mem.h"
#include "lib/symtab.h"
#include "reorder/plan/plan.h"
#include "style.h"

enum { CACHE_LINE = 64, MAX_DEPTH = 16 };

struct source_line {
	uint32_t file;		/* in annotation.files */
	int line;
	uint32_t inlined;	/* in annotation.chains: "by whom", empty when it is the function's own */
	uint32_t bytes, ran;
	uint64_t weight;	/* of the paths that run its hottest byte */
};

struct annotation {
	const struct plan *p;
	const struct plan_unit *u;
	const char *name;
	uint64_t addr;		/* of the function in the kernel */
	uint32_t off, size;	/* of the function in the unit */
	struct index files, chains, keys;	/* keys: {file, line, inlined} */
	struct source_line *lines;
	uint32_t alloc_lines;
};

/* Which function of the unit was asked for. */
static void choose_function(struct annotation *a, const char *name)
{
	const struct plan_function *f = NULL;
	size_t len = strlen(name);

	for (uint32_t i = 0; i < a->u->nr_functions; i++) {
		const struct plan_function *g = &a->p->functions[a->u->first_function + i];

		if (!f || !strcmp(g->name, name) ||
		    (!strncmp(g->name, name, len) && strchr("@#", g->name[len]) && strcmp(f->name, name)))
			f = g;
	}
	a->name = f ? f->name : a->u->name;
	a->off = f ? f->off : 0;
	a->size = f && f->size ? f->size : a->u->size - a->off;
	if (a->size > a->u->size - a->off)
		a->size = a->u->size - a->off;
	a->addr = a->u->addr_before + a->off;
}

/* Of the bytes [addr, addr + bytes): how many ran, and the weight of the hottest. */
static uint32_t ran_bytes(const struct annotation *a, uint64_t addr, uint32_t bytes, uint64_t *weight)
{
	uint64_t start = addr - a->u->addr_before, end = start + bytes;
	uint32_t ran = 0;

	for (uint32_t i = a->u->first_range; i < a->u->first_range + a->u->nr_ranges; i++) {
		const struct plan_range *r = &a->p->ranges[i];
		uint64_t lo = r->start > start ? r->start : start, hi = r->end < end ? r->end : end;

		if (lo >= hi)
			continue;
		ran += (uint32_t)(hi - lo);
		*weight = r->weight > *weight ? r->weight : *weight;
	}
	return ran;
}

/* "rw_verify_area < vfs_read": the inlined functions around addr, innermost first; empty outside of any. */
static uint32_t inline_chain(struct annotation *a, Dwarf_Die *cu, uint64_t addr)
{
	Dwarf_Die *scopes = NULL;
	int nr = dwarf_getscopes(cu, addr, &scopes), depth = 0;
	char *text;
	size_t size;
	FILE *fp = text_open(&text, &size);

	for (int i = 0; i < nr && depth < MAX_DEPTH; i++) {
		const char *name = dwarf_diename(&scopes[i]);

		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			break;
		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		fputs(depth++ ? " < " : "", fp);
		put_text(fp, name ? name : "?", 0);
	}
	text_close(fp, &text);
	free(scopes);
	uint32_t id = index_add_str(&a->chains, text);
	free(text);
	return id;
}

static void add_line(struct annotation *a, Dwarf_Die *cu, const char *file, int line, uint64_t addr,
		     uint32_t bytes)
{
	struct {
		uint32_t file, line, inlined;
	} key = { index_add_str(&a->files, file ? file : "?"), (uint32_t)line, inline_chain(a, cu, addr) };
	uint32_t nr = a->keys.nr_keys, id = index_add(&a->keys, &key, sizeof(key));

	if (id == nr) {
		ALLOC_GROW(a->lines, nr + 1, a->alloc_lines);
		a->lines[id] = (struct source_line){ key.file, line, key.inlined, 0, 0, 0 };
	}
	a->lines[id].bytes += bytes;
	a->lines[id].ran += ran_bytes(a, addr, bytes, &a->lines[id].weight);
}

/* The line table's rows within the function; each reaches to the next. */
static int read_lines(struct annotation *a, Dwarf_Die *cu, const char *vmlinux)
{
	uint64_t end = a->addr + a->size;
	Dwarf_Lines *lines;
	size_t nr;

	if (dwarf_getsrclines(cu, &lines, &nr))
		return error("cannot annotate '%s': no line table in '%s': %s", a->name, vmlinux,
			     dwarf_errmsg(-1));
	for (size_t i = 0; i + 1 < nr; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i), *after = dwarf_onesrcline(lines, i + 1);
		Dwarf_Addr from, to;
		bool last = false;
		int line = 0;

		if (dwarf_lineaddr(row, &from) || dwarf_lineaddr(after, &to) ||
		    dwarf_lineendsequence(row, &last) || last)
			continue;
		from = from < a->addr ? a->addr : from;
		to = to > end ? end : to;
		if (from >= to || dwarf_lineno(row, &line))
			continue;
		add_line(a, cu, dwarf_linesrc(row, NULL, NULL), line, from, (uint32_t)(to - from));
	}
	if (!a->keys.nr_keys)
		return error("cannot annotate '%s': '%s' has no lines for it", a->name, vmlinux);
	return 0;
}

static int find_unit(Dwarf *dw, uint64_t addr, Dwarf_Die *cu)
{
	Dwarf_Off off = 0, next;
	size_t header;

	if (dwarf_addrdie(dw, addr, cu))
		return 0;
	for (; !dwarf_nextcu(dw, off, &next, &header, NULL, NULL, NULL); off = next)
		if (dwarf_offdie(dw, off + header, cu) && dwarf_haspc(cu, addr) == 1)
			return 0;
	return -1;
}

static int read_dwarf(struct annotation *a, const char *vmlinux)
{
	int fd = open(vmlinux, O_RDONLY | O_CLOEXEC), ret = -1;
	Dwarf *dw = NULL;
	Dwarf_Die cu;

	if (fd < 0)
		return error("cannot read '%s': %s", vmlinux, strerror(errno));
	dw = dwarf_begin(fd, DWARF_C_READ);
	if (!dw)
		error("cannot annotate '%s': no debug information in '%s' (build with "
		      "CONFIG_DEBUG_INFO_DWARF5): %s",
		      a->name, vmlinux, dwarf_errmsg(-1));
	else if (find_unit(dw, a->addr, &cu))
		error("cannot annotate '%s': no debug information for 0x%" PRIx64 " in '%s'", a->name,
		      a->addr, vmlinux);
	else
		ret = read_lines(a, &cu, vmlinux);
	dwarf_end(dw);
	close(fd);
	return ret;
}

static int by_heat(const void *x, const void *y)
{
	const struct source_line *a = x, *b = y;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->inlined < b->inlined ? -1 : a->inlined > b->inlined;
}

/* One line of a source file, without its indent; NULL when it cannot be read. */
static char *source_text(const struct mapfile *f, int line)
{
	const char *s = f->data, *end = s ? s + f->size : NULL;

	for (; s && s < end && line > 1; line--) {
		s = memchr(s, '\n', (size_t)(end - s));
		s = s ? s + 1 : end;
	}
	if (!s || s >= end)
		return NULL;
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	const char *eol = memchr(s, '\n', (size_t)(end - s));
	char *text = xstrndup(s, (size_t)((eol ? eol : end) - s));
	for (char *t = text; *t; t++)
		*t = *t == '\t' ? ' ' : *t;
	return text;
}

/* Sources that are at hand, by file; the others stay empty. */
static struct mapfile *open_sources(const struct annotation *a)
{
	struct mapfile *files = xcalloc(a->files.nr_keys, sizeof(*files));

	for (uint32_t i = 0; i < a->files.nr_keys; i++)
		if (!access(index_str(&a->files, i), R_OK) &&
		    mapfile_init(&files[i], index_str(&a->files, i)))
			memset(&files[i], 0, sizeof(files[i]));
	return files;
}

/* Cache lines [first, end) of the function that run, under one layout. */
static void put_cache_lines(const struct annotation *a, uint64_t unit_addr, const char *what, FILE *fp)
{
	uint64_t start = unit_addr + a->off, end = start + a->size, last = UINT64_MAX;
	uint32_t ran = 0;
	int64_t first_page = plan_entry_of(a->p, start, a->p->text_start);
	int64_t last_page = plan_entry_of(a->p, end - 1, a->p->text_start);

	for (uint32_t i = a->u->first_range; i < a->u->first_range + a->u->nr_ranges; i++) {
		uint64_t lo = unit_addr + a->p->ranges[i].start, hi = unit_addr + a->p->ranges[i].end;

		lo = lo < start ? start : lo;
		hi = hi > end ? end : hi;
		for (uint64_t l = lo / CACHE_LINE; lo < hi && l <= (hi - 1) / CACHE_LINE; l++) {
			ran += l != last;
			last = l;
		}
	}
	fprintf(fp, "%-9s 0x%" PRIx64 ", page %" PRId64, what, start, first_page);
	if (last_page != first_page)
		fprintf(fp, " to %" PRId64, last_page);
	fprintf(fp, ", %" PRIu32 " of %" PRIu64 " cache lines run\n", ran,
		(end - 1) / CACHE_LINE - start / CACHE_LINE + 1);
}

static void put_head(const struct annotation *a, FILE *fp, struct text_style st)
{
	char share[FORMAT_MAX];

	bold(fp, st);
	put_text(fp, a->name, 0);
	plain(fp, st);
	fprintf(fp, "  %" PRIu32 " bytes, run by %s of paths\n", a->size,
		format_percent(share, 100 * plan_heat(a->p, a->u)));
	put_cache_lines(a, a->u->addr_before, "before", fp);
	put_cache_lines(a, a->u->addr, "after", fp);
}

/* The end of a path, as long as it fits. */
static const char *short_path(const char *path, size_t room)
{
	size_t len = strlen(path);

	while (len > room && (path = strchr(path + 1, '/')))
		len = strlen(++path);
	return path ? path : "..";
}

static void put_lines(const struct annotation *a, FILE *fp, struct text_style st)
{
	struct mapfile *files = open_sources(a);
	char share[FORMAT_MAX];

	dim(fp, st);
	fprintf(fp, "\n%8s %11s  %-34s %s\n", "in paths", "bytes run", "line", "source");
	plain(fp, st);
	for (uint32_t i = 0; i < a->keys.nr_keys; i++) {
		const struct source_line *l = &a->lines[i];
		const char *chain = index_str(&a->chains, l->inlined);
		char *where = xasprintf("%s:%d", short_path(index_str(&a->files, l->file), 28), l->line);
		char *text = source_text(&files[l->file], l->line);

		if (!l->ran)
			dim(fp, st);
		fprintf(fp, "%8s %5" PRIu32 "/%-5" PRIu32 "  ",
			l->ran ? format_percent(share, a->p->path_weight ? 100 * (double)l->weight /
										   (double)a->p->path_weight
									 : 0)
			       : "-",
			l->ran, l->bytes);
		put_text(fp, where, 34);
		fputc(' ', fp);
		put_text(fp, text ? text : "", 0);
		if (*chain) {
			fputs("  [inlined: ", fp);
			put_text(fp, chain, 0);
			fputc(']', fp);
		}
		plain(fp, st);
		fputc('\n', fp);
		free(where);
		free(text);
	}
	for (uint32_t i = 0; i < a->files.nr_keys; i++)
		if (files[i].data)
			mapfile_release(&files[i]);
	free(files);
}

/* Addresses mean nothing in another kernel. */
static int check_kernel(const struct plan *p, const char *vmlinux)
{
	struct symtab st;
	char hex[2 * BUILD_ID_MAX + 1];
	int ret = 0;

	if (kind_check_kernel(vmlinux) || symtab_read_vmlinux(&st, vmlinux))
		return -1;
	if (strcmp(build_id_hex(st.build_id, st.build_id_size, hex), p->vmlinux.build_id))
		ret = error("'%s' is not the kernel that the plan was made from: its build-id is %s, not %s",
			    vmlinux, hex, p->vmlinux.build_id);
	symtab_release(&st);
	return ret;
}

int report_annotate(const struct plan *p, const char *vmlinux, const char *function, FILE *fp,
		    struct text_style st)
{
	struct annotation a = { .p = p };
	uint32_t unit = plan_find_function(p, function);

	if (unit == INDEX_NONE)
		return error("cannot annotate '%s': no hot function of that name in the plan", function);
	a.u = &p->units[unit];
	choose_function(&a, function);
	if (!a.size)
		return error("cannot annotate '%s': it is empty", function);

	int ret = check_kernel(p, vmlinux);
	if (!ret)
		ret = read_dwarf(&a, vmlinux);
	if (!ret) {
		qsort(a.lines, a.keys.nr_keys, sizeof(*a.lines), by_heat);
		put_head(&a, fp, st);
		put_lines(&a, fp, st);
	}
	index_release(&a.files);
	index_release(&a.chains);
	index_release(&a.keys);
	free(a.lines);
	return ret;
}
