/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of perf.data: walks its records, hands its samples on, says what it could not use. */
#include "perfdata.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/file.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "perfdata_events.h"
#include "perfdata_map.h"
#include "perfdata_sample.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "collect/spill.h"

enum {
	MISC_LOST_SAMPLES_BPF = 1 << 15,/* a filter dropped them on purpose */
	FORMAT_LOST = 1 << 4,		/* attr.read_format: perf counts an event's lost samples itself */
};

struct run {
	const struct collect_options *opts;
	struct perfdata d;
	struct perfdata_map map;
	struct perfdata_sampler sampler;
	bool chosen;			/* which events are used */
	bool followed;			/* a second recording stands behind this one */
	uint64_t time;			/* of the last sample used */
	uint64_t lost_records, lost_samples;
	bool lost_told;			/* by event, so that lost_samples is all there is to know */
	uint64_t strays;		/* samples of unknown events */
	uint64_t malformed;		/* records shorter than what they claim */
};

static int damaged(struct run *r, const struct perfdata_stream *s, const char *why)
{
	if (!r->opts->force)
		return error("cannot read '%s': %s at byte %llu of its records (--force uses what precedes)",
			     r->d.name, why, (unsigned long long)s->taken);
	warn("'%s' is damaged: %s at byte %llu of its records; the rest is lost", r->d.name, why,
	     (unsigned long long)s->taken);
	return 0;
}

static int choose(struct run *r)
{
	if (r->chosen)
		return 0;
	r->chosen = true;
	if (perfdata_choose_events(&r->d, r->opts->event) || !r->opts->event)
		return 0;
	error("cannot use '%s': it has no event '%s'", r->d.name, r->opts->event);
	for (uint32_t i = 0; i < r->d.nr_attrs; i++)
		note("'%s' has the event '%s'", r->d.name, r->d.attrs[i].name);
	return -1;
}

/* False when the record is too short for what it claims. */
static bool take_sample(struct run *r, const struct perfdata_record *rec)
{
	struct perfdata_attr *a = perfdata_sample_attr(&r->d, rec);
	struct perfdata_sample s;

	if (!a) {
		r->strays++;
		return true;
	}
	a->samples++;
	if (!a->used)
		return true;
	if (!perfdata_sample_parse(a, rec, r->d.swap, &s))
		return false;
	perfdata_sampler_add(&r->sampler, (uint32_t)(a - r->d.attrs), rec->misc, r->d.swap, &s);
	r->time = s.time;
	return true;
}

/*
 * LOST_SAMPLES has its event's id behind it, where perf had the kernel add one. LOST has one before
 * its count, which says nothing: it is of the event that found room again, the losses are the buffer's.
 */
static bool take_lost(struct run *r, const struct perfdata_record *rec)
{
	if (rec->type == PERFDATA_LOST) {
		if (rec->size < 16)
			return false;
		add_count(&r->lost_records, perfdata_u64(rec->body + 8, r->d.swap));
		return true;
	}
	if (rec->size < 8)
		return false;
	if (rec->misc & MISC_LOST_SAMPLES_BPF)
		return true;
	const struct perfdata_attr *a = perfdata_trailing_attr(&r->d, rec, 8);
	r->lost_told |= a != NULL;
	if (!a || a->used)
		add_count(&r->lost_samples, perfdata_u64(rec->body, r->d.swap));
	return true;
}

/* A kernel mapping may carry the build-id. */
static void take_map_build_id(struct run *r, const struct perfdata_record *rec)
{
	struct perfdata_mmap map;

	if ((rec->misc & PERFDATA_CPUMODE_MASK) != PERFDATA_CPUMODE_KERNEL ||
	    !perfdata_mmap_parse(rec, r->d.swap, &map) || !map.build_id || !perfdata_is_kernel_name(map.filename))
		return;
	memcpy(r->d.build_id, map.build_id, map.build_id_size);
	r->d.build_id_size = map.build_id_size;
}

