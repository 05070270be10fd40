// SPDX-License-Identifier: GPL-3.0-or-later
// A module whose hot functions lie apart until it is linked by a profile. Writing N to its parameter `run` calls them
// N times, `calls` says how many ran; they call functions of the kernel that an order moves. Writing to `stack` saves
// the stack from within them for `trace`, and warns.
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>

#include "hot.h"

static unsigned long calls;
module_param(calls, ulong, 0444);

/* Half a page that never runs between every two that do. */
#define COLD(name) \
	noinline void hottext_cold_##name(void); \
	noinline void hottext_cold_##name(void) { asm volatile(".fill 2048, 1, 0x90" : : : "memory"); }

static char trace[2048];
static int want_trace;

static noinline unsigned long hottext_leaf(unsigned long n)
{
	unsigned long entries[32];
	void *p;

	if (want_trace) {
		want_trace = 0;
		stack_trace_snprint(trace, sizeof(trace), entries, stack_trace_save(entries, ARRAY_SIZE(entries), 0), 0);
		WARN(1, "hottext: as asked for\n");
	}
	p = kmalloc(64 + n % 64, GFP_KERNEL);
	kfree(p);
	return p ? n + 1 : 0;
}
COLD(1)

static noinline unsigned long hottext_middle(unsigned long n)
{
	return hottext_far(hottext_leaf(n)) + 1;
}
COLD(2)

static noinline unsigned long hottext_outer(unsigned long n)
{
	struct file *f = filp_open("/init", O_RDONLY, 0);
	char c;
	loff_t pos = 0;

	if (IS_ERR(f))
		return 0;
	if (kernel_read(f, &c, 1, &pos) == 1)
		n = hottext_middle(n) + 1;
	fput(f);
	return n;
}
COLD(3)

/* Long enough to be sampled, as its caller in the other object. */
unsigned long hottext_near(unsigned long n)
{
	for (int i = 0; i < 500; i++)
		asm volatile("" : "+r"(n));
	return n + 1;
}
COLD(4)

static int set_run(const char *text, const struct kernel_param *kp)
{
	unsigned long n;
	int ret = kstrtoul(text, 0, &n);

	for (; !ret && n; n--)
		calls = hottext_outer(calls);
	return ret;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);

static int set_stack(const char *text, const struct kernel_param *kp)
{
	unsigned long before = calls;

	want_trace = 1;
	calls = hottext_outer(calls);
	return calls > before ? 0 : -EIO;
}

static const struct kernel_param_ops stack_ops = { .set = set_stack };
module_param_cb(stack, &stack_ops, NULL, 0200);

static int get_trace(char *to, const struct kernel_param *kp)
{
	return scnprintf(to, PAGE_SIZE, "%s", trace);
}

static const struct kernel_param_ops trace_ops = { .get = get_trace };
module_param_cb(trace, &trace_ops, NULL, 0444);

static int __init hottext_hot_init(void)
{
	return 0;
}
module_init(hottext_hot_init);

static void __exit hottext_hot_exit(void)
{
}
module_exit(hottext_hot_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("hot functions for the kernel check");
