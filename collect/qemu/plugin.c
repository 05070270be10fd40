/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * QEMU TCG plugin: records the guest's fetch stream (format.h) and simulates
 * instruction TLBs (sim.h) while the guest runs. Arguments, name=value each:
 *
 *   out=FILE      the fetch trace
 *   mark=ADDRESS  hexadecimal; recording goes on and off, and a new section of
 *                 the counts begins, each time the guest enters this address
 *   sim=SPEC      an instruction TLB to simulate, see sim.h; may be repeated
 *   count=ADDRESS hexadecimal; counts executions of the block that begins there
 *   simout=FILE   where counts go; "-": standard error
 *   machine=HEX   the kernel's ELF machine, where the target runs several
 *   kernel=ADDRESS, build=HEX   kernel base and build-id, for the trace's header
 *
 * QEMU calls back before a block runs: a block that faults midway counts as run
 * whole, and is seen again, from the faulting instruction on, when it goes on.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "qemu-plugin-abi.h"
#include "sim.h"
#include "writer.h"

QEMU_PLUGIN_VISIBLE int qemu_plugin_version = QEMU_PLUGIN_ABI;

enum block_flags {
	BLOCK_KERNEL = 1,
	BLOCK_REAL = 2,		/* runs untranslated: no TLB is asked */
	BLOCK_SWITCHES = 4,	/* switches the address space */
	BLOCK_MARK = 8,
	BLOCK_COUNT = 16,
};

struct block {
	uint64_t addr, last;	/* of its first and last byte */
	uint64_t hash;		/* of its bytes: user addresses mean other code in another process */
	uint32_t insns;
	uint32_t number;	/* in the trace; UINT32_MAX until it is recorded */
	uint32_t flags;
	uint32_t count;		/* in counts[], with BLOCK_COUNT */
};

enum { MAX_SIMS = 16, MAX_COUNTS = 16, MAX_MARKS = 16 };

struct count {
	uint64_t addr;
	uint64_t hits[2];	/* [1]: from the kernel */
};

struct cpu {
	struct sim sims[MAX_SIMS];
	uint64_t last_page;	/* in units of the smallest page; no simulation changes on a repeat */
	bool after_mark;	/* nothing ran since the mark but exception vectors */
	uint32_t pending_count;	/* counts[] + 1 whose origin the next translated fetch tells */
};

struct tallies {		/* of one section */
	uint64_t insns[2], blocks[2];	/* [1]: kernel */
	struct count counts[MAX_COUNTS];
	struct sim_counts sims[MAX_SIMS];
};

static struct {
	const struct guest *guest;
	uint64_t kernel_base;
	uint64_t marks[MAX_MARKS];
	struct sim_spec specs[MAX_SIMS];
	unsigned int nr_sims, nr_counts, nr_marks, nr_cpus, page_shift;
	bool smp;
	struct writer writer;
	bool writing;		/* there is a trace at all */
	bool recording;		/* between marks */
	bool done;
	unsigned int cpu;	/* that ran last */
	struct cpu *cpus;
	FILE *simout;
	uint32_t section;
	struct tallies now, total;	/* this section; all recorded ones */

	struct block **table;	/* open addressing over all blocks */
	uint32_t table_size, nr_blocks, nr_numbered;
	pthread_mutex_t trans_lock, run_lock;
} g = { .trans_lock = PTHREAD_MUTEX_INITIALIZER, .run_lock = PTHREAD_MUTEX_INITIALIZER };

static void add_tallies(struct tallies *to, const struct tallies *from)
{
	for (int k = 0; k < 2; k++) {
		to->insns[k] += from->insns[k];
		to->blocks[k] += from->blocks[k];
		for (unsigned int i = 0; i < g.nr_counts; i++)
			to->counts[i].hits[k] += from->counts[i].hits[k];
		for (unsigned int i = 0; i < g.nr_sims; i++) {
			to->sims[i].misses[k] += from->sims[i].misses[k];
			to->sims[i].fetches[k] += from->sims[i].fetches[k];
		}
	}
}

static void print_tallies(const struct tallies *t, const char *scope)
{
	fprintf(g.simout, "%sinsns: kernel_insns=%" PRIu64 " user_insns=%" PRIu64 " kernel_blocks=%" PRIu64
		" user_blocks=%" PRIu64 "\n", scope, t->insns[1], t->insns[0], t->blocks[1], t->blocks[0]);
	for (unsigned int i = 0; i < g.nr_sims; i++) {
		const struct sim_counts *c = &t->sims[i];
		char name[96];

		sim_describe(&g.specs[i], name, sizeof(name));
		fprintf(g.simout, "%ssim %s: kernel_misses=%" PRIu64 " user_misses=%" PRIu64, scope, name,
			c->misses[1], c->misses[0]);
		fprintf(g.simout, " kernel_fetches=%" PRIu64 " user_fetches=%" PRIu64 " insns=%" PRIu64 "\n",
			c->fetches[1], c->fetches[0], t->insns[1] + t->insns[0]);
	}
	for (unsigned int i = 0; i < g.nr_counts; i++)
		fprintf(g.simout, "%scount 0x%" PRIx64 ": kernel=%" PRIu64 " user=%" PRIu64 "\n", scope,
			g.now.counts[i].addr, t->counts[i].hits[1], t->counts[i].hits[0]);
}

