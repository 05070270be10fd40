/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `hottext record perf`: runs perf record with the events that serve us. */
#include "record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/file.h"
#include "lib/mem.h"

static struct {
	const char *out, *event, *perf;
	unsigned int frequency;
	bool branches, itlb;
} o;

static const struct opt options[] = {
	{ 'o', "output", "FILE", "write it here (default: perf.data)", OPT_STRING, &o.out, 0, 0 },
	{ 'e', "event", "EVENT", "the event (default: cycles:k, or cpu-clock:k where no counter is)",
	  OPT_STRING, &o.event, 0, 0 },
	{ 'F', "frequency", "HZ", "samples a second and CPU (default: 3999)",
	  OPT_UINT, &o.frequency, 1, 1000000 },
	{ 'b', "branch", NULL, "branch records instead of callchains, where the CPU has them",
	  OPT_FLAG, &o.branches, 0, 0 },
	{ 0, "itlb", NULL, "sample instruction TLB misses too, to compare with predictions",
	  OPT_FLAG, &o.itlb, 0, 0 },
	{ 0, "perf", "PROGRAM", "the perf to run (default: perf)", OPT_STRING, &o.perf, 0, 0 },
	OPT_COMMON
};

/* Open a kernel-side event on CPU 0, as perf record -a would; its errno, 0 when it works. */
static int try_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .config = config, .sample_period = 1000000,
		.exclude_user = 1, .disabled = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static int no_right(void)
{
	return error("cannot sample the whole system: no right "
		     "(run as root, or set sysctl kernel.perf_event_paranoid=-1)");
}

/* The event to use; NULL after reporting. */
static const char *pick_event(void)
{
	int err;

	if (o.event)
		return o.event;
	err = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	if (!err)
		return "cycles:k";
	if (err == EACCES || err == EPERM) {
		no_right();
		return NULL;
	}
	detail("no cycle counter here (%s): sampling by the clock", strerror(err));
	err = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	if (!err)
		return "cpu-clock:k";
	if (err == EACCES || err == EPERM)
		no_right();
	else
		error("cannot sample: %s (a kernel with CONFIG_PERF_EVENTS is needed)", strerror(err));
	return NULL;
}

/* With kptr_restrict perf cannot see where the kernel is, and its samples cannot be placed. */
static void warn_of_hidden_addresses(void)
{
	FILE *fp = fopen("/proc/sys/kernel/kptr_restrict", "re");
	int value = 0;

	if (!fp)
		return;
	if (fscanf(fp, "%d", &value) == 1 && (value > 1 || (value == 1 && geteuid())))
		warn("kernel addresses are hidden from perf: set sysctl kernel.kptr_restrict=0, "
		     "else KASLR cannot be undone");
	fclose(fp);
}

/* perf writes the size of its data, a word at 48 of the header, when all else is written. */
static int check_finished(const char *file, const char *name)
{
	struct stat st;
	FILE *fp = !stat(file, &st) && S_ISREG(st.st_mode) && st.st_size ? fopen(file, "re") : NULL;
	uint64_t head[7] = { 0 };
	bool whole = fp && fread(head, sizeof(head), 1, fp) == 1;

	if (fp)
		fclose(fp);
	if (whole && !memcmp(head, "PERFILE2", 8) && head[6])
		return 0;
	return error("cannot write '%s': perf %s%s", name, fp ? "did not finish its recording" : "recorded nothing",
		     verbosity > 0 ? "" : " (-v shows what it says)");
}

/* As perf does, keep the recording that has the default name; it is back where the new one cannot take its place. */
static int commit(struct outfile *out, const char *old)
{
	struct stat st;
	bool keep = old && !stat(out->path, &st) && st.st_size;
	int ret = 0;

	if (!out->tmp)
		return outfile_commit(out);
	if (keep && rename(out->path, old)) {
		ret = error("cannot keep '%s' as '%s': %s; the recording is '%s'", out->path, old, strerror(errno),
			    out->tmp);
	} else if ((fsync(fileno(out->fp)) && errno != EINVAL) || rename(out->tmp, out->path)) {
		ret = error("cannot write '%s': %s; the recording is '%s'", out->path, strerror(errno), out->tmp);
		if (keep)
			rename(old, out->path);
	}
	/* What may have taken hours stays, under either name. */
	temp_forget(out->tmp);
	free(out->tmp);
	out->tmp = NULL;
	return ret;
}

static int run_perf(const char *event, int argc, char **argv)
{
	const char *name = o.out ? o.out : "perf.data";
	struct outfile out;
	struct stat st;
	char hz[16], *old = NULL;
	char **args = xcalloc((size_t)argc + 24, sizeof(*args));
	int n = 0, ret = -1;

	snprintf(hz, sizeof(hz), "%u", o.frequency ? o.frequency : 3999);
	if (outfile_init(&out, name))
		goto out_args;
	if (!o.out && out.tmp)
		old = xasprintf("%s.old", out.path);
	if (old && !stat(old, &st) && S_ISDIR(st.st_mode)) {	/* before anything is recorded in vain */
		error("cannot keep '%s' as '%s': %s", name, old, strerror(EISDIR));
		goto out_file;
	}
	const char *file = out.tmp ? out.tmp : out.path;
	const char *fixed[] = {
		o.perf ? o.perf : "perf", "record", "-a", "-F", hz, "-o", file, "-e", event,
		o.branches ? "-j" : "-g", o.branches ? "any,k" : "--kernel-callchains",
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		args[n++] = (char *)fixed[i];
	if (verbosity <= 0)	/* with the summary, which has the temporary's name, perf leaves out some of its errors */
		args[n++] = (char *)"-q";
	if (o.itlb) {
		args[n++] = (char *)"-e";
		args[n++] = (char *)"iTLB-load-misses:k";
	}
	if (argc) {
		args[n++] = (char *)"--";
		memcpy(args + n, argv, (size_t)argc * sizeof(*args));
	}
	ret = record_run(args, "install linux-perf");
	if (ret >= 0 && (check_finished(file, name) || commit(&out, old)))
		ret = -1;
	/* perf hands on the command's status; without one, a signal is the usual way to end. */
	if (ret > 0 && !argc && record_signal())
		ret = EXIT_DONE;
out_file:
	outfile_abort(&out);
	free(old);
out_args:
	free(args);
	return ret < 0 ? EXIT_FAILED : ret;
}

static int record_perf(int argc, char **argv)
{
	if (o.out && !strcmp(o.out, "-"))
		return usage_error("record perf", "perf.data is not written in order: name a file");
	if (argc && record_check(argv[0]))
		return EXIT_FAILED;
	const char *event = pick_event();
	if (!event)
		return EXIT_FAILED;
	warn_of_hidden_addresses();
	detail("event %s", event);
	return run_perf(event, argc, argv);
}

const struct command record_perf_command = {
	.name = "record perf",
	.args = "[-o FILE] [-- COMMAND]",
	.summary = "sample the whole system with perf: time and callchains of the kernel",
	.details = "Records until COMMAND ends, or until interrupted when there is none.",
	.example = "hottext record perf -o perf.data -- make -j8",
	.opts = options,
	.options_first = true,
	.run = record_perf,
};
