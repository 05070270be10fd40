// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One function, compiled by hand for five targets:
 *
 *   f:  if (!arg) goto 2            block 0
 *       ptr = arg->at_offset_16     block 1
 *   1:  if (ptr() < 0) goto 3       block 2
 *       if (--n) goto 1             block 3
 *       g(); return                 block 4
 *   2:  return -EINVAL              block 5
 *   3:  BUG()                       block 6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "analyze/code/flow.h"
#include "analyze/completion/likely.h"
#include "analyze/image/text.h"

/* GNU as, objdump -d: test %rdi,%rdi; je 2f; mov 0x10(%rdi),%rax; 1: call *%rax; test %eax,%eax; js 3f;
 * dec %ebx; jne 1b; call .+0x1000; ret; 2: mov $-22,%eax; ret; 3: ud2 */
static const unsigned char x86[] = {
	0x48, 0x85, 0xff, 0x74, 0x14, 0x48, 0x8b, 0x47, 0x10, 0xff, 0xd0, 0x85, 0xc0, 0x78, 0x10, 0xff, 0xcb,
	0x75, 0xf6, 0xe8, 0xfb, 0x0f, 0x00, 0x00, 0xc3, 0xb8, 0xea, 0xff, 0xff, 0xff, 0xc3, 0x0f, 0x0b,
};

/* mflr 0; cmpwi 3,0; beq 2f; lwz 9,16(3); mtctr 9; 1: bctrl; cmpwi 3,0; blt 3f; bdnz 1b; bl .+0x1000; blr;
 * 2: li 3,-22; blr; 3: twui 0,0 */
static const unsigned char ppc[] = {
	0x7c, 0x08, 0x02, 0xa6, 0x2c, 0x03, 0x00, 0x00, 0x41, 0x82, 0x00, 0x24, 0x81, 0x23, 0x00, 0x10,
	0x7d, 0x29, 0x03, 0xa6, 0x4e, 0x80, 0x04, 0x21, 0x2c, 0x03, 0x00, 0x00, 0x41, 0x80, 0x00, 0x18,
	0x42, 0x00, 0xff, 0xf4, 0x48, 0x00, 0x10, 0x01, 0x4e, 0x80, 0x00, 0x20, 0x38, 0x60, 0xff, 0xea,
	0x4e, 0x80, 0x00, 0x20, 0x0f, 0xe0, 0x00, 0x00,
};

/* cbz x0,2f; ldr x1,[x0,#16]; 1: blr x1; tbnz w0,#31,3f; cmp w19,#0; b.ne 1b; bl .+0x1000; ret;
 * 2: mov w0,#-22; ret; 3: brk #0x800 */
static const unsigned char arm64[] = {
	0x00, 0x01, 0x00, 0xb4, 0x01, 0x08, 0x40, 0xf9, 0x20, 0x00, 0x3f, 0xd6, 0xe0, 0x00, 0xf8, 0x37,
	0x7f, 0x02, 0x00, 0x71, 0xa1, 0xff, 0xff, 0x54, 0x00, 0x04, 0x00, 0x94, 0xc0, 0x03, 0x5f, 0xd6,
	0xa0, 0x02, 0x80, 0x12, 0xc0, 0x03, 0x5f, 0xd6, 0x00, 0x00, 0x21, 0xd4,
};

/* cmp r0,#0; beq 2f; ldr r3,[r0,#16]; 1: blx r3; cmp r0,#0; blt 3f; subs r4,r4,#1; bne 1b; bl .+0x1000; bx lr;
 * 2: mvn r0,#21; pop {r4,pc}; 3: udf #0 */
static const unsigned char arm[] = {
	0x00, 0x00, 0x50, 0xe3, 0x07, 0x00, 0x00, 0x0a, 0x10, 0x30, 0x90, 0xe5, 0x33, 0xff, 0x2f, 0xe1,
	0x00, 0x00, 0x50, 0xe3, 0x05, 0x00, 0x00, 0xba, 0x01, 0x40, 0x54, 0xe2, 0xfa, 0xff, 0xff, 0x1a,
	0xfe, 0x03, 0x00, 0xeb, 0x1e, 0xff, 0x2f, 0xe1, 0x15, 0x00, 0xe0, 0xe3, 0x10, 0x80, 0xbd, 0xe8,
	0xf0, 0x00, 0xf0, 0xe7,
};

