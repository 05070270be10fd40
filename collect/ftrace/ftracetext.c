/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reader of ftrace's text: tracefs' `trace` file of function_graph, function and
 * stack traces, and what `trace-cmd report` prints of the first two, in which callers may lack.
 *
 *    0)               |  vfs_read() {            depth is the indentation
 *    0)   0.541 us    |    fsnotify();
 *    0) + 13.746 us   |  }
 *    0)   bash-12     =>    ls-13                the CPU's task from here on
 *        ls-13  [000] .....  2.245684: vfs_read <-ksys_read
 *        ls-13  [000] .....  2.245688: vfs_read <-ksys_read (repeats: 41, last_ts: 2.245687)     further calls
 *        ls-13  [000] .....  2.245690: <stack trace>
 *    => vfs_read
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "collect/chain.h"
#include "ftrace_names.h"
#include "funcgraph.h"
#include "collect/profile.h"
#include "collect/reader.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"

enum { MAX_STACK = 512, MAX_CPUS = 1 << 16 };
#define PID_UNKNOWN UINT32_MAX

/* A function event, held back: a stack trace behind it tells the same and more. */
struct call {
	uint32_t cpu, pid, func, caller, off, times;
	bool resolved;
};

struct run {
	struct profile *p;
	const struct symtab *syms;
	struct ftrace_names names;
	struct funcgraph graph;
	struct chain chain;
	uint32_t *pids;			/* [cpu]: task of a graph without task columns; PID_UNKNOWN: not told yet */
	uint32_t nr_pids;
	struct chain_frame stack[MAX_STACK];
	uint32_t nr_stack;
	bool in_stack;
	uint32_t stack_pid;
	struct call call;		/* the last function event, not counted yet */
	bool has_call;
	bool cut;			/* this line has no end */
	uint64_t entries, entries_resolved, functions, functions_resolved, lost, strange;
};

static uint32_t *pid_of_cpu(struct run *r, uint32_t cpu)
{
	if (cpu >= r->nr_pids) {
		r->pids = xreallocarray(r->pids, cpu + (size_t)1, sizeof(*r->pids));
		while (r->nr_pids <= cpu)
			r->pids[r->nr_pids++] = PID_UNKNOWN;
	}
	return &r->pids[cpu];
}

/* The number that ends right before end, not before start. */
static bool number_before(const char *start, const char *end, uint32_t *n)
{
	const char *p = end;
	uint64_t v;

	while (p > start && isdigit((unsigned char)p[-1]))
		p--;
	if (p == end || !scan_dec(&p, &v) || v > UINT32_MAX)
		return false;
	*n = (uint32_t)v;
	return true;
}

/* The pid of "comm-123" or "comm-123   ", a comm may hold anything. */
static bool task_before(const char *start, const char *end, uint32_t *pid)
{
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	if (!number_before(start, end, pid))
		return false;
	while (end > start && isdigit((unsigned char)end[-1]))
		end--;
	return end > start && end[-1] == '-';
}

/* Name, then "()", "(args)" or " [module]()"; cut where it ends. */
static void cut_call(char *s)
{
	char *paren = strchr(s, '(');

	if (paren)
		*paren = '\0';
	for (char *end = s + strlen(s); end > s && isspace((unsigned char)end[-1]); end--)
		end[-1] = '\0';
}

static void graph_entry(struct run *r, uint32_t cpu, uint32_t pid, uint32_t depth, char *call)
{
	bool leaf = !strchr(call, '{');

	cut_call(call);
	const struct ftrace_place *at = ftrace_names_text(&r->names, call);
	r->entries++;
	r->entries_resolved += at->resolved;
	funcgraph_entry(&r->graph, cpu, pid, depth, at->func, PROFILE_OFF_UNKNOWN);
	if (leaf)
		funcgraph_exit(&r->graph, cpu, pid, depth);
}

/* What stands behind the last bar of a graph line: indentation, then a call or a closing brace. */
static void graph_call(struct run *r, uint32_t cpu, uint32_t pid, char *s)
{
	size_t blanks = strspn(s, " ");
	uint32_t depth = blanks < 2 ? 0 : (uint32_t)(blanks - 2) / 2;

	s += blanks;
	if (*s == '}')
		funcgraph_exit(&r->graph, cpu, pid, depth);
	else if (*s && strchr(s, '('))
		graph_entry(r, cpu, pid, depth, s);
}

