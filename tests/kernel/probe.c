// SPDX-License-Identifier: GPL-3.0-or-later
// A guest's program that tries everything that looks the kernel's functions up by name, by address or on the stack.
// /init runs it for hottext.record=probe; more words of the kernel's command line:
//
//   hottext.moved=NAME,...   functions that the order moved: traced and probed
//   hottext.body=NAME+N      an instruction inside one, where a kprobe must single-step
//   hottext.warns=1          the kernel was built with WARN()
//   hottext.position=N       of the init_once() that belongs to sockets, for the livepatch; none: no livepatching
//
// It prints "ok WHAT" and "not ok WHAT" lines, "STACK WHERE: FUNCTION ..." for comparison with another kernel, and
// leaves what perf and kallsyms said in /tmp/probe.out.
#include "sys.h"

#define TRACING "/sys/kernel/tracing/"
#define PARAMETERS "/sys/module/hottext_hot/parameters/"
#define OUT "/tmp/probe.out"

static char text[1 << 20];

/* The whole file into text; its length or a negative errno. */
static long slurp(const char *path)
{
	long fd = sys_open(path, O_RDONLY, 0), len = 0, n;

	text[0] = '\0';
	if (fd < 0)
		return fd;
	while ((n = sys(read, fd, text + len, sizeof(text) - 1 - (unsigned long)len)) > 0)
		len += n;
	sys(close, fd);
	text[len] = '\0';
	return n < 0 ? n : len;
}

static long put(const char *path, const char *what)
{
	long fd = sys_open(path, O_WRONLY | O_TRUNC, 0), n;

	if (fd < 0)
		return fd;
	n = sys(write, fd, what, str_len(what));
	sys(close, fd);
	return n < 0 ? n : 0;
}

static int begins(const char *s, const char *with)
{
	while (*with)
		if (*s++ != *with++)
			return 0;
	return 1;
}

static const char *find(const char *in, const char *what)
{
	for (; *in; in++)
		if (begins(in, what))
			return in;
	return NULL;
}

/* a, b and c one after the other, in one of a few buffers. */
static const char *join(const char *a, const char *b, const char *c)
{
	static char bufs[4][256];
	static unsigned int next;
	char *buf = bufs[next++ % 4], *to = buf, *end = buf + sizeof(bufs[0]) - 1;

	for (; *a && to < end; a++)
		*to++ = *a;
	for (; *b && to < end; b++)
		*to++ = *b;
	for (; *c && to < end; c++)
		*to++ = *c;
	*to = '\0';
	return buf;
}

static void result(int ok, const char *what, const char *name)
{
	say("%s %s%s\n", ok ? "ok" : "not ok", what, name);
}

