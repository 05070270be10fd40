/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `hottext record qemu`: runs a guest under QEMU with our plugin. */
#include "record.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "collect/fetch/fetch.h"
#include "collect/qemu/decode.h"
#include "collect/qemu/format.h"
#include "collect/qemu/sim.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/input.h"
#include "lib/kind.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "lib/symtab.h"

static struct {
	const char *out, *vmlinux, *counts, *plugin, *kernel_base;
	struct opt_list marks, sims, count;
} o;

static const struct opt options[] = {
	{ 'o', "output", "TRACE", "write the fetch trace here", OPT_STRING, &o.out, 0, 0 },
	{ 0, "vmlinux", "FILE", "the guest's kernel: symbols for --mark, build-id for the trace", OPT_STRING,
	  &o.vmlinux, 0, 0 },
	{ 0, "mark", "SYMBOL", "recording goes on and off each time the guest enters it",
	  OPT_LIST, &o.marks, 0, 0 },
	{ 0, "machine-sim", "SPEC", "simulate an ITLB: ENTRIES[xWAYS][:PAGE[/USERPAGE]][:lru|fifo|rr|random]"
	  "[:flush=none|user|all][:user=apart]", OPT_LIST, &o.sims, 0, 0 },
	{ 0, "count", "SYMBOL", "count executions of what begins there (a symbol or 0xADDRESS)",
	  OPT_LIST, &o.count, 0, 0 },
	{ 0, "counts", "FILE", "write the simulation's counts here (default: standard error)", OPT_STRING,
	  &o.counts, 0, 0 },
	{ 0, "kernel-base", "ADDRESS", "lowest kernel address, 0xHEX (default: by architecture)",
	  OPT_STRING, &o.kernel_base, 0, 0 },
	{ 0, "plugin", "FILE", "the plugin (default: hottext-qemu.so beside hottext)",
	  OPT_STRING, &o.plugin, 0, 0 },
	OPT_COMMON
};

/* A growing "-plugin" argument; a comma inside a value is doubled, as QEMU wants it. */
struct plugin_arg {
	char *s;
	size_t len, alloc;
};

static void append(struct plugin_arg *a, const char *name, const char *value)
{
	size_t want = a->len + strlen(name) + 2 * strlen(value) + 3;

	ALLOC_GROW(a->s, want, a->alloc);
	if (a->len)
		a->s[a->len++] = ',';
	memcpy(a->s + a->len, name, strlen(name));
	a->len += strlen(name);
	for (; *value; value++) {
		if (*value == ',')
			a->s[a->len++] = ',';
		a->s[a->len++] = *value;
	}
	a->s[a->len] = '\0';
}

static void append_hex(struct plugin_arg *a, const char *name, uint64_t value)
{
	char hex[24];

	snprintf(hex, sizeof(hex), "%" PRIx64, value);
	append(a, name, hex);
}

/* Path of the plugin, to be freed; NULL after reporting. */
static char *find_plugin(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (o.plugin) {
		char *path = realpath(o.plugin, NULL);

		if (!path)
			error("cannot read '%s': %s", o.plugin, strerror(errno));
		return path;
	}
	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		char *beside = path_join(self, "hottext-qemu.so");

		if (!access(beside, R_OK))
			return beside;
		free(beside);
	}
	if (!access(PLUGIN_DIR "/hottext-qemu.so", R_OK))
		return xstrdup(PLUGIN_DIR "/hottext-qemu.so");
	error("cannot find 'hottext-qemu.so' beside hottext or in '%s' (name it with --plugin)", PLUGIN_DIR);
	return NULL;
}

static int resolve(const struct symtab *st, const char *name, uint64_t *addr)
{
	if (!strncmp(name, "0x", 2) && parse_u64(name + 2, 16, addr))
		return 0;
	if (!o.vmlinux)
		return error("cannot find '%s': no --vmlinux to look it up in", name);
	if (!symtab_value(st, name, addr))
		return error("cannot find '%s': no such symbol in '%s'", name, o.vmlinux);
	return 0;
}

/*
 * Where kernel addresses begin. 64-bit kernels own the high half. 32-bit ones are
 * linked at the split the configuration chose; arm keeps its modules in the 16 MiB below.
 */
