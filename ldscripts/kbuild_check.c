/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What no link would take is refused before make compiles for an hour. */
#include "ldscripts/kbuild.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"

/* Read without symbols: those of the kernel that is to be linked are not those of the one that was profiled. */
int kbuild_check_profile(const char *path)
{
	const struct collect_options opts = { .syms = NULL };
	const struct reader *r = collect_recognise(path);
	struct profile p = { 0 };
	int ret = -1;

	if (r && collect_needs_symbols(r))
		return error("cannot use '%s': it holds addresses of the kernel that it was taken on; give what "
			     "'hottext collect --vmlinux OLD -o old.hot %s' makes of it", path, path);
	if (r && !collect_file(path, &opts, &p))
		ret = p.names.nr_keys ? 0 : error("cannot use '%s': it has no kernel samples", path);
	profile_release(&p);
	return ret;
}

/* What a configuration says of its architecture, and what plans call it. */
static const struct { const char *config, *arch; } archs[] = {
	{ "CONFIG_X86_64=y", "x86_64" }, { "CONFIG_X86_32=y", "i386" }, { "CONFIG_ARM64=y", "arm64" }, { "CONFIG_ARM=y", "arm" },
	{ "CONFIG_PPC32=y", "ppc" }, { "CONFIG_PPC64=y", "ppc64" }, { "CONFIG_ARCH_RV64I=y", "riscv64" },
	{ "CONFIG_ARCH_RV32I=y", "riscv32" }, { "CONFIG_LOONGARCH=y", "loongarch64" }, { "CONFIG_S390=y", "s390" },
};

static const char *configured_arch(const char *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++) {
		const char *at = strstr(config, archs[i].config);
		size_t n = strlen(archs[i].config);

		if (at && (at == config || at[-1] == '\n') && (at[n] == '\n' || !at[n]))
			return archs[i].arch;
	}
	return NULL;
}

/* Where either does not say, the link finds out. */
int kbuild_check_arch(const struct kbuild *k, const char *plan)
{
	char *config = path_join(k->output, ".config"), *path = path_join(plan, "plan.json");
	json_t *top = json_load_file(path, 0, NULL);
	const char *planned = json_string_value(json_object_get(json_object_get(top, "vmlinux"), "arch"));
	struct mapfile m;
	int ret = 0;

	if (planned && !access(config, R_OK) && !(ret = mapfile_init(&m, config))) {
		const char *arch = configured_arch(m.data);

		if (arch && strcmp(arch, planned))
			ret = error("cannot use '%s': it is for %s, '%s' is configured for %s", plan, planned, k->output, arch);
		mapfile_release(&m);
	}
	json_decref(top);
	free(config);
	free(path);
	return ret;
}
