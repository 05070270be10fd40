# SPDX-License-Identifier: GPL-3.0-or-later
# Messages about text that cannot be read: each table has, a line each, a text (as printf takes it) and what is said of it.

setup() {
	HOTTEXT=${HOTTEXT:-./hottext}
	dir=$BATS_TEST_TMPDIR
	file=$dir/file
	kernel=tests/corpus/elf/kernel-x86-64
	texts=0
}

# Counts go to the log of the tests.
teardown() {
	echo "# $BATS_TEST_DESCRIPTION: $texts inputs" >&3
}

# refuses COMMAND... < TABLE: hottext COMMAND, in which FILE stands for the text, says just that, "FILE" in it being its
# name, and ends with status 1.
refuses() {
	local text message status n=0
	local -a command=("${@/FILE/$file}")
	while IFS='|' read -r text message; do
		# shellcheck disable=SC2059 # the text is a format
		printf "$text" > "$file"
		status=0
		"$HOTTEXT" "${command[@]}" > "$dir/out" 2> "$dir/err" || status=$?
		[ $status -eq 1 ] && [ "$(cat "$dir/err")" = "hottext: ${message//FILE/$file}" ] ||
			{ echo "${text:0:100}: wanted $message; status $status:"; cat "$dir/err"; return 1; }
		n=$((n + 1))
	done
	[ $n -gt 0 ]
	texts=$((texts + n))
}

@test "messages: machines" {
	refuses machines FILE <<-'END'
		level 32\ntext-page 5K\n|machine 'FILE': line 2: not a page size (a power of two from 1K to 2G) '5K'
		level x\n|machine 'FILE': line 1: not a number in range 'x'
		pinned-text maybe\n|machine 'FILE': line 1: neither yes nor no 'maybe'
		level 32 policy mru\n|machine 'FILE': line 1: unknown replacement policy 'mru'
		level 32 warp 9\n|machine 'FILE': line 1: unknown word 'warp'
		level 32 ways\n|machine 'FILE': line 1: no value for 'ways'
		l1i huge 4 32\n|machine 'FILE': line 1: not a cache size 'huge'
		clock 48 kHz\n|machine 'FILE': line 1: unknown unit 'kHz'
		clock fast MHz\n|machine 'FILE': line 1: not a clock 'fast'
		miss-cycles 9 8\n|machine 'FILE': line 1: a range whose end lies below '9'
		level 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n|machine 'FILE': line 1: too many words after 'level'
		text-page\n|machine 'FILE': line 1: wrong number of values for 'text-page'
		text-page 4K\ntext-page 4K\n|machine 'FILE': line 2: a second 'text-page'
		colour red\n|machine 'FILE': line 1: unknown key 'colour'
		level 48 ways 5\n|machine 'FILE': line 1: 48 entries of 5 ways do not give a power of two of sets
		level 48 policy plru\n|machine 'FILE': line 1: plru needs a power of two of ways, 32 at most
		level 32 ways 4 locked 4\n|machine 'FILE': line 1: only a part of a fully associative level can be locked
		level 8\nlevel 8\nlevel 8\nlevel 8\n|machine 'FILE': line 4: more than 3 levels
		l1i 4K 3 32\n|machine 'FILE': line 1: the cache does not divide into a power of two of sets
		version 2\n|machine 'FILE': format version 2, this hottext knows 1
		text-page 4K\n|machine 'FILE': no 'level'
		level 32\n|machine 'FILE': no 'text-page'
		level 32\0\n|machine 'FILE': not a text file
	END
}

@test "messages: TLB dumps" {
	refuses tlbdump $kernel FILE FILE <<-'END'
		SPR 816 : 0xc0000400\n|cannot read 'FILE': line 1: no such page size in register 816
		SPR 817 : 0xc0000000\n|cannot read 'FILE': line 1: a RAM word without its entry's register 816
		SPR 12 : 0x0\n|cannot read 'FILE': line 1: not register 816, 817 or 818
		SPR 816 0x0\n|cannot read 'FILE': line 1: no ':' behind the register
		SPR 816 : 12\n|cannot read 'FILE': line 1: no hexadecimal value
		SPR 816 : 0x123456789\n|cannot read 'FILE': line 1: not a 32-bit value
		SPR 816 : 0xc000001f junk\n|cannot read 'FILE': line 1: junk behind the value
		SPR 816 : 0xc000001f -5\n|cannot read 'FILE': line 1: the two values disagree
		warp\n|cannot read 'FILE': line 1: neither a register nor an address and a size
		0xc0000000 5K\n|cannot read 'FILE': line 1: not a page size
		0xc0000800 4K\n|cannot read 'FILE': line 1: the address is not a page's
	END
	seq 65537 | sed 's/.*/0 4K/' > "$file"
	run "$HOTTEXT" tlbdump $kernel "$file" "$file"
	[ "$status" -eq 1 ]
	[ "$output" = "hottext: cannot read '$file': line 65537: more entries than any TLB has" ]
}

@test "messages: tables of calibrate" {
	refuses calibrate --from FILE <<-'END'
		1 2\n2 x\n|cannot read 'FILE': line 2: not a number
		1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n|cannot read 'FILE': line 1: too much for a table
		1 2\n2 3 4\n|cannot read 'FILE': line 2: another number of columns than before
		1 2\n2 3\n3 4\n|cannot read 'FILE': fewer than four lines of numbers
	END
}

