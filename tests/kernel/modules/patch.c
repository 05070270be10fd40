// SPDX-License-Identifier: GPL-3.0-or-later
// A livepatch of init_once(), a static of which the kernel has one for each kind of inode: its parameter `position` says
// which, counted by address as the kernel does. `calls` counts inodes of sockets that the patch has made.
#include <linux/livepatch.h>
#include <linux/module.h>
#include <net/sock.h>

static unsigned long position, calls;
module_param(position, ulong, 0444);
module_param(calls, ulong, 0444);

static void patched_init_once(void *inode)
{
	calls++;
	inode_init_once(&((struct socket_alloc *)inode)->vfs_inode);
}

static struct klp_func funcs[] = { { .old_name = "init_once", .new_func = patched_init_once }, { } };
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
