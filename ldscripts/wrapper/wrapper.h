/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The linker wrapper: everything goes to the real linker as it came, except
 *
 *   - a kernel's own link (its script defines what only a kernel's does, no -r): the script is rewritten,
 *     .text.* taken in and, with a plan, the hot region put in front of the main text;
 *   - the link of vmlinux.o (-r without a script), which would fuse sections of one name;
 *   - the link of a module (-r with scripts/module.lds) with function sections: they are
 *     merged, those first that the plan's profile saw.
 *
 * Environment:
 *   HOTTEXT_PLAN=DIR      a plan folder: its hottext.ld (lld: its symbols.order where that has no sections)
 *   HOTTEXT_PROFILE=FILE  a profile: the first kernel link is made twice, first to learn
 *                         the sections, then by the plan made from it, which the other
 *                         links of the same objects take over (kept in .hottext/ beside the output)
 *   HOTTEXT_LD, CROSS_COMPILE   see ldscripts/run.h
 *
 * Links of -ffunction-sections kernels leave OUTPUT.map when they name no map, since a
 * plan needs one; Kbuild gives it that name with CONFIG_VMLINUX_MAP and cleans it away.
 */
#ifndef LDSCRIPTS_WRAPPER_WRAPPER_H
#define LDSCRIPTS_WRAPPER_WRAPPER_H

/* Link; returns the exit status. */
int wrapper_run(int argc, char **argv);

#endif
