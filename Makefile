# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# krping: module, tools, and a VM to try and test them in. "make help" lists the targets.
# kbuild reads module/Kbuild, never this file.

KERNEL		?= 6.1
PROVIDER	?= rxe
PREFIX		?= /usr/local
DESTDIR		?=
# TEST runs tests or cells alone (make check TEST="errors.t oldest:core:rxe"); MUTANT adds a planted fault of tests/mutants
# (MUTANT=drop_phase).
TEST		?=
MUTANT		?=
# VARIANT names a separate build of the VM's module, with KRPING_CFLAGS of its own.
VARIANT		?=
export KERNEL

# make demo, check and shell take their kernel, and headers, from kernel.sh. The host's module is built for
# the running kernel, or for KDIR; where neither has headers, "make" builds the VM's module alone.
HOST_KDIR	:= $(wildcard /lib/modules/$(shell uname -r)/build)
KDIR		?= $(HOST_KDIR)

# As many compilers as CPUs, unless whoever calls make says how many.
JOBS		:= $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

SRC		:= $(CURDIR)
OUT		:= $(SRC)/build
VM_OUT		:= $(OUT)/vm-$(KERNEL)
VM_ENV		:= $(VM_OUT)/kernel.env
VM_DIR		:= $(VM_OUT)$(if $(VARIANT),/$(VARIANT))/module
HOST_OUT	:= $(OUT)/host
HOST_KO		:= $(HOST_OUT)/module/rdma_krping.ko
DEPS		:= $(SRC)/tests/vm/deps.sh
IN_ROOT		:= $(SRC)/tests/vm/in-root.sh
VM_KERNEL	:= $(SRC)/tests/vm/kernel.sh

all: module tools

help:
	@echo 'make [all]     module and tools for the running kernel (KDIR=: another one)'
	@echo 'make deps      install the Debian packages that are needed (as root)'
	@echo 'make demo      a ping between two ends in a VM, and where its time goes'
	@echo 'make shell     a root shell in the VM, with module, link and tools'
	@echo 'make install   module and tools (PREFIX=$(PREFIX), DESTDIR=); make uninstall'
	@echo 'make deb       Debian packages, in build/deb/'
	@echo 'make clean     removes build/; the kernels in ~/.cache/krping stay'
	@echo
	@echo 'make check     the tests: 10 minutes (TEST="ping.t unit": only these)'
	@echo 'make gate      what a CI runs: make check and more, 25 minutes'
	@echo 'make deep      all that this commit has no verdict for (ONLY="faults.t")'
	@echo 'make deep-report  what is red, flaky, or was not run for this commit'
	@echo 'make burn TEST=ping.t N=5  five boots of a test (TEST=oldest:core:rxe)'
	@echo 'make check-here   with the module and device here (ADDR= DEV= PEER=)'
	@echo 'make soak SECONDS=600  lies of peers, in a random order (KRPING_SEED=)'
	@echo 'make bench     what a ping and observing cost (TABLES="perftest rping")'
	@echo
	@echo 'demo, shell, check, soak: PROVIDER=rxe|siw KERNEL=6.1|newest|debug|...'

deps:
	@$(DEPS) --install build vm test root deep bench deb

# A build alone installs nothing. The others install the packages for root, and tell other users the command.
deps-build:
	@$(DEPS) --check build

need = @if [ "$$(id -u)" = 0 ]; then $(DEPS) --check $(1) 2>/dev/null || $(DEPS) --install $(1); else $(DEPS) --check $(1); fi

deps-all:
	$(call need)

# For a VM in which nothing is tested.
deps-vm:
	$(call need,build vm)

deps-deb:
	$(call need,build deb)

deps-deep: deps-all
	$(call need,deep)

deps-bench: deps-all
	$(call need,bench)

# VM_ENV is the output of kernel.sh; it is rewritten only when that changes, since the VM's module depends on it.
ifneq ($(filter check gate deep burn check-% soak bench,$(MAKECMDGOALS)),)
VM_DEPS	:= deps-all
else ifneq ($(filter demo shell,$(MAKECMDGOALS)),)
VM_DEPS	:= deps-vm
else
VM_DEPS	:= deps-build
endif

$(VM_ENV): FORCE | $(VM_DEPS)
	@mkdir -p $(VM_OUT)
	@new=$@.$$$$; $(VM_KERNEL) >$$new || { rm -f $$new; exit 1; }; \
		cmp -s $$new $@ && rm -f $$new || { find $(VM_OUT) -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} +; mv $$new $@; }

