/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "version.h"

#include <jansson.h>
#include <zstd.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZERS ", with ASan and UBSan"
#else
#define SANITIZERS ""
#endif

void version_print(FILE *fp)
{
	fprintf(fp, "hottext " HOTTEXT_VERSION "\n"
		    "compiler   " COMPILER SANITIZERS "\n"
		    "built with " HOTTEXT_LIBRARIES "\n"
		    "running on libzstd %s, jansson %s\n"
		    "plugin     " PLUGIN_DIR "/hottext-qemu.so\n",
		ZSTD_versionString(), jansson_version_str());
}
