#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# deb.sh FOLDER: TAP; the Debian packages, as their users have them. They are made and judged by lintian; installed in a fresh root
# (tests/vm/root.sh), where DKMS builds the module for the VM's kernel; the demo runs in the VM with that module and the tools of
# the package; then they are upgraded and purged, and the root has to have the same files as before. Needs root. From the
# environment: OUT, the build folder; KERNEL.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
set -o pipefail
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C
cd "$here/../.." || exit
folder=$(realpath "$1")
OUT=$(realpath -m "${OUT:-build}")
root=$folder/root

# check WHAT COMMAND...: an assertion; the end of the command's output is shown if it failed.
check() { ok "$1" tail_of "${@:2}"; }
tail_of() { "$@" 2>&1 </dev/null | tail -15; }

# must WHAT COMMAND...: the same for a step without which nothing else can be tested.
must() { check "$@" || finish_all; }

finish_all() {
	[ $tap_failed -ne 0 ] || rm -rf "$root" "$folder/next" "$folder/tools"
	finish_here
}

# same TEXT TEXT: true if they are equal; prints the difference.
same() { diff <(echo "$1") <(echo "$2"); }

in_root() { tests/vm/in-root.sh "$root" "$@"; }
in_root_apt() { in_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }

KREL='' KDIST='' KROOT=''
kernel=$(tests/vm/kernel.sh) || exit
eval "$kernel"
if [ "$KROOT" != / ]; then
	skip "packages are made for this machine's release, and the VM's kernel is of Debian $KDIST"
	finish_here
fi
rm -rf "$root" "$folder/next" "$folder/tools"

# --- the packages ---

must "make deb" make deb OUT="$OUT"
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
versions() {
	same "$version" "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)" &&
		same "$version" "$(sed -n 's/^MODULE_VERSION("\(.*\)");/\1/p' module/main.c)" &&
		same "$version" "$(sed -n 's/^#define KRP_VERSION "\(.*\)"/\1/p' tools/lib/tool.h)" &&
		same "$version" "$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -1)"
}
check "dkms.conf, debian/changelog, the module, the tools and CHANGELOG.md have the same version" versions
packages=("$OUT/deb/krping-dkms_${version}_all.deb" "$OUT/deb/krping-tools_${version}_$(dpkg --print-architecture).deb")
must "the packages, and their source" ls "${packages[@]}" "$OUT/deb/krping_$version.dsc" "$OUT/deb/krping_$version.tar.xz"
check "lintian has nothing to say" lintian --fail-on error,warning "$OUT"/deb/*.changes

# --- a root with what they need, and the headers of the VM's kernel ---

# depends PACKAGE...: prints the names of what these packages depend on: of alternatives the first.
depends() {
	local p
	for p; do
		if [ -e "$p" ]; then dpkg-deb -f "$p" Depends Pre-Depends; else dpkg-query -W -f '${Depends}, ${Pre-Depends}' "$p"; fi
	done | sed 's/^[A-Z][A-Za-z-]*: //' | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/:any//; s/ //g' | sed '/^$/d' | sort -u
}

# The archive keeps the headers of the newest kernel only, and DKMS is to build for the one that the VM boots. So they are copied
# from this machine, which has them installed.
fresh_root() {
	local headers from
	headers=$(echo "linux-headers-$KREL"; depends "linux-headers-$KREL" | grep -E '^linux-(headers|kbuild)-')
	# shellcheck disable=SC2046,SC2086 # words
	from=$(tests/vm/root.sh "$KDIST" deb man-db bash-completion $(depends "${packages[@]}" $headers | grep -v '^linux-')) || return
	cp -a "$from" "$root" || return
	# shellcheck disable=SC2086
	dpkg-query -L $headers | while IFS= read -r f; do
		if [ -L "$f" ] || [ -f "$f" ]; then printf '%s\0' "${f#/}"; fi
	done | tar -c -C / --null --no-recursion -T - | tar -x -C "$root" || return
	# Without this depmod's files would be new after the first installation of any module.
	in_root depmod "$KREL"
}
must "a root of Debian $KDIST, with the headers of $KREL" fresh_root

# files: the files of the root but for records that dpkg, apt, man and dkms (its own key) keep of all packages.
files() {
	(cd "$root" && find . -xdev \( -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt -o -path './var/lib/dpkg/status*' \
		-o -path './var/lib/dpkg/lock*' -o -path './var/lib/dpkg/triggers' -o -path './var/lib/dkms/mok.*' \) -prune \
		-o -type f -printf '%p %m %u %s\n' -o -printf '%p %y %m %u %l\n' | sort)
}
files >"$folder/before"

# --- installation ---

# put FILE...: installs packages, which are copied to a folder that files() leaves out.
put() {
	local names=("${@##*/}")
	mkdir -p "$root/var/cache/krping" && cp "$@" "$root/var/cache/krping" &&
		in_root_apt install "${names[@]/#//var/cache/krping/}" && return
	# The compiler's last words, if it was the module that could not be built.
	tail -n 8 "$root"/var/lib/dkms/krping/*/build/make.log 2>/dev/null
	return 1
}
# built VERSION: DKMS has the module of this version, for this kernel, and nothing else; and it is there.
built() {
	local ko
	same "krping/$1, $KREL, $(uname -m): installed" "$(in_root dkms status)" || return
	ko=$(find "$root/lib/modules/$KREL/" -name 'rdma_krping.ko*')
	same "$KREL" "$(modinfo -F vermagic "$ko" | cut -d' ' -f1)" && same "$1" "$(modinfo -F version "$ko")"
}
check "apt installs them" put "${packages[@]}"
must "DKMS has built and installed the module for $KREL" built "$version"
ko=$(find "$root/lib/modules/$KREL/" -name 'rdma_krping.ko*')

by_alias() { same rdma_krping "$(in_root modprobe -S "$KREL" -R rdma_krperf)"; }
check "modprobe knows the module by krperf's name, too" by_alias

completes() { in_root bash -c '. "/usr/share/bash-completion/completions/$1" && complete -p "$1"' - "$1"; }
for tool in krping krping-top krping-stages krping-mr krping-trace krping-record; do
	check "$tool starts: --version" in_root "$tool" --version
	check "bash completes $tool" completes "$tool"
done
for tool in krping krping-top krping-stages krping-mr krping-trace krping-record awkit-klat awkit-kbw; do
	check "$tool starts: --help" in_root "$tool" --help
	check "man $tool" in_root man -w 8 "$tool"
done
# The file in modprobe.d explains each parameter, and sets none.
explained() {
	local file
	file=$root$(in_root dpkg -L krping-dkms | grep '/modprobe\.d/.')
	same "$(modinfo -F parm "$ko" | sed 's/:.*//' | sort)" "$(sed -n 's/^# \([a-z_]*\): .*/\1/p' "$file" | sort)" && ! grep -v '^#' "$file"
}
check "modprobe.d explains the module's parameters, and sets none" explained
no_service() { ! in_root dpkg -L krping-dkms krping-tools | grep -E '/systemd/|/init\.d/'; }
check "nothing is started at boot" no_service

