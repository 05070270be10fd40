/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext tlbdump: ITLB contents around a system call -> the functions behind each new entry. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "analyze/commands.h"
#include "analyze/image/image.h"
#include "analyze/tlb/tlbdump.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/json_text.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/schema.h"

static struct opt_list opt_profiles;
static const char *opt_plan;

static const struct opt options[] = {
	{ 0, "profile", "FILE", "list the functions on a page hottest first; can be repeated", OPT_LIST,
	  &opt_profiles, 0, 0 },
	{ 0, "plan", "DIR", "count the entries that the same functions need under this plan", OPT_STRING,
	  &opt_plan, 0, 0 },
	OPT_JSON,
	OPT_COMMON
};

enum { MAX_LISTED = 8 };	/* functions a page, without -v */

struct job {
	struct image img;
	struct tlbdump fresh;
	uint64_t kernel_base;
	uint64_t *weight;	/* [func]: samples, or calls where the profile has no samples; NULL without a profile */
	uint64_t *planned;	/* [unit]: address under the plan, or as it is; NULL without a plan */
	bool *in_plan;		/* [unit] */
	uint32_t user, kernel;	/* entries */
	uint32_t hot;		/* functions that ran, on the new kernel pages */
	uint32_t plan_entries;
	uint32_t *order;	/* scratch: functions of one page */
	uint32_t nr_order;
};

/*
 * Where kernel addresses begin: the upper half on 64 bits, else the 256 MB that the text
 * begins in, which is PAGE_OFFSET's; arm puts modules into the 16 MB before it.
 */
static uint64_t find_kernel_base(const struct symtab *st)
{
	if (st->text_addr >> 63)
		return 1ull << 63;
	uint64_t base = st->text_addr & ~(uint64_t)0xfffffff;
	return st->e_machine == EM_ARM && base ? base - (16 << 20) : base;
}

static int read_weights(struct job *j, const char *vmlinux)
{
	struct collect_options co = { .syms = &j->img.symtab, .vmlinux = vmlinux };
	struct profile p = { 0 };

	if (!opt_profiles.nr)
		return 0;
	if (collect_files(opt_profiles.items, opt_profiles.nr, &co, &p)) {
		profile_release(&p);
		return -1;
	}
	j->weight = xcalloc(j->img.nr_funcs, sizeof(*j->weight));
	bool samples = false;
	for (uint32_t i = 0; i < p.names.nr_keys; i++)
		samples |= p.funcs[i].samples != 0;
	for (uint32_t i = 0; i < p.names.nr_keys; i++) {
		uint32_t f = image_match(&j->img, profile_func_name(&p, i), NULL);

		if (f != INDEX_NONE)
			j->weight[f] += samples ? p.funcs[i].samples : p.funcs[i].calls;
	}
	profile_release(&p);
	return 0;
}

static bool get_address(const json_t *unit, const char *key, uint64_t *out)
{
	const char *s = json_string_value(json_object_get(unit, key));

	return s && parse_u64(s, 0, out);
}

/* NULL after reporting: no JSON, or of another version. */
static json_t *load_plan(const char *path)
{
	json_error_t why;
	json_t *plan = json_load_file(path, 0, &why), *schema = json_object_get(plan, "schema");

	if (plan && json_is_integer(schema) && json_integer_value(schema) == PLAN_SCHEMA)
		return plan;
	if (!plan)
		error("cannot read '%s': %s", path, why.text);
	else if (!json_is_integer(schema))
		error("'%s' is no plan: bad or missing 'schema' in 'plan'", path);
	else
		error("cannot read '%s': schema %lld, this hottext knows %d", path, (long long)json_integer_value(schema),
		      PLAN_SCHEMA);
	json_decref(plan);
	return NULL;
}

/* plan.json names each unit's address before and after (doc/hottext-plan.5). */
static int read_plan(struct job *j)
{
	json_t *plan, *units, *u;
	size_t i;
	struct stat st;

	if (!opt_plan)
		return 0;
	bool folder = !stat(opt_plan, &st) && S_ISDIR(st.st_mode);
	char *path = folder ? path_join(opt_plan, "plan.json") : xstrdup(opt_plan);
	plan = load_plan(path);
	if (!plan) {
		free(path);
		return -1;
	}
	j->planned = xcalloc(j->img.nr_units, sizeof(*j->planned));
	j->in_plan = xcalloc(j->img.nr_units, sizeof(*j->in_plan));
	for (uint32_t n = 0; n < j->img.nr_units; n++)
		j->planned[n] = j->img.units[n].addr;
	units = json_object_get(plan, "units");
	uint32_t found = 0;
	json_array_foreach(units, i, u) {
		uint64_t before, after;
		uint32_t n;

		if (!get_address(u, "addr_before", &before) || !get_address(u, "addr", &after))
			continue;
		n = image_find_unit(&j->img, before);
		if (n == INDEX_NONE || j->img.units[n].addr != before)
			continue;
		j->planned[n] = after;
		j->in_plan[n] = true;
		found++;
	}
	int ret = 0;
	if (found * 2 < json_array_size(units) || !json_array_size(units))
		ret = error("plan '%s' is not of this kernel: %u of %zu units are found in it", path, found,
			    json_array_size(units));
	json_decref(plan);
	free(path);
	return ret;
}

