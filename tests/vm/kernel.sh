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
#   KINSTEAD    empty, or "VERSION for VERSION": the archive has lost the latter, which the file "kernels" names
#   SIW_KO      soft-iWARP, which Debian does not build; with our patches
#   RXE_KO      soft-RoCE, with our patches
#   KSRC        the few files taken from linux-source, among them scripts/checkpatch.pl
#   KSOURCE     the package that they are from
#   KVERSION    version of the package
#   KNAME       its name, as 6.12-rt, also where KERNEL is a role or another version stands in
#   KBUILD_DIR  headers, for make -C: a path in KROOT, and in most cases in the cache
#   KBUSYBOX    a static busybox, for the initramfs
#   KROOT       root of the distribution that builds for it and that the guest runs; / is the host
#   KDIST       its name
#   KARGS       kernel arguments that this kernel needs
#   KMEM        memory that it needs
#   KSLOW       how many times as long a test may take on it
#
# KERNEL in the environment selects a kernel of the file "kernels" by its role or name: oldest, longterm, realtime or newest; X.Y or X.Y-rt;
# debug, kcsan or smp, which this script builds from Debian's source and the fragments in config/. That file has the versions, and the
# archive is asked only for what is not in the cache. If it has lost a version, the nearest one stands in for it. "kernel.sh --version"
# prints only the name, as 6.12-rt, and prepares nothing. "kernel.sh --raise" writes the archive's newest versions into the file.
#
# Exit 1: the kernel could not be prepared, for example because the archive cannot be reached. Exit 3: the archive answered, and has no
# such kernel at all.

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

KERNEL=${KERNEL:-6.1}
# Part of the cache's key: change it when this script makes other files. A change of the providers' patches needs no other key, since the
# names of their modules have the patches' checksum (provider_ko in archive.sh).
RECIPE=3-1965160224
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping
KARGS='' KMEM=2G KSLOW=1 KINSTEAD='' deb='' part='' ko=''
# shellcheck source=tests/vm/archive.sh
. "$here/archive.sh"

# named: KNAME and KSOURCE become what package and KVERSION say.
named() {
	KSOURCE=linux-source-$(xy "$KVERSION")
	KNAME=$KERNEL
	[[ $package == linux-source-* ]] || KNAME=${KSOURCE##*-}
	[[ $package != *-rt-amd64 ]] || KNAME+=-rt
}

# choose: KDIST, package and KVERSION become those of KERNEL's row.
choose() {
	local roles
	while read -r roles KDIST _ package KVERSION; do
		[[ $roles == [a-z]* ]] || continue
		named
		[[ ,$roles, != *,$KERNEL,* && ( $KNAME != "$KERNEL" || $package == linux-source-* ) ]] || return 0
	done <"$here/kernels"
	fail "KERNEL=$KERNEL is not known; tests/vm/kernels has: $(sed -n 's/^\([a-z,]*\)\t.*/\1/p' "$here/kernels" | paste -sd, -)"
}

# raise: writes the file anew.
raise() {
	local line re list
	while IFS= read -r line; do
		read -r _ KDIST from package KVERSION <<<"$line"
		if [[ $line == [a-z]* ]]; then
			KROOT=$("$here/root.sh" "$KDIST")
			fetch_lists 60
			list=$(available "$package")
			re="^$(xy "$KVERSION")[^0-9]"
			[ "$from" = backports ] || list=$(grep -E "$re" <<<"$list") || fail "the archive has no $package any more"
			list=$(tail -1 <<<"$list")
			line=${line/"$package"/"${list#* }"}
			line=${line/%"$KVERSION"/"${list% *}"}
		fi
		printf '%s\n' "$line"
	done <"$here/kernels" >"$here/kernels.new"
	mv "$here/kernels.new" "$here/kernels"
	git -C "$here" --no-pager diff --stat -- kernels >&2 || :
}

# Sets dir to the folder of the cache for package and KVERSION, and KREL to its release; true if the kernel is there.
cached() {
	local f found=''
	case $package in
	linux-source-*)
		dir=$cache/kernel-$KERNEL-$KVERSION-$RECIPE-$(fragments | cksum | cut -d' ' -f1)
		for f in "$cache/kernel-$KERNEL-$KVERSION-$RECIPE-"*; do
			[ ! -e "$f/complete" ] || ! fragments | cmp -s - "$f/fragment" || found=$f
		done
		;;
	*)
		dir=$cache/kernel-${package#linux-image-}-$KVERSION-$RECIPE
		for f in "$dir"*; do [ ! -e "$f/complete" ] || found=$f; done
		;;
	esac
	[ -n "$found" ] || return 1
	dir=$found
	KREL=$(basename "$dir/lib/modules/"*)
}

