/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reader of trace.dat, through libtracecmd: function_graph, function with its
 * caller, stack traces. Records of the CPUs are merged by time, so that a task is
 * followed from one CPU to another.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "collect/chain.h"
#include "ftrace_names.h"
#include "funcgraph.h"
#include "tracedat_damage.h"
#include "tracedat_repair.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "collect/spill.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"

enum { MAX_STACK = 512 };

enum kind { KIND_OTHER, KIND_ENTRY, KIND_EXIT, KIND_FUNCTION, KIND_STACK };

/* Where a field is in a record of its event. */
struct field {
	uint32_t off, size;	/* size 0: the event has no such field */
};

struct event {
	enum kind kind;
	struct field func;	/* func of the graph, ip of function, caller[] of a stack */
	struct field depth;
	struct field parent;	/* return address in the caller */
	struct field nr;	/* addresses of a stack */
	struct field times;	/* calls that func_repeats stands for, as the one before */
};

/* A function event, held back: a stack trace behind it tells the same and more. */
struct call {
	uint32_t cpu, pid, func, caller, off, times;
	bool resolved;
};

struct run {
	const struct collect_options *opts;
	struct profile *p;
	struct tep_handle *tep;
	struct tracecmd_input *handle;
	const char *name;
	struct ftrace_names names;
	struct funcgraph graph;
	struct chain chain;
	struct event *events;	/* [event id] */
	uint32_t nr_events;
	struct field pid;	/* common_pid */
	struct call call;	/* the last, not counted yet */
	bool has_call;
	uint64_t used[KIND_STACK + 1], resolved[KIND_STACK + 1];	/* events; chain counts those of stacks */
	uint64_t lost, gaps;
	bool damaged;		/* a record cannot be */
	uint64_t page, pages;	/* bytes of one; that records were read of: their offsets tell how far libtracecmd came */
};

static struct field find_field(struct tep_event *e, const char *name)
{
	struct tep_format_field *f = tep_find_any_field(e, name);

	if (!f || f->offset < 0 || f->size < 0)
		return (struct field){ 0, 0 };
	return (struct field){ (uint32_t)f->offset, (uint32_t)f->size };
}

static void know_event(struct run *r, const char *name, struct event ev, const char *func, const char *parent)
{
	struct tep_event *e = tep_find_event_by_name(r->tep, "ftrace", name);

	if (!e || e->id < 0 || e->id > UINT16_MAX)
		return;
	ev.func = find_field(e, func);
	ev.depth = find_field(e, "depth");
	ev.nr = find_field(e, "size");
	ev.times = find_field(e, "count");
	if (parent)
		ev.parent = find_field(e, parent);
	r->pid = find_field(e, "common_pid");
	uint32_t id = (uint32_t)e->id;
	if (id >= r->nr_events) {
		r->events = xreallocarray(r->events, id + (size_t)1, sizeof(*r->events));
		memset(r->events + r->nr_events, 0, (id + 1 - r->nr_events) * sizeof(*r->events));
		r->nr_events = id + 1;
	}
	r->events[id] = ev;
}

static uint64_t number(const struct run *r, const struct tep_record *rec, struct field f)
{
	if (!f.size || f.size > 8 || f.off + (uint64_t)f.size > (uint64_t)rec->size)
		return 0;
	return tep_read_number(r->tep, (const char *)rec->data + f.off, (int)f.size);
}

static const struct ftrace_place *place(struct run *r, uint64_t addr)
{
	const struct ftrace_place *seen = ftrace_names_seen(&r->names, addr);

	if (seen)
		return seen;
	return ftrace_names_addr(&r->names, addr, tep_find_function(r->tep, addr),
				 tep_find_function_address(r->tep, addr));
}

static void take_entry(struct run *r, const struct event *ev, const struct tep_record *rec, uint32_t cpu,
		       uint32_t pid)
{
	const struct ftrace_place *to = place(r, number(r, rec, ev->func));
	uint32_t func = to->func, off = PROFILE_OFF_UNKNOWN;

	r->resolved[KIND_ENTRY] += to->resolved;
	if (ev->parent.size) {
		const struct ftrace_place *from = place(r, number(r, rec, ev->parent) - 1);
		off = from->off;
	}
	funcgraph_entry(&r->graph, cpu, pid, (uint32_t)number(r, rec, ev->depth), func, off);
}

