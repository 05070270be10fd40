/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "analyze/image/units.h"
#include "lib/error.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/plan/plan.h"

/* Where a unit of the plan is in the new kernel. */
struct spot {
	bool found, unknown;
	uint64_t addr;
	uint32_t size;		/* bytes; the plan's where the kernel cannot tell */
	uint32_t align;
	enum group group;
	uint32_t unit;		/* of the image, INDEX_NONE when not known */
};

struct check {
	struct verify *v;
	const struct plan *p;
	const struct image *img;
	const struct verify_options *opts;
	bool resized;			/* by the linker, see verify_init() */
	struct index by_section;	/* "OBJECT\nSECTION" and "\nSECTION" -> unit */
	uint32_t *section_unit;		/* [by_section]; INDEX_NONE when several share it */
	struct spot *spots;		/* [plan unit] */
};

__attribute__((format(printf, 3, 4)))
static void stray(struct verify *v, const char *name, const char *fmt, ...)
{
	va_list ap;

	ALLOC_GROW(v->strays, v->nr_strays + 1, v->alloc_strays);
	struct verify_stray *s = &v->strays[v->nr_strays++];
	s->name = xstrdup(name);
	va_start(ap, fmt);
	s->why = xvasprintf(fmt, ap);
	va_end(ap);
}

static void add_key(struct check *c, uint32_t *alloc, const char *object, uint32_t unit)
{
	char *key = xasprintf("%s\n%s", object, c->img->units[unit].section);
	uint32_t known = c->by_section.nr_keys, id = index_add_str(&c->by_section, key);

	ALLOC_GROW(c->section_unit, (size_t)id + 1, *alloc);
	c->section_unit[id] = id < known ? INDEX_NONE : unit;
	free(key);
}

static void index_sections(struct check *c)
{
	uint32_t alloc = 0;

	for (uint32_t i = 0; c->img->exact_units && i < c->img->nr_units; i++) {
		if (c->img->units[i].object)
			add_key(c, &alloc, c->img->units[i].object, i);
		add_key(c, &alloc, "", i);
	}
}

static uint32_t find_section(const struct check *c, const char *object, const char *section)
{
	char *key = xasprintf("%s\n%s", object, section);
	uint32_t id = index_find_str(&c->by_section, key);

	free(key);
	return id == INDEX_NONE ? INDEX_NONE : c->section_unit[id];
}

/* Any of the unit's functions leads to it; the first is where most begin. */
static void find_by_function(const struct check *c, const struct plan_unit *u, struct spot *s)
{
	for (uint32_t i = 0; i < u->nr_functions; i++) {
		const struct plan_function *f = &c->p->functions[u->first_function + i];
		enum match how;
		uint32_t func = strchr(f->name, '#') ? INDEX_NONE : image_match(c->img, f->name, &how);

		if (func == INDEX_NONE || how < MATCH_NAME) {
			/* A name that repeats: f.2 of one kernel need not be f.2 of the other. */
			char *bare = xstrndup(f->name, strcspn(f->name, "@#"));
			uint64_t value;

			s->unknown |= symtab_value(&c->img->symtab, bare, &value);
			free(bare);
			continue;
		}
		s->found = true;
		s->addr = c->img->funcs[func].addr - f->off;
		s->unit = c->img->funcs[func].unit;
		return;
	}
}

/* By object and section where the map tells both, else by a section name that is unique, else by function. */
static void find_unit(const struct check *c, const struct plan_unit *u, struct spot *s)
{
	uint32_t unit = u->object ? find_section(c, u->object, u->section) : INDEX_NONE;

	*s = (struct spot){ .size = u->size, .align = u->align, .unit = INDEX_NONE, .group = GROUP_MAIN };
	if (unit == INDEX_NONE && !strncmp(u->section, ".text.", 6))
		unit = find_section(c, "", u->section);
	if (unit != INDEX_NONE) {
		s->found = true;
		s->unit = unit;
		s->addr = c->img->units[unit].addr;
		s->size = c->img->units[unit].size;
		s->align = c->img->units[unit].align;
	} else {
		find_by_function(c, u, s);
	}
	if (s->unit != INDEX_NONE)
		s->group = c->img->units[s->unit].group;
}

static void find_units(struct check *c)
{
	struct verify *v = c->v;

	v->units = c->p->nr_units;
	for (uint32_t i = 0; i < c->p->nr_units; i++) {
		find_unit(c, &c->p->units[i], &c->spots[i]);
		v->found += c->spots[i].found;
		v->unknown += !c->spots[i].found && c->spots[i].unknown;
	}
}

