# SPDX-License-Identifier: GPL-3.0-or-later
# Every command line of README, doc/*.md and the EXAMPLES of the man pages runs, in the order in which it stands there,
# in a folder that has what the text takes for granted: a kernel with recordings of it, or a small kernel tree.
# tests/docs/not-run names those that cannot, with the reason; tests/docs/stand-ins has programs in others' place.
bats_require_minimum_version 1.5.0
load kernel.bash
TOP=$PWD
SAMPLE=$TOP/samples/linux-6.1-x86_64
# Programs whose lines are commands; a block that begins with none of them is text.
PROGRAMS=' hottext hottext-ld make rm cat find ls jq awk hadoop perf zstd git sudo apt-get '

setup_file() {
	unset MAKEFLAGS MAKELEVEL MFLAGS O	# of the make that runs the tests
	mkdir -p "$BATS_FILE_TMPDIR/bin"
	# A copy: kbuild looks for the wrapper beside the program itself.
	cp "$(realpath "$HOTTEXT")" "$BATS_FILE_TMPDIR/bin/hottext"
	ln -s hottext "$BATS_FILE_TMPDIR/bin/hottext-ld"
	(make_sample)
	(make_tree)
}

# A kernel, recordings of it, plans: what the pages on profiles and plans speak of.
make_sample() {
	mkdir -p "$BATS_FILE_TMPDIR/sample" && cd "$BATS_FILE_TMPDIR/sample" || return 1
	xz -dc "$SAMPLE/vmlinux.xz" > vmlinux
	zstd -dqc "$SAMPLE/vmlinux.map.zst" > vmlinux.map
	zstd -dqc "$SAMPLE/perf.data.zst" > perf.data
	cp "$SAMPLE/all.fetch" all.fetch
	cp "$SAMPLE/mix.fetch" other.fetch
	"$HOTTEXT" collect -q --vmlinux vmlinux perf.data -o profile.hot
	"$HOTTEXT" optimize -q --effort 1 --machine generic-4k-32 vmlinux perf.data -o plan > /dev/null
	cp -r plan monday
	cp -r plan tuesday
	mkdir profiles old new
	for p in a b web1 web2 new profiles/1 profiles/2 old/profile new/profile; do cp profile.hot "$p.hot"; done
	for k in old new; do cp vmlinux vmlinux.map "$k/"; done
	cp profile.hot web3.hot && zstd -q --rm web3.hot
	cp "$TOP"/tests/data/calibrate/chase.txt .
	cp "$TOP"/tests/data/tlbdump/itlb-8xx-2.6.txt after-read.txt
	cp "$TOP"/tests/data/published/tlbmiss-8xx-2.4.txt before.txt
	cp "$TOP"/tests/data/published/tlbmiss-8xx-2.6.txt after.txt
	cp "$TOP"/tests/data/published/lmbench-405gp.txt lmbench.txt
}

# A tree that links through $(LD) as Kbuild does, and a profile of its kernel under every name that the pages use.
make_tree() {
	mkdir -p "$BATS_FILE_TMPDIR/tree/linux/scripts" "$BATS_FILE_TMPDIR/tree/out" && cd "$BATS_FILE_TMPDIR/tree/linux" || return 1
	make_kernel
	touch Kbuild .config scripts/link-vmlinux.sh
	mkdir -p arch/x86/kernel
	cp "$DATA/lds/x86-64-6.1.lds" arch/x86/kernel/vmlinux.lds
	cat > Makefile <<'MAKEFILE'
VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 0
O ?= .
all bindeb-pkg: $(O)/vmlinux
$(O)/vmlinux:
	@[ "$(CFLAGS_KERNEL)" = -ffunction-sections ]
	@$(LD) --no-warn-rwx-segments -z noexecstack --emit-relocs --build-id=sha1 \
		--script=arch/x86/kernel/vmlinux.lds -o $@ --whole-archive vmlinux.a --no-whole-archive
MAKEFILE
	cd ..
	touch out/.config
	printf '%s\n' hottext-profile\ 1 'source x - - - - 90 90 90 0 0' 'func xfs_read 40 9' 'func vfs_read 30 9' 'func memcpy 20 5' \
		'call vfs_read - xfs_read 9' > perf.data
	for p in fleet.hot profile.hot new.hot all.fetch linux/perf.data linux/profile.hot; do cp perf.data $p; done
	make -s -C linux CFLAGS_KERNEL=-ffunction-sections LD="$HOTTEXT ld"
	cp linux/vmlinux linux/vmlinux.map .
	"$HOTTEXT" optimize -q vmlinux perf.data -o plan > /dev/null
	rm linux/vmlinux
	HOTTEXT_PLAN=$PWD/plan make -s -C linux CFLAGS_KERNEL=-ffunction-sections LD="$HOTTEXT ld"
	mkdir ../planned
	cp -r plan ../planned/
	mv linux/vmlinux linux/vmlinux.map ../planned/
}

