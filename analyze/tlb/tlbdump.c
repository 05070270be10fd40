/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/tlb/tlbdump.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"

enum { MI_CAM = 816, MI_RAM0 = 817, MI_RAM1 = 818, MAX_TLB = 1 << 16 };

struct parse {
	struct input *in;
	struct tlbdump *dump;
	uint32_t nr_ram0, nr_ram1;	/* words seen: the n-th belongs to the n-th entry */
};

static int bad(const struct parse *ps, const char *why)
{
	return error("cannot read '%s': line %lu: %s", input_name(ps->in), input_lineno(ps->in), why);
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\r");
}

static struct tlb_entry *add_entry(struct parse *ps)
{
	struct tlbdump *d = ps->dump;

	ALLOC_GROW(d->entries, d->nr_entries + 1, d->alloc_entries);
	d->entries[d->nr_entries] = (struct tlb_entry){ .real = UINT64_MAX, .valid = true };
	return &d->entries[d->nr_entries++];
}

static int add_cam(struct parse *ps, uint32_t cam)
{
	static const uint64_t sizes[8] = { [0] = 4 << 10, [1] = 16 << 10, [3] = 512 << 10, [7] = 8 << 20 };
	uint64_t size = sizes[cam >> 9 & 7];

	if (!size)
		return bad(ps, "no such page size in register 816");
	struct tlb_entry *e = add_entry(ps);
	e->addr = (cam & 0xfffff000u) & ~(size - 1);
	e->size = size;
	e->shared = cam & 0x10;
	e->space = e->shared ? 0 : cam >> 5 & 0xf;
	e->valid = cam & 0xf;
	return 0;
}

static int add_word(struct parse *ps, uint64_t spr, uint32_t word)
{
	struct tlbdump *d = ps->dump;

	if (spr == MI_CAM)
		return add_cam(ps, word);
	uint32_t *nr = spr == MI_RAM0 ? &ps->nr_ram0 : &ps->nr_ram1;
	if (*nr >= d->nr_entries)
		return bad(ps, "a RAM word without its entry's register 816");
	struct tlb_entry *e = &d->entries[(*nr)++];
	if (spr == MI_RAM0)
		e->real = (word & 0xfffff000u) & ~(e->size - 1);
	else
		e->valid &= (word & 2) != 0;
	return 0;
}

/* "SPR  816 : 0xc009e01f  -1073094625"; the decimal is the same word, signed, and may be missing. */
static int parse_spr(struct parse *ps, const char *p)
{
	uint64_t spr, word, decimal;
	bool minus;

	p = skip_blanks(p);
	if (!scan_dec(&p, &spr) || (spr != MI_CAM && spr != MI_RAM0 && spr != MI_RAM1))
		return bad(ps, "not register 816, 817 or 818");
	p = skip_blanks(p);
	if (*p != ':')
		return bad(ps, "no ':' behind the register");
	p = skip_blanks(p + 1);
	if (p[0] != '0' || p[1] != 'x')
		return bad(ps, "no hexadecimal value");
	p += 2;
	if (!scan_hex(&p, &word) || word > UINT32_MAX)
		return bad(ps, "not a 32-bit value");
	p = skip_blanks(p);
	if (!*p)
		return add_word(ps, spr, (uint32_t)word);
	minus = *p == '-';
	p += minus;
	if (!scan_dec(&p, &decimal) || *skip_blanks(p))
		return bad(ps, "junk behind the value");
	if ((uint32_t)(minus ? 0 - decimal : decimal) != (uint32_t)word)
		return bad(ps, "the two values disagree");
	return add_word(ps, spr, (uint32_t)word);
}

/* "0xc0003000 4K": an address, with or without 0x, and the page's size. */
static int parse_pair(struct parse *ps, char *p)
{
	uint64_t addr, size;
	const char *s = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? p + 2 : p;

	if (!scan_hex(&s, &addr) || (*s != ' ' && *s != '\t'))
		return bad(ps, "neither a register nor an address and a size");
	char *word = p + (skip_blanks(s) - p);
	word[strcspn(word, " \t\r")] = '\0';
	if (!parse_size(word, &size) || !size || (size & (size - 1)))
		return bad(ps, "not a page size");
	if (addr & (size - 1))
		return bad(ps, "the address is not a page's");
	struct tlb_entry *e = add_entry(ps);
	e->addr = addr;
	e->size = size;
	return 0;
}

static int parse_line(struct parse *ps, char *line)
{
	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t\r");
	if (!*line)
		return 0;
	if (ps->dump->nr_entries >= MAX_TLB)
		return bad(ps, "more entries than any TLB has");
	if (!strncmp(line, "SPR", 3))
		return parse_spr(ps, line + 3);
	return parse_pair(ps, line);
}

int tlbdump_read(struct tlbdump *d, const char *path)
{
	struct parse ps = { .dump = d };
	char *line;
	int ret = 0;

	memset(d, 0, sizeof(*d));
	ps.in = input_open(path);
	if (!ps.in)
		return -1;
	while (!ret && (line = input_line(ps.in, NULL)))
		ret = parse_line(&ps, line);
	if (!ret && input_failed(ps.in))
		ret = -1;
	input_close(ps.in);
	if (ret < 0)
		tlbdump_release(d);
	return ret;
}

void tlbdump_release(struct tlbdump *d)
{
	free(d->entries);
	memset(d, 0, sizeof(*d));
}

static bool has(const struct tlbdump *d, const struct tlb_entry *e)
{
	for (uint32_t i = 0; i < d->nr_entries; i++) {
		const struct tlb_entry *h = &d->entries[i];

		if (h->valid && h->addr == e->addr && h->size == e->size && h->shared == e->shared && h->space == e->space)
			return true;
	}
	return false;
}

void tlbdump_appeared(const struct tlbdump *before, const struct tlbdump *after, struct tlbdump *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < after->nr_entries; i++) {
		const struct tlb_entry *e = &after->entries[i];

		if (!e->valid || has(before, e) || has(out, e))
			continue;
		ALLOC_GROW(out->entries, out->nr_entries + 1, out->alloc_entries);
		out->entries[out->nr_entries++] = *e;
	}
}
