/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inferred units, where there is no link map: main text is cut at its functions.
 *
 * What may be cut apart is what the linker put side by side; what an assembler put
 * into one section stays whole. On x86 the bytes between two functions tell: ld
 * fills with int3 (the script's `:text = 0xcccc`), gas and gcc with nops.
 *
 *   f: ... ret | cc cc cc | g: ...       two sections
 *   f: ... ret | 90 90 90 | g: ...       one section: f and g move together or not at all
 *
 * A kernel in which nops are the rule was built without -ffunction-sections; it is
 * read as if it had been built with them, for that is how it will be relinked.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/units.h"
#include "lib/error.h"
#include "lib/mem.h"

struct run {			/* functions that overlap, or that one section holds */
	uint64_t start, end;
	uint32_t first, last;	/* symbols */
	uint32_t nr_starts;	/* distinct addresses that do not lie within an earlier function */
	bool joined;		/* to the run before, by padding of the assembler */
	bool loose;		/* holds a label without a size, or partly overlapping functions */
};

struct range {
	uint64_t start, end;
	enum group group;
	const char *section;
};

struct infer {
	struct image *img;
	const struct code *text;
	const struct code_section *sec;
	struct range *ranges;		/* of the bounded groups in sec, by address, disjoint */
	uint32_t nr_ranges;
	struct run *runs;
	uint32_t nr_runs, alloc_runs;
	bool x86;
	uint64_t noinstr_end;		/* main text ends before; 0: not known */
};

/* Assembler routines of arch/x86/lib that stand alone in their object's .text. */
static const char *const x86_assembler[] = {
	"__fentry__", "__memcpy", "__memmove", "__memset", "__sw_hweight32", "__sw_hweight64", "clear_page_erms",
	"clear_page_orig", "clear_page_rep", "clear_user_erms", "clear_user_original", "clear_user_rep_good",
	"cmpxchg16b_emu", "copy_mc_enhanced_fast_string", "copy_mc_fragile", "copy_page", "copy_page_regs",
	"copy_user_enhanced_fast_string", "copy_user_generic_string", "copy_user_generic_unrolled",
	"csum_partial_copy_generic", "memcpy", "memcpy_erms", "memcpy_orig", "memmove", "memset", "memset_erms",
	"memset_orig", "rdmsr_safe_regs", "rep_movs_alternative", "rep_stos_alternative", "this_cpu_cmpxchg16b_emu",
	"wrmsr_safe_regs", "__copy_user_nocache", "__iowrite32_copy", "__switch_to_asm",
};

static bool is_x86_assembler(const char *name)
{
	if (!strncmp(name, "__get_user_", 11) || !strncmp(name, "__put_user_", 11))
		return true;
	for (uint32_t i = 0; i < ARRAY_SIZE(x86_assembler); i++)
		if (!strcmp(name, x86_assembler[i]))
			return true;
	return false;
}

static int cmp_ranges(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;	/* the enclosing one first */
	return a->group < b->group ? -1 : a->group > b->group;
}

/* On x86 irqentry lies within entry: the outer group counts. */
static void find_ranges(struct infer *in)
{
	const struct symtab *st = &in->img->symtab;
	uint64_t sec_end = in->sec->addr + in->sec->size;
	uint32_t out = 0;

	in->ranges = xcalloc(nr_group_bounds, sizeof(*in->ranges));
	for (uint32_t i = 0; i < nr_group_bounds; i++) {
		const struct group_bounds *gb = &group_bounds[i];
		uint64_t start, end;

		if (!symtab_value(st, gb->start, &start) || !symtab_value(st, gb->end, &end) || start >= end ||
		    start < in->sec->addr || end > sec_end)
			continue;
		in->ranges[in->nr_ranges++] = (struct range){ start, end, gb->group, gb->section };
	}
	sort_array(in->ranges, in->nr_ranges, sizeof(*in->ranges), cmp_ranges);
	for (uint32_t i = 0; i < in->nr_ranges; i++)
		if (!out || in->ranges[i].start >= in->ranges[out - 1].end)
			in->ranges[out++] = in->ranges[i];
	in->nr_ranges = out;
	if (!symtab_value(st, "__noinstr_text_end", &in->noinstr_end))
		in->noinstr_end = 0;
}

static const struct range *range_at(const struct infer *in, uint64_t addr)
{
	for (uint32_t i = 0; i < in->nr_ranges; i++)
		if (addr >= in->ranges[i].start && addr < in->ranges[i].end)
			return &in->ranges[i];
	return NULL;
}

/* First address at or past addr that belongs to a bounded group, or the section's end. */
static uint64_t next_bound(const struct infer *in, uint64_t addr)
{
	for (uint32_t i = 0; i < in->nr_ranges; i++)
		if (in->ranges[i].start >= addr)
			return in->ranges[i].start;
	return in->sec->addr + in->sec->size;
}

static void add_sym(struct infer *in, uint32_t i)
{
	const struct sym *s = &in->img->symtab.syms[i];
	struct run *r = in->nr_runs ? &in->runs[in->nr_runs - 1] : NULL;
	uint64_t end = s->addr + s->size, bound = next_bound(in, s->addr);
	bool sized = (s->flags & SYM_FUNC) && (s->flags & SYM_SIZED);

	if (end > bound)
		end = bound;
	if (end == s->addr)
		return;
	if (r && s->addr < r->end) {
		r->last = i;
		/* A function within another is the compiler's doing; one that sticks out is an assembler's. */
		r->loose |= end > r->end;
		r->end = end > r->end ? end : r->end;
		return;
	}
	ALLOC_GROW(in->runs, in->nr_runs + 1, in->alloc_runs);
	in->runs[in->nr_runs++] = (struct run){
		.start = s->addr, .end = end, .first = i, .last = i, .nr_starts = 1, .loose = !sized,
	};
}

enum gap { GAP_NONE, GAP_LINKER, GAP_ASSEMBLER };

static enum gap gap_between(const struct infer *in, const struct run *a, const struct run *b)
{
	const struct code_section *t = in->sec;

	if (b->start == a->end || !t->bytes || b->start - a->end >= 64)
		return GAP_NONE;
	/* An overridden weak function can lie in the gap, its symbol gone: ld fills before or after it. */
	return t->bytes[a->end - t->addr] == 0xcc || t->bytes[b->start - 1 - t->addr] == 0xcc ? GAP_LINKER :
												GAP_ASSEMBLER;
}

/* Returns whether the kernel was built with -ffunction-sections. */
static bool judge_gaps(struct infer *in)
{
	uint64_t linker = 0, assembler = 0;

	for (uint32_t i = 1; i < in->nr_runs; i++) {
		enum gap g = gap_between(in, &in->runs[i - 1], &in->runs[i]);

		linker += g == GAP_LINKER;
		assembler += g == GAP_ASSEMBLER;
		in->runs[i].joined = g == GAP_ASSEMBLER;
	}
	return linker > assembler;
}

static void join_runs(struct infer *in)
{
	uint32_t out = 0;

	for (uint32_t i = 0; i < in->nr_runs; i++) {
		struct run r = in->runs[i];

		if (out && r.joined) {
			struct run *p = &in->runs[out - 1];

			p->end = r.end;
			p->last = r.last;
			p->nr_starts++;
			p->loose |= r.loose;
		} else {
			in->runs[out++] = r;
		}
	}
	in->nr_runs = out;
}

static bool ends_cold(const char *name, size_t *stem)
{
	size_t n = strlen(name);

	if (n <= 5 || strcmp(name + n - 5, ".cold"))
		return false;
	*stem = n - 5;
	return true;
}

/* A second global name for the same address: the assembler's SYM_FUNC_ALIAS. */
static bool has_global_alias(const struct symtab *st, uint32_t i)
{
	return i + 1 < st->nr_syms && st->syms[i + 1].addr == st->syms[i].addr &&
	       (st->syms[i].flags & SYM_GLOBAL) && (st->syms[i + 1].flags & SYM_GLOBAL);
}

static const char *why_fixed(const struct infer *in, const struct run *r)
{
	const struct symtab *st = &in->img->symtab;
	const char *name = st->syms[r->first].name;

	if (r->nr_starts > 1)
		return "several functions of one assembler section";
	if (r->loose)
		return "an assembler label, whose section is not known without a link map";
	if (in->x86 && (has_global_alias(st, r->first) || is_x86_assembler(name)))
		return "an assembler routine, whose object is not known without a link map";
	return NULL;
}

static enum group group_of_run(const struct infer *in, const struct run *r)
{
	if (r->start < in->img->text_start || r->start >= in->img->text_end)
		return GROUP_INIT;
	if (in->noinstr_end && r->start >= in->noinstr_end)
		return GROUP_REF;
	return GROUP_MAIN;
}

/* A system call without arguments has two names; gcc names the section after the static one. */
static const char *section_stem(const struct symtab *st, uint32_t i)
{
	for (uint32_t k = i + 1; k < st->nr_syms && st->syms[k].addr == st->syms[i].addr; k++)
		if (!strncmp(st->syms[k].name, "__do_sys_", 9))
			return st->syms[k].name;
	return st->syms[i].name;
}

static void add_run(struct infer *in, const struct run *r)
{
	const char *name = section_stem(&in->img->symtab, r->first);
	size_t stem = strlen(name);
	/* gcc aligns functions to 16 on x86, but neither cold parts nor __cold functions. */
	bool cold = ends_cold(name, &stem) || (in->x86 && (r->start & 15));
	char *section = xasprintf(".text.%s%.*s", cold ? "unlikely." : "", (int)stem, name);
	struct unit *u = units_add(in->img, section, NULL, r->start, r->end - r->start);

	free(section);
	u->group = group_of_run(in, r);
	u->why_fixed = group_why_fixed(u->group);
	if (!u->why_fixed)
		u->why_fixed = why_fixed(in, r);
	u->movable = !u->why_fixed;
}

/* x86 keeps its boot code inside .text, in front, without a symbol at its end. */
static uint64_t head_end(const struct infer *in)
{
	static const char *const names[] = {
		"startup_64", "secondary_startup_64", "startup_32_smp", "__startup_64", "startup_64_setup_env",
		"start_cpu0", "verify_cpu", "sev_verify_cbit", "vc_boot_ghcb", "soft_restart_cpu",
		"early_idt_handler_array",
	};
	const struct symtab *st = &in->img->symtab;
	uint64_t end = 0;

	if (!in->x86)
		return 0;
	for (uint32_t i = 0; i < st->nr_syms && st->syms[i].addr < in->sec->addr + 0x4000; i++)
		for (uint32_t k = 0; k < ARRAY_SIZE(names); k++)
			if (st->syms[i].addr >= in->sec->addr && !strcmp(st->syms[i].name, names[k]))
				end = st->syms[i].addr + st->syms[i].size;
	return end;
}

static void fixed_unit(struct image *img, const char *section, uint64_t addr, uint64_t size, enum group g)
{
	struct unit *u = units_add(img, section, NULL, addr, size);

	u->group = g;
	u->movable = false;
	u->why_fixed = group_why_fixed(g);
	if (!u->why_fixed)
		u->why_fixed = "its sections are not known without a link map";
}

static void add_main_text(struct infer *in)
{
	const struct symtab *st = &in->img->symtab;
	uint64_t head = head_end(in), end = in->sec->addr + in->sec->size;

	find_ranges(in);
	if (head)
		fixed_unit(in->img, ".head.text", in->sec->addr, head - in->sec->addr, GROUP_HEAD);
	for (uint32_t i = 0; i < in->nr_ranges; i++) {
		const struct range *r = &in->ranges[i];
		fixed_unit(in->img, r->section, r->start, r->end - r->start, r->group);
	}
	for (uint32_t i = 0; i < st->nr_syms; i++) {
		const struct sym *s = &st->syms[i];

		if (s->addr < in->sec->addr || s->addr < head || s->addr >= end || (s->flags & SYM_ALIAS) ||
		    range_at(in, s->addr))
			continue;
		add_sym(in, i);
	}
	if (in->x86 && judge_gaps(in))
		join_runs(in);
	else if (in->x86)
		detail("no sign of -ffunction-sections: each function is taken as the section it would be");
	for (uint32_t i = 0; i < in->nr_runs; i++)
		add_run(in, &in->runs[i]);
	free(in->ranges);
	free(in->runs);
}

/* Units of one section name cannot be told apart without their objects. */
static void fix_namesakes(struct image *img)
{
	struct index seen = { 0 };
	uint32_t *first = xcalloc(img->nr_units, sizeof(*first)), nr = 0;

	for (uint32_t i = 0; i < img->nr_units; i++) {
		struct unit *u = &img->units[i];
		uint32_t id;

		if (!u->movable)
			continue;
		id = index_add_str(&seen, u->section);
		if (id == nr) {
			first[nr++] = i;
			continue;
		}
		u->movable = img->units[first[id]].movable = false;
		u->why_fixed = img->units[first[id]].why_fixed =
			"another function has this name, and its object is not known without a link map";
	}
	index_release(&seen);
	free(first);
}

static void give_alignments(struct image *img)
{
	struct align_item *items = xcalloc(img->nr_units, sizeof(*items));

	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i], *p = i ? u - 1 : NULL;
		bool near = p && p->group == u->group && u->addr - (p->addr + p->size) < 64;

		items[i] = (struct align_item){
			.addr = u->addr, .dot = near ? p->addr + p->size : u->addr,
			.class = !u->movable ? 2 : !strncmp(u->section, ".text.unlikely.", 15),
		};
	}
	align_infer(items, img->nr_units, 3);
	for (uint32_t i = 0; i < img->nr_units; i++)
		img->units[i].align = items[i].align;
	free(items);
}