static int64_t page_of(const struct check *c, uint64_t addr, bool planned)
{
	return plan_entry_of(c->p, addr, planned ? c->p->text_start : c->img->text_start);
}

/* Init text, or head text in front of _stext: it runs on from _etext, wherever that comes to lie. */
static bool was_outside(const struct check *c, const struct plan_unit *u)
{
	return u->addr_before < c->p->text_start || u->addr_before - c->p->text_start >= c->p->before.text_bytes;
}

/* Whether every touched byte is on its planned page. */
static bool pages_hold(const struct check *c, uint32_t unit)
{
	const struct plan_unit *u = &c->p->units[unit];
	uint64_t addr = c->spots[unit].addr;

	if (was_outside(c, u))
		return true;
	if (page_of(c, addr, false) != u->page)
		return false;
	for (uint32_t i = 0; i < u->nr_ranges; i++) {
		const struct plan_range *r = &c->p->ranges[u->first_range + i];

		if (page_of(c, addr + r->start, false) != page_of(c, u->addr + r->start, true) ||
		    page_of(c, addr + r->end - 1, false) != page_of(c, u->addr + r->end - 1, true))
			return false;
	}
	return true;
}

/*
 * Why a unit is not where it was planned. Shifts run on from unit to unit; before is
 * the unit of the fragment before this one, NULL for the first.
 */
static char *explain(const struct check *c, uint32_t unit, const uint32_t *before)
{
	const struct plan_unit *u = &c->p->units[unit];
	const struct spot *s = &c->spots[unit];
	int64_t shift = (int64_t)(s->addr - u->addr);

	if (u->moved && !strcmp(u->group, group_names[GROUP_MAIN]) && s->group != GROUP_MAIN)
		return xasprintf("matched elsewhere: in the %s group", group_names[s->group]);
	if (u->moved && before && s->addr < c->spots[*before].addr)
		return xasprintf("out of order: in front of %s", c->p->units[*before].name);
	if (u->moved && before) {
		const struct spot *b = &c->spots[*before];
		const struct plan_unit *bu = &c->p->units[*before];

		if (b->addr - bu->addr == s->addr - u->addr)
			return xasprintf("shifted by %+lld bytes along with %s", (long long)shift, bu->name);
		if (b->size != bu->size)
			return xasprintf("shifted by %+lld bytes: %s has %u bytes, planned %u", (long long)shift, bu->name,
					 b->size, bu->size);
	}
	if (s->align != u->align)
		return xasprintf("shifted by %+lld bytes: alignment %u, planned %u", (long long)shift, s->align, u->align);
	return xasprintf("at 0x%llx, planned 0x%llx", (unsigned long long)s->addr, (unsigned long long)u->addr);
}

/* Addresses and the order of the fragment. */
static void check_places(struct check *c)
{
	const uint32_t *before = NULL;
	uint32_t last = 0;
	struct verify *v = c->v;

	for (uint32_t i = 0; i < c->p->nr_units; i++) {
		const struct plan_unit *u = &c->p->units[i];
		const struct spot *s = &c->spots[i];

		if (!s->found) {
			if (!s->unknown)
				stray(v, u->name, "section '%s' not found", u->section);
			continue;
		}
		bool page = pages_hold(c, i), order = !u->moved || !before || s->addr >= c->spots[last].addr;

		bool there = s->addr == u->addr || was_outside(c, u);

		v->at_address += there;
		v->on_page += page;
		v->placed += u->moved;
		v->placed_on_page += u->moved && page;
		v->unmoved += u->moved && s->addr == u->addr_before && s->addr != u->addr;
		v->in_order += u->moved && order;
		if (!page && order && c->resized && !c->opts->exact) {
			v->shifted++;
		} else if (!page || !order || (c->opts->exact && !there)) {
			char *why = explain(c, i, before);

			stray(v, u->name, "%s", why);
			free(why);
		}
		if (u->moved) {
			last = i;
			before = &last;
		}
	}
}