static void take_function(struct run *r, const struct event *ev, const struct tep_record *rec, uint32_t cpu,
			  uint32_t pid)
{
	const struct ftrace_place *at = place(r, number(r, rec, ev->func));
	uint64_t times = ev->times.size ? number(r, rec, ev->times) : 1;

	r->call = (struct call){ .cpu = cpu, .pid = pid, .func = at->func, .resolved = at->resolved };
	r->call.times = times <= UINT16_MAX ? (uint32_t)times : 1;	/* the kernel's is u16 */
	/* The byte before a return address is the call's. */
	at = place(r, number(r, rec, ev->parent) - 1);
	r->call.caller = at->func;
	r->call.off = at->off;
	r->has_call = true;
}

static void flush_call(struct run *r)
{
	const struct call *c = &r->call;

	if (!r->has_call)
		return;
	r->has_call = false;
	r->used[KIND_FUNCTION] += c->times;
	r->resolved[KIND_FUNCTION] += c->resolved ? c->times : 0;
	funcgraph_call(&r->graph, c->cpu, c->pid, c->func, c->caller, c->off, c->times);
}

/* caller[] holds size addresses; older kernels fill a fixed array up to one that is ~0. */
static void take_stack(struct run *r, const struct event *ev, const struct tep_record *rec, uint32_t pid)
{
	struct field at = ev->func;
	uint64_t nr = ev->nr.size ? number(r, rec, ev->nr) : MAX_STACK;
	struct chain_frame frames[MAX_STACK];
	uint32_t n = 0;

	at.size = (uint32_t)tep_get_long_size(r->tep);
	for (; n < nr && n < MAX_STACK && at.off + (uint64_t)at.size <= (uint64_t)rec->size; at.off += at.size) {
		uint64_t addr = number(r, rec, at);

		if (!addr || addr == UINT64_MAX || (at.size == 4 && addr == UINT32_MAX))
			break;
		const struct ftrace_place *f = place(r, addr - (n > 0));
		if (!n && f->func == INDEX_NONE)
			continue;	/* ftrace's own trampoline */
		if (n && chain_cuts(&r->chain, frames[n - 1].func, f->func))
			f = place(r, addr);
		if (f->func != INDEX_NONE && !f->resolved)
			chain_only_name(&r->chain, f->func);
		frames[n] = (struct chain_frame){ f->func, f->off };
		n++;
	}
	struct chain_sample cs = { 1, pid, rec->ts };
	if (n)
		chain_add(&r->chain, frames, n, &cs);
	else
		chain_add_other(&r->chain);
}

static void take_record(struct run *r, const struct tep_record *rec, uint32_t cpu)
{
	int id = tep_data_type(r->tep, (struct tep_record *)(uintptr_t)rec);

	if (rec->missed_events) {
		/* Negative: some, the kernel did not say how many. */
		add_count(&r->lost, rec->missed_events > 0 ? (uint64_t)rec->missed_events : 1);
		r->gaps++;
		funcgraph_lost(&r->graph, cpu);
	}
	if (id < 0 || (uint32_t)id >= r->nr_events || r->events[id].kind == KIND_OTHER)
		return;
	const struct event *ev = &r->events[id];
	uint32_t pid = (uint32_t)number(r, rec, r->pid);
	r->has_call = r->has_call && !(ev->kind == KIND_STACK && r->call.cpu == cpu);
	flush_call(r);
	r->used[ev->kind] += ev->kind != KIND_FUNCTION;
	switch (ev->kind) {
	case KIND_ENTRY:
		take_entry(r, ev, rec, cpu, pid);
		break;
	case KIND_EXIT:
		funcgraph_exit(&r->graph, cpu, pid, (uint32_t)number(r, rec, ev->depth));
		break;
	case KIND_FUNCTION:
		take_function(r, ev, rec, cpu, pid);
		break;
	default:
		take_stack(r, ev, rec, pid);
	}
}

