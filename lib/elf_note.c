/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/elf_note.h"

#include <gelf.h>
#include <string.h>

#include "lib/symtab.h"

bool elf_note_build_id(Elf_Scn *scn, unsigned char *id, uint32_t *size)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Nhdr nh;
	size_t name, desc;

	for (size_t off = 0, next; data && (next = gelf_getnote(data, off, &nh, &name, &desc)); off = next) {
		const char *buf = data->d_buf;

		if (nh.n_type != NT_GNU_BUILD_ID || nh.n_namesz != 4 || memcmp(buf + name, "GNU", 4) || !nh.n_descsz ||
		    nh.n_descsz > BUILD_ID_MAX)
			continue;
		memcpy(id, buf + desc, nh.n_descsz);
		*size = nh.n_descsz;
		return true;
	}
	return false;
}
