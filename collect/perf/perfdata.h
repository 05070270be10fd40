/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf.data, read without perf: file mode, pipe mode, directories, either byte
 * order, compressed or not.
 *
 *   file:  header | ids | attrs | records ...... | feature table | features
 *   pipe:  magic, 16 | records, among them ATTR, FEATURE, BUILD_ID
 *
 * The layout of records is the kernel's (include/uapi/linux/perf_event.h); that of
 * the file and of records from 64 on is perf's (tools/perf/util/header.h, event.h).
 */
#ifndef COLLECT_PERF_PERFDATA_H
#define COLLECT_PERF_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/index.h"
#include "lib/symtab.h"

struct collect_options;
struct input;
struct profile;

enum perfdata_record_type {
	PERFDATA_MMAP = 1, PERFDATA_LOST = 2, PERFDATA_SAMPLE = 9, PERFDATA_MMAP2 = 10, PERFDATA_LOST_SAMPLES = 13,
	PERFDATA_KSYMBOL = 17, PERFDATA_TEXT_POKE = 20,
	PERFDATA_ATTR = 64, PERFDATA_TRACING_DATA = 66, PERFDATA_BUILD_ID = 67, PERFDATA_AUXTRACE = 71,
	PERFDATA_EVENT_UPDATE = 78, PERFDATA_FEATURE = 80, PERFDATA_COMPRESSED = 81, PERFDATA_COMPRESSED2 = 83,
};

/* header.misc: who was running; behind the hypervisor, guests. */
enum { PERFDATA_CPUMODE_MASK = 7, PERFDATA_CPUMODE_KERNEL = 1, PERFDATA_CPUMODE_HYPERVISOR = 3 };

/* Callchain context markers, the last 4095 addresses: what follows belongs to ... */
#define PERFDATA_CONTEXT_KERNEL ((uint64_t)-128)
#define PERFDATA_CONTEXT_MAX ((uint64_t)-4095)

struct perfdata_attr {
	uint32_t type;
	uint64_t config, sample_type, read_format, branch_sample_type;
	uint64_t regs_user, regs_intr;	/* masks of registers in each sample */
	char *name;		/* as perf calls it, or ours for well-known events */
	bool used;		/* its samples are wanted */
	uint64_t samples;	/* seen, wanted or not */
};

/* What is known of a recording besides its records. */
struct perfdata {
	const char *name;	/* file name for messages, borrowed */
	bool swap;		/* its byte order is not ours */
	bool pipe;
	uint64_t data_off, data_size;		/* file mode: where the records are */
	struct perfdata_attr *attrs;
	uint32_t nr_attrs, alloc_attrs;
	struct index ids;	/* u64 id, our byte order */
	uint32_t *id_attr;	/* [ids id]: attr */
	uint32_t alloc_id_attr;
	uint64_t last_id;	/* looked up last; last_attr is its attr + 1, 0: none */
	uint32_t last_attr;
	int id_pos;		/* of the id in a sample, in u64; -1: none. Valid while last_attr is not 0 */
	char *hostname, *release, *arch;	/* NULL when not told */
	unsigned char build_id[BUILD_ID_MAX];	/* the kernel's */
	uint32_t build_id_size;	/* 0: not told */
	struct index modules;	/* names of the modules whose build-ids the header tells */
	struct perfdata_build_id *module_ids;	/* [modules id] */
	uint32_t alloc_module_ids;
	bool is_dir;		/* header says its records are in several files */
};

struct perfdata_build_id {
	unsigned char id[20];
	uint32_t size;
};

/* Bytes of records, from a file by windows or from a stream, in bounded memory. */
struct perfdata_stream {
	int fd;			/* -1: from in */
	struct input *in;
	uint64_t off, end;	/* of the file: next byte to load, where to stop; end UINT64_MAX: at its end */
	unsigned char *buf;
	size_t pos, fill;
	uint64_t taken;		/* bytes of records passed */
	const char *bad;	/* why the last perfdata_next failed */
	bool swap, pipe;
	bool followed;		/* ended where the header of another recording stands, of a stream */
	uint32_t skip;		/* size of the record handed out last */
	struct ZSTD_DCtx_s *dctx;
	const unsigned char *packed;	/* what is left of the compressed record at pos */
	size_t nr_packed;
	unsigned char *plain;	/* decompressed records: [plain_pos, plain_fill) */
	size_t plain_pos, plain_fill;
};

