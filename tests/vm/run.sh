#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Boots a VM on the host's own root (read-only, with a throw-away overlay), makes an RDMA link and runs
# a command as root in it. See usage below.

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

usage() {
	cat <<'END'
usage: run.sh [OPTION]... -- COMMAND [ARGUMENT]...
       run.sh [OPTION]... --shell

  --provider rxe|siw       link to make (rxe)
  --module FILE.ko         rdma_krping.ko to insert
  --out DIR                kept results: console.log, output.log, dmesg.log, status, qemu.log; /out in the guest
  --timeout SECONDS        of the whole boot and run (600; none with --shell)
  --cpus N                 (2)
  --tools DIR              the tools to put on the guest's PATH (build/tools)
  --plant FILE.ko          a module with planted bugs, named to the tests
  --wire listen|connect:SOCKET  the link is on a wire to another such VM, 10.9.0.1 where it listens and 10.9.0.2
                           where it connects; the first one is to be started first
  --append "ARGS"          more kernel arguments
  --tty                    give COMMAND a terminal, where stdin and stdout are one
  --accel                  print what a guest would run under, kvm or tcg, and end
  --shell                  interactive root shell; takes commands from stdin where that is no terminal

The exit status is COMMAND's; 124 when the time was up; 70 when the guest died before it could tell;
71 when QEMU could not be run; 2 for a usage error. KERNEL selects the kernel (kernel.sh);
KRPING_ACCEL=kvm or tcg skips the probe; mttcg emulates with a thread for each CPU, icount with a clock that counts
instructions.
END
}

fail() {
	printf 'krping-vm: %s\n' "${*:2}" >&2
	exit "$1"
}

# An option without its value becomes a variable of its name.
provider=rxe module='' out='' timeout='' cpus=2 append='' shell='' tty='' tools='' plant='' wire='' accel=''
while [ $# -gt 0 ]; do
	case $1 in
	--provider | --module | --out | --timeout | --cpus | --append | --tools | --plant | --wire)
		[ $# -ge 2 ] || fail 2 "$1 needs a value"
		printf -v "${1#--}" %s "$2"
		shift
		;;
	--shell | --accel | --tty) printf -v "${1#--}" 1 ;;
	-h | --help) usage && exit 0 ;;
	--) shift && break ;;
	*) fail 2 "unknown option: $1 (see --help)" ;;
	esac
	shift