static void check_functions(struct check *c)
{
	struct verify *v = c->v;

	for (uint32_t i = 0; i < c->p->nr_functions; i++) {
		char *bare = xstrndup(c->p->functions[i].name, strcspn(c->p->functions[i].name, "@#"));
		uint64_t value;

		v->functions++;
		if (!symtab_value(&c->img->symtab, bare, &value)) {
			stray(v, c->p->functions[i].name, "function lost");
			v->lost++;
		}
		free(bare);
	}
	for (uint32_t i = 0; i < c->img->symtab.nr_syms; i++) {
		const struct sym *s = &c->img->symtab.syms[i];

		/* An orphan: a section that no statement of the script took in. */
		if (!(s->flags & SYM_FUNC) || !s->section || strncmp(s->section, ".text.", 6))
			continue;
		stray(v, s->id, "outside _stext.._etext: in output section '%s'", s->section);
		v->outside++;
	}
	for (uint32_t i = 0; i < c->p->nr_units; i++) {
		const struct plan_unit *u = &c->p->units[i];
		const struct spot *s = &c->spots[i];

		if (!s->found || (s->addr >= c->img->text_start && s->addr + s->size <= c->img->text_end))
			continue;
		if (was_outside(c, u))
			continue;
		stray(v, c->p->units[i].name, "outside _stext.._etext");
		v->outside++;
	}
}

/* Whether the plan moves a unit of the new kernel: what else is inside a group's symbols, the script itself put there. */
static bool is_moved(const struct check *c, uint32_t unit)
{
	for (uint32_t i = 0; i < c->p->nr_units; i++)
		if (c->spots[i].unit == unit && c->p->units[i].moved)
			return true;
	return false;
}

/* Members by the link map where there is one, else the plan's. Returns whether the group is whole. */
static bool check_group(struct check *c, const struct group_bounds *g, uint64_t start, uint64_t end)
{
	uint32_t before = c->v->nr_strays;

	for (uint32_t i = 0; c->img->exact_units && i < c->img->nr_units; i++) {
		const struct unit *u = &c->img->units[i];
		bool inside = u->addr >= start && u->addr + u->size <= end;
		const char *why;

		if (is_section_of(g, u->section) && !inside)
			stray(c->v, u->object ? u->object : u->section, "%s lies outside %s..%s", u->section, g->start, g->end);
		else if (inside && group_of_section(u->section, &why) == GROUP_MAIN && is_moved(c, i))
			stray(c->v, u->section, "lies inside %s..%s", g->start, g->end);
	}
	for (uint32_t i = 0; !c->img->exact_units && i < c->p->nr_units; i++) {
		const struct spot *s = &c->spots[i];

		if (!s->found || strcmp(c->p->units[i].group, group_names[g->group]) ||
		    !is_section_of(g, c->p->units[i].section))
			continue;
		if (s->addr < start || s->addr >= end)
			stray(c->v, c->p->units[i].name, "lies outside %s..%s", g->start, g->end);
	}
	return c->v->nr_strays == before;
}

static void check_groups(struct check *c)
{
	for (uint32_t i = 0; i < nr_group_bounds; i++) {
		const struct group_bounds *g = &group_bounds[i];
		uint64_t start, end;

		if (!symtab_value(&c->img->symtab, g->start, &start) || !symtab_value(&c->img->symtab, g->end, &end))
			continue;
		c->v->groups++;
		if (end < start)
			stray(c->v, g->start, "lies behind %s", g->end);
		if (end < start || !check_group(c, g, start, end))
			c->v->groups_broken++;
	}
}

/* From 1, among the functions of its name. */
static uint32_t position_of(const struct symtab *st, const struct sym *s)
{
	uint32_t position = 1;

	for (uint32_t i = 0; i < st->nr_syms; i++)
		position += (st->syms[i].flags & SYM_FUNC) && st->syms[i].addr < s->addr &&
			    !strcmp(st->syms[i].name, s->name);
	return position;
}

/* NAME#N is itself a position, and tells nothing of another kernel. */
static void check_positions(struct check *c)
{
	for (uint32_t i = 0; i < c->p->nr_positions; i++) {
		const struct plan_position *p = &c->p->positions[i];
		const struct sym *s = strchr(p->function, '#') ? NULL : symtab_find_id(&c->img->symtab, p->function);
		uint32_t position = s ? position_of(&c->img->symtab, s) : 0;

		if (!s)
			continue;
		c->v->positions++;
		c->v->positions_held += position == p->after;
		if (position != p->after)
			stray(c->v, p->function, "number %u of the functions called %s, planned %u", position, p->name, p->after);
	}
}

