/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text for the pages of the dumps: one function of 64 bytes a page, two on the page of 0xc004b000. */
	.section .note.GNU-stack, "", %progbits
	.macro function name
	.section .text.\name, "ax"
	.globl \name
	.type \name, %function
\name:
	.fill 64, 1, 0x90
	.size \name, . - \name
	.endm

	function DataTLBError
	function ret_from_syscall
	function flush_dcache
	function clear_page
	function __down
	function sys_read
	function vfs_read
	function rw_verify_area
	function pipe_read
	function fget_light
	function security_check
	function cap_check