# Where a document's commands run.
world() {
	case $1 in
	README.md|doc/kbuild.md|doc/hottext.1|doc/hottext-kbuild.1) echo tree ;;
	doc/hottext-ld.1) echo tree/linux ;;
	doc/hottext-verify.1) echo planned ;;
	*) echo sample ;;
	esac
}

documents() { (cd "$TOP" && ls README.md CONTRIBUTING.md CHANGELOG.md bench/*.md samples/*.md doc/*.md doc/*.[15] 2> /dev/null); }

# first_word LINE: the program, past a prompt and variables.
first_word() {
	local line=$1
	line=${line#\$ }
	line=${line#\# }
	while [[ $line =~ ^[A-Za-z_]+=[^\ ]*\ +(\\$)?(.*) ]]; do line=${BASH_REMATCH[2]}; done
	printf '%s' "${line%% *}"
}

is_program() { [[ -n $1 && $PROGRAMS == *" $1 "* ]]; }

# script FILE: the commands of a block. With prompts: those lines and what continues them; else all, or none.
script() {
	if grep -qE '^[$#] ' "$1" && is_program "$(first_word "$(grep -m 1 -E '^[$#] ' "$1")")"; then
		awk '/^[$#] / { on = 1; sub(/^[$#] /, "") } on { print; on = /[\\|]$/ }' "$1"
	elif is_program "$(first_word "$(head -n 1 "$1")")"; then
		cat "$1"
	fi
}

# not_run DOCUMENT SCRIPT: whether a line of it is listed; the entry is noted as used.
not_run() {
	local doc begin why
	while IFS=$'\t' read -r doc begin why; do
		[ "$doc" = "$1" ] && grep -qF -- "$begin" "$2" || continue
		[ -n "$why" ]
		echo "$doc	$begin" >> "$BATS_FILE_TMPDIR/used"
		return 0
	done < <(grep -v '^#' "$TOP/tests/docs/not-run")
	return 1
}

# Split a document into $dir/LINE (blocks) and run what are commands, one world for all of them.
run_document() {
	local doc=$1 dir=$BATS_TEST_TMPDIR/${1//\//_} block world line
	world=$BATS_FILE_TMPDIR/$(world "$1")
	mkdir -p "$dir/blocks"
	awk -f "$TOP/tests/docs/blocks.awk" "$TOP/$doc" | awk -v d="$dir/blocks" '/^@/ { f = sprintf("%s/%05d", d, substr($1, 2))
		printf "" > f; next } { print substr($0, 2) > f }'
	for block in "$dir"/blocks/*; do
		[ -e "$block" ] || continue
		line=$((10#${block##*/}))
		script "$block" > "$dir/script"
		if [ ! -s "$dir/script" ]; then
			! grep -qE '^([$#] )?(hottext|hottext-ld|make) ' "$block" || { echo "$doc:$line: is this a command?"; return 1; }
			continue
		fi
		echo "$doc:$line" >> "$BATS_FILE_TMPDIR/seen"
		! not_run "$doc" "$dir/script" || continue
		[ -d "$dir/world" ] || copy_world "$world" "$dir/world"
		(
			cd "$dir/world" || exit 1
			unset MAKEFLAGS MAKELEVEL MFLAGS HOTTEXT_PLAN HOTTEXT_PROFILE HOTTEXT_LD CROSS_COMPILE KBUILD_OUTPUT
			export PATH="$TOP/tests/docs/stand-ins:$BATS_FILE_TMPDIR/bin:$PATH" SAMPLE_PERF=$world/perf.data
			bash -euo pipefail "$dir/script"
		) > "$dir/output" 2>&1 < /dev/null || allowed "$doc" $? "$dir/script" || {
			echo "$doc:$line ended with $?:"
			cat "$dir/script" "$dir/output"
			return 1
		}
		echo "$doc:$line" >> "$BATS_FILE_TMPDIR/ran"
	done
}

# The pages show a question whose answer is no, and `head` that closes a pipe.
allowed() {
	case $2 in
	3) grep -q 'explain .*tcp_v6_rcv' "$3" ;;
	141) grep -q '| head' "$3" ;;
	*) return 1 ;;
	esac
}

# Large files are linked, not copied: no command of the documents writes into one.
copy_world() {
	cp -rl "$1" "$2"
	find "$2" -type f -size -2M -exec sh -c 'for f; do cp -p "$f" "$f.own" && mv "$f.own" "$f"; done' sh {} +
}

@test "README, its session with a small kernel tree" {
	run_document README.md
	[ "$(grep -c '^README.md' "$BATS_FILE_TMPDIR/ran")" -ge 2 ]
}

