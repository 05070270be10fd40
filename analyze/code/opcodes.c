/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "opcodes.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "lib/error.h"
#include "lib/mem.h"

/* The makefile finds out by which name libopcodes.so is loaded; without one it is a static library. */
#ifdef OPCODES_SONAME

static struct opcodes opcodes;
static char *why;		/* it could not be loaded */

static void *find(void *lib, const char *name)
{
	void *p = lib ? dlsym(lib, name) : NULL;

	if (!p && !why) {
		const char *text = dlerror();	/* lives until the next call */

		why = xstrdup(text ? text : "it lacks a function");
	}
	return p;
}

static void load(void)
{
	void *lib = dlopen(OPCODES_SONAME, RTLD_NOW | RTLD_LOCAL);

	/* Through void **, as POSIX has it for functions. */
	*(void **)&opcodes.disassembler = find(lib, "disassembler");
	*(void **)&opcodes.init = find(lib, "init_disassemble_info");
	*(void **)&opcodes.prepare = find(lib, "disassemble_init_for_target");
	*(void **)&opcodes.release = find(lib, "disassemble_free_target");
}

const struct opcodes *opcodes_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (opcodes.disassembler && opcodes.init && opcodes.prepare && opcodes.release)
		return &opcodes;
	error("cannot load '%s': %s", OPCODES_SONAME, why ? why : "it is damaged");
	return NULL;
}

#else

const struct opcodes *opcodes_get(void)
{
	static const struct opcodes opcodes = {
		disassembler, init_disassemble_info, disassemble_init_for_target, disassemble_free_target,
	};

	return &opcodes;
}

#endif
