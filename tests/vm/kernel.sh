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
#   SIW_KO      soft-iWARP, which Debian does not build; with our patches (siw.sh: without)
#   KSRC        the few files taken from linux-source, among them scripts/checkpatch.pl
#   KSOURCE     the package that they are from
#   KVERSION    version of the package
#   KNAME       its name, as 6.12-rt, also where KERNEL is a role
#   KBUILD_DIR  headers, for make -C: a path in KROOT
#   KBUSYBOX    a static busybox, for the initramfs
#   KROOT       root of the distribution that builds for it and that the guest runs; / is the host
#   KDIST       its name
#   KARGS       kernel arguments that this kernel needs
#   KMEM        memory that it needs
#   KSLOW       how many times as long a test may take on it
#
# KERNEL in the environment selects the kernel: X.Y or X.Y-rt, a Debian kernel, the newest of that name in the archive
# at its first use; debug, kcsan or smp, which this script builds from Debian's source and the fragments in config/; or a
# role, which stands for another version when the archive replaces one:
#
#   oldest      the oldest kernel that krping supports, 6.1
#   longterm    the newest long-term kernel: the one that Debian 13 itself has
#   realtime    the long-term kernel with PREEMPT_RT
#   newest      the newest kernel for Debian 13, from its backports
#
# The version of a role is looked up once a day in the lists of the archive; if the archive does not answer, the role
# keeps its last version. "kernel.sh --version" prints only the name, as 6.12-rt, and prepares nothing.
#
# Exit 1: the kernel could not be prepared, for example because the archive cannot be reached. A kernel that is in the
# cache needs no archive. Exit 3: the archive answered, and does not have this kernel (any more).

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

KERNEL=${KERNEL:-6.1}
# Part of the cache's key: change it when this script makes other files. A change of siw's patches needs no other key, since the name of
# siw.ko has their checksum (siw_ko in archive.sh).
RECIPE=3-1965160224
# The version of the source that debug, kcsan and smp are built from.
BUILT_FROM=6.12
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping
KARGS='' KMEM=2G KSLOW=1
# shellcheck source=tests/vm/archive.sh
. "$here/archive.sh"

# role: KERNEL becomes the version that the role stands for.
role() {
	local file=$cache/role-$KERNEL-$KDIST version
	if [ -z "$(find "$file" -mmin -1440 2>/dev/null)" ]; then
		if try_lists; then
			# The release's own kernel is a long-term one; newer kernels are in backports.
			case $KERNEL in
			newest) version=$(newest '^linux-headers-[0-9]+\.[0-9]+\.[0-9]+(-[0-9]+|\+deb[0-9]+(\.[0-9]+)?)-amd64$') ;;
			*) version=$(apt apt-cache madison linux-headers-amd64 | awk '!/-backports/ { print $3 }' | sort -V | tail -1) ;;
			esac
			version=$(sed -E 's/^linux-headers-//; s/^([0-9]+\.[0-9]+).*/\1/' <<<"$version")
			[ -n "$version" ] || fail "the archive has no kernel"
			[ "$KERNEL" != realtime ] || version+=-rt
			echo "$version" >"$file.$$"
			mv "$file.$$" "$file"
		elif [ -e "$file" ]; then
			say "the archive cannot be reached: the $KERNEL kernel is $(cat "$file"), as it was on $(date -r "$file" +%F)"
		else
			fail "the archive cannot be reached: its lists could not be fetched"
		fi
	fi
	KERNEL=$(cat "$file")
}

# Sets KREL (release), KVERSION (package version) of a Debian kernel.
debian_kernel() {
	local line re flavour=''
	[[ $KERNEL != *-rt ]] || flavour='-rt'
	# Only this flavour: the archive also has headers for the flavour cloud.
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
}

