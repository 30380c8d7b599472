# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # here, cache and KROOT are the script's
#
# Functions by which kernel.sh and siw.sh get files from the archive of KROOT's distribution. Both scripts source this
# file, and set here (this folder), cache and KROOT.
#
# "Not in the archive" and "the archive did not answer" are different results. apt-get update exits with 0 even if no
# mirror answered, and then every package seems to be missing. So its errors are made to count, and only lists that were
# fetched can say that a package is missing.

# A test runs these scripts from another folder, by links.
upstream=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../../docs/upstream

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

# For tests: an apt configuration file that makes apt ask another archive.
apt_options=()
[ -z "${KRPING_APT_CONFIG:-}" ] || apt_options=(env "APT_CONFIG=$KRPING_APT_CONFIG")
apt() {
	in_root "${apt_options[@]}" "$@"
}

# fetched_lists [MINUTES]: true if the lists were fetched, with MINUTES: within so many minutes. The files of the lists
# carry the server's date, so a file of its own notes the time. Its name contains the root's: a new root has no lists.
fetched_lists() {
	lists=$cache/lists-$(basename "$KROOT")
	[ -n "$(find "$lists" ${1:+-mmin "-$1"} 2>/dev/null)" ] && [ -n "$(apt apt-get indextargets --format '$(FILENAME)' 'Created-By: Packages' 2>/dev/null)" ]
}

# try_lists: fetches the archive's lists unless they are less than a day old; returns 1 if that fails. A lock lets only
# one run fetch them at a time, since apt does not wait for another apt.
try_lists() {
	mkdir -p "$cache"
	(
		flock 8
		! fetched_lists 1440 || exit 0
		rm -f "$lists"
		say "asking the archive for its lists"
		apt apt-get -q -o APT::Update::Error-Mode=any update >&2 && date >"$lists" && fetched_lists
	) 8>"$cache/lists-$(basename "$KROOT").lock"
}

fresh_lists() {
	try_lists || fail "the archive cannot be reached: its lists could not be fetched"
}

# newest REGEX: prints "NAME VERSION" of the newest package whose name matches an extended regular expression.
newest() {
	apt apt-cache search --names-only "$1" | awk '{ print $1 }' | sort -V | tail -1 |
		while read -r name; do
			echo "$name $(apt apt-cache show --no-all-versions "$name" | awk '/^Version:/ { print $2; exit }')"
		done
}

# download PACKAGE [VERSION]: downloads into the current directory; sets deb to the file.
download() {
	local name=$1${2:+=$2}
	say "downloading $name"
	# The sandbox user that root's apt uses cannot write here; an ordinary user's apt has no sandbox user.
	apt apt-get -q -o APT::Sandbox::User=root download "$name" >download.log 2>&1 || return 1
	# apt writes a colon of the version, and a "+" in some versions, as %xx.
	deb=$(find . -maxdepth 1 -name "$1_*.deb" | head -1)
	[ -n "$deb" ]
}

# must_download PACKAGE [VERSION]
must_download() {
	download "$@" || {
		cat download.log >&2
		fail "$* could not be downloaded"
	}
}

# source_tarball PACKAGE VERSION: writes the tarball of linux-source to stdout, from the installed package, or from one
# that it downloads.
source_tarball() {
	local installed
	installed=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null || true)
	if [ "$KROOT" = / ] && [ "$installed" = "$2" ] && [ -r "/usr/src/$1.tar.xz" ]; then
		cat "/usr/src/$1.tar.xz"
		return
	fi
	if ! download "$1" "$2"; then
		say "$1 $2 is not in the archive: taking the newest"
		must_download "$1"
	fi
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$1.tar.xz"
	rm -f "$deb"
}

# The files of a kernel's source that are needed in addition to its headers: siw and checkpatch; and what the patches of
# docs/upstream/ change, for the check "upstream".
source_parts=(drivers/infiniband/sw/siw scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch
	drivers/infiniband/sw/rxe drivers/infiniband/core/cq.c)

# part_of PACKAGE VERSION: sets part to the folder of the cache for these files; its name has the checksum of their names.
part_of() { part=$cache/part-$1-$2-$(cksum <<<"${source_parts[*]}" | cut -d' ' -f1); }

