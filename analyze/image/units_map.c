/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact units: one for each input section of the link map that is not empty.
 *
 * Alignments come from the objects. Where an object is missing or is not the one
 * that was linked (another size), they are inferred (align.c); then every address
 * is computed anew from the alignments, as ld would, to see that they explain it.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/linkmap.h"
#include "analyze/image/objects.h"
#include "analyze/image/units.h"
#include "lib/error.h"
#include "lib/mem.h"

struct build {
	struct image *img;
	const struct linkmap *map;
	const struct code *text;
	struct objects *objects;
	struct align_item *items;	/* [map section] */
	struct object_section *infos;	/* [map section], align 0: not found */
	bool *bounded;			/* [map section]: between symbols of the script */
	uint32_t nr_inferred, nr_wrong, nr_odd;
};

/* Dropped output sections keep their lines in the map. */
static bool is_linked(const struct linkmap_section *s, const struct linkmap *m)
{
	return m->outputs[s->output].size != 0;
}

/* Whether the object's section may be the one that was linked: RISC-V's linker shortens calls that reach far enough. */
static bool size_fits(const struct build *b, const struct object_section *o, uint64_t linked)
{
	return o->repeated || (b->img->symtab.e_machine == EM_RISCV ? o->size >= linked : o->size == linked);
}

static void read_objects(struct build *b)
{
	const struct linkmap *m = b->map;

	for (uint32_t i = 0; i < m->nr_sections; i++) {
		const struct linkmap_section *s = &m->sections[i];
		struct object_section *o = &b->infos[i];

		if (!is_linked(s, m) || !objects_section(b->objects, s->object, s->name, o))
			continue;
		/* An object that has changed since tells nothing; nor does one address that contradicts it. */
		if (!size_fits(b, o, s->size) || s->addr % o->align)
			o->align = 0;
	}
}

/*
 * Walk each output as ld laid it out; dot is where the location counter stood before
 * section i, after what the script aligned.
 */
static void walk(struct build *b, void (*visit)(struct build *b, uint32_t i, uint64_t dot))
{
	const struct linkmap *m = b->map;
	uint32_t mark = 0, output = UINT32_MAX;
	uint64_t dot = 0;

	for (uint32_t i = 0; i < m->nr_sections; i++) {
		const struct linkmap_section *s = &m->sections[i];

		if (s->output != output) {
			output = s->output;
			dot = m->outputs[output].addr;
		}
		for (; mark < m->nr_marks && m->marks[mark].before <= i; mark++)
			if (m->marks[mark].output == output && m->marks[mark].addr > dot && m->marks[mark].addr <= s->addr)
				dot = m->marks[mark].addr;
		visit(b, i, dot);
		dot = s->addr + s->size;
	}
}

static void fill_item(struct build *b, uint32_t i, uint64_t dot)
{
	b->items[i].addr = b->map->sections[i].addr;
	b->items[i].dot = dot;
	b->items[i].align = b->infos[i].align;
}

static void check_item(struct build *b, uint32_t i, uint64_t dot)
{
	const struct linkmap_section *s = &b->map->sections[i];
	uint64_t align = b->items[i].align;

	if (!is_linked(s, b->map) || !s->size)
		return;
	if (((dot + align - 1) & ~(align - 1)) != s->addr) {
		detail("section '%s' of '%s' lies at %#llx, where its alignment of %u does not put it", s->name, s->object,
		       (unsigned long long)s->addr, b->items[i].align);
		b->nr_wrong++;
	}
}

/* Classes: the section's kind, apart for plain .text, whose objects are compiled and assembled ones. */
static uint32_t class_of(struct index *classes, const struct linkmap_section *s)
{
	static const char *const kinds[] = { ".text.unlikely.", ".text.hot.", ".text.startup.", ".text.exit." };

	for (uint32_t k = 0; k < ARRAY_SIZE(kinds); k++)
		if (!strncmp(s->name, kinds[k], strlen(kinds[k])))
			return index_add_str(classes, kinds[k]);
	if (!strncmp(s->name, ".text.", 6) && s->name[6] != '.')
		return index_add_str(classes, s->size ? ".text.*" : "empty");
	return index_add_str(classes, s->size ? s->name : "empty");
}

