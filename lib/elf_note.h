/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LIB_ELF_NOTE_H
#define LIB_ELF_NOTE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* The GNU build-id in a section of notes: to id, of BUILD_ID_MAX bytes, and *size. False when there is none. */
bool elf_note_build_id(Elf_Scn *scn, unsigned char *id, uint32_t *size);

#endif