static bool take_record(struct run *r, const struct perfdata_record *rec)
{
	switch (rec->type) {
	case PERFDATA_SAMPLE:
		return take_sample(r, rec);
	case PERFDATA_MMAP2:
		take_map_build_id(r, rec);
		return perfdata_map_add(&r->map, rec, r->d.swap);
	case PERFDATA_MMAP:
	case PERFDATA_KSYMBOL:
	case PERFDATA_TEXT_POKE:
		return perfdata_map_add(&r->map, rec, r->d.swap);
	case PERFDATA_LOST:
	case PERFDATA_LOST_SAMPLES:
		return take_lost(r, rec);
	case PERFDATA_ATTR:
		r->chosen = false;
		return perfdata_tell(&r->d, rec);
	case PERFDATA_FEATURE:
	case PERFDATA_EVENT_UPDATE:
	case PERFDATA_BUILD_ID:
		return perfdata_tell(&r->d, rec);
	default:
		return true;
	}
}

/* Records up to a byte; 1: there may be more, 0: no more, -1: cannot go on, which was reported. */
static int walk(struct run *r, struct perfdata_stream *s, uint64_t until)
{
	struct perfdata_record rec;
	int ret;

	while ((ret = perfdata_next(s, &rec)) > 0) {
		if ((rec.type == PERFDATA_SAMPLE || rec.type == PERFDATA_LOST_SAMPLES) && !r->chosen && choose(r) < 0)
			return -1;
		if (!take_record(r, &rec)) {
			if (!r->opts->force)
				return damaged(r, s, "a record is shorter than what it claims");
			r->malformed++;
		}
		if (s->taken >= until)
			return 1;
	}
	return ret < 0 ? damaged(r, s, s->bad) : 0;
}

