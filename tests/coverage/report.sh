#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# report.sh BUILD [MIN]: what the tests ran, by gcov, of a build with --coverage: lines of each room and in all, and files
# that are least covered. Exits 1 when under MIN per cent of lines ran.
set -eu
build=$1 min=${2:-0}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# "file line count" of every line with code; a header's lines come once for each object, so the largest count stands.
find "$build" -name '*.gcda' ! -path '*/tests/*' ! -path '*/bench/*' ! -path '*/plugin/*' | sort > "$tmp/data"
while read -r data; do
	gcov --json-format --stdout "$data" 2> "$tmp/err" || { cat "$tmp/err" >&2; exit 1; }
done < "$tmp/data" | jq -r '.files[] | .file as $f | .lines[] | "\($f) \(.line_number) \(.count)"' |
	sed 's/^\.\///' | grep -E '^(lib|collect|analyze|reorder|ldscripts|hottext)[/.]' |
	awk '{ k = $1 " " $2; if (!(k in n) || $3 > n[k]) n[k] = $3 } END { for (k in n) print k, n[k] }' |
	sort -k1,1 -k2,2n > "$tmp/lines"
[ -s "$tmp/lines" ]

# Objects that no test reached at all have no data: their lines count as not run.
find "$build" -name '*.gcno' ! -path '*/tests/*' ! -path '*/bench/*' ! -path '*/plugin/*' | while read -r note; do
	[ -e "${note%.gcno}.gcda" ] || echo "${note#"$build"/}"
done > "$tmp/unreached"

echo "room          lines      run      %"
awk '
{ room = $1; sub(/\/.*/, "", room); sub(/\.c$/, "", room); n[room]++; all++; if ($3) { hit[room]++; ran++ } }
END {
	for (r in n) printf "%-12s %6d   %6d   %4.1f\n", r, n[r], hit[r], 100 * hit[r] / n[r] | "sort"
	close("sort")
	printf "%-12s %6d   %6d   %4.1f\n", "all", all, ran, 100 * ran / all
}' "$tmp/lines"

echo
echo "files with the most lines that no test runs"
awk '{ n[$1]++; if (!$3) miss[$1]++ } END { for (f in miss) printf "%5d of %5d  %s\n", miss[f], n[f], f }' "$tmp/lines" |
	sort -k1,1nr -k4 | sed 15q
[ ! -s "$tmp/unreached" ] || { echo "no data at all:"; sed 's/^/  /' "$tmp/unreached"; }

awk -v min="$min" '{ all++; if ($3) ran++ } END { if (100 * ran / all < min) { printf "\nunder %s %% of lines\n", min; exit 1 } }' \
	"$tmp/lines"
