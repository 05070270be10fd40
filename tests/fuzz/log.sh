# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Sourced by run.sh and all.sh: targets, and what their present sources have been fuzzed for.

all_targets() { sed -n 's/^\t{ "\([a-z]*\)", fuzz_.*/\1/p' tests/fuzz/targets.c; }

# source_key TARGET: a sum of what reads its input.
source_key()
{
	local -a parts files=()
	local part
	read -ra parts < <(sed -n "s/^$1\>//p" tests/fuzz/sources)
	[ ${#parts[@]} -gt 0 ] || { echo "tests/fuzz/sources lacks '$1'" >&2; return 1; }
	for part in lib/{error,file,index,input,mem,number} "${parts[@]}"; do
		mapfile -t -O ${#files[@]} files < <(find "$part" "$part".[ch] -name '*.[ch]' -type f 2> /dev/null | LC_ALL=C sort)
	done
	cat "${files[@]}" | sha256sum | cut -c1-12
}

# fuzzed LOG TARGET: "CPU-SECONDS RUNS FINDINGS" of its present sources.
fuzzed()
{
	local key
	key=$(source_key "$2") || return
	[ -e "$1" ] || { echo 0 0 0; return; }
	awk -v t="$2" -v k="$key" '$1 == t && $2 == k { cpu += $3; runs += $4; found += $5 }
		END { printf "%.0f %.0f %d\n", cpu, runs, found }' "$1"
}
