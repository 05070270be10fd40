/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext collect: any inputs in, one profile out. */
#include <sys/stat.h>

#include "collect/commands.h"
#include "collect/normalize.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/kind.h"
#include "lib/modules.h"
#include "lib/symtab.h"

static const char *opt_vmlinux, *opt_kallsyms, *opt_modules, *opt_event, *opt_output;
static bool opt_normalize;

static const struct opt opts[] = {
	{ 0, "vmlinux", "FILE", "symbols of the kernel that was profiled", OPT_STRING, &opt_vmlinux, 0, 0 },
	{ 0, "kallsyms", "FILE", "the same from a copy of /proc/kallsyms, or System.map", OPT_STRING,
	  &opt_kallsyms, 0, 0 },
	{ 0, "modules", "PATH", "functions of modules from the .ko files below a folder, or from kallsyms of that boot",
	  OPT_STRING, &opt_modules, 0, 0 },
	{ 0, "event", "NAME", "read this event only; otherwise all that count cycles", OPT_STRING,
	  &opt_event, 0, 0 },
	{ 0, "normalize", NULL, "let every host weigh as much as the busiest", OPT_FLAG,
	  &opt_normalize, 0, 0 },
	{ 'o', "output", "FILE", "write the profile there, not to standard output", OPT_STRING,
	  &opt_output, 0, 0 },
	OPT_FORCE,
	OPT_COMMON
};

static int write_profile(const struct profile *p)
{
	struct outfile out;

	if (outfile_init(&out, opt_output))
		return -1;
	profile_write(p, out.fp);
	return outfile_commit(&out);
}

static int read_symbols(struct symtab *st)
{
	if (opt_vmlinux)
		return kind_check_kernel(opt_vmlinux) ? -1 : symtab_read_vmlinux(st, opt_vmlinux);
	return opt_kallsyms ? symtab_read_kallsyms(st, opt_kallsyms) : 0;
}

/* A kallsyms file tells of modules, too, if it can be read again. */
static int read_modules(struct modules *ms)
{
	struct stat st;

	if (opt_modules)
		return modules_init(ms, opt_modules);
	return opt_kallsyms && !stat(opt_kallsyms, &st) && S_ISREG(st.st_mode) ? modules_init(ms, opt_kallsyms) : 0;
}

static int run(int argc, char **argv)
{
	struct symtab st = { 0 };
	struct profile p = { 0 };
	struct modules ms = { 0 };
	int ret = EXIT_FAILED;

	if (!argc)
		return usage_error("collect", "no input");
	if (opt_vmlinux && opt_kallsyms)
		return usage_error("collect", "--vmlinux and --kallsyms exclude each other");
	if (read_symbols(&st))
		return EXIT_FAILED;
	if (read_modules(&ms)) {
		symtab_release(&st);
		return EXIT_FAILED;
	}
	struct collect_options co = {
		.syms = st.nr_syms ? &st : NULL,
		.vmlinux = opt_vmlinux ? opt_vmlinux : opt_kallsyms,
		.event = opt_event,
		.modules = ms.names.nr_keys ? &ms : NULL,
		.force = opt_force,
	};
	int (*collect)(const char *const *, unsigned int, const struct collect_options *, struct profile *) =
		opt_normalize ? collect_normalized : collect_files;
	if (!collect((const char *const *)argv, (unsigned int)argc, &co, &p) && !write_profile(&p)) {
		collect_print_totals(&p);
		ret = EXIT_DONE;
	}
	profile_release(&p);
	symtab_release(&st);
	modules_release(&ms);
	return ret;
}

const struct command collect_command = {
	.name = "collect",
	.args = "INPUT...",
	.summary = "read recordings of any kind, write one profile",
	.details = "Each INPUT is recognised by its content, '-' is standard input, and zstd is opened "
		   "in passing. All of them are merged; the same recording given in parts gives the same "
		   "profile.",
	.example = "hottext collect --vmlinux vmlinux perf.data -o profile.hot",
	.opts = opts,
	.run = run,
};
