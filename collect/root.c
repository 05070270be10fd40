/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "root.h"

#include <stdio.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/symtab.h"

/* The longest name that can be a root; longer ones are none. */
enum { MAX_NAME = 128 };

/* What stands before a system call's name; longer ones first where one begins another. */
static const char *const syscall_prefixes[] = {
	"__x64_compat_sys_", "__x32_compat_sys_", "__ia32_compat_sys_", "__arm64_compat_sys_",
	"__riscv_compat_sys_", "__s390_compat_sys_", "__powerpc_compat_sys_", "__se_compat_sys_",
	"__do_compat_sys_", "__x64_sys_", "__x32_sys_", "__ia32_sys_", "__arm64_sys_", "__riscv_sys_",
	"__s390x_sys_", "__s390_sys_", "__powerpc_sys_", "__se_sys_", "__do_sys_", "compat_sys_", "ksys_",
	"sys_",
};

/* Begin with sys_ and are no system calls: frame buffer drawing, power-off handlers. */
static const char *const no_syscalls[] = {
	"sys_copyarea", "sys_fillrect", "sys_imageblit", "sys_off_notify", "sys_off_handler",
};

struct known {
	const char *name;	/* ends in '*': a prefix */
	enum root_kind kind;
};

static const struct known known[] = {
	/* x86 */
	{ "asm_exc_nmi", ROOT_INTERRUPT }, { "exc_nmi", ROOT_INTERRUPT }, { "nmi", ROOT_INTERRUPT },
	{ "do_nmi", ROOT_INTERRUPT },
	{ "asm_sysvec_*", ROOT_INTERRUPT }, { "sysvec_*", ROOT_INTERRUPT },
	{ "asm_common_interrupt", ROOT_INTERRUPT }, { "common_interrupt", ROOT_INTERRUPT },
	{ "asm_spurious_interrupt", ROOT_INTERRUPT }, { "spurious_interrupt", ROOT_INTERRUPT },
	{ "irq_entries_start", ROOT_INTERRUPT }, { "spurious_entries_start", ROOT_INTERRUPT },
	{ "apic_timer_interrupt", ROOT_INTERRUPT }, { "reschedule_interrupt", ROOT_INTERRUPT },
	{ "call_function_interrupt", ROOT_INTERRUPT }, { "call_function_single_interrupt", ROOT_INTERRUPT },
	{ "irq_work_interrupt", ROOT_INTERRUPT }, { "smp_apic_timer_interrupt", ROOT_INTERRUPT },
	{ "smp_reschedule_interrupt", ROOT_INTERRUPT }, { "smp_call_function_interrupt", ROOT_INTERRUPT },
	{ "smp_call_function_single_interrupt", ROOT_INTERRUPT },
	{ "smp_irq_work_interrupt", ROOT_INTERRUPT },
	{ "ret_from_intr", ROOT_INTERRUPT }, { "xen_asm_exc_*", ROOT_EXCEPTION },
	{ "asm_exc_*", ROOT_EXCEPTION }, { "exc_*", ROOT_EXCEPTION },
	{ "page_fault", ROOT_EXCEPTION }, { "async_page_fault", ROOT_EXCEPTION },
	{ "general_protection", ROOT_EXCEPTION }, { "divide_error", ROOT_EXCEPTION },
	{ "invalid_op", ROOT_EXCEPTION }, { "device_not_available", ROOT_EXCEPTION },
	{ "__switch_to_asm", ROOT_SWITCH },
	/* arm64; el0t_64_sync holds faults and system calls alike, so the functions after it tell */
	{ "el1h_64_irq*", ROOT_INTERRUPT }, { "el1h_64_fiq*", ROOT_INTERRUPT },
	{ "el0t_64_irq*", ROOT_INTERRUPT }, { "el0t_64_fiq*", ROOT_INTERRUPT },
	{ "el0t_32_irq*", ROOT_INTERRUPT }, { "el1_irq", ROOT_INTERRUPT }, { "el0_irq", ROOT_INTERRUPT },
	{ "el1_interrupt", ROOT_INTERRUPT }, { "el0_interrupt", ROOT_INTERRUPT },
	{ "el1h_64_sync*", ROOT_EXCEPTION }, { "el1_sync", ROOT_EXCEPTION }, { "el1_abort", ROOT_EXCEPTION },
	{ "el0_da", ROOT_EXCEPTION }, { "el0_ia", ROOT_EXCEPTION }, { "el0_undef", ROOT_EXCEPTION },
	{ "el0_fpsimd_acc", ROOT_EXCEPTION }, { "el0_sve_acc", ROOT_EXCEPTION }, { "el0_pc", ROOT_EXCEPTION },
	{ "do_mem_abort", ROOT_EXCEPTION }, { "cpu_switch_to", ROOT_SWITCH },
	/* arm */
	{ "__irq_svc", ROOT_INTERRUPT }, { "__irq_usr", ROOT_INTERRUPT }, { "__fiq_svc", ROOT_INTERRUPT },
	{ "__fiq_usr", ROOT_INTERRUPT }, { "vector_irq", ROOT_INTERRUPT }, { "asm_do_IRQ", ROOT_INTERRUPT },
	{ "__dabt_svc", ROOT_EXCEPTION }, { "__dabt_usr", ROOT_EXCEPTION }, { "__pabt_svc", ROOT_EXCEPTION },
	{ "__pabt_usr", ROOT_EXCEPTION }, { "__und_svc", ROOT_EXCEPTION }, { "__und_usr", ROOT_EXCEPTION },
	{ "vector_dabt", ROOT_EXCEPTION }, { "vector_pabt", ROOT_EXCEPTION },
	{ "vector_und", ROOT_EXCEPTION },
	{ "do_DataAbort", ROOT_EXCEPTION }, { "do_PrefetchAbort", ROOT_EXCEPTION },
	/* PowerPC: head_*.S names its vectors, 64-bit adds _common */
	{ "HardwareInterrupt*", ROOT_INTERRUPT }, { "Decrementer*", ROOT_INTERRUPT },
	{ "FITException*", ROOT_INTERRUPT }, { "WDTException*", ROOT_INTERRUPT },
	{ "CriticalInterrupt*", ROOT_INTERRUPT }, { "hardware_interrupt_common*", ROOT_INTERRUPT },
	{ "decrementer_common*", ROOT_INTERRUPT }, { "doorbell_super_common*", ROOT_INTERRUPT },
	{ "h_virt_irq_common*", ROOT_INTERRUPT }, { "timer_interrupt", ROOT_INTERRUPT },
	{ "DataStorage*", ROOT_EXCEPTION }, { "InstructionStorage*", ROOT_EXCEPTION },
	{ "InstructionAccess*", ROOT_EXCEPTION }, { "DataAccess*", ROOT_EXCEPTION },
	{ "DataTLBError*", ROOT_EXCEPTION }, { "InstructionTLBError*", ROOT_EXCEPTION },
	{ "DTLBMiss*", ROOT_EXCEPTION }, { "ITLBMiss*", ROOT_EXCEPTION },
	{ "DataStoreTLBMiss*", ROOT_EXCEPTION }, { "DataLoadTLBMiss*", ROOT_EXCEPTION },
	{ "InstructionTLBMiss*", ROOT_EXCEPTION }, { "Alignment*", ROOT_EXCEPTION },
	{ "ProgramCheck*", ROOT_EXCEPTION }, { "MachineCheck*", ROOT_EXCEPTION },
	{ "DebugTrap*", ROOT_EXCEPTION },
	{ "data_access_common*", ROOT_EXCEPTION }, { "instruction_access_common*", ROOT_EXCEPTION },
	{ "program_check_common*", ROOT_EXCEPTION }, { "alignment_common*", ROOT_EXCEPTION },
	{ "_switch", ROOT_SWITCH }, { "ret_from_kernel_thread", ROOT_TASK },
	{ "ret_from_kernel_user_thread", ROOT_TASK },
	/* riscv, s390, mips */
	{ "do_irq", ROOT_INTERRUPT }, { "handle_riscv_irq", ROOT_INTERRUPT }, { "do_trap_*", ROOT_EXCEPTION },
	{ "do_io_irq", ROOT_INTERRUPT }, { "do_ext_irq", ROOT_INTERRUPT },
	{ "io_int_handler", ROOT_INTERRUPT },
	{ "ext_int_handler", ROOT_INTERRUPT }, { "do_protection_exception", ROOT_EXCEPTION },
	{ "do_dat_exception", ROOT_EXCEPTION }, { "handle_int", ROOT_INTERRUPT },
	/* common */
	{ "do_IRQ", ROOT_INTERRUPT }, { "do_page_fault", ROOT_EXCEPTION },
	{ "ret_from_kernel_thread_asm", ROOT_TASK },
	{ "ret_from_fork", ROOT_TASK }, { "ret_from_fork_asm", ROOT_TASK }, { "kthread", ROOT_TASK },
	{ "__switch_to", ROOT_SWITCH },
};

