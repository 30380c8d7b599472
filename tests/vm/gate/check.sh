#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
exec "$(dirname "$0")/judge.pl" "$@"
