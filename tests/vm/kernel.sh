#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Fetches and unpacks the kernel that the VM boots, below ${XDG_CACHE_HOME:-~/.cache}/krping, as an
# ordinary user and without installing anything: installing an image would change the host's boot
# loader. Progress goes to stderr; stdout is for a shell to source:
#
#   KREL        release, as uname -r in the guest
#   KIMAGE      bzImage
#   KMODS       .../lib/modules/$KREL
#   KBTF        raw BTF of vmlinux, for pahole --btf_base and bpftool
#   SIW_KO      soft-iWARP, which Debian does not build
#   KSRC        the few files taken from linux-source: siw, scripts/checkpatch.pl
#   KBUILD_DIR  headers, for make -C
#   KBUSYBOX    a static busybox, for the initramfs
#
# KERNEL=6.1 in the environment selects the kernel.

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

KERNEL=${KERNEL:-6.1}
# Part of the cache's key: add one when what is made here changes.
RECIPE=1
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping

say() {
	echo "krping: $*" >&2
}

fail() {
	say "$*"
	exit 1
}

# A kernel is a function that sets KREL (release), KVERSION (package version), KBUILD_DIR, IMAGE_PKG and
# SOURCE_PKG; where headers are not installed it may fetch them. Add one for each further release.
kernel_6_1() {
	local line
	# The flavour of the plain amd64 kernel only: rt and cloud have names of their own.
	line=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' 'linux-headers-6.1.*-amd64' 2>/dev/null |
		awk '$1 == "ii" && $2 ~ /^linux-headers-6\.1\.[0-9]+-[0-9]+-amd64$/' | sort -V -k2 | tail -1)
	[ -n "$line" ] || fail "no headers of a Debian 6.1 kernel; run: sudo make deps"
	# shellcheck disable=SC2086
	set -- $line
	KREL=${2#linux-headers-}
	KVERSION=$3
	KBUILD_DIR=/usr/src/linux-headers-$KREL
	IMAGE_PKG=linux-image-$KREL
	SOURCE_PKG=linux-source-6.1
}

# download PACKAGE [VERSION]: into the current directory; sets deb.
download() {
	local name=$1${2:+=$2}
	say "downloading $name"
	# Root's sandbox user cannot write here; an ordinary user has none.
	apt-get -q -o APT::Sandbox::User=root download "$name" >download.log 2>&1 || return 1
	deb=$(find . -maxdepth 1 -name "$1_*.deb" | head -1)
	[ -n "$deb" ]
}

unpack_image() {
	local got
	if ! download "$IMAGE_PKG" "$KVERSION"; then
		cat download.log >&2
		got=$(apt-cache policy linux-image-amd64 2>/dev/null | sed -n 's/.*Candidate: //p')
		if [ "$(id -u)" != 0 ] || [ "${KRPING_UPDATE_HEADERS:-}" = 1 ]; then
			fail "$IMAGE_PKG $KVERSION is not in the archive (newest: ${got:-unknown});" \
				"run: sudo apt-get update && sudo apt-get install linux-headers-amd64"
		fi
		# The image must be the headers' twin, so the newest image means the newest headers.
		say "$IMAGE_PKG $KVERSION is not in the archive: updating the headers to ${got:-the newest}"
		apt-get -q update >&2
		KRPING_UPDATE_HEADERS=1 "$here/deps.sh" --install build >&2
		export KRPING_UPDATE_HEADERS=1
		exec "$here/kernel.sh"
	fi
	say "unpacking $IMAGE_PKG"
	mkdir -p new
	# Graphics, sound, radio and Ethernet hardware make two thirds of the package, and the VM has none of it.
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C new --wildcards --no-wildcards-match-slash \
		--exclude="./lib/modules/$KREL/kernel/drivers/gpu" \
		--exclude="./lib/modules/$KREL/kernel/drivers/media" \
		--exclude="./lib/modules/$KREL/kernel/drivers/staging" \
		--exclude="./lib/modules/$KREL/kernel/drivers/scsi" \
		--exclude="./lib/modules/$KREL/kernel/drivers/iio" \
		--exclude="./lib/modules/$KREL/kernel/drivers/net/wireless" \
		--exclude="./lib/modules/$KREL/kernel/drivers/net/ethernet" \
		--exclude="./lib/modules/$KREL/kernel/sound" \
		./boot ./lib/modules
	mv "new/boot/vmlinuz-$KREL" new/bzImage
	mv "new/boot/config-$KREL" new/config
	mv "new/boot/System.map-$KREL" new/System.map
	rm -rf new/boot "$deb"
	# depmod names the symbols of the drivers left out; nothing that is used here needs them.
	depmod -b new "$KREL" 2>/dev/null
}

# Little-endian number of $3 bytes at offset $2 of file $1.
number() {
	od -An -v -j "$2" -N "$3" -t "u$3" "$1" | tr -d ' '
}

