#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# in-root.sh ROOT COMMAND [ARGUMENT]...: runs a command with another distribution's root (root.sh), in which the
# repository and the cache have the same paths as on the host. "/" is the host itself. The mounts are in a
# namespace of their own and end with the command.

set -euo pipefail

root=$1
shift
if [ "$root" = / ]; then exec "$@"; fi

if [ "${KRPING_IN_ROOT:-}" != "$root" ]; then
	[ "$(id -u)" = 0 ] || {
		echo "krping: another distribution's root needs chroot: run this as root" >&2
		exit 1
	}
	export KRPING_IN_ROOT=$root
	exec unshare --mount --propagation private "$0" "$root" "$@"
fi

repo=$(cd "$(dirname "$0")/../.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/krping
# objtool and bash's <(...) need proc. sysfs is left out, since no program here may learn about the host's kernel.
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for dir in "$repo" "$cache"; do
	mkdir -p "$root$dir"
	mount --bind "$dir" "$root$dir"
done
unset KRPING_IN_ROOT
# shellcheck disable=SC2016 # for the inner shell
exec chroot "$root" /usr/bin/env HOME=/root TMPDIR=/tmp LC_ALL=C.UTF-8 \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin XDG_CACHE_HOME="${cache%/krping}" \
	sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
