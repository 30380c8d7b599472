#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Prepares the kernel that the VM boots, below ${XDG_CACHE_HOME:-~/.cache}/krping, without installing
# anything on the host: installing an image would change its boot loader. Progress goes to stderr; stdout
# is for a shell to source:
#
#   KREL        release, as uname -r in the guest
#   KIMAGE      bzImage
#   KMODS       .../lib/modules/$KREL
#   KBTF        raw BTF of vmlinux, for pahole --btf_base and bpftool
#   SIW_KO      soft-iWARP, which Debian does not build
#   KSRC        the few files taken from linux-source: siw, scripts/checkpatch.pl
#   KBUILD_DIR  headers, for make -C: a path in KROOT
#   KBUSYBOX    a static busybox, for the initramfs
#   KROOT       root of the distribution that builds for it and that the guest runs; / is the host
#   KDIST       its name
#   KARGS       kernel arguments that this kernel needs
#   KMEM        memory that it needs
#   KSLOW       how many times as long a test may take on it
#
# KERNEL in the environment selects it: X.Y or X.Y-rt, a Debian kernel, the newest of that name in the archive when it
# is first asked for; debug or kcsan, built here from Debian's source and the fragments in config/.
#
# Exit 3: the archive does not have this kernel (any more).

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

KERNEL=${KERNEL:-6.1}
# Part of the cache's key: add one when what is made here changes. The patches are in it by themselves.
RECIPE=3
# What debug and kcsan are built from.
BUILT_FROM=6.12
here=$(cd "$(dirname "$0")" && pwd)
RECIPE+=-$(cat "$here"/patches/* | cksum | cut -d' ' -f1)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping
KARGS='' KMEM=2G KSLOW=1

say() {
	echo "krping: $*" >&2
}

fail() {
	say "$*"
	exit 1
}

in_root() {
	"$here/in-root.sh" "$KROOT" "$@"
}

# The archive's lists, of today; one at a time, since apt does not wait for itself.
fresh_lists() {
	mkdir -p "$cache"
	(
		flock 8
		[ -n "$(in_root find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -mmin -1440 | head -1)" ] ||
			in_root apt-get -q update >&2
	) 8>"$cache/lists-$KDIST.lock"
}

# The newest package of a name, by an extended regular expression, and its version: "NAME VERSION".
newest() {
	in_root apt-cache search --names-only "$1" | awk '{ print $1 }' | sort -V | tail -1 |
		while read -r name; do
			echo "$name $(in_root apt-cache show --no-all-versions "$name" | awk '/^Version:/ { print $2; exit }')"
		done
}

# Sets KREL (release), KVERSION (package version) of a Debian kernel.
debian_kernel() {
	local line re flavour=''
	[[ $KERNEL != *-rt ]] || flavour='-rt'
	# The flavour of that name only: cloud has one of its own.
	re="^linux-headers-${KERNEL%-rt}\\.[0-9]+(-[0-9]+|\\+deb[0-9]+(\\.[0-9]+)?)$flavour-amd64\$"
	if [ "$KROOT" = / ] && [ -z "$flavour" ]; then
		line=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' "linux-headers-$KERNEL.*-amd64" 2>/dev/null |
			awk -v re="${re//\\/\\\\}" '$1 == "ii" && $2 ~ re { print $2, $3 }' | sort -V | tail -1)
		[ -n "$line" ] || fail "no headers of a Debian $KERNEL kernel; run: sudo make deps"
	else
		fresh_lists
		line=$(newest "$re")
		if [ -z "$line" ]; then
			say "kernel $KERNEL is not in the archive"
			exit 3
		fi
	fi
	# shellcheck disable=SC2086
	set -- $line
	KREL=${1#linux-headers-}
	KVERSION=$2
	KBUILD_DIR=/usr/src/linux-headers-$KREL
	IMAGE_PKG=linux-image-$KREL
	SOURCE_PKG=linux-source-${KERNEL%-rt}
}

# Headers go into the root, since their makefiles name each other by absolute paths; not by apt, which would
# bring an image and its initramfs along.
fetch_headers() {
	local pkg debs
	! in_root test -d "$KBUILD_DIR" || return 0
	[ "$KROOT" != / ] || fail "headers of $KREL would have to be installed on this machine"
	for pkg in "linux-headers-$KREL" $(in_root apt-cache depends "linux-headers-$KREL" |
		sed -n 's/^.*Depends: \(linux-\(headers\|kbuild\)-.*\)/\1/p'); do
		download "$pkg" "$KVERSION" || {
			cat download.log >&2
			fail "$pkg $KVERSION could not be downloaded"
		}
		dpkg-deb -x "$deb" headers
		rm -f "$deb"
	done
	cp -a headers/usr/src/. "$KROOT/usr/src/"
	mkdir -p "$KROOT/usr/lib"
	for debs in headers/usr/lib/linux-kbuild-*; do
		[ ! -e "$debs" ] || cp -a "$debs" "$KROOT/usr/lib/"
	done
	rm -rf headers
}

# download PACKAGE [VERSION]: into the current directory; sets deb.
download() {
	local name=$1${2:+=$2}
	say "downloading $name"
	# Root's sandbox user cannot write here; an ordinary user has none.
	in_root apt-get -q -o APT::Sandbox::User=root download "$name" >download.log 2>&1 || return 1
	# apt writes a colon of the version, and a "+" in some versions, as %xx.
	deb=$(find . -maxdepth 1 -name "$1_*.deb" | head -1)
	[ -n "$deb" ]
}

# Graphics, sound, radio and Ethernet hardware make two thirds of the package, and the VM has none of it. Debian 13
# has modules, and since 7.2 all of it, below usr/.
unpack_part() {
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C new --wildcards --no-wildcards-match-slash \
		--transform='s,^\./usr/lib/modules/,./lib/modules/,' \
		--exclude="*/kernel/drivers/gpu" --exclude="*/kernel/drivers/media" --exclude="*/kernel/drivers/staging" \
		--exclude="*/kernel/drivers/scsi" --exclude="*/kernel/drivers/iio" --exclude="*/kernel/sound" \
		--exclude="*/kernel/drivers/net/wireless" --exclude="*/kernel/drivers/net/ethernet" \
		--exclude="./usr/share" --exclude="./usr/lib/linux-image-*"
	rm -f "$deb"
}