struct cpu {
	struct tep_record *head;
	uint32_t nr;
	uint64_t first, last;	/* offsets of records */
};

static bool is_earlier(const struct cpu *a, const struct cpu *b)
{
	return a->head->ts < b->head->ts || (a->head->ts == b->head->ts && a->nr < b->nr);
}

static void sift(struct cpu **heap, size_t nr, size_t at)
{
	for (size_t kid; (kid = 2 * at + 1) < nr; at = kid) {
		if (kid + 1 < nr && is_earlier(heap[kid + 1], heap[kid]))
			kid++;
		if (!is_earlier(heap[kid], heap[at]))
			return;
		struct cpu *c = heap[at];
		heap[at] = heap[kid];
		heap[kid] = c;
	}
}

/* libtraceevent takes what a damaged length says as a negative size, and would go back by it for ever. */
static struct tep_record *next_record(struct run *r, const struct cpu *c)
{
	struct tep_record *rec = tracecmd_read_data(r->handle, (int)c->nr);

	if (!rec || rec->size >= 0)
		return rec;
	tracecmd_free_record(rec);
	r->damaged = true;
	return NULL;
}

/* Merge the CPUs' records by time: a heap, for there may be hundreds. */
static void walk(struct run *r)
{
	size_t nr = tep_get_cpus(r->tep) > 0 ? (size_t)tep_get_cpus(r->tep) : 0, left = 0;
	struct cpu *cpus = xcalloc(nr, sizeof(*cpus)), **heap = xcalloc(nr, sizeof(*heap));

	for (size_t i = 0; i < nr; i++) {
		cpus[i].nr = (uint32_t)i;
		cpus[i].head = next_record(r, &cpus[i]);
		if (!cpus[i].head)
			continue;
		cpus[i].first = cpus[i].head->offset;
		heap[left++] = &cpus[i];
	}
	for (size_t i = left / 2; i-- > 0;)
		sift(heap, left, i);
	while (left) {
		struct cpu *c = heap[0];

		take_record(r, c->head, c->nr);
		c->last = c->head->offset;
		tracecmd_free_record(c->head);
		c->head = next_record(r, c);
		if (!c->head)
			heap[0] = heap[--left];
		sift(heap, left, 0);
	}
	for (size_t i = 0; r->page && i < nr; i++)
		if (cpus[i].last)
			r->pages += cpus[i].last / r->page - cpus[i].first / r->page + 1;
	free(heap);
	free(cpus);
}

static struct profile_source *add_source(struct run *r, const char *event, uint64_t events, uint64_t resolved)
{
	struct profile_source *s = profile_add_source(r->p, "trace.dat");

	profile_set(&s->event, event);
	if (r->opts->syms)
		source_set_kernel(s, r->opts->syms);
	s->samples = s->kernel = events;
	s->resolved = resolved;
	s->unresolved = events - resolved;
	return s;
}

/* A source for each event. What was lost is told for all of them together: the last, if any, has it. */
static void add_sources(struct run *r)
{
	struct profile_source *s = NULL;

	if (r->used[KIND_STACK]) {
		s = add_source(r, "kernel_stack", 0, 0);
		chain_finish(&r->chain, s);
	}
	if (r->used[KIND_FUNCTION])
		s = add_source(r, "function", r->used[KIND_FUNCTION], r->resolved[KIND_FUNCTION]);
	if (r->used[KIND_ENTRY])
		s = add_source(r, "function_graph", r->used[KIND_ENTRY], r->resolved[KIND_ENTRY]);
	if (s)
		s->lost = r->lost;
}

