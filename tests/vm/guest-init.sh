#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Process 1 of the VM, on the host's root: sets up mounts, provider, link and module, runs the command and ends the VM.
# It must never exit: that would be a kernel panic.

set -u
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 LANG=C.UTF-8
state=/run/krping
bb=$state/busybox
# shellcheck disable=SC1091 # written by run.sh
. $state/conf

# off STATUS: the status file is the barrier; once it is on the host, all output before it is, too.
off() {
	$bb dmesg -s 16777216 >/out/dmesg.log
	printf '%s\n' "$1" >/out/status
	sync -f /out/status 2>/dev/null || sync
	echo b >/proc/sysrq-trigger
	while :; do $bb sleep 60; done
}
trap 'off "setup guest-init.sh ended at line $LINENO"' EXIT

setup_failed() { off "setup $*"; }

mounts() {
	local dir from
	for dir in tmp var/tmp; do
		mkdir -p /$dir
		$bb mount -t tmpfs -o mode=1777 tmpfs /$dir
	done
	mkdir -p /dev/pts /dev/shm /run/lock /run/shm
	$bb mount -t devpts -o mode=620,ptmxmode=666,gid=5 devpts /dev/pts
	$bb mount -t tmpfs -o mode=1777 tmpfs /dev/shm
	for dir in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
		[ -e "/dev/${dir%:*}" ] || ln -s "/proc/self/${dir#*:}" "/dev/${dir%:*}"
	done
	$bb mount -t tracefs tracefs /sys/kernel/tracing
	$bb mount -t debugfs debugfs /sys/kernel/debug
	$bb mount -t bpf bpffs /sys/fs/bpf
	$bb mount -t cgroup2 cgroup2 /sys/fs/cgroup
	# An ordinary user's QEMU cannot read the host's /root.
	if ! ls -A /root >/dev/null 2>&1; then
		mkdir -p /root
		$bb mount -t tmpfs -o mode=700 tmpfs /root
	fi
	for dir in "$REPO" "${KMODS%/lib/modules/*}" "$TOOLS"; do
		from=$state/orig$dir
		# Another distribution's root has none of these folders: take them from the host's root, read-only.
		if [ -n "$ROOT" ]; then from=$state/lower$dir; elif [ -e "$dir" ]; then continue; fi
		mkdir -p "$dir"
		$bb mount --bind "$from" "$dir"
	done
	mkdir -p "/lib/modules/$KREL"
	if [ "$(readlink -f "/lib/modules/$KREL")" != "$KMODS" ]; then
		$bb mount --bind "$state/lower$KMODS" "/lib/modules/$KREL"
	fi
	$bb umount -l $state/orig
	$bb umount -l $state/lower
}

# wait_for SECONDS COMMAND...: polls ten times a second.
wait_for() {
	local n=$(($1 * 10))
	shift
	while ! "$@"; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		$bb usleep 100000
	done
}

link_active() {
	grep -q ACTIVE "/sys/class/infiniband/$KRPING_LINK/ports/1/state" 2>/dev/null || return 1
	[ "$PROVIDER" = siw ] && return 0
	# A work queue adds the GIDs later; without the GID of our address a connection has no route.
	cat "/sys/class/infiniband/$KRPING_LINK/ports/1/gids/"* 2>/dev/null |
		grep -q "0000:0000:0000:0000:0000:ffff:0a09:000${KRPING_ADDR##*.}" || return 1
	cat "/sys/class/infiniband/$KRPING_LINK/ports/1/gids/"* | grep -qi "^fd09:.*:000${KRPING_ADDR##*.}\$"
}

# wire_netdev: finds this end of the wire by its MAC address, since the kernel chooses its name; sets netdev.
wire_netdev() {
	local d
	for d in /sys/class/net/*; do
		[ "$(cat "$d/address" 2>/dev/null)" != "52:54:00:09:00:0${KRPING_ADDR##*.}" ] || netdev=${d##*/}
	done
	[ -n "$netdev" ]
}

provider() {
	local netdev=d0
	modprobe -a rdma_cm ib_uverbs rdma_ucm dummy || setup_failed "modprobe of the RDMA core failed"
	ip link set lo up
	# rdma_cm chooses the port of a client at random, and siw binds a TCP socket to this port. That fails with EADDRINUSE if a
	# connection of the minute before is still in TIME_WAIT there (docs/upstream/siw-time-wait.md): so TCP keeps none.
	echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets || setup_failed "TCP's TIME_WAIT could not be switched off"
	if [ -n "$WIRE" ]; then
		netdev=''
		modprobe virtio_net || setup_failed "modprobe virtio_net failed"
		wait_for 60 wire_netdev || setup_failed "there is no netdev for the wire"
		# Otherwise TCP sends its last data again whenever an answer is late, although nothing was lost.
		echo 0 >/proc/sys/net/ipv4/tcp_early_retrans
	else
		ip link add d0 type dummy || setup_failed "the netdev d0 could not be made"
	fi
	export KRPING_NETDEV=$netdev
	ip addr add "$KRPING_ADDR/24" dev "$netdev" && ip addr add "$KRPING_ADDR6/64" dev "$netdev" nodad &&
		ip link set "$netdev" up || setup_failed "the netdev $netdev could not be set up"
	# The kernel version decides which of these modules siw needs; if one is missing, insmod fails.
	modprobe -qa libcrc32c crc32c_generic crc32c || :
	# shellcheck disable=SC2046 # words
	modprobe -qa $(modinfo -F depends $state/provider.ko | tr , ' ') || :
	export KRPING_PROVIDER_KO=$state/provider.ko
	$bb insmod $KRPING_PROVIDER_KO || setup_failed "insmod of $PROVIDER's module failed"
	export KRPING_LINK=${PROVIDER}0
	rdma link add "$KRPING_LINK" type "$PROVIDER" netdev "$netdev" || setup_failed "rdma link add failed"
	wait_for 120 link_active || setup_failed "the link $KRPING_LINK does not come up: $(rdma link 2>&1)"
}

