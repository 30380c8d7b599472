# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Runs a completion function as bash would, without a terminal.

# shellcheck source=tools/completion/krping
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/completion/krping"

# complete_line LINE: sets COMPREPLY to the words that a tab at the end of LINE would offer.
complete_line() {
	local spec COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=${COMP_WORDBREAKS:-$' \t\n"\'><=;|&(:'}
	COMPREPLY=()
	spec=$(complete -p "${1%% *}") || return
	spec=${spec#*-F }
	"${spec%% *}" "${1%% *}"
}