/* What the functions are moved for: files are opened, read, written and closed. */
static void exercise(void)
{
	long fd = sys_open("/init", O_RDONLY, 0), to = sys_open("/tmp/exercise", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char buf[64];

	for (int i = 0; i < 3; i++) {
		long len = sys(read, fd, buf, sizeof(buf));

		sys(write, to, buf, len);
	}
	sys(close, fd);
	sys(close, to);
}

static void trace_function(const char *name)
{
	long set = put(TRACING "set_ftrace_filter", name) | put(TRACING "current_tracer", "function");

	exercise();
	put(TRACING "tracing_on", "0");
	slurp(TRACING "trace");
	result(!set && find(text, join(" ", name, " <-")), "ftrace: function tracer on ", name);
	put(TRACING "current_tracer", "nop");
	put(TRACING "set_ftrace_filter", "");
	put(TRACING "trace", "");
	put(TRACING "tracing_on", "1");
}

/* A probe of KIND p or r at WHERE fires. */
static void probe(const char *kind, const char *where, const char *what)
{
	long set = put(TRACING "kprobe_events", join(kind, ":hottext/fired ", where)) |
		   put(TRACING "events/hottext/fired/enable", "1");

	exercise();
	slurp(TRACING "trace");
	result(!set && find(text, " fired: ("), what, where);
	put(TRACING "events/hottext/fired/enable", "0");
	put(TRACING "kprobe_events", "");
	put(TRACING "trace", "");
}

static void trace_and_probe(char *list, const char *body)
{
	while (*list) {
		const char *name = list;

		while (*list && *list != ',')
			list++;
		if (*list)
			*list++ = '\0';
		trace_function(name);
		probe("p", name, "kprobe at ");
		probe("r", name, "kretprobe at ");
	}
	if (*body)
		probe("p", body, "kprobe inside a function, at ");
}

static long load(const char *path, const char *parameters)
{
	long fd = sys_open(path, O_RDONLY, 0), ret = fd < 0 ? fd : sys(finit_module, fd, parameters, 0);

	if (fd >= 0)
		sys(close, fd);
	if (ret)
		say("# cannot load %s: error %d\n", path, -ret);
	return ret;
}

static unsigned long number_in(const char *path)
{
	return slurp(path) > 0 ? str_number(text) : 0;
}

/*
 * The functions of a stack in text, "[<0>] NAME+0x1/0x2" or " NAME+0x1/0x2" a line, as one STACK line.
 * What the unwinder only guesses, "? NAME", is left out.
 */
static void say_stack(const char *where, const char *from, const char *until)
{
	const char *end = until ? until : from + str_len(from);

	say("STACK %s:", where);
	for (const char *plus = find(from, "+0x"); plus && plus < end; plus = find(plus + 1, "+0x")) {
		const char *s = plus;
		char name[128];
		unsigned long n = 0;

		while (s > from && s[-1] != ' ' && s[-1] != '\n')
			s--;
		if (s >= from + 2 && s[-2] == '?')
			continue;
		while (s < plus && n < sizeof(name) - 1)
			name[n++] = *s++;
		name[n] = '\0';
		say(" %s", name);
	}
	say("\n");
}

static void block(const char *how)
{
	struct sys_time forever = { 1000, 0 };
	int fds[2];
	char c;

	sys(pipe2, fds, 0);
	if (str_equal(how, "pipe"))
		sys(read, fds[0], &c, 1);
	else if (str_equal(how, "sleep"))
		sysn(SYS_clock_nanosleep, 1, 0, &forever, 0);
	else if (str_equal(how, "poll"))
		sysn(SYS_ppoll, 0, 0, &forever, 0, 0);
	else
		sysn(SYS_rt_sigtimedwait, &(uint64_t){ 1 << 9 }, 0, &forever, 8);
	sys_exit(0);
}

/* /proc/PID/stack of a child asleep in the kernel reaches the entry code. */
static void stack_of_sleeper(const char *how)
{
	struct sys_time while_it_falls_asleep = { 0, 50000000 };
	char digits[24], *d = digits + sizeof(digits) - 1;
	long pid = sys_fork();

	if (!pid)
		block(how);
	sysn(SYS_clock_nanosleep, 1, 0, &while_it_falls_asleep, 0);
	*d = '\0';
	for (long n = pid; n > 0; n /= 10)
		*--d = (char)('0' + n % 10);
	slurp(join("/proc/", d, "/stack"));
	result(find(text, "entry_SYSCALL_64_after_hwframe") != NULL, "stack of a process asleep in ", how);
	say_stack(how, text, NULL);
	sys(kill, pid, SYS_SIGKILL);
	sys_wait(pid);
}

static void stack_of_warning(void)
{
	long len = sys(syslog, 3, text, sizeof(text) - 1);	/* SYSLOG_ACTION_READ_ALL */
	const char *from, *until;

	text[len < 0 ? 0 : len] = '\0';
	from = find(text, "hottext: as asked for");
	from = from ? find(from, "Call Trace:") : NULL;
	until = from ? find(from, "RIP: 0033") : NULL;
	result(from && until, "stack of a warning inside a module", "");
	if (from && until)
		say_stack("warning", from, until);
}

static void stack_in_module(void)
{
	if (put(PARAMETERS "stack", "1"))
		return result(0, "stack saved inside a module", "");
	slurp(PARAMETERS "trace");
	result(find(text, "entry_SYSCALL_64_after_hwframe") != NULL, "stack saved inside a module", "");
	say_stack("module", text, NULL);
}

static void check_module(int warns)
{
	int ok = !load("/lib/modules/hottext_hot.ko", "") && !put(PARAMETERS "run", "1000");

	/* Six functions count themselves in each round. */
	result(ok && number_in(PARAMETERS "calls") == 6000, "a module loads and calls moved functions", "");
	stack_in_module();
	if (warns)
		stack_of_warning();
}

/* Inodes of sockets, or of pipes: each kind has an init_once() of its own, which runs when its slab grows. */
static void make_inodes(int sockets)
{
	int fds[2 * 100], nr = 0;

	while (nr < 200) {
		if (sockets)
			fds[nr++] = (int)sys(socket, SYS_AF_INET, SYS_SOCK_DGRAM, 0);
		else if (sys(pipe2, fds + nr, 0) < 0)
			break;
		else
			nr += 2;
	}
	while (nr)
		sys(close, fds[--nr]);
}

#define CALLS "/sys/module/hottext_patch/parameters/calls"

static void check_livepatch(const char *position)
{
	struct sys_time a_while = { 0, 100000000 };
	int tries = 100, ok = !load("/lib/modules/hottext_patch.ko", join("position=", position, ""));

	while (ok && tries-- && (slurp("/sys/kernel/livepatch/hottext_patch/transition") < 1 || text[0] != '0'))
		sysn(SYS_clock_nanosleep, 1, 0, &a_while, 0);
	result(ok && tries > 0, "livepatch: every task has a reliable stack and goes over", "");
	make_inodes(1);
	unsigned long calls = number_in(CALLS);
	result(calls > 0, "livepatch: the function it names is patched", "");
	make_inodes(0);
	result(calls > 0 && number_in(CALLS) == calls, "livepatch: its namesakes are not", "");
}

/* Run it with standard output to a file, appended. */
static long run(const char *const argv[], const char *to)
{
	const char *envp[] = { "PATH=/usr/bin", "HOME=/tmp", "TERM=dumb", NULL };
	long pid = sys_fork();

	if (pid)
		return sys_wait(pid);
	long fd = sys_open(to, O_WRONLY | O_CREAT | O_APPEND, 0600);
	sys(dup3, fd, 1, 0);
	sys(execve, argv[0], argv, envp);
	sys_exit(127);
}

static void append(const char *from, const char *to)
{
	static char part[4096];
	long in = sys_open(from, O_RDONLY, 0), out = sys_open(to, O_WRONLY | O_CREAT | O_APPEND, 0600), n;

	while ((n = sys(read, in, part, sizeof(part))) > 0)
		sys(write, out, part, n);
	sys(close, in);
	sys(close, out);
}

/* Tables in OUT begin with "== NAME". */
static void begin_table(const char *name)
{
	long fd = sys_open(OUT, O_WRONLY | O_CREAT | O_APPEND, 0600);
	const char *line = join("== ", name, "\n");

	sys(write, fd, line, str_len(line));
	sys(close, fd);
}

static void check_perf(void)
{
	const char *const record[] = { "/usr/bin/perf", "record", "-q", "-e", "cpu-clock", "-F", "4000", "-a", "-o",
				       "/tmp/perf.data", "--", "/init", "run", "files,pipe,fork", "60", NULL };
	const char *const script[] = { "/usr/bin/perf", "script", "-i", "/tmp/perf.data", "-F", "ip,sym", NULL };
	const char *const record_module[] = { "/usr/bin/perf", "record", "-q", "-e", "cpu-clock", "-F", "5000", "-a", "-g", "-o",
					      "/tmp/module.data", "--", "/usr/bin/probe", "module", NULL };
	const char *const script_module[] = { "/usr/bin/perf", "script", "-i", "/tmp/module.data", "-F",
					      "comm,tid,time,event,ip,sym,symoff,dso", NULL };

	begin_table("perf");
	result(!run(record, "/dev/null") && !run(script, OUT), "perf record and perf script", "");
	begin_table("module");
	result(!run(record_module, "/dev/null") && !run(script_module, OUT), "the same while a module runs", "");
	begin_table("kallsyms");
	append("/proc/kallsyms", OUT);
}

static void say_file(const char *path)
{
	slurp(path);
	say("# %s: %s", path, text);
}

int main(int argc, char **argv, char **envp)
{
	static char line[2048];
	char moved[1024] = "", body[128] = "", position[16] = "", warns[4] = "";

	(void)envp;
	if (argc == 2 && str_equal(argv[1], "module"))
		return put(PARAMETERS "run", "10000") ? 1 : 0;
	slurp("/proc/cmdline");
	memcpy(line, text, sizeof(line) - 1);
	str_option(line, "hottext.moved", moved, sizeof(moved));
	str_option(line, "hottext.body", body, sizeof(body));
	str_option(line, "hottext.position", position, sizeof(position));
	str_option(line, "hottext.warns", warns, sizeof(warns));
	slurp("/proc/cpuinfo");	/* with pti=on also on a CPU that does not need it, which is "Not affected" */
	say("# page tables isolated: %s\n", find(text, " pti ") ? "yes" : "no");
	say_file("/sys/devices/system/cpu/vulnerabilities/spectre_v2");
	trace_and_probe(moved, body);
	check_module(warns[0] == '1');
	stack_of_sleeper("pipe");
	stack_of_sleeper("sleep");
	stack_of_sleeper("poll");
	stack_of_sleeper("signal");
	if (*position)
		check_livepatch(position);
	check_perf();
	return 0;
}
