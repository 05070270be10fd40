/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/tlb/machine.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"

enum { MAX_ENTRIES = 1 << 15, MAX_WORDS = 24 };

#define ABOUT (1u << 31)

/* Made by the Makefile from machines/NAME.machine, sorted by name; closed by a NULL name. */
extern const struct machine_file {
	const char *name, *text;
} machine_files[];

struct parse {
	struct machine *m;
	const char *file;
	unsigned int line;
	uint32_t seen;		/* bit k: key k of keys[] was given; ABOUT */
};

static int bad(const struct parse *ps, const char *what, const char *word)
{
	return error("machine '%s': line %u: %s '%s'", ps->file, ps->line, what, word);
}

static bool is_pow2(uint64_t v)
{
	return v && !(v & (v - 1));
}

static int get_page(struct parse *ps, const char *word, uint32_t *out)
{
	uint64_t v;

	if (!parse_size(word, &v) || !is_pow2(v) || v < 1024 || v > 1u << 31)
		return bad(ps, "not a page size (a power of two from 1K to 2G)", word);
	*out = (uint32_t)v;
	return 0;
}

static int get_number(struct parse *ps, const char *word, uint64_t min, uint64_t max, uint32_t *out)
{
	uint64_t v;

	if (!parse_u64_range(word, min, max, &v))
		return bad(ps, "not a number in range", word);
	*out = (uint32_t)v;
	return 0;
}

static int get_bool(struct parse *ps, char **words, bool *out)
{
	if (strcmp(words[1], "yes") && strcmp(words[1], "no"))
		return bad(ps, "neither yes nor no", words[1]);
	*out = words[1][0] == 'y';
	return 0;
}

static int get_policy(struct parse *ps, const char *word, enum tlb_policy *out)
{
	static const char *const names[] = {
		[TLB_LRU] = "lru", [TLB_FIFO] = "fifo", [TLB_RANDOM] = "random", [TLB_ROUND_ROBIN] = "round-robin",
		[TLB_PLRU] = "plru",
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(word, names[i])) {
			*out = (enum tlb_policy)i;
			return 0;
		}
	return bad(ps, "unknown replacement policy", word);
}

static int check_shape(struct parse *ps, uint32_t entries, uint32_t ways, enum tlb_policy policy)
{
	if (entries % ways || !is_pow2(entries / ways))
		return error("machine '%s': line %u: %u entries of %u ways do not give a power of two of sets", ps->file,
			     ps->line, entries, ways);
	if (policy == TLB_PLRU && (!is_pow2(ways) || ways > 32))
		return error("machine '%s': line %u: plru needs a power of two of ways, 32 at most", ps->file, ps->line);
	return 0;
}

static int parse_level_option(struct parse *ps, struct tlb_level *l, const char *key, const char *arg)
{
	if (!strcmp(key, "ways"))
		return get_number(ps, arg, 1, MAX_ENTRIES, &l->ways);
	if (!strcmp(key, "policy"))
		return get_policy(ps, arg, &l->policy);
	if (!strcmp(key, "max-page"))
		return get_page(ps, arg, &l->max_page);
	if (!strcmp(key, "locked"))
		return get_number(ps, arg, 0, MAX_ENTRIES, &l->locked);
	if (!strcmp(key, "large"))
		return get_number(ps, arg, 1, MAX_ENTRIES, &l->large_entries);
	if (!strcmp(key, "large-ways"))
		return get_number(ps, arg, 1, MAX_ENTRIES, &l->large_ways);
	return bad(ps, "unknown word", key);
}

/* level ENTRIES [ways N] [policy P] [unified] [max-page SIZE] [locked N] [large N] [large-ways N] */
static int parse_level(struct parse *ps, char **words)
{
	struct machine *m = ps->m;

	if (m->nr_levels == MACHINE_MAX_LEVELS)
		return error("machine '%s': line %u: more than %d levels", ps->file, ps->line, MACHINE_MAX_LEVELS);
	struct tlb_level *l = &m->levels[m->nr_levels++];
	if (get_number(ps, words[1], 1, MAX_ENTRIES, &l->entries) < 0)
		return -1;
	for (words += 2; *words; words++) {
		if (!strcmp(*words, "unified")) {
			l->unified = true;
			continue;
		}
		if (!words[1])
			return bad(ps, "no value for", *words);
		if (parse_level_option(ps, l, words[0], words[1]) < 0)
			return -1;
		words++;
	}
	if (!l->ways)
		l->ways = l->entries;
	if (l->large_ways && !l->large_entries)
		return bad(ps, "no 'large' beside", "large-ways");
	if (l->large_entries && !l->large_ways)
		l->large_ways = l->large_entries;
	if (l->locked && (l->ways != l->entries || l->locked >= l->entries))
		return error("machine '%s': line %u: only a part of a fully associative level can be locked", ps->file,
			     ps->line);
	uint32_t ways = l->ways == l->entries ? l->entries - l->locked : l->ways;
	if (check_shape(ps, l->entries - l->locked, ways, l->policy) < 0)
		return -1;
	return l->large_entries ? check_shape(ps, l->large_entries, l->large_ways, l->policy) : 0;
}