static void give_alignments(struct build *b)
{
	const struct linkmap *m = b->map;
	struct index classes = { 0 };

	walk(b, fill_item);
	for (uint32_t i = 0; i < m->nr_sections; i++) {
		b->items[i].class = class_of(&classes, &m->sections[i]);
		/* What an empty section without an object aligned to stays unknown: at least nothing. */
		if (!m->sections[i].size && !b->items[i].align)
			b->items[i].align = 1;
		b->nr_inferred += is_linked(&m->sections[i], m) && !b->items[i].align;
	}
	align_infer(b->items, m->nr_sections, classes.nr_keys);
	index_release(&classes);
	walk(b, check_item);
}

/* X_start, or X_end of the same X. */
static bool are_bounds(const char *start, const char *end)
{
	size_t n = strlen(start);

	return n > 6 && !strcmp(start + n - 6, "_start") && strlen(end) == n - 2 && !strncmp(start, end, n - 5) &&
	       !strcmp(end + n - 5, "end");
}

/* Some script's boundary symbols are around main text as a whole. */
static bool has_main_text(const struct linkmap *m, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (!strcmp(m->sections[i].name, ".text"))
			return true;
	return false;
}

/* What the script keeps between symbols X_start and X_end, by whatever name. */
static void find_bounded(struct build *b)
{
	const struct linkmap *m = b->map;

	for (uint32_t s = 0; s < m->nr_marks; s++) {
		const struct linkmap_mark *start = &m->marks[s], *end = NULL;

		for (uint32_t e = s + 1; start->symbol && e < m->nr_marks && !end && m->marks[e].output == start->output; e++)
			if (m->marks[e].symbol && are_bounds(start->symbol, m->marks[e].symbol))
				end = &m->marks[e];
		if (!end || has_main_text(m, start->before, end->before))
			continue;
		for (uint32_t i = start->before; i < end->before && i < m->nr_sections; i++)
			b->bounded[i] = true;
	}
}

/* By its name, and by where it lies: freed after boot, or between symbols that would be around nothing without it. */
static enum group group_of(const struct build *b, uint32_t i, const char **why)
{
	const struct linkmap_section *s = &b->map->sections[i];
	const struct image *img = b->img;
	enum group g = group_of_section(s->name, why);

	if (g != GROUP_MAIN)
		return g;
	if (s->addr < img->text_start || s->addr >= img->text_end)
		g = GROUP_INIT;
	else if (b->bounded[i])
		g = GROUP_REF;
	if (g != GROUP_MAIN)
		*why = group_why_fixed(g);
	return g;
}

static const char *why_fixed(const struct build *b, uint32_t i, const char *why)
{
	const struct linkmap_section *s = &b->map->sections[i];

	if (why)
		return why;
	if (!strcmp(s->object, "linker stubs"))
		return "made by the linker";
	if (s->fused || b->infos[i].repeated)
		return "its object has several sections of this name";
	if (b->infos[i].short_branch)
		return "a branch of short reach leaves it";
	if (b->infos[i].short_target)
		return "reached by a branch of short reach from another section";
	return NULL;
}

static void add_units(struct build *b)
{
	const struct linkmap *m = b->map;

	for (uint32_t i = 0; i < m->nr_sections; i++) {
		const struct linkmap_section *s = &m->sections[i];
		const char *why;

		if (!s->size || !is_linked(s, m))
			continue;
		enum group g = group_of(b, i, &why);
		struct unit *u = units_add(b->img, s->name, s->object, s->addr, s->size);
		u->align = b->items[i].align;
		u->group = g;
		u->why_fixed = why_fixed(b, i, why);
		u->movable = !u->why_fixed;
	}
}