# farm FOLDER: links to the sources, so that kbuild's files for one kernel never meet those for another, and messages
# still lead to the sources.
define farm
	@mkdir -p $(1) $(dir $(1))trace
	@cp -rsf $(SRC)/module/. $(1)/
	@cp -rsf $(SRC)/trace/. $(dir $(1))trace/
	@find $(1) $(dir $(1))trace -xtype l -delete
endef

# kbuild KDIR, FOLDER, BTF BASE, PREFIX of the commands
define kbuild
	@$(4) $(MAKE) $(JOBS) --no-print-directory -C $(1) M=$(2) KRPING_CFLAGS='$(KRPING_CFLAGS)' $(KBUILD_ARGS) modules
	@$(4) $(SRC)/tests/vm/module-btf.sh $(2)/rdma_krping.ko $(3)
endef

module: $(if $(KDIR),host-module,vm-module)
	$(if $(KDIR),,@echo 'krping: no headers of the running kernel (linux-headers-$(shell uname -r)): this module is for the VM')

# The running kernel's BTF is a base for its own modules only: with a wrong base the module may not load.
HOST_KREL	= $(shell cat $(KDIR)/include/config/kernel.release 2>/dev/null)
HOST_BTF	= $(firstword $(wildcard $(KDIR)/vmlinux) \
		$(if $(filter $(shell uname -r),$(HOST_KREL)),$(wildcard /sys/kernel/btf/vmlinux)))

host-module: deps-build
	$(call farm,$(HOST_OUT)/module)
	$(call kbuild,$(KDIR),$(HOST_OUT)/module,$(HOST_BTF))

# The VM's module is built by the compiler of its kernel's distribution.
VM_ROOT		= $(IN_ROOT) $$(. $(VM_ENV); echo $$KROOT)

VM_KDIR		= $$(. $(VM_ENV); echo $$KBUILD_DIR)
VM_BTF		= $$(. $(VM_ENV); echo $$KBTF)

# Parts of the suite run beside each other, and "make shell" beside all of them. cp and kbuild make files of passing names in a
# kernel's folder, over which a make that copies the folder stumbles; so one make at a time works there.
vm-module vm-plant: $(VM_ENV)
	@flock $(VM_OUT)/lock $(MAKE) --no-print-directory locked-$@

# The lock is taken for each planted fault anew: "make shell" needs it, and all faults together take minutes.
vm-mutant: vm-module
	@set -e; for name in $(MUTANT); do flock $(VM_OUT)/lock $(MAKE) --no-print-directory locked-$@ MUTANT=$$name; done

locked-vm-module: $(VM_ENV)
	$(call farm,$(VM_DIR))
	$(call kbuild,$(VM_KDIR),$(VM_DIR),$(VM_BTF),$(VM_ROOT))

# The module with a planted fault: the built module is copied, and only the files that the fault changes are compiled again.
locked-vm-mutant: MUTANT_DIR = $(VM_OUT)/mutants/$(MUTANT)
locked-vm-mutant: $(VM_ENV)
	@set -e; ready=$$($(SRC)/tests/mutants/plant.sh $(MUTANT) $(VM_OUT) $(MUTANT_DIR)); \
	[ "$$ready" != ready ] || exit 0; \
	$(VM_ROOT) $(MAKE) $(JOBS) --no-print-directory -C $(VM_KDIR) M=$(MUTANT_DIR)/module modules; \
	$(VM_ROOT) $(SRC)/tests/vm/module-btf.sh $(MUTANT_DIR)/module/rdma_krping.ko $(VM_BTF)

# Modules that tests load in addition, such as one that commits bugs for the gate to find; in a folder of their own.
locked-vm-plant: $(VM_ENV)
	@mkdir -p $(VM_OUT)/plant $(VM_OUT)/trace
	@cp -rsf $(SRC)/tests/plant/. $(VM_OUT)/plant/
	@cp -rsf $(SRC)/trace/. $(VM_OUT)/trace/
	@$(VM_ROOT) $(MAKE) $(JOBS) --no-print-directory -C $(VM_KDIR) M=$(VM_OUT)/plant modules

# The tools read no kernel types: one build runs on every kernel.
tools: $(if $(filter bench,$(MAKECMDGOALS)),$(VM_ENV),deps-build)
	@$(MAKE) $(JOBS) --no-print-directory -C tools

# Tools that are built in the distribution of a VM's kernel have a folder of their own, since make deep also runs the
# host's tools there. All kernels of a distribution share it, so only one make at a time builds there.
VM_TOOLS	= $$(. $(VM_ENV); [ "$$KROOT" = / ] && echo $(OUT)/tools || echo $(OUT)/tools-$$KDIST)

