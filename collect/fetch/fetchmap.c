/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fetchmap.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/symtab.h"

/* PowerPC exception vectors, run untranslated, lie below this physical address; the kernel is loaded at 0. */
enum { PPC_VECTORS_END = 0x8000 };

static bool one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

static bool starts(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* Scheduler code outside .sched.text that runs between the switch and the resumed code. */
static bool is_sched(const char *name)
{
	static const char *const names[] = {
		"ret_from_fork", "ret_from_fork_asm", "ret_from_kernel_thread", "schedule_tail", "finish_task_switch", NULL
	};

	return root_kind(name) == ROOT_SWITCH || one_of(name, names) || starts(name, "finish_task_switch.");
}

/* x86 retpolines, return thunks and static-call trampolines. */
static bool is_thunk(const char *name)
{
	static const char *const prefixes[] = {
		"__x86_indirect_", "__x86_return_", "__SCT__", "srso_", "retbleed_", NULL
	};

	for (const char *const *p = prefixes; *p; p++)
		if (starts(name, *p))
			return true;
	return false;
}

/* Entry code of architectures that keep it in plain .text, by symbol. */
static bool is_entry_name(const char *name)
{
	static const char *const names[] = {
		/* arch/powerpc/kernel/entry_32.S, head_*.S */
		"transfer_to_syscall", "ret_from_syscall", "syscall_exit_finish", "fast_exception_return",
		"interrupt_return", "ret_from_crit_exc", "ret_from_debug_exc", "ret_from_mcheck_exc",
		"prepare_transfer_to_handler", "transfer_to_handler", "ret_from_kernel_syscall",
		/* arch/riscv/kernel/entry.S */
		"handle_exception", "ret_from_exception", "ret_from_syscall_rejected", "restore_all",
		"resume_userspace", "resume_kernel", "handle_syscall", NULL };

	return one_of(name, names);
}

static enum fetch_where where_is(const struct fetch_map *m, const struct sym *s)
{
	if (s->addr >= m->entry_start && s->addr < m->entry_end)
		return FETCH_ENTRY;
	if (m->syms->e_machine == EM_PPC && !(s->flags & SYM_FUNC) &&
	    s->addr - m->syms->text_addr < PPC_VECTORS_END)
		return FETCH_VECTOR;
	return !m->entry_end && is_entry_name(s->name) ? FETCH_ENTRY : FETCH_TEXT;
}

void fetch_map_init(struct fetch_map *m, const struct symtab *syms)
{
	memset(m, 0, sizeof(*m));
	m->syms = syms;
	m->func_of_sym = xcalloc(syms->nr_syms + 1u, sizeof(*m->func_of_sym));
	if (!symtab_value(syms, "__entry_text_start", &m->entry_start) ||
	    !symtab_value(syms, "__entry_text_end", &m->entry_end))
		m->entry_start = m->entry_end = 0;
	if (!symtab_value(syms, "__sched_text_start", &m->sched_start) ||
	    !symtab_value(syms, "__sched_text_end", &m->sched_end))
		m->sched_start = m->sched_end = 0;
}

void fetch_map_release(struct fetch_map *m)
{
	free(m->blocks);
	free(m->pieces);
	free(m->funcs);
	free(m->func_of_sym);
	memset(m, 0, sizeof(*m));
}

static uint32_t map_func(struct fetch_map *m, const struct sym *s)
{
	uint32_t *slot = &m->func_of_sym[s - m->syms->syms];

	if (*slot)
		return *slot - 1;
	ALLOC_GROW(m->funcs, m->nr_funcs + 1, m->alloc_funcs);
	m->funcs[m->nr_funcs] = (struct fetch_func){
		.sym = s,
		.kind = root_kind(s->name),
		.is_syscall_entry = root_is_syscall_entry(s->name),
		.is_sched = is_sched(s->name) || (s->addr >= m->sched_start && s->addr < m->sched_end),
		.is_thunk = is_thunk(s->name),
	};
	*slot = ++m->nr_funcs;
	return m->nr_funcs - 1;
}

static void add_piece(struct fetch_map *m, struct fetch_mapped *b, const struct sym *s, uint64_t addr,
		      uint32_t bytes)
{
	ALLOC_GROW(m->pieces, m->nr_pieces + 1, m->alloc_pieces);
	m->pieces[m->nr_pieces++] = (struct fetch_piece){
		.func = map_func(m, s), .off = (uint32_t)(addr - s->addr), .bytes = bytes,
	};
	b->nr_pieces++;
}

/* Instructions by bytes; what rounding leaves goes to the first piece. */
static void share_insns(struct fetch_map *m, const struct fetch_mapped *b, const struct fetch_block *f)
{
	struct fetch_piece *p = m->pieces + b->first_piece;
	uint32_t left = f->insns;

	for (uint32_t i = 0; i < b->nr_pieces; i++) {
		p[i].insns = (uint32_t)((uint64_t)f->insns * p[i].bytes / f->bytes);
		left -= p[i].insns;
	}
	if (b->nr_pieces)
		p[0].insns += left;
}

static void map_block(struct fetch_map *m, struct fetch_mapped *b, const struct fetch *f,
		      const struct fetch_block *fb)
{
	uint64_t addr = fb->addr, end = fb->addr + fb->bytes;
	bool real = m->syms->e_machine == EM_PPC && addr < PPC_VECTORS_END;

	*b = (struct fetch_mapped){ .where = FETCH_USER, .first_piece = m->nr_pieces };
	if (real) {
		addr += m->syms->text_addr;
		end += m->syms->text_addr;
	} else if (!fetch_is_kernel(f, addr)) {
		return;
	}
	while (addr < end) {
		const struct sym *s = symtab_find(m->syms, addr);
		uint64_t stop = s && s->addr + s->size < end ? s->addr + s->size : end;

		if (!s)
			break;
		add_piece(m, b, s, addr, (uint32_t)(stop - addr));
		addr = stop;
	}
	b->where = FETCH_UNKNOWN;
	if (!b->nr_pieces)
		return;
	share_insns(m, b, fb);
	const struct sym *s = m->funcs[m->pieces[b->first_piece].func].sym;
	b->where = real ? FETCH_REAL : where_is(m, s);
	b->at_start = !m->pieces[b->first_piece].off;
}

void fetch_map_grow(struct fetch_map *m, const struct fetch *f)
{
	ALLOC_GROW(m->blocks, f->nr_blocks, m->alloc_blocks);
	for (; m->nr_blocks < f->nr_blocks; m->nr_blocks++)
		map_block(m, &m->blocks[m->nr_blocks], f, &f->blocks[m->nr_blocks]);
}

int fetch_map_check(const struct fetch *f, const struct symtab *syms, const char *trace, const char *vmlinux)
{
	char theirs[2 * BUILD_ID_MAX + 1], ours[2 * BUILD_ID_MAX + 1];
	uint32_t size = syms->build_id_size;

	if (syms->e_machine && f->e_machine != syms->e_machine)
		return error("cannot use '%s': its guest is of ELF machine %u, '%s' is for %s", trace, f->e_machine,
			     vmlinux, symtab_arch(syms));
	if (!size || !f->has_build_id) {
		detail("'%s' and '%s' could not be compared: no build-id", trace, vmlinux);
		return 0;
	}
	if (!memcmp(f->build_id, syms->build_id, size))
		return 0;
	return error("cannot use '%s': it is of kernel %s, '%s' is %s; use 'hottext collect --vmlinux OLD' "
		     "and the profile that it writes", trace, build_id_hex(f->build_id, size, theirs),
		     vmlinux, build_id_hex(syms->build_id, syms->build_id_size, ours));
}