done
[[ $provider == @(rxe|siw) ]] || fail 2 "--provider $provider: there are rxe and siw"
[ -n "$shell$accel" ] || [ $# -gt 0 ] || fail 2 "no command (see --help)"
[[ $timeout =~ ^[0-9]*$ ]] || fail 2 "--timeout $timeout is not a number of seconds"
[[ -z $wire || $wire == @(listen|connect):?* ]] || fail 2 "--wire $wire: listen:SOCKET or connect:SOCKET"
[ -z "$module" ] || [ -r "$module" ] || fail 2 "$module cannot be read"
command -v qemu-system-x86_64 >/dev/null || fail 71 "there is no qemu-system-x86_64; run: sudo make deps"

here=$(cd "$(dirname "$0")" && pwd -P)
repo=$(cd "$here/../.." && pwd -P)
tools=$(realpath -m "${tools:-$repo/build/tools}")
plant=${plant:+$(realpath "$plant")}

KREL='' KNAME='' KIMAGE='' KMODS='' SIW_KO='' RXE_KO='' KBUSYBOX='' KROOT=/ KARGS='' KMEM=2G KSLOW=1
kernel=$("$here/kernel.sh") || fail 71 "the VM's kernel could not be prepared"
eval "$kernel"
KMODS=$(realpath "$KMODS")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping

tmp=$(mktemp -d "${TMPDIR:-/tmp}/krping-vm.XXXXXX")
vm='' helpers=() saved=''

# shellcheck disable=SC2317 # called by the traps
cleanup() {
	set +e
	trap '' INT TERM HUP
	if [ -n "$vm" ]; then
		# timeout passes TERM on to QEMU; KILL would not reach it.
		kill "$vm" 2>/dev/null && wait "$vm" 2>/dev/null
	fi
	[ ${#helpers[@]} -eq 0 ] || kill "${helpers[@]}" 2>/dev/null
	[ -z "$saved" ] || stty "$saved" <&3 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

[ -n "$out" ] || out=$tmp/out
mkdir -p "$out"
out=$(cd "$out" && pwd -P)
# A comma in a path would have to be doubled in QEMU's options and escaped in overlayfs' options: refuse such paths.
for f in "$wire" "$repo" "$out"; do [[ $f != *,* ]] || fail 2 "a path with a comma does not work: $f"; done
rm -f "$out"/{status,dmesg.log,qemu.log,console.log,output.log}
# These files are made here, since QEMU's 9p server cannot create a file if the host's /proc is not mounted (a bare chroot).
for f in output.log dmesg.log status; do : >"$out/$f"; done

# The guest gets a terminal only if stdin and stdout both are one.
exec 3<&0
mode=plain
if [ -t 0 ] && [ -t 1 ] && [ -n "$shell$tty" ]; then mode='tty'; fi

# quote WORD...: prints the words quoted for a POSIX shell.
quote() {
	local w
	for w; do printf " '%s'" "${w//\'/\'\\\'\'}"; done
}

# make_initramfs FILE MODE: writes an initramfs with all files that init needs to reach the host's root.
make_initramfs() {
	local root=$tmp/initramfs m f what rows='' cols='' order=()
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,sys,krping/modules}
	cp "$KBUSYBOX" "$root/bin/busybox"
	cp "$here/initramfs-init.sh" "$root/init"
	chmod 755 "$root/init"
	if [ "$2" != probe ]; then
		# A terminal needs virtio_console; the two shares need the other modules.
		for m in virtio_pci 9p 9pnet_virtio overlay ${tty_module:-}; do
			# A file, not <(...), which needs /proc on the host: a chroot may lack it.
			modprobe -d "${KMODS%/lib/modules/*}" -S "$KREL" --show-depends "$m" >"$tmp/depends"
			while read -r what f _; do
				[ "$what" = insmod ] || continue
				[[ " ${order[*]} " != *" ${f##*/} "* ]] || continue
				order+=("${f##*/}")
				cp "$f" "$root/krping/modules/"
			done <"$tmp/depends"
		done
		# The list is empty if the kernel has all these modules built in.
		printf '%s\n' "${order[@]}" | sed '/^$/d' >"$root/krping/modules/order"
		cp "$here/guest-init.sh" "$root/krping/"
		[ "$provider" != rxe ] || cp "$RXE_KO" "$root/krping/provider.ko"
		[ "$provider" != siw ] || cp "$SIW_KO" "$root/krping/provider.ko"
		[ -z "$module" ] || cp "$module" "$root/krping/rdma_krping.ko"
		for f in command stdin bashrc; do [ ! -e "$tmp/$f" ] || cp "$tmp/$f" "$root/krping/"; done
		if [ "$2" = tty ] && stty size <&3 >"$tmp/size"; then read -r rows cols <"$tmp/size"; fi
	fi
	for m in "MODE=$2" "PROVIDER=$provider" "REPO=$repo" "KREL=$KREL" "KMODS=$KMODS" "ROOT=${KROOT%/}" "TOOLS=$tools" \
		"KERNEL=${KERNEL:-6.1}" "KNAME=$KNAME" "SLOW=$((KSLOW * ${KRPING_SLOWER:-1}))" "PLANT=$plant" \
		"WIRE=${wire%%:*}" "TURNS=$turns" "TERMINAL=${TERM:-dumb}" "ROWS=${rows:-24}" "COLS=${cols:-80}"; do
		echo "${m%%=*}=$(quote "${m#*=}" | cut -c2-)"
	done >"$root/krping/conf"
	(cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) >"$1"
}

machine=(-nodefaults -no-user-config -display none -no-reboot -machine pc)

# Sets accel_args: KVM only if a guest was seen to run under it. The existence of /dev/kvm proves little: nested
# virtualisation may hang a guest or abort QEMU.
probe_accel() {
	# One thread runs all CPUs in turn: with a thread for each CPU, a CPU may run stale code when the kernel patches a jump
	# or a call ("Oops: int3", or a CPU that stays in int3 for ever), and the guest is only a fifth faster.
	# No 5-level paging: if a timer ticks while Linux (6.12) records the CPU's features again, KASAN does not know which
	# addresses have a shadow, and the boot never ends.
	local cpu=max,la57=off
	local tcg=(-accel 'tcg,thread=single' -cpu "$cpu") kvm=(-accel kvm -cpu host) boot file
	case ${KRPING_ACCEL:-} in
	tcg) accel_args=("${tcg[@]}") && return ;;
	mttcg) accel_args=(-accel 'tcg,thread=multi' -cpu "$cpu") && return ;;
	kvm) accel_args=("${kvm[@]}") && return ;;
	icount) accel_args=(-accel 'tcg,thread=single' -cpu "$cpu" -icount 'shift=0,sleep=off') && return ;;
	esac
	accel_args=("${tcg[@]}")
	[ -r /dev/kvm ] && [ -w /dev/kvm ] || return 0
	boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || uptime -s 2>/dev/null || echo unknown)
	file=$cache/accel-$(echo "$boot $(qemu-system-x86_64 --version)" | cksum | tr ' ' -)
	if [ ! -e "$file" ]; then
		echo "krping-vm: looking whether KVM works (10 s at most, once per boot of this machine)" >&2
		make_initramfs "$tmp/probe.cpio" probe
		# The shell that waits for a QEMU which aborts would say "Aborted".
		(timeout -k 1 10 qemu-system-x86_64 "${machine[@]}" "${kvm[@]}" -m 512M -smp 2 \
			-kernel "$KIMAGE" -initrd "$tmp/probe.cpio" -serial "file:$tmp/probe.log" \
			-append "console=ttyS0 quiet panic=-1" || true) </dev/null >/dev/null 2>&1
		mkdir -p "$cache"
		if grep -q 'probe: alive' "$tmp/probe.log" 2>/dev/null; then
			echo kvm >"$file.$$"
		else
			echo "krping-vm: KVM does not work here: guests are emulated" >&2
			echo tcg >"$file.$$"
		fi
		mv "$file.$$" "$file"
	fi
	[ "$(cat "$file")" != kvm ] || accel_args=("${kvm[@]}")
}

