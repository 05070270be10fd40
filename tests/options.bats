# SPDX-License-Identifier: GPL-3.0-or-later
# One table of options a command: --help, the man page and bash's completion say what it says, no more and no less.
bats_require_minimum_version 1.5.0
HOTTEXT=$(realpath "${HOTTEXT:-$BATS_TEST_DIRNAME/../hottext}")
DOC=$(realpath doc)

setup_file() {
	"$HOTTEXT" --options > "$BATS_FILE_TMPDIR/table"
	"$HOTTEXT" --completion > "$BATS_FILE_TMPDIR/completion"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	export PATH="$BATS_FILE_TMPDIR/bin:$PATH"
	mkdir -p bin && ln -sf "$HOTTEXT" bin/hottext
}

# Commands that take options; "record perf" is one.
commands() { awk -F'\t' '$3 != "-" && !seen[$1]++ { print $1 }' table; }

# page COMMAND: its man page as plain text.
page() { mandoc -T ascii -O width=200 "$DOC/hottext-${1%% *}.1" | sed 's/.\x08//g'; }

@test "every command has an option table or parts that have one, and a man page" {
	[ "$(commands | wc -l)" -ge 15 ]
	while IFS= read -r name; do
		[ -e "$DOC/hottext-$name.1" ] || { echo "no page of $name"; return 1; }
	done < <(cut -f 1 table | sed 's/ .*//' | sort -u)
	# And the other way round.
	for page in "$DOC"/hottext-*.1; do
		name=${page##*/hottext-}
		grep -q "^${name%.1}	" table || { echo "no command of $page"; return 1; }
		grep -q "^\.Xr hottext-${name%.1} 1" "$DOC/hottext.1" || { echo "hottext.1 does not name ${name%.1}"; return 1; }
	done
}

@test "help COMMAND is COMMAND --help" {
	for command in optimize kbuild 'record perf'; do
		# shellcheck disable=SC2086
		cmp <("$HOTTEXT" help $command) <("$HOTTEXT" $command --help)
	done
	run -0 "$HOTTEXT" help
	[[ $output == "usage: hottext COMMAND"* ]]
	run -2 "$HOTTEXT" help nothing
	[ "$output" = "hottext: unknown command 'nothing'; try 'hottext --help'" ]
}

@test "--help lists each option as the table has it" {
	while IFS=$'\t' read -r command letter name arg; do
		[ "$name" != - ] || continue
		[ "$letter" = - ] && head="      --$name" || head="  -$letter, --$name"
		[ "$arg" = - ] || head="$head $arg"
		# shellcheck disable=SC2086 # "record perf" is two words
		"$HOTTEXT" $command --help | grep -qE -- "^$head +[^ ]" || { echo "$command: no '$head'"; return 1; }
	done < table
	while IFS= read -r command; do
		want=$(awk -F'\t' -v c="$command" '$1 == c && $3 != "-"' table | wc -l)
		# shellcheck disable=SC2086
		[ "$("$HOTTEXT" $command --help | sed '1,/^options:/d' | grep -cE '^  (-.,|   ) --')" = "$want" ]
	done < <(commands)
}

@test "the man pages name each option, letter and long name and value" {
	while IFS=$'\t' read -r command letter name arg; do
		[ "$name" != - ] || continue
		page "$command" > page
		[ "$letter" = - ] || grep -qE -- "(^| )-$letter(,| |\$)" page || { echo "$command: no -$letter in its page"; return 1; }
		grep -qE -- "(^| )--$name($|[^a-z-])" page || { echo "$command: no --$name in its page"; return 1; }
		[ "$arg" = - ] || grep -qiE -- "--$name +$arg" page || { echo "$command: no --$name $arg in its page"; return 1; }
	done < table
}

@test "the man pages describe no option that the table has not" {
	for file in "$DOC"/hottext-*.1; do
		name=${file##*/hottext-} name=${name%.1}
		sed -n 's/^\.It Fl //p' "$file" | sed 's/\\-/-/g; s/ Ar [^ ]*//g; s/ , / /g; s/ ; / /g; s/ Fl / /g' | tr ' ' '\n' |
			grep -v '^[,;]*$' > named || true
		while IFS= read -r word; do
			case $word in
			-*) awk -F'\t' -v c="$name" -v w="${word#-}" '{ sub(/ .*/, "", $1) } $1 == c && $3 == w { f = 1 } END { exit !f }' table ;;
			*) awk -F'\t' -v c="$name" -v w="$word" '{ sub(/ .*/, "", $1) } $1 == c && $2 == w { f = 1 } END { exit !f }' table ;;
			esac || { echo "$name: its page has '$word'"; return 1; }
		done < named
	done
}