static uint64_t base_of_kernel(const struct symtab *st)
{
	if (st->is_64)
		return 0;
	uint64_t base = st->stext_addr & 0xf0000000u;

	return st->e_machine == EM_ARM && base ? base - (16 << 20) : base;
}

static int append_kernel(struct plugin_arg *a, const struct symtab *st)
{
	char hex[2 * BUILD_ID_MAX + 1];
	uint64_t base = o.vmlinux ? base_of_kernel(st) : 0;

	if (o.kernel_base && (strncmp(o.kernel_base, "0x", 2) || !parse_u64(o.kernel_base + 2, 16, &base)))
		return usage_error("record qemu", "bad value '%s' for --kernel-base", o.kernel_base);
	if (base)
		append_hex(a, "kernel=", base);
	if (st->e_machine)
		append_hex(a, "machine=", st->e_machine);
	if (o.vmlinux && st->build_id_size)
		append(a, "build=", build_id_hex(st->build_id, st->build_id_size, hex));
	return 0;
}

/* The -plugin argument but for the files. */
static int build_argument(struct plugin_arg *a, const struct symtab *st)
{
	char *plugin = find_plugin();
	struct sim_spec spec;
	uint64_t addr;

	if (!plugin)
		return EXIT_FAILED;
	append(a, "file=", plugin);
	free(plugin);
	for (unsigned int i = 0; i < o.sims.nr; i++) {
		if (!sim_parse(&spec, o.sims.items[i]))
			return usage_error("record qemu", "bad value '%s' for --machine-sim",
					   o.sims.items[i]);
		append(a, "sim=", o.sims.items[i]);
	}
	for (unsigned int i = 0; i < o.marks.nr; i++) {
		if (resolve(st, o.marks.items[i], &addr))
			return EXIT_FAILED;
		append_hex(a, "mark=", addr);
	}
	for (unsigned int i = 0; i < o.count.nr; i++) {
		if (resolve(st, o.count.items[i], &addr))
			return EXIT_FAILED;
		append_hex(a, "count=", addr);
	}
	return append_kernel(a, st);
}