/* Print what the section counted, add it to the total when it was recorded, and count from 0. */
static void end_section(void)
{
	for (unsigned int c = 0; c < g.nr_cpus; c++) {
		for (unsigned int i = 0; i < g.nr_sims; i++) {
			struct sim_counts *from = &g.cpus[c].sims[i].counts, *to = &g.now.sims[i];

			for (int k = 0; k < 2; k++) {
				to->misses[k] += from->misses[k];
				to->fetches[k] += from->fetches[k];
			}
			memset(from, 0, sizeof(*from));
		}
	}
	if (g.recording)
		add_tallies(&g.total, &g.now);
	if (g.simout && g.nr_marks) {
		char scope[32];

		snprintf(scope, sizeof(scope), "section %u ", g.section);
		print_tallies(&g.now, scope);
		fflush(g.simout);
	}
	for (unsigned int i = 0; i < g.nr_counts; i++)
		memset(g.now.counts[i].hits, 0, sizeof(g.now.counts[i].hits));
	memset(g.now.insns, 0, sizeof(g.now.insns));
	memset(g.now.blocks, 0, sizeof(g.now.blocks));
	memset(g.now.sims, 0, sizeof(g.now.sims));
	g.section++;
}

static void pass_mark(unsigned int cpu)
{
	end_section();
	g.recording = !g.recording;
	if (!g.writing)
		return;
	writer_control(&g.writer, FETCH_MARK, 1, (uint32_t[]){ g.recording });
	/* Switches of CPUs off the record were not written. */
	if (g.recording && cpu != g.cpu)
		writer_control(&g.writer, FETCH_CPU, 1, &cpu);
	g.cpu = cpu;
}

/* A mark whose first instruction faults, on its stack say, comes again when the vector is done: one entry. */
static bool is_new_mark(struct cpu *cpu, const struct block *b)
{
	bool again = cpu->after_mark;

	if (b->flags & BLOCK_REAL)
		return false;
	cpu->after_mark = b->flags & BLOCK_MARK;
	return cpu->after_mark && !again;
}

static void define_block(struct block *b)
{
	uint32_t words[] = { (uint32_t)b->addr, (uint32_t)(b->addr >> 32), (uint32_t)(b->last - b->addr + 1), b->insns };

	writer_control(&g.writer, FETCH_DEFINE, 4, words);
	b->number = g.nr_numbered++;
}

static void count_block(struct cpu *cpu, const struct block *b)
{
	if (cpu->pending_count && !(b->flags & BLOCK_REAL)) {
		g.now.counts[cpu->pending_count - 1].hits[b->flags & BLOCK_KERNEL]++;
		cpu->pending_count = 0;
	}
	if (!(b->flags & BLOCK_COUNT))
		return;
	/* An exception vector: it was the code that runs next, translated, which raised it. */
	if (b->flags & BLOCK_REAL)
		cpu->pending_count = b->count + 1;
	else
		g.now.counts[b->count].hits[b->flags & BLOCK_KERNEL]++;
}

static void simulate(struct cpu *cpu, const struct block *b)
{
	uint64_t first = b->addr >> g.page_shift, last = b->last >> g.page_shift;

	if (first == cpu->last_page && last == first)
		return;
	cpu->last_page = last;
	for (unsigned int i = 0; i < g.nr_sims; i++)
		sim_touch(&cpu->sims[i], b->addr, b->last, b->flags & BLOCK_KERNEL);
}

static void switch_space(struct cpu *cpu)
{
	if (!g.recording)
		return;
	cpu->last_page = UINT64_MAX;
	for (unsigned int i = 0; i < g.nr_sims; i++)
		sim_switch(&cpu->sims[i]);
	if (g.writing)
		writer_control(&g.writer, FETCH_SWITCH, 0, NULL);
}

