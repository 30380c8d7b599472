# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2120 # here, cache, dir and the K... variables are the script's
#
# Functions by which kernel.sh gets packages from the archive of KROOT's distribution, and builds the providers rxe and siw with our
# patches. The script that sources this file sets here (this folder), cache and KROOT.
#
# "Not in the archive" and "the archive did not answer" are different results. apt-get update exits with 0 even if no mirror answered,
# and then every package seems to be missing. So its errors are made to count, and only lists that were fetched can say that a
# version is missing.

# A test runs these scripts from another folder, by links.
upstream=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../../docs/upstream")

say() { echo "krping: $*" >&2; }

fail() {
	say "$*"
	exit 1
}

in_root() { "$here/in-root.sh" "$KROOT" "$@"; }

# For tests: an apt configuration file that makes apt ask another archive.
apt() { in_root ${KRPING_APT_CONFIG:+env "APT_CONFIG=$KRPING_APT_CONFIG"} "$@"; }

# fetch_lists MINUTES: fetches the archive's lists unless that was done within so many minutes. The files of the lists carry the
# server's date, so a file of the cache notes the time; its name contains the root's, since a new root has no lists. Under a lock,
# since apt does not wait for another apt. An ordinary user cannot fetch the host's lists, and has those that are there.
fetch_lists() {
	local lists=$cache/lists-${KROOT##*/}
	[ "$KROOT" != / ] || [ "$(id -u)" = 0 ] || return 0
	mkdir -p "$cache"
	(
		flock 8
		if [ -z "$(find "$lists" -mmin "-$1" 2>/dev/null)" ] ||
			[ -z "$(apt apt-get indextargets --format '$(FILENAME)' 'Created-By: Packages' 2>/dev/null)" ]; then
			rm -f "$lists"
			say "asking the archive for its lists"
			apt apt-get -q -o APT::Update::Error-Mode=any update >&2 && date >"$lists"
		fi
	) 8>"$lists.lock" || fail "the archive cannot be reached: its lists could not be fetched"
}

# available PACKAGE: prints "VERSION NAME" of all packages of PACKAGE's kind in the lists, the oldest version first: the images of its
# flavour (the archive also has images for the flavour cloud), or the sources.
available() {
	local re='^linux-image-[0-9.]+(-[0-9]+|\+deb[0-9.]+)-amd64$' names
	case $1 in
	*-rt-amd64) re=${re/%-amd64$/-rt-amd64$} ;;
	linux-source-*) re='^linux-source-[0-9.]+$' ;;
	esac
	mapfile -t names < <(apt apt-cache search --names-only "$re" | cut -d' ' -f1)
	[ ${#names[@]} -eq 0 ] || apt apt-cache madison "${names[@]}" | awk '$NF == "Packages" { print $3, $1 }' | sort -uV
}

# nearest VERSION: of the lines of available, prints the one of VERSION; without it the next newer one of the same X.Y, else the last
# older one of it, else the next newer or the last older one of all.
nearest() {
	{ echo "$1" && cat; } | sort -V | awk -v want="$1" '
		BEGIN { match(want, /^[0-9]+[.][0-9]+/); xy = "^" substr(want, 1, RLENGTH) "[^0-9]"; sub(/[.]/, "[.]", xy) }
		NF == 1 { past = 1; next }
		{ same = $1 ~ xy; if (!past) older[same] = $0; else if (!(same in newer)) newer[same] = $0 }
		END { for (s = 1; s >= 0; s--) if (s in newer || s in older) { print s in newer ? newer[s] : older[s]; exit } }'
}

# find_package MINUTES: package and KVERSION become what the archive has nearest to them; only lists that are not older than so
# many minutes may say that it has not these. The file "instead" remembers the choice.
find_package() {
	local line want=$KVERSION
	line=$(available "$package" | nearest "$want")
	if [ "${line% *}" != "$want" ]; then
		fetch_lists "$1"
		line=$(available "$package" | nearest "$want")
	fi
	[ -n "$line" ] || { say "the archive has no kernel like $package $want" && exit 3; }
	read -r KVERSION package <<<"$line"
	[ "$KVERSION" = "$want" ] || say "the archive has no $want any more: taking $KVERSION"
}

# download PACKAGE [VERSION]: downloads into the current directory; sets deb to the file.
download() {
	say "downloading $1${2:+ $2}"
	# The sandbox user that root's apt uses cannot write here; an ordinary user's apt has no sandbox user.
	apt apt-get -q -o APT::Sandbox::User=root download "$1${2:+=$2}" >download.log 2>&1 || return 1
	# apt writes a colon of the version, and a "+" in some versions, as %xx.
	deb=$(find . -maxdepth 1 -name "$1_*.deb" | head -1)
	[ -n "$deb" ]
}

# must_download PACKAGE [VERSION]: old lists may have led apt to a file that has gone, so it tries again with new ones.
must_download() {
	download "$@" && return
	fetch_lists 1
	download "$@" || {
		cat download.log >&2
		fail "$* could not be downloaded"
	}
}

# The files of a kernel's source that are needed in addition to its headers: the providers and checkpatch; and what the patches of
# docs/upstream/ change, for the check "upstream".
source_parts=(drivers/infiniband/sw/siw scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch
	drivers/infiniband/sw/rxe drivers/infiniband/core/cq.c)

# source_part [TREE]: sets part to the folder of the cache that has these files of KSOURCE, as they are shipped; if it is missing, takes
# them from the source's package, or from TREE, where that is unpacked. The name has the checksum of the files' names. Kernels of one
# source share the folder, since fetching and unpacking the whole source takes longer than any other step for a kernel.
source_part() {
	part=$cache/part-$KSOURCE-$KVERSION-$(cksum <<<"${source_parts[*]}" | cut -d' ' -f1)
	[ ! -e "$part/complete" ] || return 0
	(
		flock 7
		[ ! -e "$part/complete" ] || exit 0
		rm -rf "$part"
		mkdir -p "$part" && cd "$part" || exit
		if [ $# -gt 0 ]; then
			tar -c -C "$1" "${source_parts[@]}" | tar -x || exit
		else
			must_download "$KSOURCE" "$KVERSION"
			dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$KSOURCE.tar.xz" | xz -T0 -dc |
				tar -x --strip-components=1 "${source_parts[@]/#/$KSOURCE/}" || exit
			rm -f "$deb" download.log
		fi
		date >complete
	) 7>"$cache/part-$KSOURCE.lock"
}

# xy VERSION: prints its X.Y.
xy() { grep -oE '^[0-9]+\.[0-9]+' <<<"$1"; }

# apply_patch FOLDER PATCH X.Y: applies a patch of docs/upstream to the source of a kernel X.Y below FOLDER. Returns 2 and says why if
# the source has the patch already, or if the row "not for" on the bug's page names X.Y; returns 1 if the patch should apply and does not.
apply_patch() {
	local text out to=(patch -s -f -d "$1" -p1)
	text=$(<"$2")
	# kzalloc_objs() is newer than 6.12.
	grep -rqs kzalloc_objs "$1/drivers/infiniband" ||
		text=$(sed -E 's/kzalloc_objs\((struct \w+), (\w+)\)/kcalloc(\2, sizeof(\1), GFP_KERNEL)/' <<<"$text")
	if "${to[@]}" -R --dry-run <<<"$text" >/dev/null 2>&1; then
		echo "${2##*/} is in this source" && return 2
	elif out=$("${to[@]}" -F0 --dry-run <<<"$text" 2>&1); then
		"${to[@]}" -F0 --no-backup-if-mismatch <<<"$text"
	elif [[ " $(sed -n 's/^| not for | \([^:]*\):.*/\1/p' "${2%.patch}.md" | tr -d ,) " == *" $3 "* ]]; then
		echo "${2##*/} is not for $3" && return 2
	else
		echo "$out" && return 1
	fi
}

# provider_file rxe|siw: sets ko to the provider's module for the kernel in dir, and patches to those that it has: ours of docs/upstream.
# By hand, KRPING_WITHOUT="siw-qp-gone" leaves patches out, and KRPING_WITHOUT=all all of them. The name has the checksum of the
# patches, so that changed patches need no other kernel.
provider_file() {
	local p
	patches=()
	for p in "$upstream/$1"-*.patch; do
		[[ " ${KRPING_WITHOUT:-} " == *" $(basename "$p" .patch) "* || ${KRPING_WITHOUT:-} = all ]] || patches+=("$p")
	done
	ko=$dir/$1-btf-$(sed -s -n '/^diff --git /,$p' /dev/null "${patches[@]}" | cksum | cut -d' ' -f1).ko
}

# provider_ko rxe|siw: the same, and makes the module if it is missing. Where a patch applies, the module is built from the kernel's source,
# even if Debian ships the module: our tests are to find our bugs, and a use after free of rxe would look like one. The build of rxe takes
# 25 s of CPU, once for each kernel. Where no patch applies (rxe of 6.1), the kernel's own module is the same code.
provider_ko() {
	local name=$1
	[ "$1" != rxe ] || name=rdma_rxe
	provider_file "$1"
	[ -e "$ko" ] || (
		flock 6
		[ ! -e "$ko" ] || exit 0
		work=$(mktemp -d "$cache/tmp.XXXXXX")
		trap 'rm -rf "$work"' EXIT
		trap 'exit 130' INT
		trap 'exit 143' TERM HUP
		cd "$work" || exit
		source_part 6>&-
		cp -r "$part" src
		own=$(find "$dir/lib/modules" -name "$name.ko*") some=''
		for p in "${patches[@]}"; do
			rc=0
			apply_patch src "$p" "$(xy "$KVERSION")" >why || rc=$?
			case $rc in
			0) some=1 ;;
			2) say "$(<why)" ;;
			*)
				# The versions in the file "kernels" were tried with all patches, others were not.
				[ -n "$KINSTEAD" ] || fail "${p##*/} does not apply to $KSOURCE $KVERSION: $(<why)"
				say "${p##*/} does not apply: $1 is without it"
				;;
			esac
		done
		if [ -z "$some" ] && [ -n "$own" ]; then
			case $own in *.xz) xz -dc "$own" ;; *) cat "$own" ;; esac >new.ko
		else
			say "building $name.ko for $KERNEL"
			# Variants of a provider share one build folder and its objects, so that only the files that differ are compiled.
			build=$dir/build-$1
			while IFS= read -r f; do
				cmp -s "src/$f" "$build/$f" || install -D -m 644 "src/$f" "$build/$f"
			done < <(cd src && find drivers -type f)
			in_root make -s -C "$KBUILD_DIR" M="$build/drivers/infiniband/sw/$1" "CONFIG_RDMA_${1^^}=m" modules >make.log 2>&1 </dev/null 6>&- || {
				cat make.log >&2
				fail "$name.ko was not built"
			}
			cp "$build/drivers/infiniband/sw/$1/$name.ko" new.ko
			# Programs of krping stages --provider are attached by it.
			"$here/module-btf.sh" new.ko "$dir/btf"
			strip --strip-debug new.ko
		fi
		mv new.ko "$ko"
	) 6>"$cache/$1.lock"
}