static bool has_word(const char *s, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = s; (p = strstr(p, word)); p += n)
		if ((p == s || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

/* What in the guest's command line would spoil the recording. */
static int check_command(int argc, char **argv, const struct symtab *st)
{
	static const uint16_t kaslr[] = { EM_X86_64, EM_AARCH64, EM_RISCV };
	static const char prefix[] = "qemu-system-";
	const char *program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	const struct guest *target = NULL;
	bool randomised = false, nokaslr = false;

	if (!strncmp(program, prefix, strlen(prefix)))
		target = guest_find(program + strlen(prefix));
	if (target && st->e_machine && !guest_for_kernel(target, st->e_machine))
		return error("cannot run '%s' under '%s': it is for %s", o.vmlinux, argv[0], symtab_arch(st));
	for (int i = 1; i < argc; i++) {
		bool accel = !strcmp(argv[i], "-accel") && i + 1 < argc && strncmp(argv[i + 1], "tcg", 3);

		if (!strcmp(argv[i], "-enable-kvm") || !strcmp(argv[i], "--enable-kvm") || accel)
			return error("cannot record under '%s': plugins need emulation "
				     "(drop it, or use -accel tcg)", argv[i]);
		if (!strcmp(argv[i], "-append") && i + 1 < argc)
			nokaslr |= has_word(argv[i + 1], "nokaslr");
	}
	for (size_t i = 0; i < ARRAY_SIZE(kaslr); i++)
		randomised |= st->e_machine == kaslr[i];
	if (randomised && !nokaslr)
		warn("no 'nokaslr' in -append: a kernel that moves itself will not match '%s'", o.vmlinux);
	return 0;
}

/* Whether a trace cut short decodes to more than its header. */
static bool holds_events(const struct mapfile *f)
{
	ZSTD_DCtx *dctx = input_decoder();
	size_t size = ZSTD_DStreamOutSize(), got = 0, left = 1;
	char *buf = xmalloc(size);
	ZSTD_inBuffer in = { f->data, f->size, 0 };

	while (in.pos < in.size && left && !ZSTD_isError(left)) {
		ZSTD_outBuffer out = { buf, size, 0 };

		left = ZSTD_decompressStream(dctx, &out, &in);
		got += out.pos;
	}
	free(buf);
	ZSTD_freeDCtx(dctx);
	return got > 8 + 4 * FETCH_HEADER_WORDS;
}

static int count_events(const char *path, const char *name)
{
	struct input *in = input_open(path);
	struct fetch f;
	struct fetch_event ev;
	int ret;

	if (!in)
		return -1;
	ret = fetch_init(&f, in);
	while (!ret && (ret = fetch_next(&f, &ev)) > 0)
		ret = 0;
	detail("%" PRIu64 " blocks run, %" PRIu64 " instructions, %" PRIu32 " distinct blocks", f.nr_events,
	       f.nr_insns, f.nr_blocks);
	if (!ret && !f.nr_events)
		warn("'%s' holds no executions%s", name, o.marks.nr ? ": the mark was never reached" : "");
	fetch_release(&f);
	input_close(in);
	return ret;
}

/* Whether the trace is worth keeping: complete, or cut short, by a kill say, with something before the cut. */
static int check_trace(const char *path, const char *name)
{
	struct mapfile f;

	if (mapfile_init(&f, path))
		return -1;
	bool complete = f.size && ZSTD_findFrameCompressedSize(f.data, f.size) == f.size;
	bool usable = complete || (f.size && holds_events(&f));

	mapfile_release(&f);
	if (!usable)
		return error("cannot write '%s': the emulator recorded nothing", name);
	if (complete)
		return count_events(path, name);
	warn("'%s' is cut short, the emulator did not end by itself: read it with --force", name);
	return 0;
}

static int run_emulator(int argc, char **argv, struct plugin_arg *plugin)
{
	struct outfile out = { .fp = NULL };
	char **args = xcalloc((size_t)argc + 3, sizeof(*args));
	int ret = -1;

	if (o.out) {
		if (outfile_init(&out, o.out))
			goto out_args;
		append(plugin, "out=", out.tmp ? out.tmp : out.path);
	}
	if (o.sims.nr || o.count.nr || o.counts)
		append(plugin, "simout=", o.counts ? o.counts : "-");
	memcpy(args, argv, (size_t)argc * sizeof(*args));
	args[argc] = (char *)"-plugin";
	args[argc + 1] = plugin->s;
	ret = record_run(args, "is the emulator installed? qemu-system-x86, -ppc, -arm or -misc");
	if (o.out && (ret < 0 || check_trace(out.tmp ? out.tmp : out.path, o.out) || outfile_commit(&out)))
		ret = EXIT_FAILED;
	outfile_abort(&out);
out_args:
	free(args);
	return ret < 0 ? EXIT_FAILED : ret;
}

static int record_qemu(int argc, char **argv)
{
	struct symtab st = { .syms = NULL };
	struct plugin_arg plugin = { .s = NULL };
	int ret;

	if (!argc)
		return usage_error("record qemu", "no emulator to run after '--'");
	if (!o.out && !o.sims.nr && !o.count.nr)
		return usage_error("record qemu", "nothing to record: give -o, --machine-sim or --count");
	if (o.out && !strcmp(o.out, "-"))
		return usage_error("record qemu", "standard output is the guest's: name a file");
	if (o.vmlinux && (kind_check_kernel(o.vmlinux) || symtab_read_vmlinux(&st, o.vmlinux)))
		return EXIT_FAILED;
	ret = build_argument(&plugin, &st);
	if (!ret)
		ret = check_command(argc, argv, &st) ? EXIT_FAILED : run_emulator(argc, argv, &plugin);
	free(plugin.s);
	if (o.vmlinux)
		symtab_release(&st);
	return ret;
}

const struct command record_qemu_command = {
	.name = "record qemu",
	.args = "-o TRACE -- qemu-system-... ARGS",
	.summary = "run a guest under QEMU and record what it fetches; simulate ITLBs exactly",
	.details = "The emulator runs as given, with a plugin added; its standard streams and exit status are\n"
		"passed through. Give the guest nokaslr, and --vmlinux, whose build-id goes into the trace.",
	.example = "hottext record qemu --vmlinux vmlinux --machine-sim 32 -o boot.fetch -- \\\n"
		"    qemu-system-x86_64 -nographic -no-reboot -kernel bzImage -initrd i.gz \\\n"
		"    -append 'console=ttyS0 nokaslr'",
	.opts = options,
	.options_first = true,
	.run = record_qemu,
};