static inline void run_block(unsigned int cpu_index, struct block *b)
{
	struct cpu *cpu = &g.cpus[cpu_index];

	if (g.nr_marks && is_new_mark(cpu, b))
		pass_mark(cpu_index);
	g.now.insns[b->flags & BLOCK_KERNEL] += b->insns;
	g.now.blocks[b->flags & BLOCK_KERNEL]++;
	if (g.nr_counts && (cpu->pending_count || b->flags & BLOCK_COUNT))
		count_block(cpu, b);
	/* Off the record TLBs stand still: a replay of the trace cannot know what evicted what meanwhile. */
	if (g.recording && !(b->flags & BLOCK_REAL))
		simulate(cpu, b);
	if (g.recording && g.writing) {
		if (b->number == UINT32_MAX)
			define_block(b);
		writer_run(&g.writer, b->number, b->insns);
	}
	if (b->flags & BLOCK_SWITCHES)
		switch_space(cpu);
}

static void on_run(unsigned int cpu, void *data)
{
	(void)cpu;
	if (!g.done)
		run_block(0, data);
}

static void on_run_smp(unsigned int cpu, void *data)
{
	pthread_mutex_lock(&g.run_lock);
	if (!g.done && cpu < g.nr_cpus) {
		if (cpu != g.cpu && g.writing && g.recording)
			writer_control(&g.writer, FETCH_CPU, 1, &cpu);
		if (g.recording)
			g.cpu = cpu;
		run_block(cpu, data);
	}
	pthread_mutex_unlock(&g.run_lock);
}

static uint64_t hash_bytes(uint64_t h, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u;	/* FNV-1a */
	return h ^ h >> 29;
}

static uint32_t find_slot(const struct block *b)
{
	uint32_t mask = g.table_size - 1;
	uint32_t slot = (uint32_t)((b->hash ^ b->addr * 0x9e3779b97f4a7c15u) >> 20) & mask;

	for (; g.table[slot]; slot = (slot + 1) & mask) {
		const struct block *have = g.table[slot];

		if (have->addr == b->addr && have->last == b->last && have->hash == b->hash &&
		    have->insns == b->insns)
			break;
	}
	return slot;
}

static bool grow_table(void)
{
	struct block **old = g.table;
	uint32_t old_size = g.table_size;

	g.table_size = old_size ? 2 * old_size : 1 << 16;
	g.table = calloc(g.table_size, sizeof(*g.table));
	if (!g.table)
		return false;
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i])
			g.table[find_slot(old[i])] = old[i];
	free(old);
	return true;
}

/* The block equal to key, made when new; blocks live as long as the emulator, which points to them. */
static struct block *intern_block(const struct block *key)
{
	struct block *b = NULL;

	pthread_mutex_lock(&g.trans_lock);
	if (g.nr_blocks < g.table_size / 2 || grow_table()) {
		uint32_t slot = find_slot(key);

		b = g.table[slot];
		if (!b && (b = malloc(sizeof(*b)))) {
			*b = *key;
			g.table[slot] = b;
			g.nr_blocks++;
		}
	}
	pthread_mutex_unlock(&g.trans_lock);
	if (!b) {
		fprintf(stderr, "hottext: out of memory\n");
		exit(1);
	}
	return b;
}

static uint32_t classify(const struct block *b)
{
	uint32_t flags = 0;

	if (b->addr >= g.kernel_base)
		flags |= BLOCK_KERNEL;
	else if (b->addr < g.guest->real_limit)
		flags |= BLOCK_KERNEL | BLOCK_REAL;
	for (unsigned int i = 0; i < g.nr_marks; i++)
		if (g.marks[i] == b->addr)
			flags |= BLOCK_MARK;
	return flags;
}

static void on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	struct block key = { .addr = qemu_plugin_tb_vaddr(tb), .number = UINT32_MAX };
	size_t nr = qemu_plugin_tb_n_insns(tb), bytes = 0;

	(void)id;
	if (!nr)
		return;
	if (g.guest->is_32)
		key.addr &= UINT32_MAX;
	key.hash = 0xcbf29ce484222325u;
	key.insns = (uint32_t)nr;
	key.flags = classify(&key);
	for (size_t i = 0; i < nr; i++) {
		const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t size = qemu_plugin_insn_size(insn);
		const unsigned char *data = qemu_plugin_insn_data(insn);

		key.hash = hash_bytes(key.hash, data, size);
		bytes += size;
		if (key.addr >= g.kernel_base && g.guest->switches && g.guest->switches(data, size))
			key.flags |= BLOCK_SWITCHES;
	}
	key.last = key.addr + (bytes ? bytes - 1 : 0);
	for (unsigned int i = 0; i < g.nr_counts; i++) {
		if (g.now.counts[i].addr == key.addr) {
			key.flags |= BLOCK_COUNT;
			key.count = i;
		}
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, g.smp ? on_run_smp : on_run, 0, intern_block(&key));
}

