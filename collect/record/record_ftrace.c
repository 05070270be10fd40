/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `hottext record ftrace`: the kernel's own function tracer, as text, through libtracefs. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "collect/ftrace/ftrace_settings.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"

static struct {
	const char *out;
	struct opt_list syscalls, functions;
	unsigned int depth, buffer_kb;
} o;

static const struct opt options[] = {
	{ 'o', "output", "FILE", "write the trace here", OPT_STRING, &o.out, 0, 0 },
	{ 's', "syscall", "NAME", "trace only below this system call, \"read\" say; may be repeated",
	  OPT_LIST, &o.syscalls, 0, 0 },
	{ 'f', "function", "NAME", "trace only below this kernel function; may be repeated", OPT_LIST,
	  &o.functions, 0, 0 },
	{ 0, "depth", "N", "trace calls nested at most so deep (default: all)", OPT_UINT, &o.depth, 1, 1000 },
	{ 0, "buffer", "KB", "buffer of each CPU, KiB (default: 8192)", OPT_UINT, &o.buffer_kb, 16, 1 << 20 },
	OPT_COMMON
};

static const char tracer[] = "function_graph";

/* Whether a function can be traced; list is the text of available_filter_functions. */
static bool traceable(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; (p = strstr(p, name)); p += n)
		if ((p == list || p[-1] == '\n') && (p[n] == '\n' || p[n] == ' ' || !p[n]))
			return true;
	return false;
}

/* The kernel function of a system call; to be freed, NULL when there is none. */
static char *syscall_function(const char *list, const char *name)
{
	static const char *const prefixes[] = {
		"__x64_sys_", "__arm64_sys_", "__riscv_sys_", "__s390x_sys_", "sys_", "__se_sys_", "ksys_",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		char *function = xasprintf("%s%s", prefixes[i], name);

		if (traceable(list, function))
			return function;
		free(function);
	}
	return NULL;
}

static int add_function(bool *first, const char *function)
{
	int ret = (*first ? ftrace_set : ftrace_add)("set_graph_function", function);

	*first = false;
	return ret;
}

static int limit_functions(void)
{
	char *list;
	int size, ret = 0;
	bool first = true;

	if (!o.syscalls.nr && !o.functions.nr)
		return ftrace_set("set_graph_function", "");
	list = tracefs_instance_file_read(NULL, "available_filter_functions", &size);
	if (!list)
		return error("cannot limit the trace: this kernel cannot filter functions "
			     "(CONFIG_DYNAMIC_FTRACE)");
	for (unsigned int i = 0; !ret && i < o.syscalls.nr; i++) {
		char *function = syscall_function(list, o.syscalls.items[i]);

		ret = function ? add_function(&first, function) :
		      error("cannot trace system call '%s': no such function", o.syscalls.items[i]);
		free(function);
	}
	for (unsigned int i = 0; !ret && i < o.functions.nr; i++)
		ret = traceable(list, o.functions.items[i]) ? add_function(&first, o.functions.items[i])
			: error("cannot trace '%s': no such traceable function", o.functions.items[i]);
	free(list);
	return ret;
}

/* What the reader of the text wants to know: when, where, who, and which function ended. */
static int configure(void)
{
	char number[16];

	ftrace_try("tracing_on", "0");
	snprintf(number, sizeof(number), "%u", o.buffer_kb ? o.buffer_kb : 8192);
	if (ftrace_set("buffer_size_kb", number) || limit_functions())
		return -1;
	snprintf(number, sizeof(number), "%u", o.depth);
	ftrace_try("max_graph_depth", number);
	if (ftrace_set("current_tracer", tracer))
		return -1;
	ftrace_try("options/funcgraph-abstime", "1");
	ftrace_try("options/funcgraph-proc", "1");
	ftrace_try("options/funcgraph-cpu", "1");
	ftrace_try("options/funcgraph-tail", "1");
	ftrace_try("options/funcgraph-overrun", "0");
	/* Reading the trace is work of ours that would fill it. */
	snprintf(number, sizeof(number), "%d", (int)getpid());
	ftrace_try("set_ftrace_notrace_pid", number);
	return 0;
}

