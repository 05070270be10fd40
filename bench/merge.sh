#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Merging a fleet's profiles: CPU seconds and peak memory of one collect over NR profiles made from real ones,
# each with its own weights, a fifth more paths of its own and 2,000 successions of its own:
#   bench/merge.sh PROFILE...        (HOTTEXT, NR=1000 and TMPDIR may be set; needs perl)
set -eu
hottext=${HOTTEXT:-./hottext} nr=${NR:-1000}
[ $# -ge 1 ] || { echo "usage: bench/merge.sh PROFILE..." >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat "$@" | perl -e '
	my ($dir, $nr) = @ARGV;
	my @lines = grep { !/^hottext-profile/ } map { chomp; $_ } <STDIN>;
	sub fnv {
		use integer;
		my $h = -3750763034362895579;
		$h = ($h ^ ord) * 1099511628211 for split //, $_[0];
		sprintf "%016x", $h;
	}
	srand 1;
	for my $i (1 .. $nr) {
		open my $out, ">", "$dir/$i.hot" or die;
		print $out "hottext-profile 1\n";
		my @ids;
		for (@lines) {
			my @f = split / /;
			$f[3] = "host$i" if $f[0] eq "source";
			$f[2] *= 1 + int rand 9 if $f[0] eq "func";
			print $out "@f\n";
			next if $f[0] ne "path" || rand() >= 0.2;
			my @feet = @f[5 .. $#f];
			my %kept = map { $feet[rand @feet] => 1 } 0 .. @feet / 2;
			@feet = sort keys %kept;
			my $id = fnv("$f[2] $f[3] @feet");
			print $out "path $id @f[2, 3, 4] @feet\n";
			push @ids, $id;
		}
		next if !@ids;
		printf $out "next %s %s %d\n", $ids[rand @ids], $ids[rand @ids], 1 + rand 50 for 1 .. 2000;
	}' "$dir" "$nr"
echo "$nr profiles, $(du -sm "$dir" | cut -f 1) MB"
"$hottext" collect -o "$dir/out" "$dir"/*.hot &
pid=$!
most=0 ticks=0
while kill -0 "$pid" 2>/dev/null; do
	most=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$most" ] && last=$most
	ticks=$(awk '{ print $14 + $15 }' "/proc/$pid/stat" 2>/dev/null) && [ "${ticks:-0}" != 0 ] && used=$ticks
	sleep 0.05
done
wait "$pid"
echo "$((${used:-0} * 100 / $(getconf CLK_TCK)))" | awk '{ printf "%.2f s of CPU time, wanted 20\n", $1 / 100 }'
echo "peak memory $((${last:-0} / 1024)) MB, wanted 500"
awk '{ n[$1]++ } END { print n["path"], "paths,", n["next"], "successions" }' "$dir/out"
