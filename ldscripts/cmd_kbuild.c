/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext kbuild: builds a kernel through the wrapper, with a plan, a profile or neither. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ldscripts/commands.h"
#include "ldscripts/kbuild.h"
#include "ldscripts/run.h"
#include "lib/error.h"
#include "lib/file.h"

static struct kbuild_options kbuild_options = { .dir = "." };
static bool opt_dry;

static const struct opt options[] = {
	{ 'C', "directory", "LINUX", "the kernel tree, or a build folder of it (here)", OPT_STRING, &kbuild_options.dir,
	  0, 0 },
	{ 0, "plan", "DIR", "link by this plan; only the links are done again", OPT_STRING, &kbuild_options.plan, 0, 0 },
	{ 0, "profile", "FILE", "plan and link by this profile in one build", OPT_STRING, &kbuild_options.profile, 0, 0 },
	{ 0, "modules", NULL, "order the modules too", OPT_FLAG, &kbuild_options.modules, 0, 0 },
	{ 'n', "dry-run", NULL, "print the command, run nothing", OPT_FLAG, &opt_dry, 0, 0 },
	OPT_COMMON
};

/* "" unsets: what is in this process's environment must not reach the wrapper. */
static void set_environment(const struct kbuild *k)
{
	for (char **e = k->env; *e; e++) {
		size_t n = strcspn(*e, "=");

		(*e)[n] = '\0';
		if ((*e)[n + 1])
			setenv(*e, *e + n + 1, 1);
		else
			unsetenv(*e);
		(*e)[n] = '=';
	}
}

/* What comes next, once the kernel is there. */
static void say_next(const struct kbuild *k)
{
	char *vmlinux = path_join(k->output, "vmlinux");

	if (!k->links || access(vmlinux, R_OK))
		;
	else if (kbuild_options.plan)
		note("check it: hottext verify %s %s", kbuild_options.plan, vmlinux);
	else if (kbuild_options.profile)
		note("its plan is in '%s/.hottext/plan'", k->output);
	else
		note("linked in link order; profile it, then: hottext optimize %s PROFILE -o DIR", vmlinux);
	free(vmlinux);
}

static int build(const struct kbuild *k)
{
	char *command = kbuild_command_line(k);
	int ret = EXIT_DONE;

	if (opt_dry) {
		for (size_t i = 0; k->stale && i < KBUILD_NR_LINKED; i++)
			printf("%s %s/%s", i ? "" : "rm -f", k->output, kbuild_linked[i]);
		if (k->stale)
			putchar('\n');
		if (k->stale_modules)
			printf("find %s -type f -name '*.ko' -delete\n", k->output);
		puts(command);
	} else {
		note("Linux %s in '%s'", k->release, k->dir);
		if (k->stale)
			note("'%s/vmlinux' goes away: it may have been linked otherwise", k->output);
		if (k->stale_modules)
			note("the .ko files in '%s' go away: they may have been linked otherwise", k->output);
		note("%s", command);
		ret = kbuild_prepare(k) ? EXIT_FAILED : EXIT_DONE;
		if (!ret) {
			set_environment(k);
			ret = run_linker(k->argv);
			if (kbuild_finish(k) && !ret)
				ret = EXIT_FAILED;
		}
		if (!ret)
			say_next(k);
		run_finish();
	}
	free(command);
	return ret;
}

static int run(int argc, char **argv)
{
	struct kbuild k;

	if (kbuild_options.plan && kbuild_options.profile)
		return usage_error("kbuild", "give either --plan or --profile");
	/* "-C linux bzImage -- -j8": the parser ends at the first word, and leaves what is to end it. */
	int end = 0;
	while (end < argc && strcmp(argv[end], "--"))
		end++;
	if (end < argc)
		memmove(argv + end, argv + end + 1, (size_t)(argc-- - end) * sizeof(*argv));
	int ret = kbuild_init(&k, &kbuild_options, argc, argv);
	if (ret)
		return ret < 0 ? EXIT_FAILED : ret;
	ret = build(&k);
	kbuild_release(&k);
	return ret;
}

const struct command kbuild_command = {
	.name = "kbuild",
	.args = "[-- MAKE_ARGUMENT...]",
	.summary = "build a kernel through the wrapper",
	.details = "Runs make in a configured kernel tree with LD and CFLAGS_KERNEL set. With --plan, what is there is linked\n"
		   "again by the plan; with --profile, one build orders the kernel; with neither, it comes out in link\n"
		   "order, ready to be profiled. O=, ARCH=, CROSS_COMPILE= and LLVM= go behind '--'.\n"
		   "The exit status is make's.",
	.example = "hottext kbuild -C linux --plan plan -- -j8 bzImage",
	.opts = options,
	.options_first = true,
	.run = run,
};
