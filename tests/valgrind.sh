#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# valgrind.sh BUILD TEST...: cmocka programs under valgrind, and bats files with a hottext that runs under it. An error or a
# block that nothing points to any more makes the program's exit status 99, which no test expects.
set -eu
build=$(realpath "$1")
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# under NAME PROGRAM: a program of that name which is PROGRAM under valgrind. Its children are on their own.
under()
{
	printf '#!/bin/sh\nexec valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite %s "$@"\n' "$2" \
		> "$dir/$1"
	chmod +x "$dir/$1"
}

under hottext "$build/hottext"
list=()
for test; do
	case $test in
	*.bats) list+=("$test") ;;
	*) under "$(basename "$test")" "$(realpath "$test")"; list+=("$dir/$(basename "$test")") ;;
	esac
done
HOTTEXT=$dir/hottext tests/run.sh "${list[@]}"
