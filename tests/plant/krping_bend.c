// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bends what rdma_krping relies on: the capabilities that a device reports, for
 * as long as this is loaded, and a number in memory, for good. For
 * tests/guest/limits.t: rxe and siw have too many capabilities, and nobody can
 * make 4294967295 runs.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "RDMA device to bend, by name");

static bool no_fastreg;
module_param(no_fastreg, bool, 0444);
MODULE_PARM_DESC(no_fastreg, "the device has no memory management extensions");

static unsigned int pages;
module_param(pages, uint, 0444);
MODULE_PARM_DESC(pages, "pages that one fast registration of the device can take; 0: as it is");

static unsigned long at;
module_param(at, ulong, 0400);
MODULE_PARM_DESC(at, "address of an unsigned int, from /proc/kallsyms");

static unsigned int number;
module_param(number, uint, 0444);
MODULE_PARM_DESC(number, "what it is to be; it stays so");

static u64 bend_flags;
static u32 bend_pages;

/* Changes only the device with that name; the others get no client data. */
static int bend_add(struct ib_device *dev)
{
	if (strcmp(dev_name(&dev->dev), device))
		return -EOPNOTSUPP;
	bend_flags = dev->attrs.device_cap_flags;
	bend_pages = dev->attrs.max_fast_reg_page_list_len;
	if (no_fastreg)
		dev->attrs.device_cap_flags &= ~(u64)IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (pages)
		dev->attrs.max_fast_reg_page_list_len = pages;
	return 0;
}

static void bend_remove(struct ib_device *dev, void *client_data)
{
	dev->attrs.device_cap_flags = bend_flags;
	dev->attrs.max_fast_reg_page_list_len = bend_pages;
}

static struct ib_client bend_client = {
	.name = "krping_bend",
	.add = bend_add,
	.remove = bend_remove,
};

static int __init krping_bend_init(void)
{
	if (at)
		WRITE_ONCE(*(unsigned int *)at, number);
	return ib_register_client(&bend_client);
}
module_init(krping_bend_init);

static void __exit krping_bend_exit(void)
{
	ib_unregister_client(&bend_client);
}
module_exit(krping_bend_exit);

MODULE_DESCRIPTION("Devices that can less, and counters near their end, for tests");
MODULE_LICENSE("Dual BSD/GPL");
