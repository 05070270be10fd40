// SPDX-License-Identifier: GPL-3.0-or-later
// A livepatch of udp_lib_close(), a static that the kernel has once for UDP and once for UDP-Lite: its parameter `position`
// says which, counted by address as the kernel does. `calls` counts sockets closed by the patch.
#include <linux/livepatch.h>
#include <linux/module.h>
#include <net/sock.h>
#include <net/udp.h>

static unsigned long position, calls;
module_param(position, ulong, 0444);
module_param(calls, ulong, 0444);

static void patched_close(struct sock *sk, long timeout)
{
	calls++;
	sk_common_release(sk);
}

static struct klp_func funcs[] = { { .old_name = "udp_lib_close", .new_func = patched_close }, { } };
static struct klp_object objects[] = { { .funcs = funcs }, { } };
static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init hottext_patch_init(void)
{
	funcs[0].old_sympos = position;
	return klp_enable_patch(&patch);
}
module_init(hottext_patch_init);

static void __exit hottext_patch_exit(void)
{
}
module_exit(hottext_patch_exit);

MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("livepatch of a static for the kernel check");