static const char *const shared_entries[] = {
	"el0_sync", "el0t_64_sync", "el0t_64_sync_handler", "el0t_32_sync", "el0t_32_sync_handler",
	"el0_sync_handler", "handle_exception",
};

static const char *const syscall_entries[] = {
	"entry_SYSCALL_64", "entry_SYSCALL_64_after_hwframe", "entry_SYSCALL_64_fastpath", "do_syscall_64",
	"x64_sys_call", "x32_sys_call", "ia32_sys_call", "system_call", "system_call_fastpath",
	"entry_SYSENTER_32", "entry_SYSENTER_compat", "entry_SYSENTER_compat_after_hwframe",
	"entry_SYSCALL_compat", "entry_SYSCALL_compat_after_hwframe", "entry_INT80_32", "entry_INT80_compat",
	"asm_int80_emulation", "int80_emulation", "do_int80_syscall_32", "do_fast_syscall_32",
	"do_SYSENTER_32", "__do_fast_syscall_32", "do_int80_emulation",
	"el0_svc", "el0_svc_compat", "do_el0_svc", "do_el0_svc_compat", "el0_svc_common", "invoke_syscall",
	"el0_svc_handler", "el0_svc_naked", "vector_swi", "__sys_trace", "ret_fast_syscall",
	"SystemCall", "SystemCall_virt", "transfer_to_syscall", "DoSyscall", "system_call_exception",
	"system_call_common", "system_call_vectored_common", "ret_from_syscall",
	"do_trap_ecall_u", "syscall_handler", "__do_syscall", "system_call_handler",
};

