/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `hottext record profile`: resets /proc/profile, waits, copies it. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/file.h"

static struct {
	const char *out, *proc;
} o = { .proc = "/proc/profile" };

static const struct opt options[] = {
	{ 'o', "output", "FILE", "write the raw counters here", OPT_STRING, &o.out, 0, 0 },
	{ 0, "file", "FILE", "the kernel's file (default: /proc/profile)", OPT_STRING, &o.proc, 0, 0 },
	OPT_COMMON
};

static int failed(void)
{
	if (errno == ENOENT)
		return error("cannot read '%s': the kernel keeps no profile (boot it with profile=2)",
			     o.proc);
	if (errno == EACCES || errno == EPERM)
		return error("cannot read '%s': no right (run as root)", o.proc);
	return error("cannot read '%s': %s", o.proc, strerror(errno));
}

static int copy(FILE *to)
{
	char buf[1 << 16];
	int fd = open(o.proc, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd < 0)
		return failed();
	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			fwrite(buf, 1, (size_t)n, to);
	int ret = n < 0 ? failed() : 0;
	close(fd);
	return ret;
}

/* Any write clears the counters but one of an int's size, which sets the timer's multiplier. */
static int reset(void)
{
	int fd = open(o.proc, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return failed();
	ssize_t n = write(fd, "r", 1);
	if (n != 1) {
		int ret = failed();

		close(fd);
		return ret;
	}
	close(fd);
	return 0;
}

static int record_profile(int argc, char **argv)
{
	struct outfile out;
	int ret = 0;

	if (!o.out)
		return usage_error("record profile", "no output: give -o");
	if (outfile_init(&out, o.out))
		return EXIT_FAILED;
	if (reset()) {
		outfile_abort(&out);
		return EXIT_FAILED;
	}
	if (argc)
		ret = record_run(argv, NULL);
	else
		record_wait();
	if (ret < 0 || copy(out.fp) || outfile_commit(&out))
		ret = EXIT_FAILED;
	outfile_abort(&out);
	return ret;
}

const struct command record_profile_command = {
	.name = "record profile",
	.args = "-o FILE [-- COMMAND]",
	.summary = "reset and read /proc/profile: the kernel's own flat profile, on any machine",
	.details = "Records until COMMAND ends, or until interrupted when there is none. The kernel must\n"
		"have been booted with profile=SHIFT.",
	.example = "hottext record profile -o counters -- sleep 60",
	.opts = options,
	.options_first = true,
	.run = record_profile,
};