terminal() {
	local t=$TERMINAL
	for TERM in "$t" xterm-256color xterm vt100; do
		[ ! -e "/lib/terminfo/${TERM:0:1}/$TERM" ] && [ ! -e "/usr/share/terminfo/${TERM:0:1}/$TERM" ] || break
	done
	export TERM
	wait_for 5 test -c /dev/hvc0 || setup_failed "there is no /dev/hvc0"
	# The console does not transport the window's size: run.sh writes each new size to a file.
	(
		last="$ROWS $COLS"
		while $bb sleep 1; do
			[ -s /out/.winsize ] || continue
			read -r now </out/.winsize
			[ "$now" != "$last" ] || continue
			last=$now
			stty -F /dev/hvc0 rows "${now% *}" cols "${now#* }"
		done
	) </dev/null >/dev/null 2>&1 &
}

ended() { ! kill -0 "$1" 2>/dev/null; }

run_command() {
	cd "$REPO" || setup_failed "$REPO is not to be seen in the guest"
	if [ "$MODE" = tty ]; then
		terminal
		# The process that keeps the terminal open sets the size, since the last close resets it.
		# shellcheck disable=SC2016 # for the inner shell
		setsid --ctty --wait bash -c 'stty sane rows "$1" cols "$2"; exec bash "$3"' \
			krping-vm "$ROWS" "$COLS" $state/command <>/dev/hvc0 >&0 2>&1
		rc=$?
	else
		$bb mkfifo $state/output
		cat <$state/output >/out/output.log &
		reader=$!
		setsid --wait bash $state/command </dev/null >$state/output 2>&1
		rc=$?
		# A process that the command left running may still hold the pipe: wait for its output, but only a second.
		wait_for 1 ended $reader
	fi
}

mounts
# On the command line the kernel would report this with words that the judge of its log looks for; run.sh says why it is so long.
echo 300 >/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
ulimit -l unlimited
ulimit -c 0
echo >/proc/sys/kernel/core_pattern
echo krping-vm >/proc/sys/kernel/hostname
export HOME=/root USER=root LOGNAME=root SHELL=/bin/bash
export PATH="$TOOLS:$REPO/tools/bpftrace:$PATH"
# A shell of tmux is a login shell by default, and the host's profile has another PATH.
echo 'set -g default-command "exec bash --noprofile --rcfile /run/krping/bashrc -i"' >$state/tmux.conf
# The first tmux reads its files from the host, which takes longer than its work: this one, which nobody sees, does it now.
[ "$MODE" != tty ] || (tmux -L warm -f $state/tmux.conf new-session -d true) </dev/null >/dev/null 2>&1 &
mkdir -p $state/man/man8 /run/modprobe.d
ln -s "$TOOLS"/man/*.8 $state/man/man8/
export MANPATH=$state/man:
export KRPING_VM=1 KRPING_PROVIDER=$PROVIDER KRPING_ADDR=10.9.0.1 KRPING_ADDR6=fd09::1 KRPING_PEER=''
case $WIRE in
listen) KRPING_PEER=10.9.0.2 ;;
connect) KRPING_PEER=10.9.0.1 KRPING_ADDR=10.9.0.2 KRPING_ADDR6=fd09::2 ;;
esac
export KRPING_KERNEL=$KERNEL KRPING_KNAME=$KNAME KRPING_KREL=$KREL KRPING_SLOW=$SLOW KRPING_TURNS=$TURNS KRPING_TOOLS=$TOOLS KRPING_PLANT=$PLANT
export KRPING_OUT=/out KRPING_LINK='' KRPING_MODULE='' KRPING_PROVIDER_KO='' KRPING_BTF=/sys/kernel/btf/vmlinux
provider
if [ -e $state/rdma_krping.ko ]; then
	export KRPING_MODULE=$state/rdma_krping.ko
	# For modprobe after an rmmod, as on a machine where the module is installed.
	echo "install rdma_krping /sbin/insmod $KRPING_MODULE \$CMDLINE_OPTS" >/run/modprobe.d/krping.conf
	$bb insmod $KRPING_MODULE || setup_failed "insmod rdma_krping.ko failed: $($bb dmesg | tail -1)"
fi
echo "krping-vm: up after $(cut -d' ' -f1 /proc/uptime) s" >/dev/kmsg
run_command
trap - EXIT
off "exit $rc"
