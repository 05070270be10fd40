// SPDX-License-Identifier: GPL-3.0-or-later
// The guest's only program: sets the system up, runs the workloads asked for on the kernel's command line, and leaves.
//
//   hottext.run=NAME,...   workloads ("all": every one but the held-out); default all
//   hottext.scale=N        per cent of the iterations
//   hottext.record=perf    perf record around them, perf.data to the port
//   hottext.record=graph   trace-cmd record of function_graph, trace.dat to the port
//   hottext.record=sources function_graph with sched_switch, perf record and /proc/profile (profile=N) at once; to the
//                          port, each behind a line "NAME BYTES": profile, perf.data, available_filter_functions,
//                          trace.txt and trace.dat
//   hottext.record=probe   /usr/bin/probe instead (probe.c), what it leaves to the port
//   hottext.freq=N         samples a second; default 4000
//   hottext.filter=NAME    graph: only what this function calls
//   hottext.port=DEVICE    where recordings leave; default /dev/ttyS1
//
// It prints "WORKLOAD name iterations microseconds" for each, FAILED lines for what went wrong, and DONE.
#include "sys.h"
#include "work.h"

#include <linux/reboot.h>

/*
 * Each workload runs between two calls of getsid(), which nothing else makes:
 * a recorder outside toggles each time the guest enters this function.
 */
static void mark(void)
{
	sys(getsid, 0);
}

#define TRACING "/sys/kernel/tracing/"

static int write_setting(const char *path, const char *value)
{
	long fd = sys_open(path, O_WRONLY, 0), n = str_len(value), done = sys(write, fd, value, n);

	sys(close, fd);
	if (done != n)
		say("FAILED cannot write '%s' to '%s': error %d\n", value, path, -done);
	return done == n ? 0 : -1;
}

/* The function tracer is on a little longer than a recorder outside: what is between two marks, both see. */
static int traced;
static void trace_on(const char *value)
{
	if (traced)
		write_setting(TRACING "tracing_on", value);
}

static int run_one(const struct work *w, unsigned long scale)
{
	unsigned long n = w->iterations * scale / 100;
	uint64_t start;
	long ret;

	n = n ? n : 1;
	start = sys_usec();
	trace_on("1");
	mark();
	ret = w->run(n);
	mark();
	trace_on("0");
	if (ret < 0) {
		say("FAILED %s: error %d\n", w->name, -ret);
		return -1;
	}
	say("WORKLOAD %s %d %u\n", w->name, (long)n, sys_usec() - start);
	return 0;
}

static const struct work *work_find(const char *name)
{
	for (const struct work *w = works; w->name; w++)
		if (str_equal(w->name, name))
			return w;
	return NULL;
}

static int run_all(unsigned long scale)
{
	int failed = 0;

	for (const struct work *w = works; w->name; w++)
		if (!w->held_out)
			failed |= run_one(w, scale);
	return failed;
}

/* list is cut into its names. */
static int run_list(char *list, unsigned long scale)
{
	int failed = 0;

	while (*list) {
		char *name = list;
		const struct work *w;

		while (*list && *list != ',')
			list++;
		if (*list)
			*list++ = '\0';
		w = work_find(name);
		if (str_equal(name, "all")) {
			failed |= run_all(scale);
		} else if (w) {
			failed |= run_one(w, scale);
		} else {
			say("FAILED %s: no such workload\n", name);
			failed = -1;
		}
	}
	return failed;
}

static long run_start(const char *const argv[])
{
	const char *envp[] = { "PATH=/usr/bin:/bin", "HOME=/tmp", "TERM=dumb", NULL };
	long pid = sys_fork(), ret;

	if (!pid) {
		ret = sys(execve, argv[0], argv, envp);
		say("FAILED %s: cannot execute, error %d\n", argv[0], -ret);
		sys_exit(127);
	}
	return pid;
}

/* Run it to its end; 0 when it ended well. */
static int run_program(const char *const argv[])
{
	long pid = run_start(argv), status = pid < 0 ? pid : sys_wait(pid);

	if (!status)
		return 0;
	say("FAILED %s: status %d\n", argv[0], status);
	return -1;
}

/* struct termios of the kernel's ABI; PowerPC orders it differently, see asm/termbits.h. */
#include <asm/termbits.h>
#include <asm/ioctls.h>

