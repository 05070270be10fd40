/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What modules.c and modules_elf.c share; not for others. */
#ifndef LIB_MODULES_BUILD_H
#define LIB_MODULES_BUILD_H

struct module;
struct module_func;
struct modules;

/* The module of that name, added when new; valid until the next is added. */
struct module *modules_add(struct modules *ms, const char *name);

/* id: the bare name, kept in ms->strings, until module_finish(); size 0: up to the next function. */
void module_add_func(struct module *m, const struct module_func *f);

/* Sort, drop aliases, give sizes and identities. */
void module_finish(struct modules *ms, struct module *m);

/* Read the functions of m->path. Errors are reported. */
int module_read_ko(struct modules *ms, struct module *m);

#endif