/* Names of uname -m, beside those of symtab_arch(). */
static bool same_arch(const char *recorded, const struct symtab *syms)
{
	static const struct { const char *prefix; uint16_t machine; } known[] = {
		{ "x86_64", EM_X86_64 }, { "i386", EM_386 }, { "i486", EM_386 }, { "i586", EM_386 },
		{ "i686", EM_386 }, { "aarch64", EM_AARCH64 }, { "arm64", EM_AARCH64 }, { "arm", EM_ARM },
		{ "ppc64", EM_PPC64 }, { "ppc", EM_PPC }, { "riscv", EM_RISCV }, { "s390", EM_S390 },
		{ "ia64", EM_IA_64 }, { "sparc64", EM_SPARCV9 }, { "sparc", EM_SPARC }, { "mips", EM_MIPS },
		{ "loongarch", EM_LOONGARCH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strncmp(recorded, known[i].prefix, strlen(known[i].prefix)))
			return !syms->e_machine || known[i].machine == syms->e_machine;
	return true;
}

static int check_kernel(const struct run *r)
{
	const struct symtab *syms = r->opts->syms;
	const char *vmlinux = r->opts->vmlinux ? r->opts->vmlinux : "the symbols";
	char theirs[2 * BUILD_ID_MAX + 1], ours[2 * BUILD_ID_MAX + 1];

	if (r->d.arch && !same_arch(r->d.arch, syms))
		return error("cannot use '%s': it was recorded on %s, '%s' is for %s", r->d.name, r->d.arch, vmlinux,
			     symtab_arch(syms));
	if (!r->d.build_id_size || !syms->build_id_size) {
		detail("'%s' and '%s' could not be compared: no build-id", r->d.name, vmlinux);
		return 0;
	}
	uint32_t size = r->d.build_id_size < syms->build_id_size ? r->d.build_id_size : syms->build_id_size;
	if (!memcmp(r->d.build_id, syms->build_id, size))
		return 0;
	build_id_hex(r->d.build_id, r->d.build_id_size, theirs);
	build_id_hex(syms->build_id, syms->build_id_size, ours);
	if (r->opts->force) {
		warn("'%s' is of kernel %s, '%s' is %s: addresses may lead to wrong functions", r->d.name, theirs,
		     vmlinux, ours);
		return 0;
	}
	return error("cannot use '%s': it is of kernel %s, '%s' is %s; use 'hottext collect --vmlinux OLD' "
		     "and the profile that it writes", r->d.name, theirs, vmlinux, ours);
}

/*
 * What was lost, once: with FORMAT_LOST perf counts the same losses in both kinds of record, in
 * LOST_SAMPLES those of each event.
 */
static uint64_t lost(const struct run *r)
{
	for (uint32_t i = 0; i < r->d.nr_attrs; i++)
		if (r->d.attrs[i].read_format & FORMAT_LOST)
			return r->lost_told || r->lost_samples > r->lost_records ? r->lost_samples : r->lost_records;
	uint64_t sum = r->lost_records;
	add_count(&sum, r->lost_samples);
	return sum;
}

/* Which events the samples are of, where that was our choice and another was there. */
static void tell_choice(const struct run *r)
{
	unsigned int nr = 0;
	bool cycles = true;

	for (uint32_t i = 0; i < r->d.nr_attrs; i++) {
		const struct perfdata_attr *a = &r->d.attrs[i];

		nr += a->used && a->samples;
		cycles &= !a->used || !a->samples || perfdata_event_is_cycles(a->name);
	}
	if (r->opts->event || (nr < 2 && cycles))
		return;
	for (uint32_t i = 0; i < r->d.nr_attrs; i++)
		if (r->d.attrs[i].used && r->d.attrs[i].samples)
			note("'%s': %llu samples of event '%s' taken%s", r->d.name,
			     (unsigned long long)r->d.attrs[i].samples, r->d.attrs[i].name,
			     cycles ? "" : ", though it counts no cycles");
}

static void add_sources(struct run *r, struct profile *p)
{
	uint64_t nr_lost = lost(r);
	char build_id[2 * BUILD_ID_MAX + 1];

	add_count(&nr_lost, r->strays + r->malformed);
	tell_choice(r);
	build_id_hex(r->d.build_id, r->d.build_id_size, build_id);
	for (uint32_t i = 0; i < r->d.nr_attrs; i++) {
		const struct perfdata_attr *a = &r->d.attrs[i];

		if (!a->used) {
			perfdata_tell_left_out(r->d.name, a->samples, a->name);
			continue;
		}
		detail("'%s': event '%s' used, %llu samples", r->d.name, a->name, (unsigned long long)a->samples);
		struct profile_source *s = profile_add_source(p, "perf.data");
		profile_set(&s->event, a->name);
		profile_set(&s->host, r->d.hostname);
		profile_set(&s->release, r->d.release);
		profile_set(&s->build_id, build_id);
		s->lost = nr_lost;
		perfdata_sampler_finish(&r->sampler, i, s);
		nr_lost = 0;
	}
}

static int finish(struct run *r, struct profile *p)
{
	if (choose(r) < 0 || check_kernel(r) < 0)
		return -1;
	if (!r->map.placed && r->sampler.kernel)
		warn("'%s' does not say where its kernel lay (kptr_restrict?): taken to be where '%s' was linked",
		     r->d.name, r->opts->vmlinux ? r->opts->vmlinux : "the symbols");
	if (r->strays)
		warn("'%s': %llu samples of unknown events", r->d.name, (unsigned long long)r->strays);
	if (r->followed)
		collect_tell_second(r->d.name);
	if (r->malformed)
		warn("'%s': %llu malformed records", r->d.name, (unsigned long long)r->malformed);
	detail("'%s': %llu samples, kernel callchain depth %llu, %llu branch entries, kernel moved by %#llx",
	       r->d.name, (unsigned long long)r->sampler.samples, (unsigned long long)r->sampler.depth,
	       (unsigned long long)r->sampler.branches, (unsigned long long)r->map.slide);
	add_sources(r, p);
	return 0;
}

static int run_init(struct run *r, const char *name, const struct collect_options *opts, struct profile *p)
{
	memset(r, 0, sizeof(*r));
	r->opts = opts;
	r->d.name = name;
	if (!opts->syms)
		return error("cannot use '%s': perf.data holds no symbols; give the kernel's --vmlinux or --kallsyms",
			     name);
	perfdata_map_init(&r->map, opts->syms, opts->modules, &r->d);
	perfdata_sampler_init(&r->sampler, &r->map, p);
	return 0;
}

static void run_release(struct run *r)
{
	perfdata_release(&r->d);
	perfdata_map_release(&r->map);
	perfdata_sampler_release(&r->sampler);
}

/* The records in [off, end) of an open file. */
static int walk_fd(struct run *r, int fd, uint64_t off, uint64_t end)
{
	struct perfdata_stream s;

	perfdata_stream_init(&s, fd, NULL, off, end, r->d.swap);
	s.pipe = r->d.pipe;
	int ret = walk(r, &s, UINT64_MAX);
	r->followed |= s.followed;
	perfdata_stream_release(&s);
	return ret;
}

/* The file of a folder that has the header says nothing of the samples: its neighbours hold them. */
static int check_alone(const struct run *r)
{
	if (!r->d.is_dir)
		return 0;
	if (!r->opts->force)
		return error("cannot read '%s': it is one of a folder's files; give the folder (--force uses it alone)",
			     r->d.name);
	warn("'%s' is one of a folder's files: the samples in the others are lost", r->d.name);
	return 0;
}

static int read_fd(struct run *r, int fd, const char *name, bool in_dir)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error("cannot read '%s': %s", name, strerror(errno));
	if (perfdata_open(&r->d, fd, (uint64_t)st.st_size, name, r->opts->force) < 0 ||
	    (!in_dir && check_alone(r) < 0))
		return -1;
	r->followed = perfdata_at(fd, perfdata_end(fd, r->d.swap));
	return walk_fd(r, fd, r->d.data_off, r->d.data_off + r->d.data_size);
}

