# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Completion as bash does it, without a terminal.

# shellcheck source=tools/completion/krping
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/completion/krping"

# complete_line LINE: COMPREPLY becomes what a tab at its end would bring.
complete_line() {
	local spec COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=${COMP_WORDBREAKS:-$' \t\n"\'><=;|&(:'}
	COMPREPLY=()
	spec=$(complete -p "${1%% *}") || return
	spec=${spec#*-F }
	"${spec%% *}" "${1%% *}"
}
