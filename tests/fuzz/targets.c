/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/targets.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/commands.h"
#include "analyze/completion/complete.h"
#include "analyze/image/image.h"
#include "analyze/image/linkmap.h"
#include "analyze/image/objects.h"
#include "analyze/tlb/machine.h"
#include "analyze/tlb/tlb.h"
#include "analyze/tlb/tlbdump.h"
#include "collect/ftrace/tracedat_repair.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "ldscripts/fragment.h"
#include "ldscripts/lds/lds.h"
#include "ldscripts/match.h"
#include "ldscripts/verify.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/opt.h"
#include "lib/symtab.h"
#include "reorder/layout.h"
#include "reorder/layout_read.h"
#include "reorder/plan/plan.h"
#include "reorder/report/report.h"

#define KERNEL "tests/corpus/elf/kernel-x86-64"
#define SCRIPT "tests/data/lds/x86-64-6.1.lds"

static struct symtab syms;
static struct image kernel;
static FILE *nowhere;
static char path[64];
static int fd = -1;

static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81001000 T do_syscall_64\n"
	"ffffffff81002000 T __x64_sys_read\nffffffff81003000 t copy\nffffffff81003800 t copy\n"
	"ffffffff81004000 t vfs_read\nffffffff81005000 T _etext\n";

static void fill(const void *data, size_t size)
{
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
}