# The compressed vmlinux lies in the bzImage where the boot header says.
unpack_btf() {
	local sects offset length magic
	say "taking the BTF out of the image"
	sects=$(number new/bzImage $((0x1f1)) 1)
	offset=$(number new/bzImage $((0x248)) 4)
	length=$(number new/bzImage $((0x24c)) 4)
	offset=$(((sects + 1) * 512 + offset))
	# The last four bytes are the unpacked size, not part of the stream.
	tail -c +$((offset + 1)) new/bzImage | head -c $((length - 4)) >payload || true
	magic=$(od -An -v -N 4 -t x1 payload | tr -d ' ')
	case $magic in
	fd377a58) xz -dc <payload >vmlinux ;;
	28b52ffd) zstd -q -dc <payload >vmlinux ;;
	1f8b*) gzip -dc <payload >vmlinux ;;
	*) fail "the image's payload is compressed in an unknown way ($magic)" ;;
	esac
	# Not "-O binary": that puts the section's load address before it. The copy is not wanted.
	objcopy --dump-section .BTF=new/btf vmlinux copy
	rm -f payload vmlinux copy
	[ -s new/btf ] || fail "the kernel image has no .BTF section"
}

# The tarball of linux-source, from the package installed or downloaded, on stdout.
source_tarball() {
	local installed
	installed=$(dpkg-query -W -f '${Version}' "$SOURCE_PKG" 2>/dev/null || true)
	if [ "$installed" = "$KVERSION" ] && [ -r "/usr/src/$SOURCE_PKG.tar.xz" ]; then
		cat "/usr/src/$SOURCE_PKG.tar.xz"
		return
	fi
	if ! download "$SOURCE_PKG" "$KVERSION"; then
		say "$SOURCE_PKG $KVERSION is not in the archive: taking the newest"
		download "$SOURCE_PKG" || {
			cat download.log >&2
			return 1
		}
	fi
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$SOURCE_PKG.tar.xz"
	rm -f "$deb"
}

build_siw() {
	local src=new/src ko
	say "unpacking siw and checkpatch from $SOURCE_PKG"
	mkdir -p $src
	# The kernel's tree is large: only what is named is written.
	source_tarball | xz -dc | tar -x -C $src --strip-components=1 \
		"$SOURCE_PKG/drivers/infiniband/sw/siw" \
		"$SOURCE_PKG/scripts/checkpatch.pl" \
		"$SOURCE_PKG/scripts/spelling.txt" \
		"$SOURCE_PKG/scripts/const_structs.checkpatch"
	say "building siw.ko"
	make -s -C "$KBUILD_DIR" M="$PWD/$src/drivers/infiniband/sw/siw" CONFIG_RDMA_SIW=m modules \
		>siw.log 2>&1 </dev/null || {
		cat siw.log >&2
		fail "siw.ko was not built"
	}
	ko=$src/drivers/infiniband/sw/siw/siw.ko
	strip --strip-debug -o new/siw.ko $ko
	find $src \( -name '*.o' -o -name '*.ko' -o -name '.*.cmd' -o -name '*.mod' -o -name '*.mod.c' \
		-o -name Module.symvers -o -name modules.order \) -delete
}

fetch_busybox() {
	download busybox-static || {
		cat download.log >&2
		fail "busybox-static could not be downloaded"
	}
	dpkg-deb --fsys-tarfile "$deb" | tar -xO ./bin/busybox >new/busybox
	chmod 755 new/busybox
	rm -f "$deb"
}

case $KERNEL in
6.1) kernel_6_1 ;;
*) fail "KERNEL=$KERNEL is not known; there is: 6.1" ;;
esac

dir=$cache/kernel-$KREL-$KVERSION-$RECIPE

if [ ! -e "$dir/complete" ]; then
	mkdir -p "$cache"
	exec 9>"$cache/kernel.lock"
	if ! flock -n 9; then
		say "waiting for another run that prepares the kernel"
		flock 9
	fi
	if [ ! -e "$dir/complete" ]; then
		work=$(mktemp -d "$cache/tmp.XXXXXX")
		trap 'rm -rf "$work"' EXIT
		trap 'exit 130' INT
		trap 'exit 143' TERM HUP
		(
			cd "$work"
			unpack_image
			unpack_btf
			fetch_busybox
			build_siw
			date >new/complete
		) 9>&-
		rm -rf "$dir"
		mv "$work/new" "$dir"
		say "kernel $KREL ($KVERSION) is ready in $dir"
	fi
	exec 9>&-
fi

printf '%s=%q\n' KREL "$KREL" KIMAGE "$dir/bzImage" KMODS "$dir/lib/modules/$KREL" KBTF "$dir/btf" \
	SIW_KO "$dir/siw.ko" KSRC "$dir/src" KBUILD_DIR "$KBUILD_DIR" KBUSYBOX "$dir/busybox"
