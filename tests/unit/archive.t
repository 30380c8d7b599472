#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# tests/vm/kernel.sh takes the versions that the file "kernels" has, or the nearest that the archive has; an archive that does not answer
# differs from one that lacks a kernel. apt's configuration names only this machine: a mirror that refuses, and one in a folder. Its
# packages are lines of a list: what kernel.sh would download is read from what it says before it fails.

# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
vm=$here/../vm
work=$T/work
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/parts" "$T/repo" "$T/cache/krping/root-trixie-test"

cat >"$work/apt.conf" <<END
Dir::Etc::SourceList "$work/sources.list";
Dir::Etc::SourceParts "$work/parts";
Dir::Etc::Parts "$work/parts";
Dir::State "$work";
Dir::State::status "$work/status";
Dir::State::Lists "$work/lists";
Dir::Cache "$work/cache";
Dir::Cache::archives "$work/archives";
APT::Sandbox::User "root";
APT::Architecture "amd64";
Acquire::Retries "0";
Acquire::Languages "none";
END
: >"$work/status"
mkdir -p "$work/cache"

dead() { echo "deb [trusted=yes] http://127.0.0.1:9/debian ./" >"$work/sources.list"; }
there() { echo "deb [trusted=yes] copy:$T/repo ./" >"$work/sources.list"; }

# archive [NAME=]VERSION...: makes the folder an archive of packages; without NAME it is the image of backports of that version.
archive() {
	local p
	for p; do
		[[ $p == *=* ]] || p=linux-image-${p%-*}+deb13-amd64=$p~bpo13+1
		printf '%s\n' "Package: ${p%=*}" "Version: ${p#*=}" "Architecture: amd64" "Maintainer: nobody" \
			"Filename: ./none.deb" "Size: 1" "Description: a package" ''
	done >"$T/repo/Packages"
}

# A folder in the cache stands in for another distribution's root. Commands run on the host instead of in that root, since
# apt has a configuration of its own.
cat >"$T/in-root.sh" <<'END'
#!/bin/bash
shift
exec "$@"
END
cat >"$T/root.sh" <<END
#!/bin/bash
echo "$T/cache/krping/root-trixie-test"
END
chmod 755 "$T/in-root.sh" "$T/root.sh"
for f in kernel.sh archive.sh config; do ln -s "$(realpath "$vm/$f")" "$T/$f"; done