/* "CPU:2 [LOST 123 EVENTS]", trace-cmd's "CPU:2 [123 EVENTS DROPPED]", either without the number: the whole line. */
static bool take_lost(struct run *r, const char *line)
{
	const char *p = line + 4;
	uint64_t n = 1, cpu;

	if (strncmp(line, "CPU:", 4) != 0 || !scan_dec(&p, &cpu) || strncmp(p, " [", 2) != 0)
		return false;
	p += 2;
	bool kernel = !strncmp(p, "LOST ", 5);
	p += kernel ? 5 : 0;
	if (isdigit((unsigned char)*p) && (!scan_dec(&p, &n) || *p++ != ' '))
		return false;
	if (strcmp(p, kernel ? "EVENTS]" : "EVENTS DROPPED]") != 0)
		return false;
	add_count(&r->lost, n);
	funcgraph_lost(&r->graph, cpu < MAX_CPUS ? (uint32_t)cpu : 0);
	return true;
}

/* "bash-12  =>  ls-13" behind the CPU: also the first that is said of the task before, when a file begins. */
static bool take_switch(struct run *r, uint32_t cpu, const char *s)
{
	const char *arrow = strstr(s, " => ");
	uint32_t pid, *now = pid_of_cpu(r, cpu);

	if (!arrow)
		return false;
	if (*now == PID_UNKNOWN && task_before(s, arrow, &pid))
		funcgraph_name_task(&r->graph, cpu, pid);
	if (task_before(arrow, arrow + strlen(arrow), &pid))
		*now = pid;
	return true;
}

/* " 0) ..." perhaps behind a time column; false when it is no such line. */
static bool take_graph(struct run *r, char *line)
{
	char *paren = strchr(line, ')');
	uint32_t cpu, pid;

	if (!paren || !number_before(line, paren, &cpu) || cpu >= MAX_CPUS)
		return false;
	char *comment = strstr(paren, "/*");
	if (comment)
		*comment = '\0';
	char *bar = strrchr(paren, '|');
	if (!bar)
		return take_switch(r, cpu, paren + 1);
	/* The task column, where there is one, ends at the first bar. */
	char *first = strchr(paren, '|');
	if (first != bar && task_before(paren + 1, first, &pid))
		*pid_of_cpu(r, cpu) = pid;
	pid = *pid_of_cpu(r, cpu);
	graph_call(r, cpu, pid == PID_UNKNOWN ? 0 : pid, bar + 1);
	return true;
}

/* "comm-12  [000] flags  time: rest": the rest, NULL when the line is none of these. */
static char *split_event(char *line, uint32_t *cpu, uint32_t *pid)
{
	for (char *open = line; (open = strchr(open, '[')); open++) {
		char *close = open + 1 + strspn(open + 1, "0123456789"), *colon;

		if (close == open + 1 || *close != ']' || !number_before(open, close, cpu) || *cpu >= MAX_CPUS)
			continue;
		const char *task = open;
		while (task > line && task[-1] == ' ')
			task--;
		if (task > line && task[-1] == ')') {	/* the thread group column: "(  12)" */
			while (task > line && task[-1] != '(')
				task--;
			task -= task > line;
		}
		if (!task_before(line, task, pid))
			continue;
		colon = strstr(close, ": ");
		return colon ? colon + 2 : NULL;
	}
	return NULL;
}

/* Latency format: "comm-12  0d..2. 8001us+: rest", CPU and flags in one. */
static char *split_latency(char *line, uint32_t *cpu, uint32_t *pid)
{
	char *colon = strchr(line, ':'), *end;
	uint64_t n;

	for (; colon && colon[1] != ' '; colon = strchr(colon + 1, ':'))
		;
	if (!colon)
		return NULL;
	for (end = colon; end > line && strchr(" !+#*@$", end[-1]); end--)
		;
	if (end - line < 3 || end[-1] != 's' || end[-2] != 'u')
		return NULL;
	while (end > line && end[-1] != ' ')	/* the time */
		end--;
	while (end > line && end[-1] == ' ')
		end--;
	while (end > line && end[-1] != ' ')	/* CPU and flags */
		end--;
	const char *p = end;
	if (!scan_dec(&p, &n) || n >= MAX_CPUS || !task_before(line, end, pid))
		return NULL;
	*cpu = (uint32_t)n;
	return colon + 2;
}

/* "(repeats: 41, ...)": option func-no-repeats tells further calls once. The kernel's count is u16. */
static uint32_t times_called(const char *s)
{
	const char *p = strstr(s, "(repeats:");
	uint64_t n;

	if (!p)
		return 1;
	p += 9 + strspn(p + 9, " ");
	return scan_dec(&p, &n) && n <= UINT16_MAX ? (uint32_t)n : 1;
}