static int compare_pages(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Distinct pages of all that a path's units touch, planned or as they are. */
static uint32_t path_pages(const struct check *c, const struct plan_path *path, bool planned)
{
	uint64_t in_page = c->p->machine.page_bytes - 1;
	int64_t *pages = NULL;
	uint32_t nr = 0, alloc = 0, distinct = 0;

	for (uint32_t i = 0; i < path->nr_uses; i++) {
		uint32_t unit = c->p->uses[path->first_use + i].unit;
		const struct plan_unit *u = &c->p->units[unit];
		bool plain = planned || !c->spots[unit].found;
		uint64_t addr = plain ? u->addr : c->spots[unit].addr;

		for (uint32_t r = 0; r < u->nr_ranges; r++) {
			const struct plan_range *range = &c->p->ranges[u->first_range + r];

			/* From the start of one page to that of the next. */
			for (uint64_t at = range->start; at < range->end; at = ((addr + at) | in_page) + 1 - addr) {
				ALLOC_GROW(pages, nr + 1, alloc);
				pages[nr++] = page_of(c, addr + at, plain);
			}
		}
	}
	sort_array(pages, nr, sizeof(*pages), compare_pages);
	for (uint32_t i = 0; i < nr; i++)
		distinct += !i || pages[i] != pages[i - 1];
	free(pages);
	return distinct;
}

static bool path_moved(const struct check *c, const struct plan_path *path)
{
	for (uint32_t i = 0; i < path->nr_uses; i++) {
		uint32_t unit = c->p->uses[path->first_use + i].unit;

		if (c->spots[unit].found && !pages_hold(c, unit))
			return true;
	}
	return false;
}

static void check_paths(struct check *c)
{
	double weight = 0, change = 0;

	for (uint32_t i = 0; i < c->p->nr_paths; i++) {
		const struct plan_path *path = &c->p->paths[i];

		c->v->paths++;
		weight += (double)path->weight;
		if (!path_moved(c, path))
			continue;
		c->v->paths_moved++;
		change += (double)path->weight *
			  ((double)path_pages(c, path, false) - (double)path_pages(c, path, true));
	}
	c->v->entries_planned = c->p->after.mean;
	c->v->entries = c->p->after.mean + (weight > 0 ? change / weight : 0);
}

/* Whether sizes follow from the layout, so that no plan can know them but one of this very link. */
static bool linker_resizes(const struct image *img)
{
	for (uint32_t i = 0; i < img->nr_units; i++)
		if (img->units[i].object && !strcmp(img->units[i].object, "linker stubs"))
			return true;
	return img->symtab.e_machine == EM_RISCV;
}

static void check_entries(struct check *c)
{
	struct verify *v = c->v;

	if (v->shifted && v->entries > v->entries_planned * 1.02)
		stray(v, "paths", "%.2f ITLB entries, planned %.2f: plan again with the sizes of this link (--trial)",
		      v->entries, v->entries_planned);
}

int verify_init(struct verify *v, const struct plan *p, const struct image *img,
		const struct verify_options *opts)
{
	struct check c = { .v = v, .p = p, .img = img, .opts = opts, .resized = linker_resizes(img) };
	int ret = 0;

	memset(v, 0, sizeof(*v));
	if (strcmp(p->vmlinux.arch, symtab_arch(&img->symtab)))
		return error("the plan is for %s, the kernel is %s", p->vmlinux.arch, symtab_arch(&img->symtab));
	index_sections(&c);
	c.spots = xcalloc(p->nr_units + 1, sizeof(*c.spots));
	find_units(&c);
	if (p->nr_units && !v->found) {
		ret = error("nothing of the plan is in this kernel");
	} else {
		check_places(&c);
		check_functions(&c);
		check_groups(&c);
		check_paths(&c);
		check_entries(&c);
		check_positions(&c);
	}
	index_release(&c.by_section);
	free(c.section_unit);
	free(c.spots);
	return ret;
}

bool verify_passed(const struct verify *v)
{
	return !v->nr_strays;
}

/* Units in an order of chance stand behind the one before them half of the time. */
bool verify_is_stranger(const struct verify *v)
{
	enum { ENOUGH = 20 };
	uint64_t placed = v->placed;

	if (!placed || v->outside || v->lost)
		return false;
	return 10 * (uint64_t)v->unmoved >= 9 * placed ||
	       (placed >= ENOUGH && 10 * (uint64_t)v->placed_on_page < placed && 4 * (uint64_t)v->in_order < 3 * placed);
}

void verify_release(struct verify *v)
{
	for (uint32_t i = 0; i < v->nr_strays; i++) {
		free(v->strays[i].name);
		free(v->strays[i].why);
	}
	free(v->strays);
	memset(v, 0, sizeof(*v));
}
