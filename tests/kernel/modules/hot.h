/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The test module's hot functions, spread over two objects with cold ones between them. */
#ifndef TESTS_KERNEL_MODULES_HOT_H
#define TESTS_KERNEL_MODULES_HOT_H

/* Each returns what it was given, and one more for each hot function that ran. */
unsigned long hottext_near(unsigned long n);
unsigned long hottext_far(unsigned long n);

#endif