# complete_words WORD...: what bash would offer for the last one.
complete_words() {
	# shellcheck disable=SC1091 # made above
	source ./completion
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_hottext
	printf '%s\n' "${COMPREPLY[@]}" | sort
}

@test "the completion offers each option and nothing else" {
	bash -n completion
	while IFS= read -r command; do
		awk -F'\t' -v c="$command" '$1 == c && $3 != "-" { print "--" $3; if ($2 != "-") print "-" $2 }' table | sort > want
		# shellcheck disable=SC2086
		complete_words hottext $command - > got
		diff want got || { echo "$command"; return 1; }
	done < <(commands)
}

@test "the completion knows commands, recorders, machines and algorithms, and leaves files to bash" {
	complete_words hottext '' | grep -v '^-' > got
	grep -v ' ' table | cut -f 1 | sort -u > want
	diff want got
	[ "$(complete_words hottext record '')" = "$(printf '%s\n' ftrace perf profile qemu)" ]
	[ "$(complete_words hottext rec)" = record ]
	[ "$(complete_words hottext optimize -a cd)" = cdsort ]
	"$HOTTEXT" machines | cut -d ' ' -f 1 | sort > want
	complete_words hottext optimize --machine '' > got
	diff want got
	[ "$(complete_words hottext optimize --machine mpc8xx- | head -n 1)" = "$(grep '^mpc8xx-' want | head -n 1)" ]
	[ -z "$(complete_words hottext optimize --map '')" ]
	[ -z "$(complete_words hottext optimize '')" ]
	# Behind -- another program's words begin.
	[ -z "$(complete_words hottext record perf -- -)" ]
}

@test "help in every form goes to standard output, ends in an example and exits 0" {
	while IFS= read -r command; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr "$HOTTEXT" $command --help
		[ -z "$stderr" ]
		[ "${lines[-2]}" = "example:" ] && [[ ${lines[-1]} == "  "*hottext* ]]
		# shellcheck disable=SC2086
		[ "$("$HOTTEXT" $command -h)" = "$output" ]
		# shellcheck disable=SC2086
		run -2 --separate-stderr "$HOTTEXT" $command --no-such-option
		[ -z "$output" ] && [[ $stderr == *"unknown option '--no-such-option'; try 'hottext $command --help'" ]]
	done < <(commands)
	run -0 --separate-stderr "$HOTTEXT" --help
	for word in -h help; do [ "$("$HOTTEXT" $word)" = "$output" ]; done
}

@test "--version: the version first, then what the program was built from, no date" {
	run -0 --separate-stderr "$HOTTEXT" --version
	[[ ${lines[0]} =~ ^hottext\ [0-9]+\.[0-9]+ ]]
	[[ $output == *"compiler   "* && $output == *"libelf "[0-9]* && $output == *"jansson "[0-9]* ]]
	[[ $output == *"formats    profile 1, plan 1, fetch trace 1, machine 1"* ]]
	[[ $output != *"$(date +%Y)"* ]]
	[ "$("$HOTTEXT" -V)" = "$output" ]
}

@test "the man pages are clean, and refer to pages that there are" {
	for file in "$DOC"/*.[15]; do
		# What this machine's manuals lack is not the page's fault.
		mandoc -T lint -W warning "$file" | grep -v 'outdated mandoc.db' > lint || true
		[ ! -s lint ] || { cat lint; return 1; }
		while read -r name section; do
			[ -e "$DOC/$name.$section" ] || { echo "$file: no $name($section)"; return 1; }
		done < <(sed -n 's/^\.Xr \(hottext[a-z-]*\) \([15]\).*/\1 \2/p' "$file")
		grep -q '^\.Sh SEE ALSO' "$file"
		[[ $file != *.1 ]] || { grep -q '^\.Sh EXIT STATUS' "$file" && grep -q '^\.Sh EXAMPLES' "$file"; } ||
			{ echo "$file: no EXIT STATUS or EXAMPLES"; return 1; }
	done
}
