# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Loaded by tests of `hottext collect`.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	dir=$(mktemp -d)
}

teardown() {
	rm -rf "$dir"
}

# collect_to NAME ARGS...: the profile in $dir/NAME, messages in $dir/NAME.err, whatever the status.
collect_to() {
	local name=$1
	shift
	"$HOTTEXT" collect -o "$dir/$name" "$@" 2>"$dir/$name.err"
}

# refuses MESSAGE ARGS...: exit status 1, that one line, and nothing written.
refuses() {
	local message=$1 status=0
	shift
	collect_to refused "$@" || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat "$dir/refused.err")" = "hottext: $message" ]
	[ ! -e "$dir/refused" ]
}