# Unpacks the headers into the root, since their makefiles name each other by absolute paths. apt does not install
# them, since it would also install an image and its initramfs.
fetch_headers() {
	local pkg debs
	! in_root test -d "$KBUILD_DIR" || return 0
	[ "$KROOT" != / ] || fail "headers of $KREL would have to be installed on this machine"
	for pkg in "linux-headers-$KREL" $(in_root apt-cache depends "linux-headers-$KREL" |
		sed -n 's/^.*Depends: \(linux-\(headers\|kbuild\)-.*\)/\1/p'); do
		must_download "$pkg" "$KVERSION"
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

# Leaves out the drivers of graphics, sound, radio and Ethernet hardware: they are two thirds of the package, and the
# VM has no such hardware. Debian 13 has the modules below usr/, and since 7.2 all files of the package.
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
		# Image and headers must have the same version, so the newest image needs the newest headers.
		say "$IMAGE_PKG $KVERSION is not in the archive: updating the headers to ${got:-the newest}"
		apt-get -q update >&2
		KRPING_UPDATE_HEADERS=1 "$here/deps.sh" --install build >&2
		export KRPING_UPDATE_HEADERS=1
		exec "$here/kernel.sh"
	fi
	say "unpacking $IMAGE_PKG"
	mkdir -p new
	unpack_part
	# Since 7.2 the image's package is empty and depends on packages that have the files.
	for got in $(in_root apt-cache depends "$IMAGE_PKG=$KVERSION" |
		sed -n "s/^.*Depends: \\(linux-\\(base\\|binary\\|modules\\)-$KREL\\)\$/\\1/p"); do
		must_download "$got" "$KVERSION"
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
	# depmod complains about symbols of the drivers that were left out; no module that is used here needs them.
	depmod -b new "$KREL" 2>/dev/null
}

# Little-endian number of $3 bytes at offset $2 of file $1.
number() {
	od -An -v -j "$2" -N "$3" -t "u$3" "$1" | tr -d ' '
}

# The boot header says where the compressed vmlinux is in the bzImage.
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
	# Not "-O binary": that puts the section's load address before it. objcopy also writes "copy", which is not needed.
	objcopy --dump-section .BTF=new/btf vmlinux copy
	rm -f payload vmlinux copy
	[ -s new/btf ] || fail "the kernel image has no .BTF section"
}

copy_source() {
	source_part "$KSOURCE" "$KVERSION"
	cp -r "$part" new/src
	rm -f new/src/complete
}