/* beqz a0,2f; ld a5,16(a0); 1: jalr a5; bltz a0,3f; c.addi s0,-1; c.bnez s0,1b; jal .+0x1000; ret;
 * 2: li a0,-22; c.jr ra; 3: c.ebreak */
static const unsigned char riscv[] = {
	0x63, 0x0e, 0x05, 0x00, 0x83, 0x37, 0x05, 0x01, 0xe7, 0x80, 0x07, 0x00, 0x63, 0x4b, 0x05, 0x00,
	0x7d, 0x14, 0x7d, 0xf8, 0xef, 0x10, 0x00, 0x00, 0x67, 0x80, 0x00, 0x00, 0x13, 0x05, 0xa0, 0xfe,
	0x82, 0x80, 0x02, 0x90,
};

static const struct target {
	const char *name;
	uint16_t e_machine;
	bool is_64, big_endian;
	const unsigned char *bytes;
	uint32_t size;
} targets[] = {
	{ "x86_64", EM_X86_64, true, false, x86, sizeof(x86) },
	{ "ppc", EM_PPC, false, true, ppc, sizeof(ppc) },
	{ "arm64", EM_AARCH64, true, false, arm64, sizeof(arm64) },
	{ "arm", EM_ARM, false, false, arm, sizeof(arm) },
	{ "riscv", EM_RISCV, true, false, riscv, sizeof(riscv) },
};

enum { BASE = 0x10000 };

static struct flow analyse(const struct target *t, uint32_t size)
{
	struct text_section section = { BASE, t->size, t->bytes, true };
	struct text text = { .sections = &section, .nr_sections = 1, .e_machine = t->e_machine, .is_64 = t->is_64,
			     .big_endian = t->big_endian };
	struct disasm *d = disasm_new(t->e_machine, t->is_64, t->big_endian);
	struct flow f;

	assert_non_null(d);
	assert_int_equal(flow_init(&f, &text, d, NULL, BASE, size), 0);
	disasm_free(d);
	return f;
}

static void assert_edges(const struct flow *f, uint32_t block, uint32_t nr, uint32_t first, uint32_t second)
{
	const struct flow_block *b = &f->blocks[block];

	assert_int_equal(b->nr_succs, nr);
	if (nr > 0)
		assert_int_equal(f->edges[b->first_succ], first);
	if (nr > 1)
		assert_int_equal(f->edges[b->first_succ + 1], second);
}

static void assert_shape(const struct flow *f)
{
	assert_int_equal(f->nr_blocks, 7);
	assert_edges(f, 0, 2, 1, 5);
	assert_edges(f, 1, 1, 2, 0);
	assert_edges(f, 2, 2, 3, 6);
	assert_edges(f, 3, 2, 4, 2);
	assert_edges(f, 4, 0, 0, 0);
	assert_edges(f, 5, 0, 0, 0);
	assert_edges(f, 6, 0, 0, 0);
	assert_true(f->blocks[4].flags & FLOW_RETURNS);
	assert_true(f->blocks[5].flags & FLOW_RETURNS);
	assert_true(f->blocks[5].flags & FLOW_ERROR_VALUE);
	assert_true(f->blocks[6].flags & FLOW_TRAPS);
	assert_int_equal(f->blocks[0].test, TEST_ZERO);
}

static void assert_order(const struct flow *f)
{
	assert_int_equal(f->blocks[0].idom, FLOW_NONE);
	assert_int_equal(f->blocks[2].idom, 1);
	assert_int_equal(f->blocks[4].idom, 3);
	assert_int_equal(f->blocks[6].idom, 2);
	assert_true(flow_dominates(f, 1, 4));
	assert_false(flow_dominates(f, 2, 5));
	assert_int_equal(flow_common_dominator(f, 4, 6), 2);
	assert_int_equal(f->blocks[1].ipdom, 2);
	assert_int_equal(f->blocks[2].ipdom, 3);	/* BUG() is no way out */
	assert_int_equal(f->blocks[6].ipdom, FLOW_NONE);
	assert_true(f->blocks[2].flags & FLOW_LOOP_HEAD);
	assert_int_equal(f->blocks[3].depth, 1);
	assert_int_equal(f->blocks[4].depth, 0);
}

