#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# sources.sh FOLDER: copies the sources to FOLDER, which it makes anew: those that git knows or would add, or without git
# all but build/. Nothing is built yet in the copy, like in a fresh clone.

set -euo pipefail
mkdir -p "$(dirname "$1")"
to=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/.."
rm -rf "$to"
mkdir "$to"
if [ -e .git ]; then
	git ls-files -z --cached --others --exclude-standard
else
	find . -path ./build -prune -o -type f -print0
fi | while IFS= read -r -d '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done | xargs -0 cp -a --parents -t "$to"
