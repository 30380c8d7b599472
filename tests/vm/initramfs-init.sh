#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# /init of the VM's initramfs: makes the root, the host's "/" (or another distribution's root below it) over 9p with a
# tmpfs overlay on it, and hands over to guest-init.sh there. Runs under busybox alone.
# shellcheck shell=dash

/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null

# shellcheck disable=SC1091 # written by run.sh
. /krping/conf

# "b" resets at once; QEMU runs with -no-reboot and ends.
die() {
	echo "krping-vm: $*" >/dev/console
	echo b >/proc/sysrq-trigger
	sleep 60
}

if [ "$MODE" = probe ]; then die "probe: alive"; fi

while read -r m; do
	insmod "/krping/modules/$m" || die "insmod $m failed"
done </krping/modules/order

mkdir -p /lower /ovl /newroot /orig
# The host's files hardly change while the guest runs, so cache=loose will do; it is three times as fast.
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 root /lower ||
	die "the host's root could not be mounted"
mount -t tmpfs -o size=75% tmpfs /ovl
mkdir /ovl/upper /ovl/work
mount -t overlay -o lowerdir="/lower$ROOT",upperdir=/ovl/upper,workdir=/ovl/work overlay /newroot ||
	die "the overlay could not be mounted"
# A fresh tmpfs hides the folders below it (a repository in /tmp): guest-init.sh mounts them again from here.
mount --bind /newroot /orig

mkdir -p /newroot/run /newroot/proc /newroot/sys /newroot/dev /newroot/tmp /newroot/out
mount -t tmpfs -o mode=755 tmpfs /newroot/run
mkdir -p /newroot/run/krping/orig /newroot/run/krping/lower
mount --move /orig /newroot/run/krping/orig
mount --move /lower /newroot/run/krping/lower
cp -r /krping/. /newroot/run/krping/
cp /bin/busybox /newroot/run/krping/busybox
# Without a cache, a write is on the host when it returns.
mount -t 9p -o trans=virtio,version=9p2000.L,cache=none,msize=512000 out /newroot/out ||
	die "the output folder could not be mounted"
mount --move /proc /newroot/proc
mount --move /sys /newroot/sys
mount --move /dev /newroot/dev
# shellcheck disable=SC2093 # it does come back when it fails
exec switch_root -c /dev/console /newroot /bin/bash /run/krping/guest-init.sh
die "the host's root has no /bin/bash"