static void test_targets(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
		struct flow f = analyse(&targets[i], targets[i].size);

		print_message("# %s\n", targets[i].name);
		assert_shape(&f);
		assert_order(&f);
		assert_int_equal(f.nr_calls, 2);
		assert_int_equal(f.calls[0].target, 0);
		assert_int_equal(f.calls[0].block, 2);
		assert_int_equal(f.calls[0].slot, 16);
		assert_int_equal(f.calls[1].block, 4);
		assert_int_equal(f.calls[1].target, BASE + f.calls[1].off + 0x1000);
		flow_release(&f);
	}
}

/* A return address lies at the end of its call, a sampled one before it. */
static void test_places(void **state)
{
	(void)state;
	struct flow f = analyse(&targets[0], sizeof(x86));

	assert_int_equal(flow_block_at(&f, 0), 0);
	assert_int_equal(flow_block_at(&f, 0x18), 4);
	assert_int_equal(flow_block_at(&f, 0x19), 5);
	assert_int_equal(flow_block_at(&f, sizeof(x86)), FLOW_NONE);
	assert_int_equal(flow_call_at(&f, 0x13), 1);
	assert_int_equal(flow_call_at(&f, 0x17), 1);
	assert_int_equal(flow_call_at(&f, 0x18), 1);
	assert_int_equal(flow_call_at(&f, 0x19), FLOW_NONE);
	flow_release(&f);
}

/* Cut anywhere, also within an instruction, it stays within its bytes. */
static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		for (uint32_t size = 1; size < targets[i].size; size++) {
			struct flow f = analyse(&targets[i], size);

			assert_true(f.nr_blocks > 0);
			for (uint32_t b = 0; b < f.nr_blocks; b++)
				assert_true(f.blocks[b].end <= size);
			flow_release(&f);
		}
}

static void test_unknown(void **state)
{
	(void)state;
	assert_null(disasm_new(EM_PDP11, false, false));
}

/* jne out of the function: a tail call that is made only when the branch is taken. */
static void test_conditional_tail(void **state)
{
	(void)state;
	static const unsigned char bytes[] = { 0x85, 0xff, 0x0f, 0x85, 0xf8, 0x0f, 0x00, 0x00, 0xc3 };
	const struct target t = { "x86_64", EM_X86_64, true, false, bytes, sizeof(bytes) };
	struct flow f = analyse(&t, sizeof(bytes));

	assert_int_equal(f.nr_blocks, 3);
	assert_int_equal(f.blocks[1].start, f.blocks[1].end);
	assert_true(f.blocks[1].flags & FLOW_TAIL);
	assert_edges(&f, 0, 2, 2, 1);
	assert_int_equal(f.nr_calls, 1);
	assert_true(f.calls[0].is_tail);
	assert_int_equal(f.calls[0].block, 1);
	assert_int_equal(f.calls[0].target, BASE + 0x1000);
	flow_release(&f);
}

/* What is proved has probability 1, nothing else has; what was seen shuts other ways. */
static void test_likely(void **state)
{
	(void)state;
	struct flow f = analyse(&targets[0], sizeof(x86));
	float share[16], p[7];
	uint32_t seen[] = { 4 };

	assert_true(f.nr_edges <= 16);
	for (uint32_t e = 0; e < f.nr_edges; e++)
		share[e] = 0.5f;
	for (uint32_t b = 0; b < f.nr_blocks; b++)
		if (f.blocks[b].nr_succs == 1)
			share[f.blocks[b].first_succ] = 1;
	likely_blocks(&f, share, NULL, 0, true, p);
	assert_true(p[0] == 1.0f);
	assert_true(p[1] > 0.4f && p[1] < 0.6f && p[5] > 0.4f && p[5] < 0.6f);
	assert_true(p[2] < 1 && p[4] < p[2]);
	likely_blocks(&f, share, seen, 1, true, p);
	for (uint32_t b = 0; b < 5; b++)
		assert_true(p[b] == 1.0f);
	assert_true(p[5] < 0.01f && p[6] < 0.01f);
	flow_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_conditional_tail),
		cmocka_unit_test(test_likely),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
