/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tlb/pageset.h"
#include "lib/file.h"
#include "lib/mem.h"
#include "lib/shell.h"
#include "lib/utf8.h"

void plan_init(struct plan *p)
{
	memset(p, 0, sizeof(*p));
	p->tool = plan_string(p, "hottext " HOTTEXT_VERSION);
	p->algorithm = p->command = p->vmlinux.build_id = p->vmlinux.release = p->vmlinux.arch = plan_string(
		p, "");
	p->machine.name = p->machine.about = p->machine.arch = p->machine.why_no_saving = p->command;
	p->machine.page_bytes = 4096;
	p->before.misses = p->before.l1i_misses = p->before.insns = PLAN_UNKNOWN;
	p->before.estimate = -1;
	p->after = p->before;
}

void plan_release(struct plan *p)
{
	free(p->sources);
	free(p->curve);
	free(p->positions);
	free(p->measured.pages);
	free(p->units);
	free(p->functions);
	free(p->ranges);
	free(p->paths);
	free(p->uses);
	free(p->pages);
	free(p->edges);
	index_release(&p->strings);
	memset(p, 0, sizeof(*p));
}

const char *plan_string(struct plan *p, const char *s)
{
	if (!s)
		return NULL;

	char *mended = utf8_mended(s);
	const char *kept = index_str(&p->strings, index_add_str(&p->strings, mended));
	free(mended);
	return kept;
}

/* Wrappers between an entry's ABI and its name; the longest that fits is cut off. */
static const char *const root_prefixes[] = {
	"__x64_sys_",
	"__ia32_sys_",
	"__ia32_compat_sys_",
	"__x64_compat_sys_",
	"__arm64_sys_",
	"__arm64_compat_sys_",
	"__riscv_sys_",
	"__riscv_compat_sys_",
	"__s390x_sys_",
	"__s390_sys_",
	"__powerpc_sys_",
	"__se_sys_",
	"__se_compat_sys_",
	"__do_sys_",
	"compat_sys_",
	"ksys_",
	"__sys_",
	"ppc_",
	"sys_",
	"asm_exc_",
	"asm_sysvec_",
	"exc_",
	"sysvec_",
};

char *plan_root_name(const char *identity)
{
	size_t cut = 0;

	for (size_t i = 0; i < ARRAY_SIZE(root_prefixes); i++) {
		size_t n = strlen(root_prefixes[i]);

		if (n > cut && !strncmp(identity, root_prefixes[i], n) && identity[n])
			cut = n;
	}
	return xstrdup(identity + cut);
}

int64_t plan_page_of(uint64_t addr, uint64_t text_start, uint64_t page_bytes)
{
	return page_number(addr, text_start, page_bytes);
}

/* Pages [*first, *end) are blocks of so many. */
static int64_t block_pages(const struct plan *p, int64_t *first, int64_t *end)
{
	const struct plan_machine *m = &p->machine;

	*first = page_number(m->blocks_start, p->text_start, m->page_bytes);
	*end = page_number(m->blocks_end, p->text_start, m->page_bytes);
	return m->block_bytes ? (int64_t)(m->block_bytes / m->page_bytes) : 1;
}

int64_t plan_entry_of(const struct plan *p, uint64_t addr, uint64_t text_start)
{
	int64_t page = page_number(addr, text_start, p->machine.page_bytes), first, end;
	int64_t pages = block_pages(p, &first, &end);

	return page >= first && page < end ? page - (page - first) % pages : page;
}

static int64_t between(int64_t x, int64_t low, int64_t high)
{
	return x < low ? low : x > high ? high : x;
}

uint64_t plan_entries(const struct plan *p, uint64_t start, uint64_t end)
{
	int64_t first = plan_entry_of(p, start, p->text_start), last = plan_entry_of(p, end - 1, p->text_start);
	int64_t blocks_first, blocks_end, pages = block_pages(p, &blocks_first, &blocks_end);
	/* In front of the last. */
	int64_t in_blocks = between(last, blocks_first, blocks_end) - between(first, blocks_first, blocks_end);

	return (uint64_t)(last - first + 1 - in_blocks + (in_blocks + pages - 1) / pages);
}

/* Whether name is the identity, or the identity up to the '@' or '#' that tells it from its namesakes. */
static bool names_match(const char *identity, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(identity, name, n) && (!identity[n] || identity[n] == '@' || identity[n] == '#');
}

uint32_t plan_find_function(const struct plan *p, const char *name)
{
	uint32_t near = INDEX_NONE;

	for (uint32_t i = 0; i < p->nr_units; i++) {
		const struct plan_unit *u = &p->units[i];

		if (!strcmp(u->name, name))
			return i;
		for (uint32_t j = u->first_function; j < u->first_function + u->nr_functions; j++) {
			if (!strcmp(p->functions[j].name, name))
				return i;
			if (near == INDEX_NONE && names_match(p->functions[j].name, name))
				near = i;
		}
	}
	return near;
}

double plan_heat(const struct plan *p, const struct plan_unit *u)
{
	return p->path_weight ? (double)u->path_weight / (double)p->path_weight : 0;
}

bool plan_is_traced(const struct plan *p)
{
	for (uint32_t i = 0; i < p->nr_sources; i++)
		if (strcmp(p->sources[i].reader, "fetch"))
			return false;
	return p->nr_sources;
}

double plan_saving(double before, double after)
{
	return before > 0 ? 100 * (before - after) / before : 0;
}

/* An argument without its folder where that is absolute, also behind --option= and -o. */
static char *without_folder(const char *arg, bool is_program)
{
	const char *base = strrchr(arg, '/'), *value = arg, *equals = strchr(arg, '=');

	if (!strncmp(arg, "--", 2) && equals)
		value = equals + 1;
	else if (arg[0] == '-' && arg[1] && arg[2] == '/')
		value = arg + 2;
	if (!base || !base[1] || (*value != '/' && !is_program))
		return xstrdup(arg);
	return xasprintf("%.*s%s", is_program ? 0 : (int)(value - arg), arg, base + 1);
}

void plan_set_command(struct plan *p)
{
	FILE *in = fopen("/proc/self/cmdline", "re");
	char *arg = NULL, *text;
	size_t alloc = 0, size;
	FILE *fp = text_open(&text, &size);
	bool first = true, skip = false;

	while (in && getdelim(&arg, &alloc, '\0', in) > 0) {
		bool is_out = !strcmp(arg, "-o") || !strcmp(arg, "--output");

		if (skip || is_out || !strncmp(arg, "--output=", 9) || (!strncmp(arg, "-o", 2) && arg[2])) {
			skip = is_out;
			continue;
		}
		if (!first)
			fputc(' ', fp);
		char *word = without_folder(arg, first);
		shell_put_word(fp, word);
		free(word);
		first = false;
	}
	if (in)
		fclose(in);
	text_close(fp, &text);
	p->command = plan_string(p, text);
	free(text);
	free(arg);
}
