/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel tree, and the make that builds it through the wrapper. */
#ifndef LDSCRIPTS_KBUILD_H
#define LDSCRIPTS_KBUILD_H

#include <stdbool.h>

struct kbuild_options {
	const char *dir;	/* the kernel's source, or a build folder that make O= has made */
	const char *plan;	/* folder; NULL */
	const char *profile;	/* file; NULL. Not both. */
	bool modules;		/* order modules too */
};

struct kbuild {
	char *dir;		/* options.dir */
	char *source;		/* the kernel's source */
	char *output;		/* where .config is, and where vmlinux will be */
	char *release;		/* "6.1.192", from its Makefile */
	char **env;		/* NAME=VALUE for make, NULL-terminated */
	char **argv;		/* make's arguments, argv[0] "make", NULL-terminated */
	char *state;		/* how the kernel will be linked: by which order, and by which linker; one line */
	bool links;		/* the targets have a kernel linked */
	bool stale;		/* what is there was linked otherwise: kbuild_prepare() removes it */
	bool stale_modules;	/* and so the .ko files, which it removes as well */
	bool modules;
};

/* What the last link makes, below the output: the second from Linux 6.15 on, which strips it into the first. */
enum { KBUILD_NR_LINKED = 2 };
extern const char *const kbuild_linked[KBUILD_NR_LINKED];

/*
 * Check the tree, the plan or profile, and make's words (borrowed), and decide what is to be
 * run. -1 after reporting: no kernel, not configured, no wrapper beside this program.
 */
int kbuild_init(struct kbuild *k, const struct kbuild_options *o, int argc, char **argv);
void kbuild_release(struct kbuild *k);

/* Whether the wrapper could make a plan of it; -1 after reporting. */
int kbuild_check_profile(const char *path);

/* Whether a plan is for what the tree is configured for, as far as both tell; -1 after reporting. */
int kbuild_check_arch(const struct kbuild *k, const char *plan);

/* The command as a shell would take it; the caller frees. */
char *kbuild_command_line(const struct kbuild *k);

/*
 * Kbuild knows nothing of plans: remove what must be linked again, and note in
 * OUTPUT/.hottext-kbuild how it will be. -1 after reporting.
 */
int kbuild_prepare(const struct kbuild *k);

/*
 * When make has ended, add to the note what it left, so that a kernel that somebody else links is
 * known for one. -1 after reporting.
 */
int kbuild_finish(const struct kbuild *k);

#endif