fetch_busybox() {
	must_download busybox-static
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
	line=$(newest "^$KSOURCE\$")
	if [ -z "$line" ]; then
		say "$KSOURCE is not in the archive"
		exit 3
	fi
	KVERSION=${line#* }
	KREL=$KERNEL
	# shellcheck disable=SC2034 # printed by name
	KARGS='acpi=off kasan_multi_shot' KMEM=3G KSLOW=4
	# shellcheck disable=SC2034 # as above
	[ "$KERNEL" != smp ] || KARGS='acpi=off slab_debug=FZPU,kmalloc-*' KMEM=2G KSLOW=2
}

# Tracepoints call their listeners by pointer, as they do where there are no static calls, and not by code that is patched
# when a listener comes or goes. smp.config says why; the other static calls are patched when the kernel starts.
call_by_pointer() {
	sed -i 's/^#ifdef CONFIG_HAVE_STATIC_CALL$/#ifdef CONFIG_KRPING_STATIC_CALL/' source/include/linux/tracepoint.h
	sed -i 's/^\t__static_call_update(tp->static_call_key, .*;$/\t(void)func;/' source/kernel/tracepoint.c
	if grep -q '__static_call_update' source/kernel/tracepoint.c || ! grep -q KRPING_STATIC source/include/linux/tracepoint.h; then
		fail "tracepoints of $KSOURCE are called in another way than tests/vm/kernel.sh knows"
	fi
}

# The build's makefiles contain the paths of source and build: the build cannot be moved afterwards.
build_kernel() {
	local begin=$SECONDS f missing
	say "unpacking $KSOURCE $KVERSION"
	mkdir -p source build
	source_tarball "$KSOURCE" "$KVERSION" | xz -T0 -dc | tar -x -C source --strip-components=1 \
		--exclude="$KSOURCE/tools/testing"
	tree_part "$KSOURCE" "$KVERSION" source
	[ "$KERNEL" != smp ] || call_by_pointer
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
	# kbuild silently drops an option if something that it depends on is missing. The last fragment that names an option sets it.
	missing=$(awk -F= '/^CONFIG_/ { line[$1] = $0 } END { for (o in line) if (line[o] !~ /=n$/) print line[o] }' fragment |
		grep -vxFf build/.config || true)
	missing+=$(awk -F= '/^CONFIG_/ { value[$1] = $2 } END { for (o in value) if (value[o] == "n") print o "=y" }' fragment |
		grep -xFf - build/.config || true)
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
	# Of vmlinux, a module's build needs only the BTF; delete gigabytes of objects.
	objcopy --only-section=.BTF copy build/vmlinux 2>/dev/null
	rm -f copy
	find build \( -name '*.o' -o -name '*.a' -o -name '*.ko' -o -name '*.cmd' -o -name '.tmp_*' -o -name '*.o.d' \) \
		-not -path 'build/scripts/*' -not -path 'build/tools/*' -delete
	rm -f build/vmlinux.o build/vmlinux.unstripped build/arch/x86/boot/compressed/vmlinux* build/arch/x86/boot/*mage
	for f in source/drivers source/sound source/fs source/net source/crypto source/samples; do
		find $f -name '*.[cS]' -delete
	done
	find source/arch -mindepth 1 -maxdepth 1 -type d -not -name x86 -exec rm -rf {} +
	ln -sfn source src
	say "the $KERNEL kernel was built in $((SECONDS - begin)) s"
}

# locked NAME: takes the cache's lock NAME, and waits for it while another run has it.
locked() {
	mkdir -p "$cache"
	exec 9>"$cache/$1.lock"
	if ! flock -n 9; then
		say "waiting for another run that prepares the $KERNEL kernel"
		until flock -w 60 9; do say "  $SECONDS s"; done
	fi
}

# The braces make bash read this part as a whole: bash reads a script while it runs it, and the file may be edited
# meanwhile.
{
case $KERNEL in
oldest) KERNEL=6.1 ;;
longterm | realtime | newest)
	KDIST=trixie
	KROOT=$("$here/root.sh" "$KDIST")
	role
	;;
esac
case $KERNEL in
6.1 | 6.1-rt) KDIST=bookworm ;;
debug | kcsan | smp) KDIST=trixie ;;
[0-9]*.[0-9]*) KDIST=trixie ;;
*) fail "KERNEL=$KERNEL is not known; there are Debian's, as 6.1, 6.12, 7.2, with -rt behind it the real-time one;" \
	"debug, kcsan and smp, and the roles oldest, longterm, realtime, newest" ;;
esac
if [ "${1:-}" = --version ]; then
	echo "$KERNEL"
	exit 0
fi
case $KERNEL in
debug | kcsan | smp) KSOURCE=linux-source-$BUILT_FROM ;;
*) KSOURCE=linux-source-${KERNEL%-rt} ;;
esac
KROOT=$("$here/root.sh" "$KDIST")

# The first use of this kernel chose its package, and the file "chosen" keeps the choice: later uses need no network.
if [ "$KROOT" = / ] && [[ $KERNEL =~ ^[0-9.]+$ ]]; then
	chosen=''
else
	chosen=$cache/chosen-$KERNEL-$RECIPE-$(basename "$KROOT")
	case $KERNEL in
	debug | kcsan | smp)
		config=$(fragments | xargs cat | cksum | cut -d' ' -f1)
		chosen+=-$config
		# A built kernel needs the release's compiler, but not one particular root: it is not built again when a new root
		# with other packages was made.
		for f in "$cache/chosen-$KERNEL-$RECIPE-root-$KDIST-"*"-$config"; do
			[ -e "$chosen" ] || [ ! -e "$f" ] || [ "$KROOT" = / ] || chosen=$f
		done
		;;
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
	debug | kcsan | smp) built_kernel ;;
	*) debian_kernel ;;
	esac
	dir=$cache/kernel-$KREL-$KVERSION-$RECIPE
	[ -z "$chosen" ] || dir+=-$(basename "$chosen" | cksum | cut -d' ' -f1)
fi

if [ ! -e "$dir/complete" ]; then
	locked "kernel-$KERNEL"
	if [ ! -e "$dir/complete" ]; then
		case $KERNEL in
		debug | kcsan | smp)
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
				copy_source
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
siw_variant "$dir" "$KBUILD_DIR" patched

for v in KREL KVERSION KSOURCE KBUILD_DIR KROOT KDIST KARGS KMEM KSLOW; do printf '%s=%q\n' $v "${!v}"; done
printf '%s=%q\n' KNAME "$KERNEL" KIMAGE "$dir/bzImage" KMODS "$dir/lib/modules/$KREL" KBTF "$dir/btf" \
	SIW_KO "$ko" KSRC "$dir/src" KBUSYBOX "$dir/busybox"
exit 0
}
