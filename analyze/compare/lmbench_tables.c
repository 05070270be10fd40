/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which header has which columns. Told by words, since mailers move them about. */
#include <string.h>

#include "analyze/compare/lmbench.h"
#include "lib/mem.h"

/* Mhz is no result. 2p/0K stands in the table of context switches already. */
static const struct lmbench_table tables[] = {
	{ "Mhz null null open selct sig sig fork exec sh call I/O stat clos inst hndl proc proc proc",
	  { "", "null call", "null I/O", "stat", "open clos", "selct", "sig inst", "sig hndl", "fork proc",
	    "exec proc", "sh proc" } },
	{ "Mhz null null open selct sig sig fork exec sh call I/O stat clos TCP inst hndl proc proc proc",
	  { "", "null call", "null I/O", "stat", "open clos", "selct TCP", "sig inst", "sig hndl",
	    "fork proc", "exec proc", "sh proc" } },
	{ "Mhz null null open slct sig sig fork exec sh call I/O stat clos TCP inst hndl proc proc proc",
	  { "", "null call", "null I/O", "stat", "open clos", "selct TCP", "sig inst", "sig hndl",
	    "fork proc", "exec proc", "sh proc" } },
	{ "intgr intgr intgr intgr intgr bit add mul div mod",
	  { "int bit", "int add", "int mul", "int div", "int mod" } },
	{ "int64 int64 int64 int64 int64 bit add mul div mod",
	  { "int64 bit", "int64 add", "int64 mul", "int64 div", "int64 mod" } },
	{ "float float float float add mul div bogo",
	  { "float add", "float mul", "float div", "float bogo" } },
	{ "double double double double add mul div bogo",
	  { "double add", "double mul", "double div", "double bogo" } },
	{ "2p/0K 2p/16K 2p/64K 8p/16K 8p/64K 16p/16K 16p/64K ctxsw ctxsw ctxsw ctxsw ctxsw ctxsw ctxsw",
	  { "2p/0K ctxsw", "2p/16K ctxsw", "2p/64K ctxsw", "8p/16K ctxsw", "8p/64K ctxsw", "16p/16K ctxsw",
	    "16p/64K ctxsw" } },
	{ "2p/0K Pipe AF UDP RPC/ TCP RPC/ TCP ctxsw UNIX UDP TCP conn",
	  { "", "Pipe", "AF UNIX", "UDP", "RPC/UDP", "TCP", "RPC/TCP", "TCP conn" } },
	{ "UDP RPC/ TCP RPC/ TCP UDP TCP conn", { "UDP", "RPC/UDP", "TCP", "RPC/TCP", "TCP conn" } },
	{ "0K File 10K File Mmap Prot Page Create Delete Create Delete Latency Fault Fault",
	  { "0K Create", "0K Delete", "10K Create", "10K Delete", "Mmap Latency", "Prot Fault",
	    "Page Fault" } },
	{ "0K File 10K File Mmap Prot Page 100fd Create Delete Create Delete Latency Fault Fault selct",
	  { "0K Create", "0K Delete", "10K Create", "10K Delete", "Mmap Latency", "Prot Fault", "Page Fault",
	    "100fd selct" } },
	{ "Pipe AF TCP File Mmap Bcopy Bcopy Mem Mem UNIX reread reread (libc) (hand) read write",
	  { "Pipe", "AF UNIX", "TCP", "File reread", "Mmap reread", "Bcopy (libc)", "Bcopy (hand)",
	    "Mem read", "Mem write" } },
	{ "Mhz L1 $ L2 $ Main mem Guesses", { "", "L1 $", "L2 $", "Main mem", LMBENCH_GUESSES } },
	{ "Mhz L1 $ L2 $ Main mem Rand mem Guesses",
	  { "", "L1 $", "L2 $", "Main mem", "Rand mem", LMBENCH_GUESSES } },
};

const struct lmbench_table *lmbench_table(const char *header)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(tables[i].header, header))
			return &tables[i];
	return NULL;
}

uint32_t lmbench_nr_columns(const struct lmbench_table *t)
{
	uint32_t n = 0;

	while (n < LMBENCH_MAX_COLUMNS && t->columns[n])
		n++;
	return n;
}