# The headers, from their packages, are unpacked into the kernel's folder: the host may have those of another version, and apt would
# install an image and its initramfs. Their makefiles name each other by absolute paths.
headers() {
	local pkg
	KBUILD_DIR=$dir/build
	[ ! -d "$KBUILD_DIR" ] || return 0
	KBUILD_DIR=/usr/src/linux-headers-$KREL
	[ "$KROOT" != / ] || [ "$(dpkg-query -W -f '${db:Status-Abbrev}${Version}' "linux-headers-$KREL" 2>/dev/null)" != "ii $KVERSION" ] || return 0
	KBUILD_DIR=$dir/headers/usr/src/linux-headers-$KREL
	[ ! -d "$dir/headers" ] || return 0
	(
		cd "$(mktemp -d "$dir/tmp.XXXXXX")"
		trap 'rm -rf "$PWD"' EXIT
		for pkg in "linux-headers-$KREL" $(apt apt-cache depends "linux-headers-$KREL=$KVERSION" |
			sed -n 's/^.*Depends: \(linux-\(headers\|kbuild\)-.*\)/\1/p'); do
			# The archive has one version of linux-kbuild-6.1, which serves older headers, too.
			download "$pkg" "$KVERSION" || must_download "$pkg"
			dpkg-deb -x "$deb" headers
			rm "$deb"
		done
		sed -i "s,/usr/src/,$dir/headers/usr/src/," "headers/usr/src/linux-headers-$KREL/Makefile"
		# Another run may have been faster.
		mv -T headers "$dir/headers" 2>/dev/null || [ -d "$dir/headers" ]
	)
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
	say "unpacking $package"
	mkdir -p new
	unpack_part
	# Since 7.2 the image's package is empty and depends on packages that have the files.
	for got in $(apt apt-cache depends "$package=$KVERSION" |
		sed -n "s/^.*Depends: \\(linux-\\(base\\|binary\\|modules\\)-$KREL\\)\$/\\1/p"); do
		must_download "$got" "$KVERSION"
		unpack_part
	done
	mv "new/boot/vmlinuz-$KREL" new/bzImage 2>/dev/null || mv "new/lib/modules/$KREL/vmlinuz" new/bzImage
	mv "new/boot/config-$KREL" new/config 2>/dev/null || mv "new/lib/modules/$KREL/config" new/config
	rm -rf new/boot new/usr
	# depmod complains about symbols of the drivers that were left out; no module that is used here needs them.
	depmod -b new "$KREL" 2>/dev/null
}

