/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of loadable modules: from their .ko files, where they stand relative
 * to the module's load address as the kernel's loader lays out the sections; or from
 * kallsyms text of the boot that was recorded, at their run-time addresses.
 *
 *   load address |.text |.text.unlikely |.exit.text |  data, and .init.* elsewhere
 *
 * A module goes by its name in /proc/modules, with '_' for '-'. The identity of its
 * functions is name@module.ko, name#N@module.ko for the N-th of several of one name.
 */
#ifndef LIB_MODULES_H
#define LIB_MODULES_H

#include <stdint.h>

#include "lib/index.h"
#include "lib/symtab.h"

struct module_func {
	uint64_t addr;		/* from .ko: offset from the load address; from kallsyms: run-time */
	uint64_t size;		/* bytes, not 0 */
	const char *id;		/* identity */
};

struct module {
	const char *name;
	char *path;		/* of its .ko, NULL from kallsyms */
	enum { MODULE_UNREAD, MODULE_READ, MODULE_BAD } state;
	struct module_func *funcs;	/* sorted by addr, none share one */
	uint32_t nr_funcs, alloc_funcs;
	unsigned char build_id[BUILD_ID_MAX];
	uint32_t build_id_size;	/* bytes; 0 when there is none */
};

struct modules {
	struct module *items;	/* [names id] */
	uint32_t alloc_items;
	struct index names;
	struct index strings;	/* identities */
	struct index by_id;	/* identities of the functions of .ko files that were read */
	uint32_t *id_module;	/* [by_id id] */
	uint32_t *id_func;	/* [by_id id]: index in its module's funcs */
	uint32_t alloc_ids, alloc_id_funcs;
};

/*
 * path a folder: find the .ko files below it, compressed or not; a file: kallsyms text, also
 * /proc/kallsyms. Errors are reported.
 */
int modules_init(struct modules *ms, const char *path);
void modules_release(struct modules *ms);

/* Of a mapping's file name, "/lib/modules/6.1/kernel/fs/nls/nls-ascii.ko.xz" or "[ext4]": "nls_ascii", "ext4". */
void module_name_of(const char *filename, char *buf, size_t size);

/* The module, its functions read; NULL when there is none or it cannot be read, which is said once. */
const struct module *modules_find(struct modules *ms, const char *name);

/* The function at a run-time address of a module loaded at load, off set to the offset in it; NULL when none. */
const struct module_func *module_find(const struct module *m, uint64_t load, uint64_t addr, uint64_t *off);

/* The function at a run-time address, from kallsyms; NULL when none. */
const struct module_func *modules_find_addr(const struct modules *ms, uint64_t addr, uint64_t *off);

/* The function of an identity, read from the .ko of its module; NULL when none. module is set. */
const struct module_func *modules_find_id(struct modules *ms, const char *id, const struct module **module);

#endif
