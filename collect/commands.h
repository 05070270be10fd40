/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of this room. */
#ifndef COLLECT_COMMANDS_H
#define COLLECT_COMMANDS_H

#include "lib/opt.h"

extern const struct command collect_command;
extern const struct command record_command;

#endif