@test "the documents" {
	for doc in $(documents | grep -v '^README.md' | grep '\.md$'); do
		run_document "$doc"
	done
	[ "$(grep -c '^doc/kbuild.md' "$BATS_FILE_TMPDIR/ran")" -ge 8 ]
	[ "$(grep -c '^doc/fleet.md' "$BATS_FILE_TMPDIR/ran")" -ge 5 ]
}

@test "the man pages' examples" {
	for doc in $(documents | grep '\.[15]$'); do
		run_document "$doc"
		[[ $doc == *.5 ]] || grep -q "^$doc:" "$BATS_FILE_TMPDIR/seen" || { echo "$doc: no example that is a command"; return 1; }
	done
	[ "$(grep -c '\.1:' "$BATS_FILE_TMPDIR/ran")" -ge 20 ]
}

@test "what is not run is listed, with a reason, and nothing is listed in vain" {
	grep -v '^#' "$TOP/tests/docs/not-run" | while IFS=$'\t' read -r doc begin why; do
		grep -qxF "$doc	$begin" "$BATS_FILE_TMPDIR/used" || { echo "in vain: $doc: $begin"; return 1; }
		[ "${#why}" -gt 15 ]
	done
	seen=$(sort -u "$BATS_FILE_TMPDIR/seen" | wc -l) ran=$(sort -u "$BATS_FILE_TMPDIR/ran" | wc -l)
	echo "# $ran of $seen blocks of commands were run" >&3
	[ "$ran" -ge $((seen * 3 / 4)) ]
}

@test "the example of every --help runs, or is one of those above" {
	copy_world "$BATS_FILE_TMPDIR/sample" "$BATS_TEST_TMPDIR/world"
	cd "$BATS_TEST_TMPDIR/world"
	PATH=$BATS_FILE_TMPDIR/bin:$PATH
	while IFS= read -r command; do
		[ "$command" != ld ] || continue	# its --help is the linker's
		# shellcheck disable=SC2086 # "record perf" is two words
		example=$(hottext $command --help | sed '1,/^example:/d')
		# Of the same name as the counters in the pages.
		[ "$command" != tlbdump ] || cp "$TOP"/tests/data/tlbdump/itlb-8xx-2.4.txt before.txt
		[ "$command" != tlbdump ] || cp "$TOP"/tests/data/tlbdump/itlb-8xx-2.6.txt after.txt
		case $command in
		record*|kbuild|verify|calibrate)	# need rights, an emulator, a kernel tree or seconds of a quiet machine
			[[ $example == *"hottext"* ]] ;;
		*)
			bash -euo pipefail -c "$example" > out 2>&1 || { echo "$example"; cat out; return 1; } ;;
		esac
	done < <(hottext --options | cut -f 1 | sort -u)
}

@test "README's session prints what hottext prints, figures aside" {
	cd "$BATS_FILE_TMPDIR/sample"
	"$HOTTEXT" optimize --effort 1 --machine generic-4k-32 vmlinux all.fetch -o "$BATS_TEST_TMPDIR/plan" > out 2>&1
	words() { sed 's/[0-9][0-9.,]*/N/g; s/  */ /g; s/^ //'; }
	words < out | sort -u > printed
	awk -f "$TOP/tests/docs/blocks.awk" "$TOP/README.md" | sed -n 's/^\t//p' |
		sed -n '/^\$ hottext optimize/,/^\.\.\.$/p' | grep -vE '^\$|^\.\.\.|^$' | words | sort -u > promised
	[ "$(wc -l < promised)" -ge 6 ]
	[ -z "$(comm -13 printed promised)" ] || { comm -13 printed promised; return 1; }
}

# slugs FILE: its headings as GitHub names them.
slugs() { sed -n 's/^##* //p' "$1" | tr 'A-Z' 'a-z' | sed "s/[^a-z0-9_ -]//g; s/ /-/g"; }

@test "links between the documents lead somewhere" {
	links=0
	for doc in $(documents | grep '\.md$'); do
		while IFS= read -r link; do
			case $link in http*|'') continue ;; esac
			links=$((links + 1))
			path=${link%%#*} anchor=
			[[ $link != *#* ]] || anchor=${link#*#}
			file=$TOP/$doc
			[ -z "$path" ] || file=$TOP/$(dirname "$doc")/$path
			[ -e "$file" ] || { echo "$doc: no $link"; return 1; }
			[ -z "$anchor" ] || slugs "$file" | grep -qxF -- "$anchor" || { echo "$doc: no heading $link"; return 1; }
		done < <(grep -oE '\]\([^)]+\)' "$TOP/$doc" | sed 's/^](//; s/)$//')
	done
	[ "$links" -ge 10 ]
}