/* One buffer of the file: whether it was of use; -1 after reporting. */
static int read_buffer(struct run *r, struct tracecmd_input *handle)
{
	r->handle = handle;
	r->tep = tracecmd_get_tep(handle);
	know_event(r, "funcgraph_entry", (struct event){ .kind = KIND_ENTRY }, "func", NULL);
	know_event(r, "fgraph_retaddr_entry", (struct event){ .kind = KIND_ENTRY }, "func", "retaddr");
	know_event(r, "funcgraph_retaddr_entry", (struct event){ .kind = KIND_ENTRY }, "func", "retaddr");
	know_event(r, "funcgraph_exit", (struct event){ .kind = KIND_EXIT }, "func", NULL);
	know_event(r, "function", (struct event){ .kind = KIND_FUNCTION }, "ip", "parent_ip");
	know_event(r, "func_repeats", (struct event){ .kind = KIND_FUNCTION }, "ip", "parent_ip");
	know_event(r, "kernel_stack", (struct event){ .kind = KIND_STACK }, "caller", NULL);
	ftrace_names_init(&r->names, r->opts->syms, r->p);
	r->names.modules = r->opts->modules;
	funcgraph_init(&r->graph, r->p);
	chain_init(&r->chain, r->p, r->opts->syms);
	walk(r);
	flush_call(r);
	funcgraph_finish(&r->graph);
	ftrace_names_report(&r->names, r->name);
	detail("'%s': %llu entries, %llu exits, %llu paths, %llu of them incomplete and dropped", r->name,
	       (unsigned long long)r->used[KIND_ENTRY], (unsigned long long)r->used[KIND_EXIT],
	       (unsigned long long)(r->graph.paths + r->graph.broken), (unsigned long long)r->graph.broken);
	add_sources(r);
	uint64_t used = r->used[KIND_ENTRY] + r->used[KIND_FUNCTION] + r->used[KIND_STACK];
	chain_release(&r->chain);
	funcgraph_release(&r->graph);
	ftrace_names_release(&r->names);
	free(r->events);
	if (r->damaged && !r->opts->force)
		return error("cannot read '%s': damaged, a record has a size that cannot be (--force uses what stands before it)",
			     r->name);
	if (r->damaged)
		warn("'%s': a record has a size that cannot be: what its CPU wrote behind it is lost", r->name);
	return used ? 1 : 0;
}

/* How many buffers were of use; -1 after reporting. */
static int read_handle(struct tracecmd_input *handle, const char *name, const struct collect_options *opts,
		       struct profile *p, struct tracedat_damage *d)
{
	int nr = tracecmd_buffer_instances(handle);
	struct run r = { .opts = opts, .p = p, .name = name, .page = d->page };

	int used = read_buffer(&r, handle);
	d->read = r.pages;
	for (int i = 0; i < nr && used >= 0; i++) {
		struct tracecmd_input *h = tracecmd_buffer_instance_handle(handle, i);

		if (!h)
			return error("cannot read '%s': libtracecmd does not take its buffer '%s' (damaged?)", name,
				     tracecmd_buffer_instance_name(handle, i));
		r = (struct run){ .opts = opts, .p = p, .name = name, .page = d->page };
		int more = read_buffer(&r, h);
		used = more < 0 ? -1 : used + more;
		d->read += r.pages;
		tracecmd_close(h);
	}
	return used;
}

/* 0 when all that the file tells of decodes. */
static int refuse_damage(int fd, const char *name)
{
	struct tracedat_damage d;
	int ret = 0;

	tracedat_damage_find(&d, fd, true);
	if (d.lost)
		ret = error("cannot read '%s': damaged, of the %llu bytes of its events %llu are lost", name,
			    (unsigned long long)d.all, (unsigned long long)d.lost);
	tracedat_damage_release(&d);
	return ret;
}

