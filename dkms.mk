# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What dkms.conf runs in its copy of the sources: builds the module for the kernel KREL, by its headers in KDIR.

# kbuild makes the module's BTF from the headers' vmlinux, which Debian's do not have. The running kernel has its own in sysfs.
BTF	:= $(if $(filter $(KREL),$(shell uname -r)),/sys/kernel/btf/vmlinux)

module:
	$(MAKE) -C $(KDIR) M=$(CURDIR)/module modules
	bash tests/vm/module-btf.sh module/rdma_krping.ko $(BTF)

.PHONY: module