/*
 * "func <-caller", both perhaps with offset, address in angle brackets, module; func with arguments, option func-args.
 * trace-cmd may leave out the caller.
 */
static void take_function(struct run *r, uint32_t cpu, uint32_t pid, char *s, bool alone)
{
	char *arrow = strstr(s, " <-"), *colon = strchr(s, ':');

	if (!arrow && !alone)
		return;
	/* "r_vfs_read_0: (ksys_read+0x6c/0xf0 <- vfs_read)", "bprint: x <-y": other events; no function ends in a colon. */
	if (!alone && colon && colon < arrow && (colon[1] == ' ' || !colon[1]))
		return;
	uint32_t times = r->cut ? 1 : times_called(s);
	if (arrow)
		*arrow = '\0';
	cut_call(s);
	const struct ftrace_place *at = ftrace_names_text(&r->names, s + strspn(s, " "));
	r->call = (struct call){ cpu, pid, at->func, INDEX_NONE, PROFILE_OFF_UNKNOWN, times, at->resolved };
	r->has_call = true;
	if (!arrow || r->cut)
		return;
	arrow += 3 + strspn(arrow + 3, "- ");
	cut_call(arrow);
	at = ftrace_names_text(&r->names, arrow);
	r->call.caller = at->func;
	/* The caller's offset is a return address: the byte before is the call's. */
	if (at->off != PROFILE_OFF_UNKNOWN && at->off)
		r->call.off = at->off - 1;
}

static void flush_call(struct run *r)
{
	const struct call *c = &r->call;

	if (!r->has_call)
		return;
	r->has_call = false;
	r->functions += c->times;
	r->functions_resolved += c->resolved ? c->times : 0;
	funcgraph_call(&r->graph, c->cpu, c->pid, c->func, c->caller, c->off, c->times);
}

static bool take_event(struct run *r, char *line)
{
	uint32_t cpu, pid;
	char *rest = split_event(line, &cpu, &pid);

	if (!rest)
		rest = split_latency(line, &cpu, &pid);
	if (!rest)
		return false;
	rest += strspn(rest, " ");
	if (!strncmp(rest, "<stack trace>", 13) || !strncmp(rest, "kernel_stack:", 13)) {
		r->has_call = r->has_call && r->call.pid != pid;
		flush_call(r);
		r->in_stack = true;
		r->stack_pid = pid;
		return true;
	}
	flush_call(r);
	char *bar = strrchr(rest, '|');
	if (bar && (!strncmp(rest, "funcgraph_entry:", 16) || !strncmp(rest, "funcgraph_exit:", 15))) {
		graph_call(r, cpu, pid, bar + 1);
		return true;
	}
	size_t named = !strncmp(rest, "function:", 9) ? 9 : !strncmp(rest, "func_repeats:", 13) ? 13 : 0;
	take_function(r, cpu, pid, rest + named, named);
	return true;	/* else an event of no interest */
}

static void end_stack(struct run *r)
{
	struct chain_sample cs = { 1, r->stack_pid, 0 };

	if (r->nr_stack)
		chain_add(&r->chain, r->stack, r->nr_stack, &cs);
	r->nr_stack = 0;
	r->in_stack = false;
}

/* " => name+0x1c/0x80 [module] <ffff...>" */
static bool take_frame(struct run *r, char *s)
{
	s += strspn(s, " ");
	if (strncmp(s, "=>", 2) != 0)
		return false;
	s += 2 + strspn(s + 2, " ");
	size_t len = strcspn(s, "+ ");
	uint64_t off = PROFILE_OFF_UNKNOWN;
	char *end = s + len, *module = strchr(end, '[');
	if (*end == '+' && end[1] == '0' && end[2] == 'x') {
		const char *p = end + 3;

		if (!scan_hex(&p, &off))
			off = PROFILE_OFF_UNKNOWN;
	}
	if (module) {
		module++;
		module[strcspn(module, "]")] = '\0';
	}
	*end = '\0';
	if (!*s || *s == '<' || r->nr_stack == MAX_STACK)
		return true;
	if (!strncmp(s, "0x", 2)) {	/* no name: innermost it is ftrace's own trampoline */
		if (r->nr_stack)
			r->stack[r->nr_stack++] = (struct chain_frame){ INDEX_NONE, PROFILE_OFF_UNKNOWN };
		return true;
	}
	bool is_return = r->nr_stack > 0;
	uint64_t known = off == PROFILE_OFF_UNKNOWN ? 0 : off;
	struct chain_frame f = chain_resolve_name(&r->chain, s, module, known, is_return && known);
	if (off == PROFILE_OFF_UNKNOWN)
		f.off = PROFILE_OFF_UNKNOWN;
	else if (is_return && known && chain_cuts(&r->chain, r->stack[r->nr_stack - 1].func, f.func))
		f = chain_resolve_name(&r->chain, s, module, known, false);
	r->stack[r->nr_stack++] = f;
	return true;
}