vm-tools: $(VM_ENV)
	@. $(VM_ENV); flock $(OUT)/.tools.lock $(IN_ROOT) "$$KROOT" $(MAKE) $(JOBS) --no-print-directory -C tools OUT=$(VM_TOOLS)

# All that the tests on a kernel need.
vm-all: vm-module vm-plant vm-tools

# A VM with the module that is built for it, never with the host's; its results are in the folder build/NAME.
run	= mkdir -p $(OUT)/$(1) && $(SRC)/tests/vm/run.sh --provider $(PROVIDER) --module $(VM_OUT)/module/rdma_krping.ko --tools $(VM_TOOLS) \
		--out $(OUT)/$(1)

demo: vm-module vm-tools
	@echo 'krping: booting a VM with $(PROVIDER); your own kernel is not touched'
	@$(call run,demo) --timeout 150 --tty -- bash tests/vm/demo-guest.sh

# tests/check/plan lists the parts of these targets. make check runs all its parts; with TEST= only these tests or cells, and with
# KERNEL= or PROVIDER= only its cells there.
given	= $(filter-out undefined file,$(origin $(1)))
CHECK	= env -u KERNEL -u SECONDS $(if $(call given,KERNEL),KERNEL=$(KERNEL)) $(if $(call given,PROVIDER),PROVIDER=$(PROVIDER)) TEST='$(TEST)' \
	MUTANT='$(MUTANT)' ONLY='$(ONLY)' OUT=$(OUT) $(SRC)/tests/check/check.pl

check: deps-all
	@$(CHECK) $(if $(TEST),test,check)

deep: deps-deep
gate deep: deps-all
	@$(CHECK) $@

deep-report:
	@$(CHECK) report

# A new test of the guest has to pass five times on each of its providers.
burn: deps-all
	@N='$(or $(N),5)' $(CHECK) test

# Bash would take a SECONDS of its environment for the time that has passed.
soak: export KRPING_SOAK = $(SECONDS)
soak: deps-all
	@case '$(SECONDS)' in '' | *[!0-9]*) echo 'krping: make soak SECONDS=N' >&2; exit 2 ;; esac
	@$(MAKE) --no-print-directory check TEST=draw.t

# On this machine and its RDMA device, as root; ADDR=, DEV=, PEER=, YES= and TEST= reach the script through the environment.
check-here: tools
	@OUT=$(OUT) $(SRC)/tests/check/here.sh

# No part of make check: it needs a machine that does nothing else.
bench: deps-bench vm-module tools
	@$(MAKE) --no-print-directory vm-module VARIANT=notrace KRPING_CFLAGS=-DNOTRACE
	@$(if $(filter-out file,$(origin PROVIDER)),PROVIDER=$(PROVIDER)) OUT=$(OUT) $(SRC)/tests/vm/bench.sh

shell: vm-module vm-tools
	@$(call run,shell) --shell

install: all
	@[ -n "$(KDIR)" ] || { echo 'krping: no headers of the running kernel: install linux-headers-'"$$(uname -r)"; exit 1; }
	@# Without the kernel's key, which no distribution ships, kbuild would try to sign all the same, and complain.
	$(MAKE) -C $(KDIR) M=$(HOST_OUT)/module INSTALL_MOD_DIR=extra $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) \
		$(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=) modules_install
	$(if $(DESTDIR),,depmod $(HOST_KREL))
	$(MAKE) -C tools install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)

uninstall:
	rm -f $(DESTDIR)/lib/modules/$(HOST_KREL)/extra/rdma_krping.ko*
	$(if $(DESTDIR),,depmod $(HOST_KREL))
	$(MAKE) -C tools uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)

# debhelper works in the tree that it packs: that is a copy, next to which the packages are put. They must not depend on the
# variables of this make.
DEB_VERSION	= $(shell sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)

deb: deps-deb
	@rm -rf $(OUT)/deb
	@$(SRC)/tests/sources.sh $(OUT)/deb/krping-$(DEB_VERSION)
	@cd $(OUT)/deb/krping-$(DEB_VERSION) && env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u MAKELEVEL -u KERNEL -u PREFIX -u DESTDIR \
		dpkg-buildpackage -us -uc
	@ls $(OUT)/deb/*.deb

clean:
	rm -rf $(OUT)

FORCE:

.PHONY: all help deps deps-build deps-all deps-vm deps-deep deps-bench deps-deb module host-module vm-module vm-mutant vm-plant locked-vm-module \
	locked-vm-mutant locked-vm-plant tools vm-tools vm-all demo check gate deep deep-report burn check-here soak bench shell \
	install uninstall deb clean FORCE