/* Units that hold the target of another object's short branch stay where they are, too. */
static void fix_short_targets(struct build *b)
{
	const struct linkmap *m = b->map;

	for (uint32_t i = 0; i < m->nr_symbols; i++) {
		if (!objects_short_target(b->objects, m->symbols[i].name))
			continue;
		for (uint32_t k = 0; k < b->img->nr_units; k++) {
			struct unit *u = &b->img->units[k];

			if (m->symbols[i].addr < u->addr || m->symbols[i].addr - u->addr >= u->size || !u->movable)
				continue;
			u->movable = false;
			u->why_fixed = "reached by a branch of short reach from another object";
		}
	}
}

/* The stretch that is being collected. */
struct stretch {
	uint64_t start, end, align;
	enum group group;
	bool open;	/* it has a unit */
};

static void close_stretch(struct build *b, struct stretch *st)
{
	if (st->open)
		units_add_group(b->img, st->group, st->start, st->end, st->align);
	st->open = false;
	st->align = 1;
	st->start = st->end;
}

/*
 * Alignments that nothing follows are merged into the next one's: powers of two,
 * so the largest decides. An empty section that aligns is a stretch's start too.
 */
static void start_stretch(struct build *b, struct stretch *st, uint64_t at, uint64_t align)
{
	if (st->open)
		close_stretch(b, st);
	if (align > st->align)
		st->align = align;
	st->start = at;
}

static void add_groups(struct build *b)
{
	const struct linkmap *m = b->map;
	struct stretch st = { .align = 1 };
	uint32_t mark = 0, output = UINT32_MAX;
	const char *why;

	for (uint32_t i = 0; i < m->nr_sections; i++) {
		const struct linkmap_section *s = &m->sections[i];

		if (!is_linked(s, m))
			continue;
		if (s->output != output) {
			const struct linkmap_output *o = &m->outputs[s->output];
			const struct code_section *t = code_at(b->text, o->addr);

			close_stretch(b, &st);
			output = s->output;
			st.align = t ? t->align : 1;
			st.start = o->addr;
		}
		for (; mark < m->nr_marks && m->marks[mark].before <= i; mark++)
			if (m->marks[mark].output == output && m->marks[mark].align > 1)
				start_stretch(b, &st, m->marks[mark].addr, m->marks[mark].align);
		if (!s->size) {
			if (b->items[i].align > 4)
				start_stretch(b, &st, s->addr, b->items[i].align);
			continue;
		}
		enum group g = group_of(b, i, &why);
		if (st.open && g != st.group)
			close_stretch(b, &st);
		if (!st.open)
			st.group = g;
		st.open = true;
		st.end = s->addr + s->size;
	}
	close_stretch(b, &st);
}

/* Where plain .text holds most of main text, the compiler was not asked for sections of functions. */
static void note_whole_objects(const struct image *img)
{
	uint64_t whole = 0, main_text = 0;

	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i];

		if (u->group != GROUP_MAIN)
			continue;
		main_text += u->size;
		whole += strcmp(u->section, ".text") ? 0 : u->size;
	}
	if (whole > main_text / 2)
		note("this kernel was built without -ffunction-sections: whole objects can move, functions cannot");
}

int units_from_map(struct image *img, const struct linkmap *map, const char *objects_dir,
		   const struct code *t)
{
	struct build b = { .img = img, .map = map, .text = t, .objects = objects_new(objects_dir) };

	b.items = xcalloc(map->nr_sections, sizeof(*b.items));
	b.infos = xcalloc(map->nr_sections, sizeof(*b.infos));
	b.bounded = xcalloc(map->nr_sections, sizeof(*b.bounded));
	find_bounded(&b);
	read_objects(&b);
	give_alignments(&b);
	add_units(&b);
	fix_short_targets(&b);
	add_groups(&b);
	img->exact_units = true;
	img->exact_align = !b.nr_inferred && !b.nr_wrong;
	note_whole_objects(img);
	if (b.nr_inferred)
		detail("alignments of %u of %u sections are inferred: objects in '%s' are missing or differ", b.nr_inferred,
		       map->nr_sections, objects_dir);
	if (b.nr_wrong)
		detail("the addresses of %u sections do not follow from their alignments", b.nr_wrong);
	free(b.items);
	free(b.infos);
	free(b.bounded);
	objects_free(b.objects);
	return 0;
}