unpack_image() {
	local got
	if ! download "$IMAGE_PKG" "$KVERSION"; then
		cat download.log >&2
		[ "$KROOT" = / ] || fail "$IMAGE_PKG $KVERSION could not be downloaded"
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
	unpack_part
	# Since 7.2 the image is an empty package over some others.
	for got in $(in_root apt-cache depends "$IMAGE_PKG=$KVERSION" |
		sed -n "s/^.*Depends: \\(linux-\\(base\\|binary\\|modules\\)-$KREL\\)\$/\\1/p"); do
		download "$got" "$KVERSION" || {
			cat download.log >&2
			fail "$got $KVERSION could not be downloaded"
		}
		unpack_part
	done
	if [ -e "new/boot/vmlinuz-$KREL" ]; then
		mv "new/boot/vmlinuz-$KREL" new/bzImage
		mv "new/boot/config-$KREL" new/config
	else
		mv "new/lib/modules/$KREL/vmlinuz" new/bzImage
		mv "new/lib/modules/$KREL/config" new/config
	fi
	rm -rf new/boot new/usr
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
	if [ "$KROOT" = / ] && [ "$installed" = "$KVERSION" ] && [ -r "/usr/src/$SOURCE_PKG.tar.xz" ]; then
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

# patch_siw FOLDER: the patches of patches/, to the source below it. One that the source has by itself is left out.
patch_siw() {
	local p
	for p in "$here"/patches/siw-*.patch; do
		if patch -s -d "$1" -p1 -R --dry-run <"$p" >/dev/null 2>&1; then
			say "siw: ${p##*/} is in this source"
		else
			patch -s -d "$1" -p1 <"$p" >&2 || fail "siw: ${p##*/} does not apply"
		fi
	done
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
	patch_siw $src
	say "building siw.ko"
	in_root make -s -C "$KBUILD_DIR" M="$PWD/$src/drivers/infiniband/sw/siw" CONFIG_RDMA_SIW=m modules \
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
	dpkg-deb --fsys-tarfile "$deb" | tar -xO --wildcards '*bin/busybox' >new/busybox
	chmod 755 new/busybox
	rm -f "$deb"
}

# --- kernels that are built here ---

# The fragments, in the order in which they are merged.
fragments() {
	echo "$here/config/vm.config"
	echo "$here/config/$KERNEL.config"
}

built_kernel() {
	local line
	fresh_lists
	SOURCE_PKG=linux-source-$BUILT_FROM
	line=$(newest "^$SOURCE_PKG\$")
	if [ -z "$line" ]; then
		say "$SOURCE_PKG is not in the archive"
		exit 3
	fi
	KVERSION=${line#* }
	KREL=$KERNEL
	# shellcheck disable=SC2034 # printed by name
	KARGS='acpi=off kasan_multi_shot' KMEM=3G KSLOW=4
}

# The paths of source and build are in the build's makefiles: it cannot be moved afterwards.
build_kernel() {
	local begin=$SECONDS f missing
	say "unpacking $SOURCE_PKG $KVERSION"
	mkdir -p source build
	source_tarball | xz -dc | tar -x -C source --strip-components=1 \
		--exclude="$SOURCE_PKG/tools/testing"
	patch_siw source
	# shellcheck disable=SC2046 # the names have no spaces but those of the cache's path, refused by kbuild too
	cat $(fragments) >fragment
	{
		in_root make -s -C source O="$PWD/build" tinyconfig
		(cd source && in_root scripts/kconfig/merge_config.sh -m -O "$dir/build" "$dir/build/.config" "$dir/fragment")
		in_root make -s -C source O="$PWD/build" olddefconfig
	} >build.log 2>&1 </dev/null || {
		tail -20 build.log >&2
		fail "the configuration of $KERNEL could not be made"
	}
	# kbuild drops what depends on something absent without a word.
	missing=$(grep -E '^CONFIG_[A-Z0-9_]+=[^n]' fragment | grep -vxFf build/.config || true)
	[ -z "$missing" ] || fail "not in force in the $KERNEL kernel: $missing"
	say "building the $KERNEL kernel on $(nproc) CPUs, some 10 minutes; its log is $PWD/build.log"
	in_root make -s -C source O="$PWD/build" -j"$(($(nproc) + 1))" bzImage modules >>build.log 2>&1 </dev/null &
	while kill -0 $! 2>/dev/null; do
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			kill -0 $! 2>/dev/null || break
			sleep 3
		done
		say "  $((SECONDS - begin)) s, $(find build -name '*.o' | wc -l) objects"
	done
	wait $! || {
		tail -30 build.log >&2
		fail "the $KERNEL kernel could not be built"
	}
	in_root make -s -C source O="$PWD/build" INSTALL_MOD_STRIP=1 INSTALL_MOD_PATH="$PWD" modules_install \
		>>build.log 2>&1 </dev/null
	KREL=$(cat build/include/config/kernel.release)
	rm -f "lib/modules/$KREL/build" "lib/modules/$KREL/source"
	cp build/arch/x86/boot/bzImage bzImage
	cp build/.config config
	objcopy --dump-section .BTF=btf build/vmlinux copy
	# What a module's build needs of vmlinux is its BTF; gigabytes of objects go.
	objcopy --only-section=.BTF copy build/vmlinux 2>/dev/null
	rm -f copy
	find build \( -name '*.o' -o -name '*.a' -o -name '*.ko' -o -name '*.cmd' -o -name '.tmp_*' -o -name '*.o.d' \) \
		-not -path 'build/scripts/*' -not -path 'build/tools/*' -delete
	rm -f build/vmlinux.o build/vmlinux.unstripped build/arch/x86/boot/compressed/vmlinux* build/arch/x86/boot/*mage
	for f in source/drivers source/sound source/fs source/net source/crypto source/samples; do
		find $f -name '*.[cS]' -delete
	done
	find source/arch -mindepth 1 -maxdepth 1 -type d -not -name x86 -exec rm -rf {} +
	cp lib/modules/"$KREL"/kernel/drivers/infiniband/sw/siw/siw.ko siw.ko
	ln -sfn source src
	say "the $KERNEL kernel was built in $((SECONDS - begin)) s"
}

# locked NAME: alone in the cache from here on.
locked() {
	mkdir -p "$cache"
	exec 9>"$cache/$1.lock"
	if ! flock -n 9; then
		say "waiting for another run that prepares the $KERNEL kernel"
		until flock -w 60 9; do say "  $SECONDS s"; done
	fi
}

# In braces, to be read as a whole: bash reads a script as it goes, also one that is edited meanwhile.
{
case $KERNEL in
6.1 | 6.1-rt) KDIST=bookworm ;;
debug | kcsan) KDIST=trixie ;;
[0-9]*.[0-9]*) KDIST=trixie ;;
*) fail "KERNEL=$KERNEL is not known; there are Debian's, as 6.1, 6.12, 7.2, with -rt behind it the real-time one;" \
	"debug and kcsan" ;;
esac
KROOT=$("$here/root.sh" "$KDIST")

# Which one it is was decided when it was first asked for: no network is needed later.
if [ "$KROOT" = / ] && [[ $KERNEL =~ ^[0-9.]+$ ]]; then
	chosen=''
else
	chosen=$cache/chosen-$KERNEL-$RECIPE-$(basename "$KROOT")
	case $KERNEL in
	debug | kcsan) chosen+=-$(fragments | xargs cat | cksum | cut -d' ' -f1) ;;
	esac
fi
dir=''
if [ -n "$chosen" ] && [ -e "$chosen" ]; then
	# shellcheck source=/dev/null
	. "$chosen"
	[ -e "$dir/complete" ] || dir=''
fi
if [ -z "$dir" ]; then
	case $KERNEL in
	debug | kcsan) built_kernel ;;
	*) debian_kernel ;;
	esac
	dir=$cache/kernel-$KREL-$KVERSION-$RECIPE
	[ -z "$chosen" ] || dir+=-$(basename "$chosen" | cksum | cut -d' ' -f1)
fi

if [ ! -e "$dir/complete" ]; then
	locked "kernel-$KERNEL"
	if [ ! -e "$dir/complete" ]; then
		case $KERNEL in
		debug | kcsan)
			rm -rf "$dir"
			mkdir -p "$dir/new"
			cd "$dir"
			fetch_busybox
			mv new/busybox .
			rmdir new
			build_kernel 9>&-
			;;
		*)
			work=$(mktemp -d "$cache/tmp.XXXXXX")
			trap 'rm -rf "$work"' EXIT
			trap 'exit 130' INT
			trap 'exit 143' TERM HUP
			(
				cd "$work"
				fetch_headers
				unpack_image
				unpack_btf
				fetch_busybox
				build_siw
			) 9>&-
			rm -rf "$dir"
			mv "$work/new" "$dir"
			;;
		esac
		if [ -n "$chosen" ]; then
			for v in dir KREL KVERSION KBUILD_DIR KARGS KMEM KSLOW; do printf '%s=%q\n' $v "${!v:-}"; done >"$chosen.new"
			mv "$chosen.new" "$chosen"
		fi
		date >"$dir/complete"
		say "kernel $KREL ($KVERSION) is ready in $dir"
	fi
	exec 9>&-
fi
[ ! -d "$dir/build" ] || KBUILD_DIR=$dir/build

for v in KREL KBUILD_DIR KROOT KDIST KARGS KMEM KSLOW; do printf '%s=%q\n' $v "${!v}"; done
printf '%s=%q\n' KIMAGE "$dir/bzImage" KMODS "$dir/lib/modules/$KREL" KBTF "$dir/btf" \
	SIW_KO "$dir/siw.ko" KSRC "$dir/src" KBUSYBOX "$dir/busybox"
exit 0
}