if [ -n "$shell" ]; then
	cat >"$tmp/bashrc" <<'END'
PS1='\[\e[1m\]krping-vm\[\e[0m\]:\w# '
alias ls='ls --color=auto' ll='ls -l'
HISTFILE=
tmux() { command tmux -f /run/krping/tmux.conf "$@"; }
[ ! -r tools/completion/krping ] || . tools/completion/krping
END
	if [ "$mode" = tty ]; then
		cat >>"$tmp/bashrc" <<'END'
if [ -z "${TMUX:-}" ]; then
	cat <<EOT
A VM: Linux $(uname -r), link ${KRPING_LINK:-none} on 10.9.0.1. Only files in /out are kept.
  krping server 10.9.0.1 &         one end; it serves one client
  krping client 10.9.0.1           the other one, until ctrl-c
  tmux                             a second terminal; ctrl-b c makes a third
  krping top                       there: all runs, live
  krping stages 1                  where the time goes; man krping-stages
  krping list -a                   what ended how; krping help: the options
  echo "server,addr=10.9.0.1,port=9999" > /proc/krping &
  echo "client,addr=10.9.0.1,port=9999,count=23" > /proc/krping
exit (or ctrl-d) ends the VM.
EOT
fi
END
		echo "exec bash --noprofile --rcfile /run/krping/bashrc -i" >"$tmp/command"
	else
		cat >"$tmp/stdin"
		echo "exec bash --noprofile -s </run/krping/stdin" >"$tmp/command"
	fi
else
	echo "exec$(quote "$@")" >"$tmp/command"
fi

accel_args=() turns=0
probe_accel
# turns=1: the guest's CPUs take turns, so that one of them may stand still for 100 ms while the other one runs.
[[ ${accel_args[*]} != *thread=single* ]] || turns=1
if [ -n "$accel" ]; then
	[[ ${accel_args[*]} == *kvm* ]] && echo kvm || echo tcg
	exit 0
fi

# The guest's clock goes on while the host has no time for the guest, so the kernel's watchdogs wait for minutes: their limits are for a
# lockup of the kernel's own, on a machine that is three times slower than ours and runs two VMs. A soft lockup does not panic either, since
# the host can cause it. A guest that is locked up for good is ended by the host (--timeout).
cmdline="console=ttyS0 loglevel=5 panic=-1 oops=panic panic_print=0x20 watchdog_thresh=60"
cmdline+=" rcupdate.rcu_cpu_stall_suppress_at_boot=1 workqueue.watchdog_thresh=300 sysctl.kernel.hung_task_timeout_secs=600"
cmdline+=" nmi_watchdog=0 tsc=reliable mitigations=off random.trust_cpu=on audit=0 apparmor=0 no_timer_check"
# The kernel does not zero memory that it allocates: a buffer that our code forgot to zero then shows its old contents.
cmdline+=" init_on_alloc=0"
cmdline+=" cryptomgr.notests 8250.nr_uarts=1 log_buf_len=8M rdinit=/init $KARGS $append"

# The TSC of an emulated CPU is the host's. A guest would measure its frequency by timers that a busy host emulates badly: its clock
# then went 46 times too fast, and each limit in time was up at once.
if [[ ${accel_args[*]} == *tcg* && ${accel_args[*]} != *icount* && $(uname -m) == x86_64 ]] && cc -O -o "$tmp/tsc" "$here/tsc.c"; then
	cmdline+=" tsc_early_khz=$("$tmp/tsc")"