/* Moves the trace from the kernel to the file while the command runs. */
struct pump {
	int fd;
	FILE *to;
	struct tracefs_instance *inst;
	atomic_bool ready, stop;
};

static void *pump_run(void *data)
{
	static char buf[1 << 16];
	struct pump *p = data;
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	char tid[16];

	snprintf(tid, sizeof(tid), "%d", (int)gettid());
	tracefs_instance_file_append(p->inst, "set_ftrace_notrace_pid", tid);
	p->ready = true;
	for (;;) {
		bool last = p->stop;	/* read before the pipe, so that nothing after it is missed */
		ssize_t n = read(p->fd, buf, sizeof(buf));

		if (n > 0)
			fwrite(buf, 1, (size_t)n, p->to);
		else if (last)
			return NULL;
		else
			poll(&pfd, 1, 100);
	}
}

/* The header lines of the trace file name the tracer and the columns; the pipe has none. */
static void copy_header(struct tracefs_instance *inst, FILE *to)
{
	char *dir = tracefs_instance_get_file(inst, "trace"), line[512];
	FILE *fp = fopen(dir, "re");

	while (fp && fgets(line, sizeof(line), fp) && line[0] == '#')
		fputs(line, to);
	if (fp)
		fclose(fp);
	tracefs_put_tracing_file(dir);
}

static int trace(struct tracefs_instance *inst, FILE *to, char **argv)
{
	struct pump pump = { .fd = tracefs_instance_file_open(inst, "trace_pipe", O_RDONLY | O_NONBLOCK),
			     .to = to, .inst = inst };
	pthread_t thread;
	sigset_t all, old;
	int ret = 0;

	if (pump.fd < 0)
		return error("cannot read tracing's 'trace_pipe': %s", strerror(errno));
	copy_header(inst, to);
	/* Signals are for the thread that hands them on. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(&thread, NULL, pump_run, &pump);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		close(pump.fd);
		return error("cannot start a thread: %s", strerror(err));
	}
	while (!pump.ready)
		usleep(1000);
	if (tracefs_trace_on(inst))
		ret = error("cannot switch tracing on: %s", strerror(errno));
	else if (*argv)
		ret = record_run(argv, NULL);
	else
		record_wait();
	tracefs_trace_off(inst);
	pump.stop = true;
	pthread_join(thread, NULL);
	close(pump.fd);
	return ret;
}

static int record_ftrace(int argc, char **argv)
{
	struct tracefs_instance *inst;
	struct outfile out;
	int ret;

	(void)argc;
	if (!o.out)
		return usage_error("record ftrace", "no output: give -o");
	if (outfile_init(&out, o.out))
		return EXIT_FAILED;
	/* A signal must find us restoring, not dying: it is held until record_run or record_wait. */
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	ret = ftrace_begin(&inst, tracer);
	if (!ret)
		ret = configure();
	if (!ret)
		ret = trace(inst, out.fp, argv);
	ftrace_restore();
	if (ret < 0 || outfile_commit(&out))
		ret = EXIT_FAILED;
	outfile_abort(&out);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

const struct command record_ftrace_command = {
	.name = "record ftrace",
	.args = "-o FILE [-- COMMAND]",
	.summary = "trace every kernel function with function_graph: exact calls, whole paths",
	.details = "Traces the whole system until COMMAND ends, or until interrupted when there is none.\n"
		"Every tracing setting is put back as it was.",
	.example = "hottext record ftrace --syscall read -o trace.txt -- dd if=/dev/zero of=/tmp/x count=9",
	.opts = options,
	.options_first = true,
	.run = record_ftrace,
};