/* Whether what is ahead is a stream, as `perf record -o -` writes it: its header is 16 bytes. */
static bool is_stream(struct input *in, bool *swap)
{
	size_t avail;
	const unsigned char *h = input_peek(in, 16, &avail);

	if (avail < 16)
		return false;
	*swap = h[0] == '2';	/* "2ELIFREP" */
	return perfdata_u64(h + 8, *swap) == 16;
}

static int read_stream(struct run *r, struct input *in)
{
	struct perfdata_stream s;

	input_skip(in, 16);
	r->d.pipe = true;
	perfdata_stream_init(&s, -1, in, 0, UINT64_MAX, r->d.swap);
	s.pipe = true;
	int ret = walk(r, &s, UINT64_MAX);
	r->followed |= s.followed;
	perfdata_stream_release(&s);
	return ret;
}

static int read_perfdata(struct input *in, const char *path, const struct collect_options *opts,
			 struct profile *p)
{
	struct run r;
	int ret = -1, fd;

	if (run_init(&r, input_name(in), opts, p) < 0)
		return -1;
	fd = spill_reopen(in, path);
	if (fd < 0 && is_stream(in, &r.d.swap)) {
		ret = read_stream(&r, in);
	} else {
		if (fd < 0)
			fd = spill_file(in, path);
		if (fd >= 0)
			ret = read_fd(&r, fd, input_name(in), false);
	}
	if (fd >= 0)
		close(fd);
	if (!ret)
		ret = finish(&r, p);
	run_release(&r);
	return ret;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The N of all DIR/data.N, ascending; the caller frees. False after reporting. */
static bool list_parts(const char *dir, uint64_t **numbers, size_t *nr)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	size_t alloc = 0;
	uint64_t n;

	*numbers = NULL;
	*nr = 0;
	if (!d) {
		error("cannot read '%s': %s", dir, strerror(errno));
		return false;
	}
	while ((e = readdir(d))) {
		const char *s = e->d_name + 5;

		/* Not "data.old", nor "data.01". */
		if (strncmp(e->d_name, "data.", 5) != 0 || (*s == '0' && s[1]) || !scan_dec(&s, &n) || *s)
			continue;
		ALLOC_GROW(*numbers, *nr + 1, alloc);
		(*numbers)[(*nr)++] = n;
	}
	closedir(d);
	if (*nr)
		qsort(*numbers, *nr, sizeof(**numbers), by_number);
	return true;
}

static int part_lost(const struct run *r, const char *dir, uint64_t n, int why)
{
	if (!r->opts->force)
		return error("cannot read '%s': its data.%llu: %s (--force uses the others)", dir, (unsigned long long)n,
			     strerror(why));
	warn("'%s': its data.%llu is lost: %s", dir, (unsigned long long)n, strerror(why));
	return 0;
}

