#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# root.sh SUITE: prints the root folder of a Debian release (bookworm, trixie) with its compiler, libbpf and the programs
# that the guest's tests run; "/" if the host is that release. If the folder is not in the cache, the script makes it, as
# root; the host's apt configuration says where packages come from. Progress goes to stderr.
#
# root.sh SUITE NAME PACKAGE...: the same for a root called NAME with these packages, and no others; never the host.

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

suite=$1 name=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping
# Part of the cache's key: add one when this script makes another root.
RECIPE=1

say() { echo "krping: $*" >&2; }

fail() {
	say "$*"
	exit 1
}

# shellcheck source=/dev/null
host=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")
[ "$host" != "$suite" ] || [ -n "$name" ] || { echo / && exit; }

if [ -n "$name" ]; then
	packages=$(printf '%s\n' "${@:3}" | sort -u | paste -sd, -)
else
	packages=$("$here/deps.sh" --list build vm test kernel |
		grep -vE '^(linux-headers|qemu|patch|clang-format|libclang-rt|librdmacm-dev|libibverbs-dev|man)' |
		paste -sd, -)
fi
dir=$cache/root-$suite-${name:+$name-}$(echo "$packages $RECIPE" | cksum | cut -d' ' -f1)
[ ! -e "$dir/krping-complete" ] || { echo "$dir" && exit; }
[ "$(id -u)" = 0 ] || fail "a root of Debian $suite has to be made: run this as root"
"$here/deps.sh" --check root 2>/dev/null || "$here/deps.sh" --install root >&2

mkdir -p "$cache"
exec 9>"$cache/root.lock"
if ! flock -n 9; then
	say "waiting for another run that makes a root"
	flock 9
fi
if [ ! -e "$dir/krping-complete" ]; then
	# Packages come from the host's mirror, and from no other place.
	mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 2>/dev/null |
		sed -n 's,^\(.*/debian\) .*,\1,p' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	mirror=${mirror:-http://deb.debian.org/debian}
	# Debian keeps the last versions of a kernel there, which tests/vm/kernels may name.
	security=$(apt-get indextargets --format '$(SITE)' 2>/dev/null |
		awk '/\/debian-security$/ { s = $0 } END { print s ? s : "http://deb.debian.org/debian-security" }')
	say "making a root of Debian $suite (some $([ -n "$name" ] && echo 150 || echo 500) MB to download)"
	log=$cache/root-$suite${name:+-$name}.log
	rm -rf "$dir" "$dir.new"
	apt-config dump | grep -E '^Acquire::(https?|Check-|Retries|Languages)' >"$cache/root-apt.conf" || true
	mmdebstrap --mode=root --variant=apt --include="$packages,ca-certificates" \
		--aptopt='APT::Install-Recommends "false"' --aptopt="$cache/root-apt.conf" \
		"$suite" "$dir.new" \
		"deb $mirror $suite main" "deb $security $suite-security main" "deb $mirror $suite-updates main" "deb $mirror $suite-backports main" \
		</dev/null >"$log" 2>&1 9>&- || {
		tail -20 "$log" >&2
		fail "mmdebstrap failed; its log is $log"
	}
	cp -L /etc/resolv.conf "$dir.new/etc/" 2>/dev/null || true
	date >"$dir.new/krping-complete"
	mv "$dir.new" "$dir"
	say "the root of Debian $suite is ready in $dir"
fi
echo "$dir"