# kernel NAME [OPTION]: runs kernel.sh; RC, OUT and ERR become its exit status, stdout and stderr.
kernel() {
	OUT=$(KERNEL=$1 XDG_CACHE_HOME=$T/cache KRPING_APT_CONFIG=$work/apt.conf timeout -k 5 60 "$T/kernel.sh" "${@:2}" \
		2>"$T/err" </dev/null)
	RC=$?
	ERR=$(cat "$T/err")
}
# forget: as if the lists had never been fetched.
forget() { rm -f "$work"/lists/*_Packages "$work"/lists/*Release "$work"/cache/*.bin "$T"/cache/krping/lists-*; }
# takes NAME VERSION WHAT: asserts which package kernel.sh sets out to download.
takes() {
	kernel "$1"
	like "$RC $ERR" "^1 (.*[^0-9])?downloading [^ ]* ${2//+/.}"$'\n' "$3"
}

# --- the file of this repository ---

cp "$vm/kernels" "$T/kernels"
for row in 'oldest 6.1' '6.1 6.1' 'longterm [0-9.]+' 'realtime [0-9.]+-rt' 'newest [0-9.]+' 'debug debug' 'kcsan kcsan' 'smp smp'; do
	kernel "${row% *}" --version
	like "$RC $OUT" "^0 ${row#* }\$" "${row% *}: no archive is needed to know which kernel that is" || diag "$ERR"
done

# --- which version is taken ---

printf '%s\t%s\t%s\t%s\t%s\n' oldest trixie release linux-image-6.1.0-5-amd64 6.1.5-1 \
	newest trixie backports linux-image-7.2.9+deb13-amd64 7.2.9-1~bpo13+1 \
	realtime trixie release linux-image-6.12.3+deb13-rt-amd64 6.12.3-1 debug trixie release linux-source-6.12 6.12.3-1 >"$T/kernels"
here_is=(linux-image-6.12.3+deb13-{,rt-,cloud-}amd64=6.12.3-1 linux-source-6.12=6.12.3-1 linux-image-6.1.0-5-amd64=6.1.5-1)

kernel 9.9
like "$RC $ERR" '^1 .*KERNEL=9.9 is not known; tests/vm/kernels has: oldest,newest,realtime,debug$' "a kernel without a row"

dead
kernel 7.2
like "$RC $ERR" '^1 .*the archive cannot be reached' "a mirror that refuses: a failure, and not a kernel that is missing"
kernel debug
like "$RC $ERR" '^1 .*the archive cannot be reached' "the same for a kernel that is built here"

there
archive "${here_is[@]}" 7.2.9-1 7.2.10-1
takes newest 7.2.9-1~bpo13+1 "the version of the file, although there is a newer one"
takes debug 6.12.3-1 "a source has its version, too"
takes 6.12-rt 6.12.3-1 "and the real-time kernel"
like "$ERR" 'downloading linux-image-6.12.3.deb13-rt-amd64 ' "it is of that flavour"

rm "$T/repo/Packages"
takes newest 7.2.9-1~bpo13+1 "lists that have the version are not fetched again"

forget
archive "${here_is[@]}" 7.2.8-1 7.2.10-1 7.2.11-1 7.10.1-1
takes newest 7.2.10-1~bpo13+1 "a lost version: the next of the same series"
like "$ERR" 'the archive has no 7.2.9-1~bpo13.1 any more: taking 7.2.10-1~bpo13.1' "it says so"
forget
archive "${here_is[@]}" 7.2.7-1 7.2.8-1 7.10.1-1
takes newest 7.2.8-1~bpo13+1 "else the last one before it"
forget
archive "${here_is[@]}" 7.10.1-1 7.10.2-1
takes newest 7.10.1-1~bpo13+1 "a lost series: the next one"
forget
archive linux-image-7.2.9+deb13-cloud-amd64=7.2.9-1~bpo13+1
kernel newest
like "$RC $ERR" '^3 .*the archive has no kernel like linux-image-7.2.9' "an archive that answers, and has no kernel"

# --- the cache ---

# in_cache VERSION RELEASE: as if that kernel had been prepared; sets dir to its folder.
in_cache() {
	dir=$T/cache/krping/kernel-$2-$1-$(sed -n 's/^RECIPE=//p' "$vm/kernel.sh")
	mkdir -p "$dir/lib/modules/$2" "$dir/headers"
	# shellcheck source=tests/vm/archive.sh
	(. "$vm/archive.sh" && for p in siw rxe; do provider_file $p && : >"$ko"; done)
	: >"$dir/complete"
}

dead
forget
in_cache 7.2.10-1~bpo13+1 7.2.10+deb13-amd64
kernel newest
like "$RC $ERR" '^1 .*the archive cannot be reached' "another version in the cache is not taken if nobody knows what the archive has"
echo linux-image-7.2.10+deb13-amd64 7.2.10-1~bpo13+1 >"$T/cache/krping/instead-linux-image-7.2.9+deb13-amd64-7.2.9-1~bpo13+1"
kernel newest
like "$RC $OUT" "^0 .*KINSTEAD=7.2.10-1.*for.*7.2.9-1.*KIMAGE=${dir//+/.}/bzImage" "what stood in for a lost version does so without an archive"
in_cache 7.2.9-1~bpo13+1 7.2.9+deb13-amd64
kernel newest
like "$RC $OUT" "^0 .*KINSTEAD=''.*KIMAGE=${dir//+/.}/bzImage" "a kernel that is in the cache needs no archive"
is "$ERR" '' "and does not ask one"

# --- kernel.sh --raise ---

there
forget
archive "${here_is[@]}" linux-image-6.1.0-6-amd64=6.1.9-1 linux-image-6.1.0-7-amd64=6.1.10-1 linux-source-6.12=6.12.20-1 7.10.1-1
kernel - --raise
is "$RC $(cut -f 1,4,5 "$T/kernels" | tr '\t\n' ' ;')" "0 oldest linux-image-6.1.0-7-amd64 6.1.10-1;newest linux-image-7.10.1+deb13-amd64 \
7.10.1-1~bpo13+1;realtime linux-image-6.12.3+deb13-rt-amd64 6.12.3-1;debug linux-source-6.12 6.12.20-1;" "all rows get the newest version, and only backports another series" ||
	diag "$ERR"
done_testing