static const struct job *sorting;
static int cmp_heat(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	if (sorting->weight && sorting->weight[a] != sorting->weight[b])
		return sorting->weight[a] > sorting->weight[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void find_functions(struct job *j, const struct tlb_entry *e)
{
	const struct image *img = &j->img;

	j->nr_order = 0;
	for (uint32_t i = 0; i < img->nr_funcs && img->funcs[i].addr <= e->addr + (e->size - 1); i++)
		if (img->funcs[i].addr + img->funcs[i].size > e->addr)
			j->order[j->nr_order++] = i;
	sorting = j;
	qsort(j->order, j->nr_order, sizeof(*j->order), cmp_heat);
}

static bool ran(const struct job *j, uint32_t func)
{
	uint32_t unit = j->img.funcs[func].unit;

	return j->weight ? j->weight[func] != 0 : j->in_plan && unit != INDEX_NONE && j->in_plan[unit];
}

static int cmp_u64(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

static uint32_t count_distinct(uint64_t *x, uint32_t nr)
{
	uint32_t n = 0;

	sort_array(x, nr, sizeof(*x), cmp_u64);
	for (uint32_t i = 0; i < nr; i++)
		n += !i || x[i] != x[i - 1];
	return n;
}

/* The pages that the functions seen to run on the new kernel entries would lie on. */
static void count_plan(struct job *j)
{
	uint64_t *pages = NULL, page = 0;
	uint32_t nr = 0, alloc = 0;
	bool *done = xcalloc(j->img.nr_funcs, sizeof(*done));

	for (uint32_t i = 0; i < j->fresh.nr_entries; i++) {
		const struct tlb_entry *e = &j->fresh.entries[i];

		if (e->addr < j->kernel_base)
			continue;
		page = page && page < e->size ? page : e->size;
	}
	for (uint32_t i = 0; i < j->fresh.nr_entries; i++) {
		const struct tlb_entry *e = &j->fresh.entries[i];

		if (e->addr < j->kernel_base)
			continue;
		find_functions(j, e);
		for (uint32_t k = 0; k < j->nr_order; k++) {
			const struct func *f = &j->img.funcs[j->order[k]];

			if (done[j->order[k]] || !ran(j, j->order[k]))
				continue;
			done[j->order[k]] = true;
			j->hot++;
			if (!j->planned || !f->size)
				continue;
			uint64_t at = f->unit == INDEX_NONE ? f->addr :
				      j->planned[f->unit] + (f->addr - j->img.units[f->unit].addr);
			for (uint64_t p = at / page; p <= (at + f->size - 1) / page; p++) {
				ALLOC_GROW(pages, nr + 1, alloc);
				pages[nr++] = p;
			}
		}
	}
	j->plan_entries = count_distinct(pages, nr);
	free(pages);
	free(done);
}

static void size_name(uint64_t size, char *buf, size_t len)
{
	if (size >> 20 && !(size & ((1 << 20) - 1)))
		snprintf(buf, len, "%lluM", (unsigned long long)size >> 20);
	else if (!(size & 1023))
		snprintf(buf, len, "%lluK", (unsigned long long)size >> 10);
	else
		snprintf(buf, len, "%llu", (unsigned long long)size);
}

static void print_entry(struct job *j, const struct tlb_entry *e)
{
	uint32_t most = verbosity > 0 ? UINT32_MAX : MAX_LISTED;
	char size[24];

	size_name(e->size, size, sizeof(size));
	printf("%#18llx %5s ", (unsigned long long)e->addr, size);
	if (e->addr < j->kernel_base) {
		printf(" user\n");
		return;
	}
	find_functions(j, e);
	if (!j->nr_order)
		printf(" no function of this kernel");
	for (uint32_t i = 0; i < j->nr_order && i < most; i++) {
		uint32_t f = j->order[i];

		printf("%s%s", i ? ", " : " ", j->img.funcs[f].id);
		if (j->weight && j->weight[f])
			printf(" (%llu)", (unsigned long long)j->weight[f]);
	}
	if (j->nr_order > most)
		printf(", and %u more", j->nr_order - most);
	putchar('\n');
}

static void print_text(struct job *j)
{
	printf("%u entries appeared: %u user, %u kernel\n", j->fresh.nr_entries, j->user, j->kernel);
	for (uint32_t i = 0; i < j->fresh.nr_entries; i++)
		print_entry(j, &j->fresh.entries[i]);
	if (j->planned)
		printf("under the plan the %u functions %s on these %u kernel entries need %u\n", j->hot,
		       j->weight ? "that the profile saw" : "that it places", j->kernel, j->plan_entries);
}

static json_t *entry_json(struct job *j, const struct tlb_entry *e)
{
	json_t *functions = json_array();
	char addr[24];

	snprintf(addr, sizeof(addr), "%#llx", (unsigned long long)e->addr);
	if (e->addr >= j->kernel_base)
		find_functions(j, e);
	else
		j->nr_order = 0;
	for (uint32_t i = 0; i < j->nr_order; i++)
		json_array_append_new(functions, json_pack("{so sI}", "name", json_text(j->img.funcs[j->order[i]].id), "weight",
							   (json_int_t)(j->weight ? j->weight[j->order[i]] : 0)));
	return json_pack("{ss sI sb sb so}", "addr", addr, "size", (json_int_t)e->size, "kernel",
			 e->addr >= j->kernel_base, "shared", e->shared, "functions", functions);
}

static void print_json(struct job *j)
{
	json_t *entries = json_array();
	json_t *out;

	for (uint32_t i = 0; i < j->fresh.nr_entries; i++)
		json_array_append_new(entries, entry_json(j, &j->fresh.entries[i]));
	out = json_pack("{si si si so}", "appeared", (int)j->fresh.nr_entries, "user", (int)j->user, "kernel",
			(int)j->kernel, "entries", entries);
	if (j->planned)
		json_object_set_new(out, "plan", json_pack("{si si}", "functions", (int)j->hot, "entries",
							   (int)j->plan_entries));
	json_dumpf(out, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(out);
}

static int read_dumps(struct job *j, const char *before, const char *after)
{
	struct tlbdump b, a;

	if (tlbdump_read(&b, before) < 0)
		return -1;
	if (tlbdump_read(&a, after) < 0) {
		tlbdump_release(&b);
		return -1;
	}
	tlbdump_appeared(&b, &a, &j->fresh);
	tlbdump_release(&a);
	tlbdump_release(&b);
	for (uint32_t i = 0; i < j->fresh.nr_entries; i++)
		*(j->fresh.entries[i].addr < j->kernel_base ? &j->user : &j->kernel) += 1;
	return 0;
}

static void warn_other_kernel(const struct job *j, const char *vmlinux)
{
	for (uint32_t i = 0; i < j->fresh.nr_entries; i++) {
		const struct tlb_entry *e = &j->fresh.entries[i];

		if (e->addr < j->img.text_end && e->addr + e->size > j->img.text_start)
			return;
	}
	if (j->kernel)
		warn("no kernel entry lies in the text of '%s': is it the kernel that was dumped?", vmlinux);
}

static int run(int argc, char **argv)
{
	struct job j = { 0 };
	int ret = EXIT_FAILED;

	if (argc != 3)
		return usage_error("tlbdump", "wants VMLINUX BEFORE AFTER");
	if (image_init(&j.img, argv[0], NULL) < 0)
		return EXIT_FAILED;
	j.kernel_base = find_kernel_base(&j.img.symtab);
	j.order = xcalloc(j.img.nr_funcs, sizeof(*j.order));
	if (!read_dumps(&j, argv[1], argv[2]) && !read_weights(&j, argv[0]) && !read_plan(&j)) {
		warn_other_kernel(&j, argv[0]);
		count_plan(&j);
		if (opt_json)
			print_json(&j);
		else
			print_text(&j);
		ret = EXIT_DONE;
	}
	free(j.order);
	free(j.weight);
	free(j.planned);
	free(j.in_plan);
	tlbdump_release(&j.fresh);
	image_release(&j.img);
	return ret;
}

const struct command tlbdump_command = {
	.name = "tlbdump",
	.args = "VMLINUX BEFORE AFTER",
	.summary = "name the functions behind new ITLB entries",
	.details = "BEFORE and AFTER are the contents of the instruction TLB, read by a debugger before and after\n"
		   "a system call: lines of MPC8xx registers as in 'SPR  816 : 0xc009e01f  -1073094625', or, for\n"
		   "other CPUs, an address and a page size a line. BEFORE may be empty (/dev/null).",
	.example = "hottext tlbdump vmlinux before.txt after.txt",
	.opts = options,
	.run = run,
};
