/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A perf.data of samples in a module under read(2), for modules.bats:
 * perfmodule OUT MODULE-FILE LOAD-ADDRESS BYTES BUILD-ID COUNT:ADDRESS...
 * The kernel's addresses are those of modules.bats' kallsyms. With $BRANCHES set,
 * so many branch records a sample follow its callchain.
 */
#include <stdio.h>

#include "tests/unit/perfdata_build.h"

enum { IP = 1, TID = 2, TIME = 4, CHAIN = 1 << 5, BRANCHES = 1 << 11 };
static unsigned long nr_branches;
static const uint64_t context_kernel = (uint64_t)-128;
static const uint64_t read_call = 0xffffffff81002045, entry_call = 0xffffffff81001085;

static void put_sample(struct bytes *b, uint64_t addr, uint64_t time)
{
	struct bytes body = { 0 };

	put64(&body, addr);
	put32(&body, 7);
	put32(&body, 8);
	put64(&body, time);
	put64(&body, 4);
	put64(&body, context_kernel);
	put64(&body, addr);
	put64(&body, read_call);
	put64(&body, entry_call);
	if (nr_branches)
		put64(&body, nr_branches);
	for (unsigned long i = 0; i < nr_branches; i++) {
		put64(&body, read_call + i);
		put64(&body, entry_call + i);
		put64(&body, 0);
	}
	put_record(b, 9, 1, &body);
	free(body.p);
}

int main(int argc, char **argv)
{
	struct build f = { .arch = "x86_64", .nr_events = 1,
			   .events = { { .sample_type = IP | TID | TIME | CHAIN, .name = "cycles" } } };
	unsigned char id[20] = { 0 };
	struct bytes out;
	uint64_t time = 0;

	if (argc < 7)
		return 2;
	nr_branches = getenv("BRANCHES") ? strtoul(getenv("BRANCHES"), NULL, 0) : 0;
	if (nr_branches) {
		f.events[0].sample_type |= BRANCHES;
		f.events[0].branch_type = 1 << 1 | 1 << 3;	/* of the kernel, of any kind */
	}
	for (int i = 0; i < 20 && sscanf(argv[5] + 2 * i, "%2hhx", &id[i]) == 1; i++)
		;
	put_mmap(&f.records, 1, 0xffffffff81000000, 0x5000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	put_mmap2(&f.records, strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0), id, argv[2]);
	for (int i = 6; i < argc; i++) {
		char *addr;

		for (unsigned long n = strtoul(argv[i], &addr, 0); n; n--)
			put_sample(&f.records, strtoull(addr + 1, NULL, 0), time += 1000);
	}
	build(&out, &f);
	FILE *fp = fopen(argv[1], "wb");
	return !fp || fwrite(out.p, 1, out.n, fp) != out.n || fclose(fp);
}