# The boot header says where the compressed vmlinux is in the bzImage.
unpack_btf() {
	local sects offset length magic
	say "taking the BTF out of the image"
	sects=$(od -An -v -j $((0x1f1)) -N 1 -t u1 new/bzImage)
	read -r offset length < <(od -An -v -j $((0x248)) -N 8 -t u4 new/bzImage)
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

# fetch_busybox FILE
fetch_busybox() {
	local deb
	must_download busybox-static
	dpkg-deb --fsys-tarfile "$deb" | tar -xO --wildcards '*bin/busybox' >"$1"
	chmod 755 "$1"
	rm -f "$deb"
}

# --- kernels that are built here ---

# The fragments, in the order in which they are merged.
fragments() {
	cat "$here/config/vm.config" "$here/config/$KERNEL.config" |
		awk '/^[ymn]: / { for (i = 2; i <= NF; i++) print "CONFIG_" $i "=" substr($1, 1, 1); next } 1'
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
	local begin=$SECONDS missing
	say "unpacking $KSOURCE $KVERSION"
	mkdir -p source build
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$KSOURCE.tar.xz" | xz -T0 -dc | tar -x -C source --strip-components=1 \
		--exclude="$KSOURCE/tools/testing"
	rm -f "$deb"
	source_part "$PWD/source"
	[ "$KERNEL" != smp ] || call_by_pointer
	fragments >fragment
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
		for _ in {1..20}; do ! kill -0 $! 2>/dev/null || sleep 3; done
		say "  $((SECONDS - begin)) s, $(find build -name '*.o' | wc -l) objects"
	done
	wait $! || {
		tail -30 build.log >&2
		fail "the $KERNEL kernel could not be built"
	}
	in_root make -s -C source O="$PWD/build" INSTALL_MOD_STRIP=1 INSTALL_MOD_PATH="$PWD" modules_install \
		>>build.log 2>&1 </dev/null
	rm -f lib/modules/*/build lib/modules/*/source
	cp build/arch/x86/boot/bzImage bzImage
	cp build/.config config
	objcopy --dump-section .BTF=btf build/vmlinux copy
	# Of vmlinux, a module's build needs only the BTF; delete gigabytes of objects.
	objcopy --only-section=.BTF copy build/vmlinux 2>/dev/null
	rm -f copy
	find build \( -name '*.o' -o -name '*.a' -o -name '*.ko' -o -name '*.cmd' -o -name '.tmp_*' -o -name '*.o.d' \) \
		-not -path 'build/scripts/*' -not -path 'build/tools/*' -delete
	rm -f build/vmlinux.o build/vmlinux.unstripped build/arch/x86/boot/compressed/vmlinux* build/arch/x86/boot/*mage
	find source/{drivers,sound,fs,net,crypto,samples} -name '*.[cS]' -delete
	find source/arch -mindepth 1 -maxdepth 1 -type d -not -name x86 -exec rm -rf {} +
	ln -sfn source src
	say "the $KERNEL kernel was built in $((SECONDS - begin)) s"
}

# prepare FILE: makes dir, for package and KVERSION or what the archive has nearest to them, which FILE then remembers. Lists that are some
# hours old may name a version that has gone since: then it asks for newer ones, and looks again.
prepare() {
	local want=$KVERSION
	cd "$work"
	find_package 1440
	if ! download "$package" "$KVERSION"; then
		fetch_lists 1
		find_package 1
		download "$package" "$KVERSION" || fail "$package $KVERSION could not be downloaded: $(tail -1 download.log)"
	fi
	named
	if [ "$KVERSION" != "$want" ]; then
		echo "$package $KVERSION" >"$1.$$"
		mv "$1.$$" "$1"
	fi
	! cached || return 0
	case $package in
	linux-source-*)
		# The build has absolute paths, so its folder cannot be moved.
		rm -rf "$dir"
		mkdir -p "$dir"
		mv "$deb" "$dir/"
		cd "$dir"
		fetch_busybox busybox
		build_kernel
		;;
	*)
		KREL=${package#linux-image-}
		unpack_image
		unpack_btf
		fetch_busybox new/busybox
		source_part
		cp -r "$part" new/src
		rm -f new/src/complete
		rm -rf "$dir"
		mv new "$dir"
		;;
	esac
	date >"$dir/complete"
	say "kernel $KVERSION is ready in $dir"
}

# stands_in FILE: package and KVERSION become those that FILE remembers.
stands_in() {
	[ -e "$1" ] && read -r package KVERSION <"$1" && named
}

# The braces make bash read this part as a whole: bash reads a script while it runs it, and the file may be edited
# meanwhile.
# shellcheck disable=SC2034 # the K... variables are printed by name
{
if [ "${1:-}" = --raise ]; then
	raise
	exit 0
fi
choose
want=$KVERSION instead=$cache/instead-$package-$KVERSION
if [ "${1:-}" = --version ]; then
	echo "$KNAME"
	exit 0
fi
KROOT=$("$here/root.sh" "$KDIST")
if ! cached && ! { stands_in "$instead" && cached; }; then
	mkdir -p "$cache"
	exec 9>"$cache/kernel-$KNAME.lock"
	if ! flock -n 9; then
		say "waiting for another run that prepares the $KNAME kernel"
		until flock -w 60 9; do say "  $SECONDS s"; done
	fi
	choose
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	(prepare "$instead") 9>&-
	exec 9>&-
	cached || { stands_in "$instead" && cached; }
fi
[ "$KVERSION" = "$want" ] || KINSTEAD="$KVERSION for $want"
headers
case $KERNEL in
debug | kcsan) KARGS='acpi=off kasan_multi_shot' KMEM=3G KSLOW=4 ;;
smp) KARGS='acpi=off slab_debug=FZPU,kmalloc-*' KSLOW=2 ;;
esac
provider_ko siw
SIW_KO=$ko
provider_ko rxe
RXE_KO=$ko

for v in KREL KVERSION KINSTEAD KNAME KSOURCE KBUILD_DIR KROOT KDIST KARGS KMEM KSLOW SIW_KO RXE_KO; do printf '%s=%q\n' $v "${!v}"; done
printf '%s=%q\n' KIMAGE "$dir/bzImage" KMODS "$dir/lib/modules/$KREL" KBTF "$dir/btf" KSRC "$dir/src" KBUSYBOX "$dir/busybox"
exit 0
}