/* The least power of two that makes the gap before a group, or the scripts' ALIGN_FUNCTION(), 8. */
static uint64_t group_align(uint64_t end_before, uint64_t start)
{
	uint64_t most = start & -start, a = 1;

	while (a <= start - end_before && a < most)
		a <<= 1;
	/* A gap of many pages is made for large mappings. */
	if (a > 0x10000)
		return most < 0x200000 ? most : 0x200000;
	if (a < 8)
		a = most < 8 ? most : 8;
	return a;
}

static void add_groups(struct image *img, const struct code *t)
{
	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i];
		struct image_group *g = img->nr_groups ? &img->groups[img->nr_groups - 1] : NULL;
		const struct code_section *sec = code_at(t, u->addr);
		bool first = sec && (!i || u[-1].addr < sec->addr);

		if (!first && g && g->group == u->group) {
			g->end = u->addr + u->size;
			continue;
		}
		units_add_group(img, u->group, u->addr, u->addr + u->size,
				first || !g ? (sec ? sec->align : 1) : group_align(g->end, u->addr));
	}
}

void units_from_symbols(struct image *img, const struct code *t)
{
	const char *why;

	for (uint32_t i = 0; i < t->nr_sections; i++) {
		const struct code_section *s = &t->sections[i];
		uint16_t mach = img->symtab.e_machine;
		struct infer in = {
			.img = img, .text = t, .sec = s, .x86 = mach == EM_X86_64 || mach == EM_386,
		};

		if (!strcmp(s->name, ".text")) {
			add_main_text(&in);
			continue;
		}
		enum group g = group_of_section(s->name, &why);
		bool outside = s->addr < img->text_start || s->addr >= img->text_end;
		fixed_unit(img, s->name, s->addr, s->size, g == GROUP_MAIN && outside ? GROUP_INIT : g);
	}
	sort_array(img->units, img->nr_units, sizeof(*img->units), units_cmp);
	fix_namesakes(img);
	give_alignments(img);
	add_groups(img, t);
}