static void on_exit_qemu(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	pthread_mutex_lock(&g.run_lock);
	g.done = true;
	end_section();
	if (g.writing)
		writer_close(&g.writer);
	if (g.simout) {
		print_tallies(&g.total, "");
		if (fflush(g.simout) || ferror(g.simout) || (g.simout != stderr && fclose(g.simout)))
			fprintf(stderr, "hottext: cannot write the counts: %s\n", strerror(errno));
	}
	pthread_mutex_unlock(&g.run_lock);
}

static bool parse_hex(const char *s, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(s, &end, 16);
	return end != s && !*end && !errno;
}

static bool parse_build_id(const char *hex, unsigned char id[32])
{
	size_t n = strlen(hex);

	if (n % 2 || n > 64)
		return false;
	for (size_t i = 0; i < n / 2; i++) {
		char pair[3] = { hex[2 * i], hex[2 * i + 1] };
		uint64_t v;

		if (!parse_hex(pair, &v))
			return false;
		id[i] = (unsigned char)v;
	}
	return true;
}

struct arguments {
	const char *out, *simout;
	uint16_t machine;
	struct writer_header header;
};

static bool parse_argument(struct arguments *a, const char *arg)
{
	const char *eq = strchr(arg, '='), *value = eq ? eq + 1 : "";
	size_t n = eq ? (size_t)(eq - arg) : 0;
	uint64_t addr;
	bool is_sim = n == 3 && !strncmp(arg, "sim", n), is_hex = parse_hex(value, &addr);

	if (n == 3 && !strncmp(arg, "out", n))
		return a->out = value, true;
	if (n == 6 && !strncmp(arg, "simout", n))
		return a->simout = value, true;
	if (n == 5 && !strncmp(arg, "build", n))
		return parse_build_id(value, a->header.build_id);
	if (is_sim && g.nr_sims < MAX_SIMS && sim_parse(&g.specs[g.nr_sims], value))
		return g.nr_sims++, true;
	if (!is_hex)
		return false;
	if (n == 7 && !strncmp(arg, "machine", n))
		return a->machine = (uint16_t)addr, true;
	if (n == 6 && !strncmp(arg, "kernel", n))
		return g.kernel_base = addr, true;
	if (n == 4 && !strncmp(arg, "mark", n) && g.nr_marks < MAX_MARKS)
		return g.marks[g.nr_marks++] = addr, true;
	if (n == 5 && !strncmp(arg, "count", n) && g.nr_counts < MAX_COUNTS)
		return g.now.counts[g.nr_counts++].addr = addr, true;
	return false;
}

static bool init_cpus(void)
{
	g.cpus = calloc(g.nr_cpus, sizeof(*g.cpus));
	if (!g.cpus)
		return false;
	g.page_shift = 12;
	for (unsigned int i = 0; i < g.nr_sims; i++) {
		if (g.specs[i].kernel_shift < g.page_shift)
			g.page_shift = g.specs[i].kernel_shift;
		if (g.specs[i].user_shift < g.page_shift)
			g.page_shift = g.specs[i].user_shift;
	}
	for (unsigned int c = 0; c < g.nr_cpus; c++) {
		g.cpus[c].last_page = UINT64_MAX;
		for (unsigned int i = 0; i < g.nr_sims; i++)
			if (!sim_init(&g.cpus[c].sims[i], &g.specs[i]))
				return false;
	}
	return true;
}

static int refuse(const char *what, const char *subject)
{
	fprintf(stderr, "hottext: %s '%s'\n", what, subject);
	return -1;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	struct arguments a = { .out = NULL };

	g.guest = guest_find(info->target_name);
	if (!g.guest || !info->system_emulation)
		return refuse("cannot trace this guest", info->target_name);
	for (int i = 0; i < argc; i++)
		if (!parse_argument(&a, argv[i]))
			return refuse("bad plugin argument", argv[i]);
	if (a.machine)
		g.guest = guest_for_kernel(g.guest, a.machine);
	if (!g.guest)
		return refuse("cannot run this kernel on", info->target_name);
	if (!g.kernel_base)
		g.kernel_base = g.guest->kernel_base;
	g.nr_cpus = info->max_vcpus > 0 ? (unsigned int)info->max_vcpus : 1;
	g.smp = g.nr_cpus > 1;
	g.recording = !g.nr_marks;
	if (!init_cpus())
		return refuse("out of memory for", "the simulation");
	a.header.e_machine = g.guest->e_machine;
	a.header.nr_cpus = g.nr_cpus;
	a.header.kernel_base = g.kernel_base;
	if (a.out) {
		g.writing = true;
		if (!writer_init(&g.writer, a.out, &a.header))
			return -1;
	}
	if (a.simout) {
		g.simout = strcmp(a.simout, "-") ? fopen(a.simout, "we") : stderr;
		if (!g.simout)
			return refuse("cannot write", a.simout);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_qemu, NULL);
	return 0;
}
