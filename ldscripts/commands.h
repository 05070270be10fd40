/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of this room. */
#ifndef LDSCRIPTS_COMMANDS_H
#define LDSCRIPTS_COMMANDS_H

#include "lib/opt.h"

extern const struct command kbuild_command;
extern const struct command ld_command;
extern const struct command optimize_command;
extern const struct command verify_command;

#endif
