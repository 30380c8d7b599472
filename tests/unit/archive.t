#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# An archive that does not answer differs from an archive that lacks a kernel (tests/vm/archive.sh, kernel.sh). apt's
# configuration names only this machine: a mirror that refuses, one in a folder that has two kernels, and none at all.

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

# archive VERSION...: makes the folder an archive of headers of these versions.
archive() {
	local v
	: >"$T/repo/Packages"
	for v; do
		printf '%s\n' "Package: linux-headers-$v" "Version: ${v%%[-+]*}-1" "Architecture: amd64" "Maintainer: nobody" \
			"Filename: ./none.deb" "Size: 1" "Description: headers" ''
	done >>"$T/repo/Packages"
	printf '%s\n' "Package: linux-headers-amd64" "Version: 6.12.3-1" "Architecture: amd64" "Maintainer: nobody" \
		"Filename: ./none.deb" "Size: 1" "Description: headers" '' >>"$T/repo/Packages"
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
forget() {
	rm -f "$work"/lists/*_Packages "$work"/lists/*Release "$work"/cache/*.bin "$T"/cache/krping/lists-*
}
yesterday() { touch -d '2 days ago' "$T"/cache/krping/{lists,role}-*; }

dead
kernel 7.2
is "$RC" 1 "a mirror that refuses: a failure, and not a kernel that is missing" || diag "$ERR"
like "$ERR" 'the archive cannot be reached' "and it says so"
kernel debug
is "$RC" 1 "the same for a kernel that is built here" || diag "$ERR"
kernel newest --version
is "$RC $OUT" '1 ' "nobody knows which the newest is" || diag "$ERR"
kernel oldest --version
is "$RC $OUT" '0 6.1' "the oldest needs no archive" || diag "$ERR"

there
archive 6.12.3+deb13-amd64 6.12.3+deb13-rt-amd64 7.2.9+deb13-amd64 7.2.9+deb13-cloud-amd64
kernel 7.9
is "$RC" 3 "an archive that answers: a kernel that it has not is missing" || diag "$ERR"
like "$ERR" 'kernel 7.9 is not in the archive' "and it says so"
kernel newest --version
is "$RC $OUT" '0 7.2' "the newest" || diag "$ERR"
kernel longterm --version
is "$RC $OUT" '0 6.12' "the long-term one" || diag "$ERR"
kernel realtime --version
is "$RC $OUT" '0 6.12-rt' "the real-time one" || diag "$ERR"

archive 6.12.3+deb13-amd64 7.2.9+deb13-amd64 7.10.1+deb13-amd64
kernel newest --version
is "$RC $OUT" '0 7.2' "it is looked up once a day" || diag "$ERR"
yesterday
kernel newest --version
is "$RC $OUT" '0 7.10' "another day there is a newer one" || diag "$ERR"

dead
yesterday
kernel newest --version
is "$RC $OUT" '0 7.10' "with the archive gone it is what it was" || diag "$ERR"
like "$ERR" 'cannot be reached: the newest kernel is 7.10, as it was on ' "and it says so"
kernel 7.9
is "$RC" 1 "old lists do not say that a kernel is missing" || diag "$ERR"

# Lists that were deleted, or never fetched, name no kernel at all.
forget
date >"$T/cache/krping/lists-root-trixie-test"
kernel 7.9
is "$RC" 1 "nor do empty ones" || diag "$ERR"

# A kernel that is in the cache is used without asking an archive.
K=$T/cache/krping/kernel-7.2.9
recipe=$(sed -n 's/^RECIPE=//p' "$vm/kernel.sh")
mkdir -p "$K"
: >"$K/complete"
(
	# shellcheck source=tests/vm/archive.sh
	. "$vm/archive.sh"
	siw_ko "$K" patched
	: >"$ko"
)
printf '%s=%q\n' dir "$K" KREL 7.2.9+deb13-amd64 KVERSION 7.2.9-1 KBUILD_DIR /x >"$T/cache/krping/chosen-7.2-$recipe-root-trixie-test"
kernel 7.2
is "$RC" 0 "a kernel that is in the cache needs no archive" || diag "$ERR"
like "$OUT" "KIMAGE=$K/bzImage" "and it is that one"
echo 7.2 >"$T/cache/krping/role-newest-trixie"
kernel newest
like "$RC $OUT" '^0 .*KNAME=7.2' "also by its role" || diag "$ERR"
done_testing
