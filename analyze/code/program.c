// SPDX-License-Identifier: GPL-3.0-or-later
/* Lazy control flow of a kernel, and what is known about its functions by name. */
#include "analyze/code/program.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "lib/mem.h"
#include "lib/str.h"

/* Functions that never return: tools/objtool/noreturns.h of Linux names them, of old in check.c. */
static const char *const noreturns[] = {
	"__module_put_and_kthread_exit", "__reiserfs_panic", "__stack_chk_fail",
	"__ubsan_handle_builtin_unreachable", "arch_cpu_idle_dead", "cpu_bringup_and_idle", "cpu_startup_entry",
	"do_exit", "do_group_exit", "do_task_dead", "ex_handler_msr_mce", "fortify_panic",
	"kthread_complete_and_exit", "kthread_exit", "machine_real_restart", "make_task_dead", "nmi_panic",
	"nmi_panic_self_stop", "panic", "panic_smp_self_stop", "rest_init", "rewind_stack_and_make_dead",
	"rewind_stack_do_exit", "stop_this_cpu", "usercopy_abort", "x86_64_start_kernel",
	"x86_64_start_reservations",
};

/* Calls of these mean trouble, or a message about it. */
static const char *const reporters[] = {
	"__might_sleep", "__warn", "__warn_printk", "_printk", "_printk_deferred", "add_taint", "dump_stack",
	"lockdep_rcu_suspicious", "printk", "printk_deferred", "warn_slowpath_fmt", "warn_slowpath_null",
	"___ratelimit", "__ratelimit", "send_sig_fault", "force_sig", "refcount_warn_saturate",
};

enum { MAX_ALTERNATIVES = 1 << 20 };	/* bytes; some 16 KB are usual */