struct perfdata_record {
	uint32_t type;
	uint16_t misc;
	const unsigned char *body;	/* behind the 8 header bytes; valid until the next call */
	size_t size;			/* of body */
};

struct perfdata_sample {
	uint64_t ip, time, addr, id, stream_id, period;
	uint32_t pid, tid, cpu;
	const unsigned char *chain;	/* nr_chain u64 */
	uint64_t nr_chain;
	const unsigned char *branches;	/* nr_branches times {from, to, flags}, newest first */
	uint64_t nr_branches;
	bool some_branches;		/* those of some types alone, not every one that was taken */
	uint64_t data_src, transaction, weight, phys_addr, cgroup, data_page_size, code_page_size;
};

struct perfdata_mmap {
	uint32_t pid;
	uint64_t addr, len, pgoff;
	const char *filename;		/* NUL-terminated, in the record */
	const unsigned char *build_id;	/* NULL when the record has none */
	uint32_t build_id_size;
};

struct perfdata_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type, flags;
	const char *name;
};

static inline uint16_t perfdata_u16(const void *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t perfdata_u32(const void *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t perfdata_u64(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* perfdata_file.c: the header, attrs and features */

/* Whether head begins a perf.data file or stream. */
bool perfdata_probe(const char *head, size_t len);

/* Where the parts of a file end, features included; 0: cannot tell. perfdata_at: whether another begins there. */
uint64_t perfdata_end(int fd, bool swap);
bool perfdata_at(int fd, uint64_t off);

/*
 * Read header, attrs and features of an open file from random access. size is the
 * file's. Truncation is an error, or with force a warning wherever records are left
 * to read. Errors are reported.
 */
int perfdata_open(struct perfdata *d, int fd, uint64_t size, const char *name, bool force);
void perfdata_release(struct perfdata *d);

/* Add what an ATTR, FEATURE, EVENT_UPDATE or BUILD_ID record of a stream tells; false when it is malformed. */
bool perfdata_tell(struct perfdata *d, const struct perfdata_record *rec);

/* Whether a build-id's file or a mapping of kernel mode is the kernel proper, not a module. */
bool perfdata_is_kernel_name(const char *name);

/* Of a module as modules.h names it; NULL when not told. */
const unsigned char *perfdata_module_build_id(const struct perfdata *d, const char *module, uint32_t *size);

/* The attr of an event id, NULL when unknown. */
struct perfdata_attr *perfdata_find_id(struct perfdata *d, uint64_t id);

/* Mark attrs used: those named event, else the cycles-like ones, else all. False when none is named so. */
bool perfdata_choose_events(struct perfdata *d, const char *event);

/* perfdata_record.c: records and samples */

void perfdata_stream_init(struct perfdata_stream *s, int fd, struct input *in, uint64_t off, uint64_t end,
			  bool swap);
void perfdata_stream_release(struct perfdata_stream *s);

/* The next record, decompressed: 1, 0 at the end, -1 when s->bad says why it cannot go on. */
int perfdata_next(struct perfdata_stream *s, struct perfdata_record *rec);

/* The attr that a sample record is of; NULL when its id is unknown. */
struct perfdata_attr *perfdata_sample_attr(struct perfdata *d, const struct perfdata_record *rec);

/* The attr that a record other than a sample is of, by the id behind its body of size bytes; NULL when not told. */
struct perfdata_attr *perfdata_trailing_attr(struct perfdata *d, const struct perfdata_record *rec, size_t size);

/* Each false when the record is too short for what it claims. */
bool perfdata_sample_parse(const struct perfdata_attr *a, const struct perfdata_record *rec, bool swap,
			   struct perfdata_sample *s);
bool perfdata_mmap_parse(const struct perfdata_record *rec, bool swap, struct perfdata_mmap *m);
bool perfdata_ksymbol_parse(const struct perfdata_record *rec, bool swap, struct perfdata_ksymbol *k);

/* A `perf record --threads` directory: DIR/data is a file like any other, DIR/data.N hold more of its records. */
int perfdata_read_dir(const char *path, const struct collect_options *opts, struct profile *p);

#endif