/* All of a file to another; its bytes, negative on failure. */
static long copy_file(const char *from, const char *to)
{
	static char buf[65536];
	long in = sys_open(from, O_RDONLY, 0), out = sys_open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600), len, all = 0;

	while (in >= 0 && out >= 0 && (len = sys(read, in, buf, sizeof(buf))) > 0) {
		if (sys(write, out, buf, len) != len)
			all = -EIO;
		if (all >= 0)
			all += len;
	}
	sys(close, in);
	sys(close, out);
	return in < 0 ? in : out < 0 ? out : all;
}

/* Copy a file to a serial port byte for byte, behind head unless it is NULL: no line discipline may touch it. */
static int send_file(const char *path, const char *port, const char *head)
{
	static char buf[4096];
	struct termios t;
	long from = sys_open(path, O_RDONLY, 0), to = sys_open(port, O_WRONLY | O_NOCTTY, 0), len;

	if (from < 0 || to < 0) {
		say("FAILED cannot open '%s' or '%s'\n", path, port);
		return -1;
	}
	if (!sys(ioctl, to, TCGETS, &t)) {
		t.c_iflag = t.c_oflag = t.c_lflag = 0;
		t.c_cflag = (t.c_cflag & ~(tcflag_t)CBAUD) | B115200 | CS8 | CREAD | CLOCAL;
		sys(ioctl, to, TCSETS, &t);
	}
	if (head)
		sys(write, to, head, str_len(head));
	while ((len = sys(read, from, buf, sizeof(buf))) > 0) {
		for (long done = 0, n; done < len; done += n) {
			n = sys(write, to, buf + done, len - done);
			if (n <= 0)
				return -1;
		}
	}
	sys(ioctl, to, TCSBRK, 1);	/* wait until all is out */
	sys(close, to);
	sys(close, from);
	return 0;
}

struct request {
	char run[256], record[16], freq[16], filter[64], port[32], scale[16];
};

static int record_perf(const struct request *r)
{
	const char *const argv[] = { "/usr/bin/perf", "record", "-q", "-e", "cpu-clock", "-F", r->freq, "-a", "-g",
				     "-o", "/tmp/perf.data", "--", WORK_SELF, "run", r->run, r->scale, NULL };

	return run_program(argv) ? -1 : send_file("/tmp/perf.data", r->port, NULL);
}

static int record_graph(const struct request *r)
{
	const char *const whole[] = { "/usr/bin/trace-cmd", "record", "-q", "-p", "function_graph", "-o", "/tmp/trace.dat",
				      WORK_SELF, "run", r->run, r->scale, NULL };
	const char *const part[] = { "/usr/bin/trace-cmd", "record", "-q", "-p", "function_graph", "-g", r->filter, "-o",
				     "/tmp/trace.dat", WORK_SELF, "run", r->run, r->scale, NULL };

	return run_program(r->filter[0] ? part : whole) ? -1 : send_file("/tmp/trace.dat", r->port, NULL);
}

/* "NAME BYTES\n" */
static void make_head(char *head, const char *name, unsigned long bytes)
{
	char digits[24];
	unsigned int n = 0;

	while (*name)
		*head++ = *name++;
	*head++ = ' ';
	do
		digits[n++] = '0' + bytes % 10;
	while (bytes /= 10);
	while (n)
		*head++ = digits[--n];
	*head++ = '\n';
	*head = '\0';
}

static int send_copy(const char *path, const char *name, const char *port)
{
	char head[128];
	long bytes = copy_file(path, "/tmp/copy");

	if (bytes < 0) {
		say("FAILED cannot copy '%s': error %d\n", path, -bytes);
		return -1;
	}
	make_head(head, name, bytes);
	return send_file("/tmp/copy", port, head);
}