static int read_fd(int fd, const char *name, const struct collect_options *opts, struct profile *p)
{
	struct tracecmd_input *handle = NULL;
	struct tracedat_damage d;
	int used = 0, ret;

	tracedat_damage_find(&d, fd, false);
	tracecmd_set_loglevel(TEP_LOG_NONE);
	if (!d.lost)
		handle = tracecmd_open_fd(dup(fd), TRACECMD_FL_LOAD_NO_PLUGINS);	/* closes it */
	if (handle)
		used = read_handle(handle, name, opts, p, &d);
	ret = used < 0 ? -1 : 0;
	/* Pages may be empty: they are looked at only where records end before the last. */
	if (!ret && d.read < d.pages)
		ret = refuse_damage(fd, name);
	if (!ret && !handle)
		ret = error("cannot read '%s': libtracecmd does not take it (truncated?)", name);
	if (!ret && !used)
		ret = error("cannot use '%s': it has no function_graph, function or stack trace events", name);
	if (handle)
		tracecmd_close(handle);
	tracedat_damage_release(&d);
	return ret;
}

/*
 * What libtracecmd says of a damaged file, and the C library of a heap that it broke, is no message of ours. Nor is
 * what a sanitizer says; ASAN_OPTIONS=log_path=FILE has it.
 */
static void silence_others(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), fd = null < 0 ? -1 : dup(STDERR_FILENO);
	FILE *ours = fd < 0 ? NULL : fdopen(fd, "w");

	if (!ours)
		return;
	setvbuf(ours, NULL, _IONBF, 0);
	error_stream = ours;
	dup2(null, STDERR_FILENO);
}

/* In a process of its own: read, and leave the profile as text. Never returns. */
static void child(int fd, FILE *out, const char *name, const struct collect_options *opts)
{
	struct profile p = { 0 };

	/* Nobody waits for what a killed parent wanted. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Sanitizers too are to let it die of its signal. */
	signal(SIGSEGV, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	silence_others();
	if (read_fd(fd, name, opts, &p) < 0)
		_exit(EXIT_FAILED);
	profile_write(&p, out);
	if (fflush(out) || ferror(out)) {
		error("cannot write what '%s' tells to a temporary file: %s", name, strerror(errno));
		_exit(EXIT_FAILED);
	}
	_exit(EXIT_DONE);
}

static int wait_for(pid_t pid, const char *name)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error("cannot read '%s': %s", name, strerror(errno));
	if (WIFSIGNALED(status))
		return error("cannot read '%s': damaged, libtracecmd died of it (%s)", name, strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status) ? -1 : 0;
}

static int take_result(FILE *out, struct profile *p)
{
	char *path = xasprintf("/proc/self/fd/%d", fileno(out));
	struct input *in = input_open(path);
	int ret = in ? profile_read(p, in) : -1;

	input_close(in);
	free(path);
	return ret;
}

/* libtraceevent does not stand damaged files: it works in a child, so that its crash is an error of ours. */
static int read_apart(int fd, const char *name, const struct collect_options *opts, struct profile *p)
{
	FILE *out = tmpfile();
	int ret = -1;

	fflush(NULL);
	pid_t pid = out ? fork() : -1;
	if (!pid)
		child(fd, out, name, opts);
	if (pid < 0)
		error("cannot read '%s': %s", name, strerror(errno));
	else
		ret = wait_for(pid, name);
	if (!ret)
		ret = take_result(out, p);
	if (out)
		fclose(out);
	return ret;
}

static int read_tracedat(struct input *in, const char *path, const struct collect_options *opts,
			 struct profile *p)
{
	int fd = spill_file(in, path), whole = -1, ret = fd < 0 ? -1 : 0;

	if (!ret && opts->force)
		ret = tracedat_repair(fd, input_name(in), &whole);
	if (!ret)
		ret = read_apart(whole < 0 ? fd : whole, input_name(in), opts, p);
	if (!ret && tracedat_is_followed(fd))
		collect_tell_second(input_name(in));
	if (whole >= 0)
		close(whole);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* trace-cmd.dat.v7(5): bytes 23, 8, 68, then "tracing". */
static bool probe(const char *head, size_t len)
{
	return len >= 10 && !memcmp(head, "\027\010\104tracing", 10);
}

const struct reader tracedat_reader = {
	.name = "trace.dat",
	.tells = "function_graph: calls exactly, paths, what follows what, not which bytes; function: calls and call "
		 "sites; stacks: as callchains",
	.probe = probe,
	.read = read_tracedat,
};
