/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext ld, hottext-ld: the linker wrapper. Its arguments are the linker's, none of its own. */
#include "ldscripts/commands.h"
#include "ldscripts/wrapper/wrapper.h"

const struct command ld_command = {
	.name = "ld",
	.args = "ARGUMENT...",
	.summary = "the linker wrapper: make LD=hottext-ld",
	.example = "make CFLAGS_KERNEL=-ffunction-sections LD=hottext-ld",
	.run = wrapper_run,
};