static bool has_prefix(const char *s, const char *prefix, size_t n)
{
	return !strncmp(s, prefix, n);
}

/* The bare, normalised name into buf; false when it is too long. */
static bool bare_name(const char *identity, char *buf)
{
	size_t n = strcspn(identity, "@#");

	if (n >= MAX_NAME)
		return false;
	memcpy(buf, identity, n);
	buf[n] = '\0';
	symbol_normalise(buf);
	return true;
}

/* The call's own name within "__x64_sys_read", NULL when it is no system call. */
static const char *syscall_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(no_syscalls); i++)
		if (!strcmp(name, no_syscalls[i]))
			return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(syscall_prefixes); i++) {
		size_t n = strlen(syscall_prefixes[i]);

		if (has_prefix(name, syscall_prefixes[i], n))
			return name[n] ? name + n : NULL;
	}
	return NULL;
}

enum root_kind root_kind(const char *identity)
{
	char name[MAX_NAME];

	if (!bare_name(identity, name))
		return ROOT_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t n = strlen(known[i].name);

		if (known[i].name[n - 1] == '*' ? has_prefix(name, known[i].name, n - 1)
						: !strcmp(name, known[i].name))
			return known[i].kind;
	}
	return syscall_name(name) && !root_is_syscall_entry(name) ? ROOT_SYSCALL : ROOT_NONE;
}

static bool is_listed(const char *identity, const char *const *list, size_t nr)
{
	char name[MAX_NAME];

	if (!bare_name(identity, name))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

bool root_is_shared_entry(const char *identity)
{
	return is_listed(identity, shared_entries, ARRAY_SIZE(shared_entries));
}

bool root_is_syscall_entry(const char *identity)
{
	return is_listed(identity, syscall_entries, ARRAY_SIZE(syscall_entries)) ||
	       root_is_shared_entry(identity);
}

const char *root_display_name(const char *identity, char *buf, size_t size)
{
	char name[MAX_NAME];
	bool is_call = root_kind(identity) == ROOT_SYSCALL && bare_name(identity, name);
	const char *call = is_call ? syscall_name(name) : NULL;

	snprintf(buf, size, "%s", call ? call : identity);
	return buf;
}