static bool is_listed(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

/* Tracepoints (include/linux/tracepoint.h, include/trace/stages): hardly ever enabled, and called through tables. */
static const char *const tracers[] = {
	"__SCT__tp_func_", "__bpf_trace_", "__mmap_lock_do_trace_", "__probestub_", "__traceiter_", "perf_trace_",
	"trace_event_raw_event_", "trace_raw_output_",
};

static bool begins_with_any(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

static unsigned char traits_of(const char *name)
{
	unsigned char t = 0;

	if (is_listed(name, noreturns, ARRAY_SIZE(noreturns)))
		t |= PROGRAM_NORETURN | PROGRAM_COLD;
	if (is_listed(name, reporters, ARRAY_SIZE(reporters)) || str_ends(name, ".cold"))
		t |= PROGRAM_COLD;
	if (begins_with_any(name, tracers, ARRAY_SIZE(tracers)))
		t |= PROGRAM_COLD;
	if (!strcmp(name, "__x86_return_thunk"))
		t |= PROGRAM_RETURN_THUNK;
	if (!strncmp(name, "__x86_indirect_", 15))
		t |= PROGRAM_INDIRECT_THUNK;
	if (!strcmp(name, "__fentry__") || !strcmp(name, "mcount") || !strcmp(name, "_mcount"))
		t |= PROGRAM_PATCHED_OUT;
	return t;
}

static uint32_t func_at(const struct image *img, uint64_t addr)
{
	uint32_t f = addr ? image_find_func(img, addr) : INDEX_NONE;

	return f != INDEX_NONE && img->funcs[f].addr == addr ? f : INDEX_NONE;
}

static bool has_trait(void *ctx, uint64_t addr, unsigned char trait)
{
	const struct program *p = ctx;
	uint32_t f = func_at(p->img, addr);

	return f != INDEX_NONE && (p->traits[f] & trait);
}

static bool is_noreturn(void *ctx, uint64_t addr)
{
	return has_trait(ctx, addr, PROGRAM_NORETURN);
}

static bool is_return_thunk(void *ctx, uint64_t addr)
{
	return has_trait(ctx, addr, PROGRAM_RETURN_THUNK);
}

/* __x86_indirect_thunk_r8: the register is in the name. */
static bool is_indirect_thunk(void *ctx, uint64_t addr, unsigned int *reg)
{
	static const char *const names[] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	};
	const struct program *p = ctx;
	uint32_t f = func_at(p->img, addr);

	if (f == INDEX_NONE || !(p->traits[f] & PROGRAM_INDIRECT_THUNK))
		return false;
	const char *name = strrchr(p->img->funcs[f].id, '_');
	for (*reg = 0; name && *reg < ARRAY_SIZE(names); (*reg)++)
		if (!strcmp(name + 1, names[*reg]))
			return true;
	*reg = UINT32_MAX;
	return true;
}

static int compare_patched(const void *pa, const void *pb)
{
	const struct patched_insn *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->target > b->target ? -1 : a->target < b->target;	/* the one with a target first */
}

/* A distance from its own place, as x86 kernels keep them in tables. */
static bool relative(const struct text *t, uint64_t at, uint64_t *value)
{
	size_t avail;
	const unsigned char *b = text_bytes(t, at, &avail);

	if (!b || avail < 4)
		return false;
	*value = at + (uint64_t)(int64_t)(int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
						   (uint32_t)b[3] << 24);
	return true;
}

/* Where the replacement at addr jumps, when it is a jmp: it was assembled for its own place. */
static uint64_t replaced_jump(const struct text *t, uint64_t addr)
{
	size_t avail;
	const unsigned char *b = text_bytes(t, addr, &avail);
	uint64_t value;

	if (!b || avail < 5 || b[0] != 0xe9 || !relative(t, addr + 1, &value))
		return 0;
	return value + 4;
}

/*
 * struct alt_instr (arch/x86/include/asm/alternative.h) begins with the distances from
 * itself to the instruction and to its replacement; it has had 12, 13 and 14 bytes.
 * The size is right with which all entries lead to something.
 */
static bool read_patched(struct program *p, uint64_t start, uint64_t end, uint32_t size)
{
	p->nr_patched = 0;
	for (uint64_t at = start; at < end; at += size) {
		uint64_t addr, by;
		size_t avail;
		if (!relative(&p->text, at, &addr) || !relative(&p->text, at + 4, &by) ||
		    !text_bytes(&p->text, addr, &avail))
			return false;
		p->patched[p->nr_patched++] = (struct patched_insn){ addr, replaced_jump(&p->text, by) };
	}
	sort_array(p->patched, p->nr_patched, sizeof(*p->patched), compare_patched);
	return true;
}

static void find_patched(struct program *p)
{
	uint64_t start, end;

	if (p->text.e_machine != EM_X86_64 && p->text.e_machine != EM_386)
		return;
	if (!symtab_value(&p->img->symtab, "__alt_instructions", &start) ||
	    !symtab_value(&p->img->symtab, "__alt_instructions_end", &end) || end <= start || end - start > MAX_ALTERNATIVES)
		return;
	p->patched = xcalloc((size_t)(end - start) / 12 + 1, sizeof(*p->patched));
	for (uint32_t size = 12; size <= 14; size++)
		if ((end - start) % size == 0 && read_patched(p, start, end, size))
			return;
	p->nr_patched = 0;
}

static bool is_patched(void *ctx, uint64_t addr, uint64_t *target)
{
	const struct program *p = ctx;
	uint32_t lo = 0, hi = p->nr_patched;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (p->patched[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == p->nr_patched || p->patched[lo].addr != addr)
		return false;
	*target = p->patched[lo].target;
	return true;
}

int program_can_read(const char *vmlinux)
{
	struct text text;

	if (text_init(&text, vmlinux))
		return -1;
	int known = disasm_knows(text.e_machine, text.is_64, text.big_endian);
	text_release(&text);
	return known;
}

int program_init(struct program *p, const struct image *img, const char *vmlinux)
{
	memset(p, 0, sizeof(*p));
	p->img = img;
	if (text_init(&p->text, vmlinux))
		return -1;
	p->disasm = disasm_new(p->text.e_machine, p->text.is_64, p->text.big_endian);
	if (!p->disasm) {
		text_release(&p->text);
		return -1;
	}
	find_patched(p);
	p->flows = xcalloc((size_t)img->nr_funcs + 1, sizeof(*p->flows));
	p->traits = xcalloc((size_t)img->nr_funcs + 1, 1);
	for (uint32_t i = 0; i < img->nr_funcs; i++) {
		const struct sym *s = symtab_find(&img->symtab, img->funcs[i].addr);
		p->traits[i] = traits_of(s && s->addr == img->funcs[i].addr ? s->name : img->funcs[i].id);
	}
	return 0;
}

void program_release(struct program *p)
{
	for (uint32_t i = 0; p->flows && i < p->img->nr_funcs; i++)
		flow_release(&p->flows[i]);
	free(p->flows);
	free(p->traits);
	free(p->patched);
	disasm_free(p->disasm);
	text_release(&p->text);
	memset(p, 0, sizeof(*p));
}

uint32_t program_target(const struct program *p, const struct flow_call *call, uint32_t *off)
{
	uint32_t f = call->target ? image_find_func(p->img, call->target) : INDEX_NONE;

	if (f == INDEX_NONE || (p->traits[f] & PROGRAM_PATCHED_OUT))
		return INDEX_NONE;
	*off = (uint32_t)(call->target - p->img->funcs[f].addr);
	return f;
}

static uint32_t find_callee(const struct program *p, const struct flow_call *call)
{
	uint32_t off, f = program_target(p, call, &off);

	return f == INDEX_NONE || off ? INDEX_NONE : f;
}

const struct flow *program_flow(struct program *p, uint32_t func)
{
	struct flow *f = &p->flows[func];

	if (!(p->traits[func] & PROGRAM_LOADED)) {
		const struct flow_oracle oracle = { is_noreturn, is_return_thunk, is_indirect_thunk, is_patched, p };
		const struct func *fn = &p->img->funcs[func];
		p->traits[func] |= PROGRAM_LOADED;
		flow_init(f, &p->text, p->disasm, &oracle, fn->addr, fn->size);
		for (uint32_t i = 0; i < f->nr_calls; i++)
			f->calls[i].callee = find_callee(p, &f->calls[i]);
		if (f->nr_calls && f->calls[0].block == 0 && has_trait(p, f->calls[0].target, PROGRAM_PATCHED_OUT))
			p->traits[func] |= PROGRAM_TRACED;
	}
	return f->nr_blocks ? f : NULL;
}
