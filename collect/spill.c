/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/input.h"

int spill_reopen(struct input *in, const char *path)
{
	char head[16];
	struct stat st;
	size_t avail;
	const char *ahead = input_peek(in, sizeof(head), &avail);

	if (!strcmp(path, "-") || !avail)
		return -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (avail > sizeof(head))
		avail = sizeof(head);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && pread(fd, head, avail, 0) == (ssize_t)avail &&
	    !memcmp(head, ahead, avail))
		return fd;
	close(fd);
	return -1;
}

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return true;
}

int spill_file(struct input *in, const char *path)
{
	int fd = spill_reopen(in, path);
	size_t avail;
	const char *p;

	if (fd >= 0)
		return fd;
	FILE *tmp = tmpfile();
	fd = tmp ? fcntl(fileno(tmp), F_DUPFD_CLOEXEC, 3) : -1;
	int cause = errno;
	if (tmp)
		fclose(tmp);
	if (fd < 0)
		return error("cannot copy '%s' to a temporary file: %s", input_name(in), strerror(cause));
	while ((p = input_peek(in, 1, &avail)) && avail) {
		if (!write_all(fd, p, avail)) {
			error("cannot copy '%s' to a temporary file: %s", input_name(in), strerror(errno));
			close(fd);
			return -1;
		}
		input_skip(in, avail);
	}
	if (input_failed(in) || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}
