#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs cmocka programs and bats files, prints each one's TAP, and closes with
# "N passed, N failed, N skipped". A crash of a test program is a failure.
set -u
passed=0 failed=0 skipped=0
for t in "$@"; do
	echo "# $t"
	case $t in
	*.bats) out=$(bats --tap "$t" 2>&1) ;;
	*) out=$(CMOCKA_MESSAGE_OUTPUT=tap "$t" 2>&1) ;;
	esac
	status=$?
	printf '%s\n' "$out"
	# cmocka writes a skipped test as "not ok N # SKIP name".
	skip=$(grep -ciE '^(not )?ok .*# skip' <<<"$out")
	bad=$(grep -E '^not ok' <<<"$out" | grep -vciE '# skip')
	good=$(grep -E '^ok' <<<"$out" | grep -vciE '# skip')
	if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
		echo "not ok - $t exited with $status"
		bad=1
	fi
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