# --- the demo, with what was installed ---

shown() {
	dpkg-deb -x "${packages[1]}" "$folder/tools" || return
	local out=$folder/demo/output.log
	tests/vm/run.sh --module "$ko" --tools "$folder/tools/usr/sbin" --out "$folder/demo" --timeout 150 -- \
		bash tests/vm/demo-guest.sh || return
	same "$(grep -oE '^title "[0-9]' tests/vm/demo-guest.sh | tail -1 | grep -o '[0-9]')" "$(grep -cE '^== [0-9]\. ' "$out")" &&
		grep -E '^\(iteration\) ' "$out" && ! grep '^residual' "$out" && grep '^== Done' "$out"
}
check "the demo runs with DKMS' module and the package's tools" shown

# --- upgrade and removal ---

# A later version of the same sources: only the module is compiled again, by DKMS.
later=$version.1
next() {
	local tree=$folder/next/krping-$later
	mkdir -p "$folder/next"
	cp -a "$OUT/deb/krping-$version" "$tree"
	# What the first build of this tree noted about its packages.
	rm "$tree/debian/files"
	sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$later\"/" "$tree/dkms.conf"
	sed -i "s/^MODULE_VERSION.*/MODULE_VERSION(\"$later\");/" "$tree/module/main.c"
	sed "1s/(.*)/($later)/" debian/changelog | cat - debian/changelog >"$tree/debian/changelog"
	(cd "$tree" && env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u MAKELEVEL -u KERNEL -u OUT dpkg-buildpackage -b -nc -us -uc)
}
must "packages of version $later" next
check "apt upgrades to them" put "$folder"/next/krping-{dkms,tools}_"$later"_*.deb
check "DKMS has built and installed the new module, and removed the old one" built "$later"
old_gone() { ! (cd "$root" && find usr/src var/lib/dkms -name "$version" -o -name "krping-$version") | grep .; }
check "nothing is left of version $version" old_gone

check "apt purges them" in_root_apt purge krping-dkms krping-tools
no_status() { same '' "$(in_root dkms status 2>&1)"; }
check "DKMS knows no module" no_status
rm -rf "$root/var/cache/krping"
files >"$folder/after"
check "the root has the same files as before" diff "$folder/before" "$folder/after"
finish_all