static void set_up(void)
{
	fd = memfd_create("input", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fill(kallsyms, sizeof(kallsyms) - 1);
	nowhere = fopen("/dev/null", "we");
	if (symtab_read_kallsyms(&syms, path) || image_init(&kernel, KERNEL, &(struct image_options){ .infer = true }) ||
	    !nowhere)
		abort();
	verbosity = -1;
}

static bool is_for(const char *reader)
{
	struct input *in = input_open(path);
	char head[4097];
	size_t len;
	bool is = false;

	const void *data = input_peek(in, 4096, &len);
	len = len < 4096 ? len : 4096;
	memcpy(head, data, len);
	head[len] = '\0';
	for (const struct reader *const *r = readers; *r; r++)
		if ((*r)->probe(head, len)) {
			is = !strcmp((*r)->name, reader);
			break;
		}
	input_close(in);
	return is;
}

static void fuzz_profile(const struct fuzz_target *t, const char *file)
{
	(void)t;
	for (int force = 0; force < 2; force++) {
		struct collect_options opts = { .syms = &syms, .vmlinux = "vmlinux", .force = force };
		struct profile p = { 0 };

		if (!collect_file(file, &opts, &p))
			profile_write(&p, nowhere);
		profile_release(&p);
	}
}

/* Our own part of reading a trace.dat; libtracecmd is not called. */
static void fuzz_tracerepair(const struct fuzz_target *t, const char *file)
{
	int in = open(file, O_RDONLY | O_CLOEXEC), whole;

	(void)t;
	tracedat_repair(in, file, &whole);
	if (whole >= 0)
		close(whole);
	close(in);
}

static void fuzz_kallsyms(const struct fuzz_target *t, const char *file)
{
	struct symtab st;

	(void)t;
	if (symtab_read_kallsyms(&st, file))
		return;
	for (uint32_t i = 0; i < st.nr_syms; i++)
		symtab_find(&st, st.syms[i].addr);
	symtab_release(&st);
}

static void fuzz_elf(const struct fuzz_target *t, const char *file)
{
	struct image_options opts = { .infer = true };
	struct image img;

	(void)t;
	if (image_init(&img, file, &opts))
		return;
	struct layout l;

	layout_init(&l, &img);
	for (uint32_t i = 0; i < img.nr_units; i++)
		if (img.units[i].movable)
			layout_append(&l, i, 0);
	layout_assign(&l);
	layout_release(&l);
	image_release(&img);
}

/* The kernel's code under a disassembler: every function is said to have run. */
static void fuzz_code(const struct fuzz_target *t, const char *file)
{
	struct image_options opts = { .infer = true };
	struct profile seen = { 0 }, out = { 0 };
	struct image img;

	(void)t;
	if (image_init(&img, file, &opts))
		return;
	for (uint32_t i = 0; i < img.nr_funcs && i < 64; i++)
		profile_add_samples(&seen, profile_func(&seen, img.funcs[i].id), 2 * i, 1 + i);
	complete_profile(&img, file, &seen, &out, &(struct complete_options){ 0 }, NULL);
	profile_release(&seen);
	profile_release(&out);
	image_release(&img);
}

static void fuzz_object(const struct fuzz_target *t, const char *file)
{
	char *member = xasprintf("%s(a.o)", file);
	struct object_section s;
	struct objects *o = objects_new(".");

	(void)t;
	objects_section(o, file, ".text", &s);
	objects_section(o, file, ".text.vfs_read", &s);
	objects_section(o, member, ".text.vfs_read", &s);
	objects_short_target(o, "vfs_read");
	objects_free(o);
	free(member);
}

static void fuzz_linkmap(const struct fuzz_target *t, const char *file)
{
	struct image_options opts = { .map = file };
	struct match_count mc = { 0 };
	struct linkmap m;
	struct image img;

	(void)t;
	if (linkmap_read(&m, file))
		return;
	linkmap_release(&m);
	match_in_map(&mc, NULL, file);
	if (!image_init(&img, KERNEL, &opts))
		image_release(&img);
}

static void fuzz_lds(const struct fuzz_target *t, const char *file)
{
	struct lds_group_order group = { (char *)".sched.text", (char *)"*(.sched.text.a)\n", true };
	struct lds_changes c = { .hot = "*(.text.vfs_read)\n", .take_in = true, .groups = &group, .nr_groups = 1 };
	struct mapfile m;
	struct lds l;

	(void)t;
	if (mapfile_init(&m, file))
		return;
	lds_is_kernel(m.data, m.size);
	if (!lds_init(&l, file, m.data, m.size)) {
		lds_rewrite(&l, &c, nowhere);
		c.nr_groups = 0;
		lds_rewrite(&l, &c, nowhere);
		lds_claims(&l, NULL, ".text.__x86.indirect_thunk");
		lds_claims(&l, "fs/file.o", ".text.vfs_read");
		lds_release(&l);
	}
	mapfile_release(&m);
}

static void fuzz_fragment(const struct fuzz_target *t, const char *file)
{
	struct fragment f;

	(void)t;
	if (fragment_read(&f, file))
		return;
	fragment_apply(&f, SCRIPT, nowhere);
	fragment_release(&f);
}

static void fuzz_order(const struct fuzz_target *t, const char *file)
{
	struct layout l;

	(void)t;
	layout_init(&l, &kernel);
	if (!layout_read(&l, file))
		layout_assign(&l);
	layout_release(&l);
}

static void fuzz_plan(const struct fuzz_target *t, const char *file)
{
	struct text_style style = { .bars = true };
	struct verify v;
	struct plan p;

	(void)t;
	if (plan_read_json(&p, file))
		return;
	report_text(&p, nowhere, style);
	report_csv(&p, nowhere);
	report_html(&p, nowhere);
	report_diff(&p, &p, nowhere, style);
	plan_write_json(&p, nowhere);
	if (!verify_init(&v, &p, &kernel, &(struct verify_options){ .exact = true }))
		verify_release(&v);
	plan_release(&p);
}

static void fuzz_machine(const struct fuzz_target *t, const char *file)
{
	struct machine m;

	(void)t;
	if (machine_init(&m, file))
		return;
	struct tlb *tlb = tlb_new(&m);

	for (uint64_t i = 0; i < 300; i++)
		tlb_fetch(tlb, (i * i * 977) << 10, 64, i % 3);
	tlb_free(tlb);
	machine_why_no_saving(&m, 0x80000000, 0x80600000);
	machine_release(&m);
}

static void run_command(const struct command *c, const char *a, const char *b, const char *d, const char *e)
{
	char *argv[] = { (char *)c->name, (char *)a, (char *)b, (char *)d, (char *)e, NULL };
	int argc = 1;

	while (argv[argc])
		argc++;
	command_run(c, argc, argv);
}

static void fuzz_tlbdump(const struct fuzz_target *t, const char *file)
{
	struct tlbdump d, fresh = { 0 };

	(void)t;
	if (tlbdump_read(&d, file))
		return;
	tlbdump_appeared(&d, &d, &fresh);
	tlbdump_release(&fresh);
	tlbdump_release(&d);
	run_command(&tlbdump_command, "-q", KERNEL, "/dev/null", file);
}

static void fuzz_calibrate(const struct fuzz_target *t, const char *file)
{
	(void)t;
	run_command(&calibrate_command, "-q", "--from", file, NULL);
}

/* Against something known of the same kind, and against itself: counters, times, perf stat, LMbench summaries. */
static void fuzz_compare(const struct fuzz_target *t, const char *file)
{
	(void)t;
	run_command(&compare_command, "-q", file, "tests/data/published/tlbmiss-8xx-2.4.txt", NULL);
	run_command(&compare_command, "-q", "--cycles=20-30", file, file);
	run_command(&compare_command, "-qj", "--clock=48MHz", file, file);
	run_command(&compare_command, "-q", file, NULL, NULL);
}

const struct fuzz_target fuzz_targets[] = {
	{ "hot", fuzz_profile, "hot" },
	{ "perfdata", fuzz_profile, "perf.data" },
	{ "tracedat", fuzz_profile, "trace.dat" },
	{ "fetch", fuzz_profile, "fetch" },
	{ "ftracetext", fuzz_profile, "ftrace" },
	{ "perfscript", fuzz_profile, "perf-script" },
	{ "readprofile", fuzz_profile, "readprofile" },
	{ "bpftrace", fuzz_profile, "bpftrace" },
	{ "folded", fuzz_profile, "folded" },
	{ "fdata", fuzz_profile, "fdata" },
	{ "autofdo", fuzz_profile, "autofdo" },
	{ "procprofile", fuzz_profile, "profile" },
	{ "tracerepair", fuzz_tracerepair, NULL },
	{ "kallsyms", fuzz_kallsyms, NULL },
	{ "elf", fuzz_elf, NULL },
	{ "code", fuzz_code, NULL },
	{ "object", fuzz_object, NULL },
	{ "linkmap", fuzz_linkmap, NULL },
	{ "lds", fuzz_lds, NULL },
	{ "fragment", fuzz_fragment, NULL },
	{ "order", fuzz_order, NULL },
	{ "plan", fuzz_plan, NULL },
	{ "machine", fuzz_machine, NULL },
	{ "tlbdump", fuzz_tlbdump, NULL },
	{ "calibrate", fuzz_calibrate, NULL },
	{ "compare", fuzz_compare, NULL },
	{ NULL, NULL, NULL }
};

const struct fuzz_target *fuzz_find(const char *name)
{
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

bool fuzz_run(const struct fuzz_target *t, const void *data, size_t size)
{
	if (fd < 0)
		set_up();
	fill(data, size);
	if (t->reader && !is_for(t->reader))
		return false;
	t->run(t, path);
	return true;
}
