// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bends what rdma_krping relies on: the capabilities that a device reports, for
 * as long as this is loaded, and a number in memory, for good. For
 * tests/guest/limits.t: rxe and siw have too many capabilities, and nobody can
 * make 4294967295 runs.
 */
#include "plant.h"

#include <rdma/ib_verbs.h>

PLANT_PARAM(charp, device, "", 0444, "RDMA device to bend, by name");
PLANT_PARAM(bool, no_fastreg, false, 0444, "the device has no memory management extensions");
PLANT_PARAM(uint, pages, 0, 0444,
	    "pages that one fast registration of the device can take; 0: as it is");
PLANT_PARAM(ulong, at, 0, 0400, "address of an unsigned int, from /proc/kallsyms");
PLANT_PARAM(uint, number, 0, 0444, "what it is to be; it stays so");

static struct ib_device_attr bend_own;

/* Changes only the device with that name; the others get no client data. */
static int bend_add(struct ib_device *dev)
{
	if (strcmp(dev_name(&dev->dev), device))
		return -EOPNOTSUPP;
	bend_own = dev->attrs;
	if (no_fastreg)
		dev->attrs.device_cap_flags &= ~(u64)IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (pages)
		dev->attrs.max_fast_reg_page_list_len = pages;
	return 0;
}

static void bend_remove(struct ib_device *dev, void *client_data)
{
	dev->attrs = bend_own;
}

static struct ib_client bend_client = {
	.name = KBUILD_MODNAME,
	.add = bend_add,
	.remove = bend_remove,
};

static int __init bend_begin(void)
{
	if (at)
		WRITE_ONCE(*(unsigned int *)at, number);
	return ib_register_client(&bend_client);
}

static void __exit bend_end(void)
{
	ib_unregister_client(&bend_client);
}

PLANT_MODULE(bend_begin, bend_end, "Devices that can less, and counters near their end, for tests");
