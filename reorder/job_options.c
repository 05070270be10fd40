/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/job_options.h"

#include "lib/error.h"
#include "lib/kind.h"
#include "reorder/order.h"

struct job_options job_options = { .algorithm = "pack", .effort = 3 };

int job_from_args(struct job *job, const char *command, int argc, char **argv)
{
	if (argc < 2)
		return usage_error(command, "give a vmlinux and at least one profile");
	if (!algorithm_find(job_options.algorithm))
		return usage_error(command, "no algorithm '%s'", job_options.algorithm);
	if (!kind_is_elf(argv[0]))
		for (int i = 1; i < argc; i++)
			if (kind_is_elf(argv[i]))
				return usage_error(command, "VMLINUX comes first, then profiles: '%s' is an ELF file, '%s' is none",
						   argv[i], argv[0]);
	job_options.vmlinux = argv[0];
	job_options.profiles = (const char *const *)argv + 1;
	job_options.nr_profiles = (unsigned int)argc - 1;
	return job_init(job, &job_options) ? EXIT_FAILED : EXIT_DONE;
}