static void take_line(struct run *r, char *line)
{
	if (r->in_stack) {
		if (take_frame(r, line))
			return;
		end_stack(r);
	}
	if (*line == '#' || !line[strspn(line, " -\t")] || !strncmp(line, "cpus=", 5))
		return;
	if (take_lost(r, line) || take_event(r, line) || take_graph(r, line))
		return;
	r->strange++;
}

/*
 * Where no newline ends the last line, it may be cut. What ends as calls, exits, modules and addresses do is whole; of
 * a function event the function is, its caller may not be; all else is left out.
 */
static void take_cut_line(struct run *r, char *line, const char *name)
{
	const char *comment = strstr(line, "/*");
	size_t len = comment ? (size_t)(comment - line) : strlen(line);

	while (len && line[len - 1] == ' ')
		len--;
	r->cut = len && *line != '#' && !strchr(";{}]>", line[len - 1]);
	if (r->cut)
		warn("'%s': no newline ends the last line: what may be cut of it is left out", name);
	if (!r->cut || strstr(line, " <-"))
		take_line(r, line);
}

static struct profile_source *add_source(struct run *r, const char *event, uint64_t events, uint64_t resolved)
{
	struct profile_source *s = profile_add_source(r->p, "ftrace");

	profile_set(&s->event, event);
	if (r->syms)
		source_set_kernel(s, r->syms);
	s->samples = s->kernel = events;
	s->resolved = resolved;
	s->unresolved = events - resolved;
	return s;
}

/* A source for each event: several texts may stand one behind the other. What was lost, the last has for all. */
static void add_sources(struct run *r)
{
	struct profile_source *s = NULL;

	if (r->chain.samples) {
		s = add_source(r, "kernel_stack", 0, 0);
		chain_finish(&r->chain, s);
	}
	if (r->functions)
		s = add_source(r, "function", r->functions, r->functions_resolved);
	if (r->entries)
		s = add_source(r, "function_graph", r->entries, r->entries_resolved);
	s->lost = r->lost;
}

static int finish(struct run *r, const char *name)
{
	end_stack(r);
	flush_call(r);
	funcgraph_finish(&r->graph);
	if (r->strange)
		warn("'%s': %llu lines not understood", name, (unsigned long long)r->strange);
	if (!r->entries && !r->functions && !r->chain.samples)
		return error("cannot use '%s': it has no function_graph, function or stack trace lines", name);
	add_sources(r);
	return 0;
}

static int read_ftrace(struct input *in, const char *path, const struct collect_options *opts,
		       struct profile *p)
{
	struct run *r = xcalloc(1, sizeof(*r));
	char *line;
	int ret = -1;

	(void)path;
	r->p = p;
	r->syms = opts->syms;
	ftrace_names_init(&r->names, opts->syms, p);
	r->names.modules = opts->modules;
	funcgraph_init(&r->graph, p);
	chain_init(&r->chain, p, opts->syms);
	while ((line = input_line(in, NULL)))
		if (input_line_ended(in))
			take_line(r, line);
		else
			take_cut_line(r, line, input_name(in));
	if (!input_failed(in) || opts->force)
		ret = finish(r, input_name(in));
	chain_release(&r->chain);
	funcgraph_release(&r->graph);
	ftrace_names_release(&r->names);
	free(r->pids);
	free(r);
	return ret;
}

static bool probe(const char *head, size_t len)
{
	(void)len;
	return strstr(head, "# tracer: ") || strstr(head, ": funcgraph_entry: ") ||
	       strstr(head, ": funcgraph_exit: ") || strstr(head, ": function: ") || strstr(head, ": <stack trace>");
}

const struct reader ftracetext_reader = {
	.name = "ftrace",
	.tells = "what trace.dat tells, by names: functions of one name cannot be told apart",
	.probe = probe,
	.read = read_ftrace,
};