static int parse_l1i(struct parse *ps, char **words)
{
	struct machine *m = ps->m;
	uint64_t bytes;

	if (!parse_size(words[1], &bytes) || bytes > 1u << 24)
		return bad(ps, "not a cache size", words[1]);
	m->l1i_bytes = (uint32_t)bytes;
	if (get_number(ps, words[2], 1, 1024, &m->l1i_ways) < 0 ||
	    get_number(ps, words[3], 4, 1024, &m->l1i_line) < 0)
		return -1;
	uint64_t set = (uint64_t)m->l1i_ways * m->l1i_line;
	if (!is_pow2(m->l1i_line) || bytes % set || !is_pow2(bytes / set))
		return error("machine '%s': line %u: the cache does not divide into a power of two of sets", ps->file,
			     ps->line);
	return 0;
}

static int parse_clock(struct parse *ps, char **words)
{
	double v, unit = !strcmp(words[2], "GHz") ? 1e9 : !strcmp(words[2], "MHz") ? 1e6 : 0;

	if (!unit)
		return bad(ps, "unknown unit", words[2]);
	if (!parse_double(words[1], &v) || v <= 0 || v > 1e6)
		return bad(ps, "not a clock", words[1]);
	ps->m->clock_hz = v * unit;
	return 0;
}

static int parse_cycles(struct parse *ps, char **words)
{
	struct machine *m = ps->m;

	if (get_number(ps, words[1], 1, 1000000, &m->miss_cycles_min) < 0 ||
	    get_number(ps, words[2], 1, 1000000, &m->miss_cycles_max) < 0)
		return -1;
	if (m->miss_cycles_min > m->miss_cycles_max)
		return bad(ps, "a range whose end lies below", words[1]);
	return 0;
}

static int set_word(char **out, const char *word)
{
	free(*out);
	*out = xstrdup(word);
	return 0;
}

static int parse_arch(struct parse *ps, char **words)
{
	return set_word(&ps->m->arch, words[1]);
}

static int parse_version(struct parse *ps, char **words)
{
	uint32_t version = 0;

	if (get_number(ps, words[1], 0, UINT32_MAX, &version) < 0)
		return -1;
	if (ps->seen & (ps->seen - 1))
		return bad(ps, "not the first key:", words[0]);
	if (version != MACHINE_VERSION)
		return error("machine '%s': format version %u, this hottext knows %d", ps->file, version, MACHINE_VERSION);
	return 0;
}

static int parse_text_page(struct parse *ps, char **words)
{
	return get_page(ps, words[1], &ps->m->text_page);
}

static int parse_edge_page(struct parse *ps, char **words)
{
	return get_page(ps, words[1], &ps->m->edge_page);
}

static int parse_user_page(struct parse *ps, char **words)
{
	return get_page(ps, words[1], &ps->m->user_page);
}

static int parse_module_page(struct parse *ps, char **words)
{
	return get_page(ps, words[1], &ps->m->module_page);
}

static int parse_pinned(struct parse *ps, char **words)
{
	return get_bool(ps, words, &ps->m->pinned_text);
}

static int parse_flush(struct parse *ps, char **words)
{
	return get_bool(ps, words, &ps->m->flush_on_switch);
}

static int parse_flush_global(struct parse *ps, char **words)
{
	return get_bool(ps, words, &ps->m->flush_global);
}

static int parse_flush_mode(struct parse *ps, char **words)
{
	return get_bool(ps, words, &ps->m->flush_on_mode);
}

static int parse_data_set(struct parse *ps, char **words)
{
	if (get_number(ps, words[1], 1, 1 << 20, &ps->m->data_set) < 0)
		return -1;
	return get_number(ps, words[2], 1, 1000000000, &ps->m->data_every);
}

static int parse_data_new(struct parse *ps, char **words)
{
	return get_number(ps, words[1], 1, 1000000000, &ps->m->data_new);
}

