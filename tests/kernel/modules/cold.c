// SPDX-License-Identifier: GPL-3.0-or-later
// The module's second object: a hot function behind pages of cold ones, and a static of a name that the first one has.
#include <linux/kernel.h>
#include <linux/module.h>

#include "hot.h"

noinline void hottext_cold_far(void);
noinline void hottext_cold_far(void)
{
	asm volatile(".fill 8192, 1, 0x90" : : : "memory");
}

static noinline unsigned long hottext_leaf(unsigned long n)
{
	for (int i = 0; i < 500; i++)
		asm volatile("" : "+r"(n));
	return hottext_near(n) + 1;
}

unsigned long hottext_far(unsigned long n)
{
	return hottext_leaf(n) + 1;
}