/* Every source of one run of the workloads. */
static int record_sources(const struct request *r)
{
	const char *const perf[] = { "/usr/bin/perf", "record", "-q", "-e", "cpu-clock", "-F", r->freq, "-a", "-g",
				     "-o", "/tmp/perf.data", "--", WORK_SELF, "traced", r->run, r->scale, NULL };
	const char *const extract[] = { "/usr/bin/trace-cmd", "extract", "-o", "/tmp/trace.dat", NULL };
	int failed = write_setting(TRACING "tracing_on", "0") | write_setting(TRACING "buffer_size_kb", "65536") |
		     write_setting(TRACING "current_tracer", "function_graph") |
		     write_setting(TRACING "trace_options", "funcgraph-proc") |
		     write_setting(TRACING "events/sched/sched_switch/enable", "1") |
		     write_setting("/proc/profile", "0");

	failed |= run_program(perf);
	failed |= send_copy("/proc/profile", "profile", r->port) | send_copy("/tmp/perf.data", "perf.data", r->port) |
		  send_copy(TRACING "available_filter_functions", "available_filter_functions", r->port) |
		  send_copy(TRACING "trace", "trace.txt", r->port);
	return failed | run_program(extract) | send_copy("/tmp/trace.dat", "trace.dat", r->port);
}

static int run_probe(const struct request *r)
{
	const char *const argv[] = { "/usr/bin/probe", NULL };

	return run_program(argv) | send_file("/tmp/probe.out", r->port, NULL);
}

static void mount(const char *type, const char *where)
{
	sys(mkdirat, AT_FDCWD, where, 0755);
	sys(mount, type, where, type, 0, 0);
}

/* Bring the loopback interface up. */
static void net_up(void)
{
	struct {
		char name[16];
		short flags;
		char rest[22];
	} req = { "lo", 1 | 64, "" };	/* IFF_UP, IFF_RUNNING */
	long fd = sys(socket, SYS_AF_INET, SYS_SOCK_DGRAM, 0);

	sys(ioctl, fd, 0x8914, &req);	/* SIOCSIFFLAGS */
	sys(close, fd);
}

static void set_up(void)
{
	long console;

	mount("devtmpfs", "/dev");
	console = sys_open("/dev/console", O_RDWR, 0);
	if (console > 2) {
		for (long fd = 0; fd < 3; fd++)
			sys(dup3, console, fd, 0);
		sys(close, console);
	} else {	/* the kernel could not open one: it has descriptor 0 */
		sys(dup3, console, 1, 0);
		sys(dup3, console, 2, 0);
	}
	mount("proc", "/proc");
	mount("sysfs", "/sys");
	mount("tracefs", "/sys/kernel/tracing");
	mount("tmpfs", "/tmp");
	net_up();
}

static void read_request(struct request *r)
{
	static char line[2048];
	long fd = sys_open("/proc/cmdline", O_RDONLY, 0), len = sys(read, fd, line, sizeof(line) - 1);

	line[len < 0 ? 0 : len] = '\0';
	sys(close, fd);
	memcpy(r->run, "all", 4);
	memcpy(r->freq, "4000", 5);
	memcpy(r->port, "/dev/ttyS1", 11);
	memcpy(r->scale, "100", 4);
	str_option(line, "hottext.run", r->run, sizeof(r->run));
	str_option(line, "hottext.record", r->record, sizeof(r->record));
	str_option(line, "hottext.freq", r->freq, sizeof(r->freq));
	str_option(line, "hottext.filter", r->filter, sizeof(r->filter));
	str_option(line, "hottext.port", r->port, sizeof(r->port));
	str_option(line, "hottext.scale", r->scale, sizeof(r->scale));
}

static _Noreturn void leave(void)
{
	sys(sync);
	sys(reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_RESTART, 0);
	for (;;)
		sys(wait4, -1, 0, 0, 0);
}

int main(int argc, char **argv, char **envp)
{
	struct request r = { .run = "" };
	int failed;

	(void)envp;
	if (argc == 2 && str_equal(argv[1], "exit"))
		return 0;
	traced = argc == 4 && str_equal(argv[1], "traced");
	if (argc == 4 && (traced || str_equal(argv[1], "run")))
		return run_list(argv[2], str_number(argv[3])) ? 1 : 0;
	set_up();
	read_request(&r);
	if (str_equal(r.record, "perf"))
		failed = record_perf(&r);
	else if (str_equal(r.record, "graph"))
		failed = record_graph(&r);
	else if (str_equal(r.record, "sources"))
		failed = record_sources(&r);
	else if (str_equal(r.record, "probe"))
		failed = run_probe(&r);
	else
		failed = run_list(r.run, str_number(r.scale));
	say(failed ? "DONE with failures\n" : "DONE\n");
	leave();
}