fi

# Each CPU is a socket of its own: a kernel without ACPI uses SeaBIOS' MP table, which lists one CPU of each socket.
qemu=(qemu-system-x86_64 "${machine[@]}" "${accel_args[@]}" -m "$KMEM" -smp "$cpus,sockets=$cpus"
	-kernel "$KIMAGE" -initrd "$tmp/boot.cpio" -append "$cmdline"
	-serial "file:$out/console.log"
	-virtfs "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap"
	-virtfs "local,path=$out,mount_tag=out,security_model=none,multidevs=remap")

# The offloads are off, since soft-RoCE's RDMA READs fail with them: its packets are never split, and the peer gets them unchecked.
if [ -n "$wire" ]; then
	mac=52:54:00:09:00:01 server=on
	[ "${wire%%:*}" = listen ] || mac=52:54:00:09:00:02 server=off
	qemu+=(-netdev "stream,id=wire,server=$server,addr.type=unix,addr.path=${wire#*:}"
		-device "virtio-net-pci,netdev=wire,mac=$mac,romfile=,csum=off,guest_csum=off,gso=off,guest_tso4=off,guest_tso6=off,guest_ufo=off,host_tso4=off,host_tso6=off,host_ufo=off")
fi
if [ "$mode" = tty ]; then
	tty_module=virtio_console
	mkfifo "$tmp/tty.in" "$tmp/tty.out"
	qemu+=(-device virtio-serial-pci -chardev "pipe,id=tty,path=$tmp/tty" -device "virtconsole,chardev=tty")
fi
make_initramfs "$tmp/boot.cpio" "$mode"

# If KILL ends this script, no trap runs: let the kernel kill timeout, and then QEMU, too.
# --foreground: the terminal's ctrl-c would not reach a process group of its own.
deathsig=(setpriv --pdeathsig KILL)
if [ -z "$timeout" ]; then
	timeout=600
	[ -z "$shell" ] || timeout=0
fi

start_vm() {
	"${deathsig[@]}" timeout --foreground -k 5 "$timeout" "${deathsig[@]}" "${qemu[@]}" </dev/null 2>"$out/qemu.log" >&2 &
	vm=$!
}
if [ "$mode" = tty ]; then
	saved=$(stty -g <&3)
	rm -f "$out/.winsize"
	trap 'stty size <&3 >"$out/.winsize" 2>/dev/null || true' WINCH
	stty raw -echo <&3
	cat <"$tmp/tty.out" &
	helpers+=($!)
	start_vm
	cat <&3 >"$tmp/tty.in" &
	helpers+=($!)
else
	start_vm
	tail -q -c +1 -f -s 0.1 --pid=$vm "$out/output.log" 2>/dev/null &
	tail=$!
	helpers+=("$tail")
	# A guest that hangs before it runs a test is noticed by no test's time limit: the boot has a limit of its own.
	boot_limit=$((300 * KSLOW))
	(
		for ((i = 0; i < boot_limit; i++)); do
			sleep 1
			grep -qas 'krping-vm: ' "$out/console.log" "$out/status" && exit
		done
		: >"$tmp/unbooted"
		kill "$vm"
	) &
	booted=$!
	helpers+=("$booted")
fi

rc=0
while :; do
	wait $vm && rc=0 || rc=$?
	# A trapped signal (the window's size) also ends wait.
	kill -0 $vm 2>/dev/null || break
done
vm=''
if [ "$mode" = tty ]; then
	stty "$saved" <&3
	saved=''
	rm -f "$out/.winsize"
else
	kill "$booted" 2>/dev/null || true
	# tail ends by itself once it has shown all output.
	wait "$tail" || true
fi

if [ -s "$out/status" ]; then
	read -r word text <"$out/status"
	[ "$word" != exit ] || exit "$text"
	fail 70 "the guest could not be set up: $text (see console.log)"
fi

keep=''
[ "$out" = "$tmp/out" ] || keep=" (see $out/console.log)"
[ ! -e "$tmp/unbooted" ] || fail 124 "the guest did not boot within $boot_limit s$keep"
[[ $rc != @(124|137) ]] || fail 124 "time is up after $timeout s: the guest was ended$keep"
[ $rc -eq 0 ] || fail 71 "QEMU failed ($rc): $(tail -n 1 "$out/qemu.log")"
why=$(grep -aoEm 1 'BUG: .*|Oops: .*|Kernel panic - .*|general protection fault.*|krping-vm: [^u].*' "$out/console.log" || true)
fail 70 "the guest died before the command ended: ${why:-no word on its console}$keep"
