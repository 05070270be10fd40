/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bundled x86-64 kernel as an image: group setup and teardown of the tests that look at it. */
#ifndef TESTS_UNIT_SAMPLE_H
#define TESTS_UNIT_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyze/image/image.h"

static char sample_dir[] = "/tmp/hottext-sample-XXXXXX";
static struct image sample;

static int sample_setup(void **state)
{
	char cmd[512];

	(void)state;
	if (!mkdtemp(sample_dir))
		return -1;
	snprintf(cmd, sizeof(cmd), "xz -dc samples/linux-6.1-x86_64/vmlinux.xz >%s/vmlinux && "
		 "zstd -qdc samples/linux-6.1-x86_64/vmlinux.map.zst >%s/vmlinux.map", sample_dir, sample_dir);
	if (system(cmd))
		return -1;
	snprintf(cmd, sizeof(cmd), "%s/vmlinux", sample_dir);
	return image_init(&sample, cmd, NULL);
}

static int sample_teardown(void **state)
{
	char cmd[64];

	(void)state;
	image_release(&sample);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", sample_dir);
	return system(cmd);
}

#endif
