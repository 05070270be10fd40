/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext machines [NAME]: lists machine models, prints or checks one. */
#include <stdio.h>

#include <jansson.h>

#include "analyze/commands.h"
#include "analyze/tlb/machine.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/json_text.h"

static const struct opt options[] = {
	OPT_JSON,
	OPT_COMMON
};

static void print_size(uint32_t bytes, char *buf, size_t size)
{
	if (!(bytes & ((1u << 20) - 1)))
		snprintf(buf, size, "%uM", bytes >> 20);
	else
		snprintf(buf, size, "%uK", bytes >> 10);
}

static void print_levels(const struct machine *m, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < m->nr_levels && n < size; i++) {
		const struct tlb_level *l = &m->levels[i];
		int len = snprintf(buf + n, size - n, "%s%u", i ? "+" : "", l->entries);

		n += (size_t)len;
		if (l->ways != l->entries && n < size)
			n += (size_t)snprintf(buf + n, size - n, "x%u", l->ways);
		if (l->large_entries && n < size)
			n += (size_t)snprintf(buf + n, size - n, "/%u", l->large_entries);
	}
}

static int list(void)
{
	printf("%-19s %-17s %5s  %s\n", "machine", "entries", "text", "about");
	for (const char *const *name = machine_names(); *name; name++) {
		struct machine m;
		char levels[64], page[16];

		if (machine_init(&m, *name) < 0)
			return EXIT_FAILED;
		print_levels(&m, levels, sizeof(levels));
		print_size(m.text_page, page, sizeof(page));
		printf("%-19s %-17s %5s  %s\n", m.name, levels, page, m.about);
		machine_release(&m);
	}
	return EXIT_DONE;
}

static json_t *level_json(const struct tlb_level *l)
{
	static const char *const policies[] = { "lru", "fifo", "random", "round-robin", "plru" };

	return json_pack("{si si ss sb si si si si}", "entries", (int)l->entries, "ways", (int)l->ways, "policy",
			 policies[l->policy], "unified", l->unified, "max_page", (int)l->max_page, "locked",
			 (int)l->locked, "large_entries", (int)l->large_entries, "large_ways", (int)l->large_ways);
}

static json_t *machine_json(const struct machine *m)
{
	json_t *levels = json_array();

	for (uint32_t i = 0; i < m->nr_levels; i++)
		json_array_append_new(levels, level_json(&m->levels[i]));
	return json_pack("{so so so so sI sI sI sI sb sb sb sb s[ii] sf s{si si si} s{si si si}}", "name", json_text(m->name),
			 "about", json_text(m->about),
			 "arch", json_text(m->arch), "levels", levels, "text_page", (json_int_t)m->text_page, "edge_page",
			 (json_int_t)m->edge_page, "user_page",
			 (json_int_t)m->user_page, "module_page", (json_int_t)m->module_page, "pinned_text",
			 m->pinned_text, "flush_on_switch", m->flush_on_switch, "flush_global", m->flush_global, "flush_on_mode",
			 m->flush_on_mode,
			 "miss_cycles", (int)m->miss_cycles_min, (int)m->miss_cycles_max, "clock_hz", m->clock_hz, "l1i",
			 "bytes", (int)m->l1i_bytes, "ways", (int)m->l1i_ways, "line", (int)m->l1i_line, "data",
			 "set", (int)m->data_set, "every", (int)m->data_every, "new", (int)m->data_new);
}

static int print_json(const char *only)
{
	json_t *out = only ? NULL : json_array();

	for (const char *const *name = machine_names(); *name || only; name++) {
		struct machine m;

		if (machine_init(&m, only ? only : *name) < 0) {
			json_decref(out);
			return EXIT_FAILED;
		}
		json_t *j = machine_json(&m);
		machine_release(&m);
		if (only) {
			out = j;
			break;
		}
		json_array_append_new(out, j);
	}
	json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(out);
	return EXIT_DONE;
}

/* The file as it is: what one copies to describe another machine. */
static int print_one(const char *name)
{
	struct mapfile file = { 0 };
	struct machine m;
	const char *text = machine_text(name);

	if (machine_init(&m, name) < 0)
		return EXIT_FAILED;
	machine_release(&m);
	if (!text) {
		if (mapfile_init(&file, name) < 0)
			return EXIT_FAILED;
		text = file.data;
	}
	fputs(text, stdout);
	mapfile_release(&file);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	if (argc > 1)
		return usage_error("machines", "wants one NAME at most");
	if (opt_json)
		return print_json(argc ? argv[0] : NULL);
	return argc ? print_one(argv[0]) : list();
}

const struct command machines_command = {
	.name = "machines",
	.args = "[NAME]",
	.summary = "list the machine models, or print one",
	.details = "NAME is a shipped machine or the path of a machine file, which is checked. Entries are listed\n"
		   "level by level, nearest first, as ENTRIES, ENTRIESxWAYS where they are not fully associative,\n"
		   "and /ENTRIES of an array of their own for large pages.",
	.example = "hottext machines mpc8xx",
	.opts = options,
	.run = run,
};