/* One of a folder's files. */
struct part {
	struct perfdata_stream s;
	uint64_t time;		/* of its last sample so far */
	bool done;
};

/* 1: where it is one of many, and no more can be open at once. */
static int open_part(struct run *r, const char *dir, uint64_t n, struct part *part, bool alone)
{
	char *path = xasprintf("%s/data.%llu", dir, (unsigned long long)n);
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = errno;

	free(path);
	if (fd < 0 && err == EMFILE && !alone)
		return 1;
	if (fd < 0) {
		part->done = true;
		return part_lost(r, dir, n, err);
	}
	perfdata_stream_init(&part->s, fd, NULL, 0, UINT64_MAX, r->d.swap);
	return 0;
}

static void close_part(struct part *part)
{
	if (!part->s.buf)
		return;
	close(part->s.fd);
	perfdata_stream_release(&part->s);
}

/* All at once, a piece of the one that is the furthest behind at a time: sorting wants no more. */
static int walk_parts(struct run *r, struct part *parts, size_t nr)
{
	enum { PIECE = 1 << 16 };
	int ret = 0;

	while (ret >= 0) {
		struct part *next = NULL;

		for (size_t i = 0; i < nr; i++)
			if (!parts[i].done && (!next || parts[i].time < next->time))
				next = &parts[i];
		if (!next)
			break;
		r->time = next->time;
		ret = walk(r, &next->s, next->s.taken + PIECE);
		next->time = r->time;
		next->done = !ret;
	}
	return ret;
}

/* One after the other: what followed what is then as good as the window of those that sort. */
static int walk_in_turn(struct run *r, const char *dir, const uint64_t *numbers, struct part *parts, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && ret >= 0; i++) {
		if (!parts[i].done)
			ret = open_part(r, dir, numbers[i], &parts[i], true);
		if (!ret)
			ret = walk_parts(r, &parts[i], 1);
		close_part(&parts[i]);
	}
	return ret;
}

/* As many files as there may be processors, where the system lets us. */
static void allow_files(void)
{
	enum { MAX_FILES = 1 << 12 };
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= MAX_FILES)
		return;
	l.rlim_cur = l.rlim_max < MAX_FILES ? l.rlim_max : MAX_FILES;
	setrlimit(RLIMIT_NOFILE, &l);
}

/* DIR/data.0, data.1 and so on, none of which may be missing. */
static int read_parts(struct run *r, const char *dir)
{
	uint64_t *numbers, next = 0;
	size_t nr;
	int ret = 0;

	if (!list_parts(dir, &numbers, &nr))
		return -1;
	struct part *parts = xcalloc(nr, sizeof(*parts));
	if (!nr && r->d.is_dir)
		ret = part_lost(r, dir, 0, ENOENT);
	for (size_t i = 0; i < nr && !ret; next = numbers[i++] + 1)
		if (numbers[i] != next)
			ret = part_lost(r, dir, next, ENOENT);
	allow_files();
	for (size_t i = 0; i < nr && !ret; i++)
		ret = open_part(r, dir, numbers[i], &parts[i], false);
	if (!ret)
		ret = walk_parts(r, parts, nr);
	for (size_t i = 0; i < nr; i++)
		close_part(&parts[i]);
	if (ret > 0)
		ret = walk_in_turn(r, dir, numbers, parts, nr);
	free(parts);
	free(numbers);
	return ret;
}

int perfdata_read_dir(const char *path, const struct collect_options *opts, struct profile *p)
{
	struct run r;
	int ret = -1;

	if (run_init(&r, path, opts, p) < 0)
		return -1;
	char *data = path_join(path, "data");
	int fd = open(data, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		error("cannot read '%s': %s", data, strerror(errno));
	} else {
		ret = read_fd(&r, fd, path, true);
		close(fd);
	}
	if (!ret)
		ret = read_parts(&r, path);
	if (!ret)
		ret = finish(&r, p);
	free(data);
	run_release(&r);
	return ret;
}

const struct reader perfdata_reader = {
	.name = "perf.data",
	.tells = "samples, exact addresses, call sites from callchains, proved ranges and calls from branch records",
	.probe = perfdata_probe,
	.read = read_perfdata,
};