# path CONTENTS...: a line of a profile with its right id, FNV-1a of all but the weight.
path() {
	perl -e 'use integer; my ($kind, $root, @feet) = @ARGV; my $h = -3750763034362895579;
		$h = ($h ^ ord) * 1099511628211 for split //, join(" ", $kind, $root, @feet) =~ s/%%/%/r;
		printf "path %016x %s %s 1%s\\n", $h, $kind, $root, join "", map " $_", @feet' "$@"
}

@test "messages: profiles" {
	refuses collect -q FILE <<-END
		hottext-profile 1\nsource a - - - -\n|cannot read 'FILE': line 2: a source has 10 fields
		hottext-profile 1\nsource a%%zz - - - - 0 0 0 0 0\n|cannot read 'FILE': line 2: a broken %-escape
		hottext-profile 1\nsource a - - - - 0 0 x 0 0\n|cannot read 'FILE': line 2: a source's counts are numbers
		hottext-profile 1\nfunc a x 0\n|cannot read 'FILE': line 2: not 'func NAME SAMPLES CALLS'
		hottext-profile 1\ntouch a 5 0\n|cannot read 'FILE': line 2: not 'touch NAME OFFSET COUNT'
		hottext-profile 1\ncall a b 5\n|cannot read 'FILE': line 2: not 'call CALLER OFFSET CALLEE COUNT'
		hottext-profile 1\npath 12\n|cannot read 'FILE': line 2: not 'path ID KIND ROOT WEIGHT FUNCTION[:CHUNKS]...'
		hottext-profile 1\npath 0123456789abcdef syscall a x\n|cannot read 'FILE': line 2: not 'path ID KIND ROOT WEIGHT FUNCTION[:CHUNKS]...'
		hottext-profile 1\npath 0123456789abcdef syscall a 1 a\n|cannot read 'FILE': line 2: the path's id is not that of its contents
		hottext-profile 1\n$(path warp a a)|cannot read 'FILE': line 2: no such kind of path
		hottext-profile 1\n$(path syscall a%%zz a)|cannot read 'FILE': line 2: a broken name
		hottext-profile 1\n$(path syscall a a:x)|cannot read 'FILE': line 2: not 'FUNCTION[:CHUNKS]'
		hottext-profile 1\nnext 12 13 1\n|cannot read 'FILE': line 2: not 'next ID ID COUNT'
		hottext-profile 1\nwarp\n|cannot read 'FILE': line 2: not a line of a profile
		hottext-profile 1\nfunc a\0 1 1\n|cannot read 'FILE': line 2: a zero byte
		hottext-profile 7\n|cannot read 'FILE': profile version '7', this hottext knows 1
		|cannot read 'FILE': the file is empty
		nonsense\n|cannot read 'FILE': not a profile of any known kind
	END
	printf 'hottext-profile 1\nnext 0123456789abcdef 0123456789abcdef 3\n' > "$file"
	"$HOTTEXT" collect "$file" 2> "$dir/err" > "$dir/out"
	grep -qxF "hottext: warning: '$file': 3 successions dropped, their paths are missing" "$dir/err"
}

# A piped perf.data of records, each TYPE:BODY, the body as perl's pack() takes it.
perf_data() {
	perl -e 'print "PERFILE2", pack "Q<", 16; for (@ARGV) { my ($type, $form) = split /:/, $_, 2;
		my $body = eval "pack $form"; die $@ if $@; print pack("Vvv", $type, 0, 8 + length $body), $body }' "$@"
}

# zstd's frame of a text, in hexadecimal.
packed() { zstd -q -c | od -An -v -tx1 | tr -d ' \n'; }

@test "messages: records of perf.data" {
	printf '%s\n' 'ffffffff81000000 T _text' 'ffffffff81000000 T _stext' 'ffffffff81001000 T do_syscall_64' \
		'ffffffff81005000 T _etext' > "$dir/kallsyms"
	refused() {
		local why=$1
		texts=$((texts + 1))
		[ $# -eq 1 ] || perf_data "${@:2}" > "$file"
		run "$HOTTEXT" collect -q --kallsyms "$dir/kallsyms" "$file"
		[ "$status" -eq 1 ]
		[[ $output == "hottext: cannot read '$file': $why at byte "*" of its records (--force uses what precedes)" ]] ||
			{ echo "wanted $why, said: $output"; return 1; }
	}
	{ printf 'PERFILE2'; perl -e 'print pack "Q<Vvv", 16, 9, 0, 4'; } > "$file"
	refused "a record is smaller than its header"
	{ printf 'PERFILE2'; perl -e 'print pack "Q<Vvv", 16, 9, 0, 40'; } > "$file"
	refused "the last record is truncated"
	refused "a record is shorter than what it claims" '1:"V", 1'
	refused "an AUXTRACE record is too short" '71:"V", 1'
	refused "a TRACING_DATA record is too short" '66:""'
	refused "auxiliary data is truncated" '71:"Q<", 1000'
	refused "a compressed record claims more than it holds" '83:"Q<", 5'
	refused "a compressed record is damaged" '81:"a8", "no frame"'
	refused "a compressed record lies within another" "81:'H*', '$(perl -e 'print pack "VvvV", 81, 0, 12, 0' | packed)'"
	refused "the last compressed record is truncated" "81:'H*', '$(perl -e 'print pack "Vvv", 1, 0, 40' | packed)'"
}