/* about is parsed apart: its value is the rest of the line. */
static const struct key {
	const char *name;
	int nr_words;		/* with the key; negative: at least so many */
	bool repeats;
	int (*parse)(struct parse *ps, char **words);
} keys[] = {
	{ "arch", 2, false, parse_arch },
	{ "level", -2, true, parse_level },
	{ "version", 2, false, parse_version },
	{ "text-page", 2, false, parse_text_page },
	{ "edge-page", 2, false, parse_edge_page },
	{ "user-page", 2, false, parse_user_page },
	{ "module-page", 2, false, parse_module_page },
	{ "pinned-text", 2, false, parse_pinned },
	{ "flush-on-switch", 2, false, parse_flush },
	{ "flush-global", 2, false, parse_flush_global },
	{ "flush-on-mode", 2, false, parse_flush_mode },
	{ "miss-cycles", 3, false, parse_cycles },
	{ "clock", 3, false, parse_clock },
	{ "l1i", 4, false, parse_l1i },
	{ "data-set", 3, false, parse_data_set },
	{ "data-new", 2, false, parse_data_new },
};

static int parse_words(struct parse *ps, char *line)
{
	char *words[MAX_WORDS + 1], *save = NULL;
	int nr = 0;

	for (char *w = strtok_r(line, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		if (nr == MAX_WORDS)
			return bad(ps, "too many words after", words[0]);
		words[nr++] = w;
	}
	words[nr] = NULL;
	if (!nr)
		return 0;
	for (uint32_t k = 0; k < ARRAY_SIZE(keys); k++) {
		if (strcmp(words[0], keys[k].name))
			continue;
		if (keys[k].nr_words > 0 ? nr != keys[k].nr_words : nr < -keys[k].nr_words)
			return bad(ps, "wrong number of values for", words[0]);
		if (!keys[k].repeats && ps->seen >> k & 1)
			return bad(ps, "a second", words[0]);
		ps->seen |= 1u << k;
		return keys[k].parse(ps, words);
	}
	return bad(ps, "unknown key", words[0]);
}

static int parse_about(struct parse *ps, char *text)
{
	size_t len = strlen(text);

	if (len && text[len - 1] == '\r')
		text[len - 1] = '\0';
	if (ps->seen & ABOUT)
		return bad(ps, "a second", "about");
	ps->seen |= ABOUT;
	return set_word(&ps->m->about, text);
}

static int parse_line(struct parse *ps, char *line)
{
	char *p = line + strspn(line, " \t");

	if (!strncmp(p, "about", 5) && strchr(" \t", p[5]) && p[5])
		return parse_about(ps, p + 5 + strspn(p + 5, " \t"));
	p[strcspn(p, "#")] = '\0';
	return parse_words(ps, p);
}

static int parse_text(struct machine *m, const char *file, const char *text)
{
	struct parse ps = { .m = m, .file = file };
	char *copy = xstrdup(text), *next = copy, *line;
	int ret = 0;

	while (!ret && (line = strsep(&next, "\n"))) {
		ps.line++;
		ret = parse_line(&ps, line);
	}
	free(copy);
	if (!ret && !m->nr_levels)
		ret = error("machine '%s': no 'level'", file);
	if (!ret && !m->text_page)
		ret = error("machine '%s': no 'text-page'", file);
	if (!ret && m->edge_page > m->text_page)
		ret = error("machine '%s': an 'edge-page' larger than 'text-page'", file);
	m->blocks_end = UINT64_MAX;
	if (!m->about)
		m->about = xstrdup("");
	if (!m->arch)
		m->arch = xstrdup("any");
	if (!m->user_page)
		m->user_page = 4096;
	if (!m->module_page)
		m->module_page = 4096;
	return ret;
}

const char *machine_text(const char *name)
{
	for (const struct machine_file *f = machine_files; f->name; f++)
		if (!strcmp(f->name, name))
			return f->text;
	return NULL;
}

const char *const *machine_names(void)
{
	static const char **names;
	uint32_t nr = 0;

	if (names)
		return names;
	while (machine_files[nr].name)
		nr++;
	names = xcalloc(nr + 1, sizeof(*names));
	for (uint32_t i = 0; i < nr; i++)
		names[i] = machine_files[i].name;
	return names;
}

/* "/a/my.machine" is called "my". */
static char *name_of(const char *path)
{
	static const char end[] = ".machine";
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t n = strlen(base);

	if (n > sizeof(end) - 1 && !strcmp(base + n - (sizeof(end) - 1), end))
		n -= sizeof(end) - 1;
	return xstrndup(base, n);
}

int machine_init(struct machine *m, const char *name)
{
	const char *text = machine_text(name);
	struct mapfile file = { 0 };
	int ret;

	memset(m, 0, sizeof(*m));
	if (!text && !strchr(name, '/') && !strchr(name, '.'))
		return error("unknown machine '%s'; 'hottext machines' lists them", name);
	if (!text) {
		if (mapfile_init(&file, name) < 0)
			return -1;
		if (memchr(file.data, '\0', file.size)) {
			mapfile_release(&file);
			return error("machine '%s': not a text file", name);
		}
	}
	m->name = text ? xstrdup(name) : name_of(name);
	ret = parse_text(m, name, text ? text : file.data);
	mapfile_release(&file);
	if (ret < 0)
		machine_release(m);
	return ret;
}

void machine_release(struct machine *m)
{
	free(m->name);
	free(m->about);
	free(m->arch);
	memset(m, 0, sizeof(*m));
}

static bool has(const struct symtab *st, const char *name)
{
	uint64_t v;

	return symtab_value(st, name, &v);
}

/*
 * Which 32-bit PowerPC: by symbols that only that family's MMU code defines
 * (arch/powerpc/kernel/head_*.S, mm/nohash). mark_rodata_ro is there with
 * STRICT_KERNEL_RWX only, which makes the 40x map its text in 4 KB pages.
 */
static const char *ppc_machine(const struct symtab *st)
{
	bool strict = has(st, "mark_rodata_ro");

	if (has(st, "tlb_4xx_index") || has(st, "finish_tlb_load"))
		return has(st, "finish_tlb_load_44x") || has(st, "tlb_44x_index") ? "ppc440" :
		       strict ? "ppc405" : "ppc405-16m";
	if (has(st, "tlb_44x_index") || has(st, "finish_tlb_load_44x"))
		return "ppc440";
	if (has(st, "DARFixed") || has(st, "FixupDAR") || has(st, "mmu_mapin_immr"))
		return "mpc8xx";
	return "generic-4k-32";
}

/*
 * arm64 maps text in 2 MB blocks where it fills whole ones: a small kernel has none. The page size stands in the
 * image's header, whose flags are a symbol, too (arch/arm64/kernel/image.h): 1 is 4 KB, 2 is 16 KB, 3 is 64 KB.
 */
static const char *arm64_machine(const struct symtab *st)
{
	uint64_t flags = 0, block = 2 << 20;

	symtab_value(st, "_kernel_flags_le_lo32", &flags);
	switch (flags >> 1 & 3) {
	case 2:
		return "arm64-16k-granule";
	case 3:
		return "arm64-64k-granule";
	default:
		return ((st->stext_addr + block - 1) & -block) < (st->etext_addr & -block) ? "arm64-2m" : "arm64-64k";
	}
}

static const char *default_name(const struct symtab *st)
{
	switch (st->e_machine) {
	case EM_X86_64:
	case EM_386:
		return "x86-64-2m";
	case EM_PPC:
		return ppc_machine(st);
	case EM_AARCH64:
		return arm64_machine(st);
	case EM_ARM:
		return has(st, "cpu_arm920_proc_init") ? "arm920t" : "cortex-a15";
	case EM_RISCV:
		return "sifive-u74";
	case EM_S390:
		return "s390-1m";
	case EM_IA_64:
		return "itanium2";
	case EM_SPARCV9:
		return "ultrasparc";
	default:
		return "generic-4k-32";
	}
}

int machine_init_for(struct machine *m, const struct symtab *st)
{
	const char *name = default_name(st);

	detail("machine '%s', for a kernel of '%s'", name, symtab_arch(st));
	return machine_init(m, name);
}

void machine_map_text(struct machine *m, uint64_t start, uint64_t end)
{
	uint64_t page = m->text_page;

	m->blocks_start = (start + page - 1) & -page;
	m->blocks_end = end & -page;
	if (m->blocks_end < m->blocks_start)
		m->blocks_end = m->blocks_start;
}

bool machine_miss_seconds(const struct machine *m, uint64_t misses, double *min, double *max)
{
	if (!m->miss_cycles_min || m->clock_hz <= 0)
		return false;
	*min = (double)misses * m->miss_cycles_min / m->clock_hz;
	*max = (double)misses * m->miss_cycles_max / m->clock_hz;
	return true;
}

/* What an entry holds of a page, in the level that holds the least. */
static uint32_t piece_of(const struct machine *m, uint32_t bytes)
{
	for (uint32_t i = 0; i < m->nr_levels; i++)
		if (m->levels[i].max_page && m->levels[i].max_page < bytes)
			bytes = m->levels[i].max_page;
	return bytes;
}

uint32_t machine_entry_bytes(const struct machine *m)
{
	return piece_of(m, machine_has_edges(m) ? m->edge_page : m->text_page);
}

uint32_t machine_block_bytes(const struct machine *m)
{
	return piece_of(m, m->text_page);
}

const char *machine_why_no_saving(const struct machine *m, uint64_t text_start, uint64_t text_end)
{
	uint64_t bytes = machine_entry_bytes(m);

	if (m->pinned_text)
		return "kernel text is pinned: it never misses";
	if (text_end > text_start && text_start / bytes == (text_end - 1) / bytes)
		return "one page maps all kernel text: it costs one entry whatever the order";
	return NULL;
}
