/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fetch trace: what a guest fetched, translation block by translation block.
 * One or more zstd frames of little-endian 32-bit words. Written by plugin.c,
 * read by ../fetch.c; doc/hottext-fetch.5 is its description.
 *
 *   header   8 bytes "HTFETCH1", then FETCH_HEADER_WORDS words
 *   stream   words; below FETCH_CONTROL a block number: that block ran once.
 *            Blocks are numbered from 0 in the order of their definitions.
 *            Control words are followed by their operands:
 */
#ifndef COLLECT_QEMU_FORMAT_H
#define COLLECT_QEMU_FORMAT_H

#define FETCH_MAGIC "HTFETCH1"

/* Header words: version, e_machine of the guest, cpus, kernel base low and high, build-id words[8] (0: none). */
enum { FETCH_VERSION = 1, FETCH_HEADER_WORDS = 13 };

enum fetch_control {
	FETCH_CONTROL = 0xffffff00u,
	FETCH_DEFINE = 0xffffff01u,	/* address low, address high, bytes, instructions: the next block */
	FETCH_REPEAT = 0xffffff02u,	/* n: the block before ran n times more */
	FETCH_SWITCH = 0xffffff03u,	/* the address space was switched: user pages mean other memory */
	FETCH_CPU = 0xffffff04u,	/* n: what follows ran on cpu n (0 at the start) */
	FETCH_MARK = 0xffffff05u,	/* 0 or 1: recording stopped, started; nothing between is there */
	FETCH_END = 0xffffff06u,	/* blocks run low, high, instructions low, high: totals; last */
};

#endif