# source_part PACKAGE VERSION: fills that folder with these files as they are shipped. Kernels of one
# source share the folder, since fetching and unpacking the whole source takes longer than any other step for a kernel.
# tree_part takes the files from a source that is unpacked already.
source_part() {
	part_of "$1" "$2"
	[ ! -e "$part/complete" ] || return 0
	mkdir -p "$cache"
	(
		flock 7
		[ ! -e "$part/complete" ] || exit 0
		rm -rf "$part"
		mkdir -p "$part" && cd "$part" || exit
		say "unpacking siw, rxe and checkpatch from $1 $2"
		# The kernel's tree is large: unpack only the files that are named.
		source_tarball "$1" "$2" | xz -T0 -dc | tar -x --strip-components=1 "${source_parts[@]/#/$1/}" || exit
		rm -f download.log
		date >complete
	) 7>"$cache/part-$1.lock"
}

# tree_part PACKAGE VERSION FOLDER
tree_part() {
	part_of "$1" "$2"
	[ ! -e "$part/complete" ] || return 0
	(
		flock 7
		[ ! -e "$part/complete" ] || exit 0
		rm -rf "$part"
		mkdir -p "$part"
		tar -c -C "$3" "${source_parts[@]}" | tar -x -C "$part" || exit
		date >"$part/complete"
	) 7>"$cache/part-$1.lock"
}

# The VM's siw has those of our patches for Linux (docs/upstream/siw-NAME.patch) without which a test would depend on chance,
# or on memory that is short. The mends of the other bugs are not tested, so the VM has these bugs, as its user's kernel has.
siw_patches=(accept-socket alloc-mr qp-gone readq-init reply-fin unaccepted-close)

siw_patch() { echo "$upstream/siw-$1.patch"; }

# siw_changes: prints what these patches change, without their words.
siw_changes() {
	local name
	for name in "${siw_patches[@]}"; do sed -n '/^diff --git /,$p' "$(siw_patch "$name")"; done
}

# patch_siw FOLDER [BUT]: applies these patches to the source below FOLDER, except the one named BUT; if BUT is "stock", it
# applies none. A patch that the source already has is skipped. Returns 3 if the source already has BUT.
patch_siw() {
	local p name
	[ "${2:-}" != stock ] || return 0
	for name in "${siw_patches[@]}"; do
		p=$(siw_patch "$name")
		if patch -s -d "$1" -p1 -R --dry-run <"$p" >/dev/null 2>&1; then
			say "siw: ${p##*/} is in this source"
			[ "$name" != "${2:-}" ] || return 3
		elif [ "$name" != "${2:-}" ]; then
			patch -s --no-backup-if-mismatch -d "$1" -p1 <"$p" >&2 || fail "siw: ${p##*/} does not apply"
		fi
	done
}

# make_siw FOLDER KBUILD_DIR FILE.ko: builds siw from the source below FOLDER, as an external module, even if the kernel
# was built here.
make_siw() {
	local dir=$1/drivers/infiniband/sw/siw
	in_root make -s -C "$2" M="$dir" CONFIG_RDMA_SIW=m modules >siw.log 2>&1 </dev/null || {
		cat siw.log >&2
		fail "siw.ko was not built"
	}
	strip --strip-debug -o "$3" "$dir/siw.ko"
}

# siw_ko FOLDER VARIANT: sets ko to the file of that variant of siw for the kernel in that folder of the cache: patched, with all our
# patches, stock or without-NAME. A change of our patches is a new name of the file and not another kernel, since building a kernel
# takes much longer.
siw_ko() { ko=$1/siw-$2-$(siw_changes | cksum | cut -d' ' -f1).ko; }

# siw_variant FOLDER KBUILD_DIR VARIANT: sets ko as siw_ko does, and builds the file from KSOURCE and KVERSION if it is missing. Returns 3
# if the source already has the patch NAME.
siw_variant() {
	local but=${3#without-}
	[ "$3" != patched ] || but=''
	siw_ko "$1" "$3"
	[ ! -e "$ko" ] || return 0
	(
		flock 6
		[ ! -e "$ko" ] || exit 0
		work=$(mktemp -d "$cache/tmp.XXXXXX")
		trap 'rm -rf "$work"' EXIT
		trap 'exit 130' INT
		trap 'exit 143' TERM HUP
		cd "$work" || exit
		source_part "$KSOURCE" "$KVERSION" 6>&-
		cp -r "$part" src
		rc=0
		(patch_siw src "$but") || rc=$?
		[ $rc -eq 0 ] || exit $rc
		say "building siw.ko for $KERNEL, $3"
		# All variants share one build folder and its objects, so that the compiler builds only the files that differ.
		while IFS= read -r f; do
			cmp -s "src/$f" "$1/siw-build/$f" || install -D -m 644 "src/$f" "$1/siw-build/$f"
		done < <(cd src && find . -type f)
		make_siw "$1/siw-build" "$2" siw.ko 6>&-
		mv siw.ko "$ko"
	) 6>"$cache/siw.lock"
}
