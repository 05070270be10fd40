/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of this room. */
#ifndef ANALYZE_COMMANDS_H
#define ANALYZE_COMMANDS_H

#include "lib/opt.h"

extern const struct command calibrate_command;
extern const struct command compare_command;
extern const struct command machines_command;
extern const struct command tlbdump_command;

extern const struct command complete_command;

#endif
