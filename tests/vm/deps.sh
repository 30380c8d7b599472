#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The Debian packages that krping is built, run and tested with: this is the only list.
#
#   deps.sh --check [GROUP...]    quiet; 0 when all are there, else says what to run and returns 1
#   deps.sh --install [GROUP...]  as root: shows packages and download size, then installs them
#   deps.sh --list [GROUP...]     prints the names
#
# GROUP is build, vm, test, root (these four when none is given), deep, bench, deb or kernel.
# shellcheck disable=SC2034 # the groups' arrays, which are read by name

set -euo pipefail
# An ordinary user's PATH lacks the sbin directories on Debian.
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

build=(
	gcc make libc6-dev	# module and tools
	binutils		# readelf and objcopy: looking for and taking out .BTF
	linux-headers-amd64	# kbuild; kernel.sh gets other headers if the VM's kernel has another version
	kmod			# modinfo, depmod, modprobe --show-depends
	dwarves			# pahole: BTF of the module, which Debian's 6.1 kbuild skips
	clang llvm		# BPF programs
	libbpf-dev bpftool	# skeletons
	libelf-dev zlib1g-dev	# what libbpf links with
	libjson-c-dev		# -j
	libtracecmd-dev libtracefs-dev libtraceevent-dev	# -I trace.dat; Debian 12's first one does not ask for the others
	libncurses-dev		# full screen views
	pkg-config
	xz-utils zstd		# payload of a vmlinuz, source tarballs
	patch			# siw, see docs/upstream
)

vm=(
	qemu-system-x86		# brings seabios, ipxe-qemu and the 9p server along
	cpio			# the initramfs
	procps psmisc		# ps, pkill, fuser
	util-linux mount	# setsid -c, setpriv; tests mount and unmount
	iproute2		# ip and rdma
	rdma-core		# the rest of user space's RDMA; udev rules, iwpmd
	ibverbs-providers	# librxe, libsiw
	ibverbs-utils		# ibv_devinfo
	rdmacm-utils		# rping, the peer that we did not write
	bpftrace		# tools/bpftrace/*.bt
	trace-cmd		# a second parser of the events' formats, and files of its own
	tmux			# a second terminal in the VM's shell
	man-db			# the manuals, there
	less
)

test=(
	libcmocka-dev		# unit tests
	librdmacm-dev libibverbs-dev	# peers of ours in user space: tests/guest/liar.c
	perl			# prove, and checkpatch.pl
	shellcheck
	libclang-rt-dev		# libFuzzer and the sanitizers of clang, for tests/fuzz
	clang-format		# the style is that of version 14, Debian 12's
	jq			# a JSON parser that is not ours
	sparse
	file
	mandoc			# its lint for the manuals
	fio e2fsprogs blktrace	# a disk's load, file system, and requests
)

# What make deep alone runs, and only on kernels of the host's release.
deep=(xfsprogs btrfs-progs)	# more file systems

# What a root of another distribution is made with, for its kernels; root.sh asks for these, too.
root=(
	mmdebstrap
	debian-archive-keyring
)

# What make bench compares with.
bench=(
	perftest		# ib_write_lat, ib_read_lat, ib_write_bw
	sockperf		# TCP's latency
	nvme-cli nbdkit nbd-client	# nvme-rdma and nbd
)

# What make deb needs on top of the group build; debian/control says it, too.
deb=(
	build-essential		# dpkg-buildpackage asks for it
	debhelper dh-dkms
	lintian			# the judge of the packages
)

# What the roots of other distributions (root.sh) need on top of the other groups: building a kernel.
kernel=(
	flex bison bc python3-minimal
)

fail() {
	echo "krping: $*" >&2
	exit 1
}

mode=${1:-}
[ $# -eq 0 ] || shift
groups=("$@")
[ ${#groups[@]} -gt 0 ] || groups=(build vm test root)

want=()
for g in "${groups[@]}"; do
	[[ $g == @(build|vm|test|root|deep|bench|deb|kernel) ]] || fail "deps: no such group: $g"
	declare -n group=$g
	want+=("${group[@]}")
done

# Sets missing to those of want that are not installed.
find_missing() {
	local have p
	have=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package} ' "${want[@]}" 2>/dev/null || true)"
	missing=()
	for p in "${want[@]}"; do
		[[ $have == *" ii $p "* ]] || missing+=("$p")
	done
}

# There are lists, and apt has asked for them within a day. The files carry the server's date, the directory that of the update.
lists_are_fresh() {
	local dir=/var/lib/apt/lists
	compgen -G "$dir/*_Packages*" >/dev/null &&
		[ -n "$(find $dir /var/lib/apt/periodic/update-success-stamp -maxdepth 0 -mmin -1440 2>/dev/null)" ]
}

update() {
	local i
	echo "krping: apt-get update"
	# The lock of the lists has no waiting of its own, unlike dpkg's.
	for i in $(seq 60); do
		if apt-get -q update >"$log" 2>&1; then
			grep -E '^(Fetched|W:|E:)' "$log" || true
			return 0
		fi
		grep -q 'Could not get lock' "$log" || break
		[ "$i" -gt 1 ] || echo "krping: waiting for another apt to end"
		sleep 5
	done
	cat "$log" >&2
	fail "apt-get update failed"
}

# What kernel.sh fetches as an ordinary user: said here since it is a download, too.
later() {
	apt-cache show --no-all-versions "$@" 2>/dev/null | awk '
		/^Package: / { p = $2 }
		/^Size: / { s += $2; n = n (n ? ", " : "") p }
		END { if (n) printf "krping: later, into ~/.cache/krping and not installed: %s (%.0f MB)\n", n, s / 1e6 }'
}

install() {
	local opts=(-o DPkg::Lock::Timeout=900 -o Dpkg::Use-Pty=0 --no-install-recommends)

	lists_are_fresh || update
	# A second try with fresh lists: a name or a version may have gone since the last update.
	if ! apt-get "${opts[@]}" -qq -s install "${missing[@]}" >"$log" 2>&1; then
		update
		apt-get "${opts[@]}" -qq -s install "${missing[@]}" >"$log" 2>&1 || {
			cat "$log" >&2
			fail "apt cannot install: ${missing[*]}"
		}
	fi
	echo "krping: packages to install: ${missing[*]}"
	apt-get "${opts[@]}" --assume-no install "${missing[@]}" 2>/dev/null |
		sed -n '/^Need to get/p; /^After this/p; /newly installed/p' || true
	later "$(sed -n 's/^oldest.*\(linux-image-[^[:space:]]*\).*/\1/p' "$(dirname "$0")/kernels")" linux-source-6.1 busybox-static
	echo "krping: installing"
	apt-get "${opts[@]}" -q -y install "${missing[@]}" </dev/null
	find_missing
	[ ${#missing[@]} -eq 0 ] || fail "still missing: ${missing[*]}"
}

case $mode in
--list) printf '%s\n' "${want[@]}" ;;
--check | --install)
	find_missing
	[ ${#missing[@]} -eq 0 ] || [ "$mode $(id -u)" = "--install 0" ] || fail "missing: ${missing[*]}; run: sudo make deps"
	[ "$mode" = --install ] || exit 0
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	[ ${#missing[@]} -eq 0 ] || install
	echo "krping: all packages are there"
	;;
*)
	fail "usage: deps.sh --check|--install|--list [build|vm|test|root|deep|bench|deb|kernel]..."
	;;
esac
