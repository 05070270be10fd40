#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A distribution's size: seconds and memory of optimize on a made-up kernel of FUNCS functions, HOT of which ran, in
# paths of 100 functions with MEMBERS members in all; then half of each, for the growth:
#   bench/scale.sh [HOTTEXT]        (FUNCS=60000, HOT=10000, MEMBERS=1000000, EFFORT=3 and TMPDIR may be set; needs gcc, perl)
set -eu
hottext=$(realpath "${1:-./hottext}")
funcs=${FUNCS:-60000} hot=${HOT:-10000} members=${MEMBERS:-1000000} effort=${EFFORT:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# kernel FUNCS HOT MEMBERS: vmlinux and profile.hot. Every second function calls another; a path is a walk over those that ran.
kernel()
{
	perl -e '
		use integer;
		my ($funcs, $hot, $members) = @ARGV;
		srand 1;
		open my $s, ">", "kernel.s" or die;
		open my $p, ">", "profile.hot" or die;
		print $s ".text\n.globl _text, _stext, _etext\n_text:\n_stext:\n";
		my (@size, @callees);
		for my $i (0 .. $funcs - 1) {
			$size[$i] = 16 + int(exp(rand(5)) * 4);
			$callees[$i] = [map { int rand $funcs } 1 .. rand() < 0.5];
			print $s ".p2align 4\n.globl f$i\n.type f$i, \@function\nf$i:\n";
			print $s "call f$_\n" for @{$callees[$i]};
			print $s ".skip $size[$i], 0x90\nret\n.size f$i, . - f$i\n";
		}
		print $s "_etext:\n";
		sub fnv {
			my $h = -3750763034362895579;
			$h = ($h ^ ord) * 1099511628211 for split //, $_[0];
			sprintf "%016x", $h;
		}
		my @ran = sort { $a <=> $b } do { my %h; $h{int rand $funcs} = 1 while keys %h < $hot; keys %h };
		print $p "hottext-profile 1\nsource perf.data cycles - - - 1000000 1000000 1000000 0 0\n";
		print $p "func f$_ ", 1 + int rand 1000, " 0\n" for @ran;
		for my $i (1 .. $members / 100) {
			my ($at, %in) = int rand $hot;
			for (1 .. 100) {
				$in{"f$ran[$at]"} = 1;
				# Mostly near by: the paths of a kernel share what they run.
				$at = rand() < 0.1 ? int rand $hot : ($at + 1 + int rand 20) % $hot;
			}
			my $body = "syscall f$ran[$at] " . join " ", map { "$_:1" } sort keys %in;
			my ($kind, $root, $rest) = split / /, $body, 3;
			print $p "path ", fnv($body), " $kind $root ", 1 + int rand 50, " $rest\n";
		}' "$@"
	gcc -nostdlib -static -no-pie -Wl,-Ttext=0xffffffff81000000 -Wl,-e,_text -mcmodel=kernel -o vmlinux kernel.s
}

# once FUNCS HOT MEMBERS
once()
{
	(cd "$dir" && kernel "$@")
	command time -f '%U %M' -o "$dir/time" "$hottext" optimize -q --effort "$effort" --machine generic-4k-32 \
		"$dir/vmlinux" "$dir/profile.hot" -o "$dir/plan" > "$dir/out"
	read -r seconds kb < "$dir/time"
	printf '%8d functions, %6d ran, %8d members of paths: %6.2f CPU s, %5d MB\n' "$@" "$seconds" $((kb / 1024))
}

once "$funcs" "$hot" "$members"
whole=$seconds
once $((funcs / 2)) $((hot / 2)) $((members / 2))
awk -v a="$whole" -v b="$seconds" 'BEGIN { printf "twice the input: %.2f times the time\n", a / b }'
