#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# hottext report: every kind of output, hostile names, large plans, twice the same.

bats_require_minimum_version 1.5.0
HOTTEXT=$(realpath "${HOTTEXT:-$BATS_TEST_DIRNAME/../hottext}")
HERE=$(realpath tests)

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir plan
	awk -v functions=400 -v pages=90 -v roots=12 -f "$HERE/plan.awk" /dev/null >plan/plan.json
}

have_dot() {
	command -v dot >/dev/null || skip "graphviz is not installed"
}

# Names that mean something to DOT, HTML, JSON, CSV, a shell or a terminal.
hostile() {
	mkdir hostile
	sed 's/function_7"/f<b>\&amp;\\"q\\\\|{x}\\n$(id)\\u001b[2Jé<\/script><!--"/g; s/"root":"write"/"root":"a,\\"b\\"<i>\\\\N\&lt;\\n"/' \
		plan/plan.json >hostile/plan.json
	grep -q 'script><!--' hostile/plan.json
	grep -q '<i>' hostile/plan.json
}

@test "report: prints the table" {
	run -0 "$HOTTEXT" report plan
	[[ $output == *"hot pages of 4 KB"* ]]
	[[ $output == *"ITLB entries per path, mean"*"22.4"*"9.7"*"57 %"* ]]
	[[ $output == *"95th percentile"* && $output == *"worst"* ]]
	[[ $output == *"read"*"syscall"* ]]
	[[ $output != *$'\033'* && $output != *"█"* ]]
}

@test "report: takes the file as well as the folder" {
	"$HOTTEXT" report plan >a
	"$HOTTEXT" report plan/plan.json >b
	cmp a b
}

@test "report: bars and colour on a terminal only, NO_COLOR honoured" {
	command -v script >/dev/null || skip "script is not installed"
	script -qec true /dev/null >/dev/null 2>&1 || skip "no pseudo-terminal can be had here"
	export LC_ALL=C.UTF-8
	run -0 env -u NO_COLOR TERM=xterm script -qec "$HOTTEXT report plan" /dev/null
	[[ $output == *$'\033['* && $output == *"█"* ]]
	run -0 env NO_COLOR=1 TERM=xterm script -qec "$HOTTEXT report plan" /dev/null
	[[ $output != *$'\033['* && $output == *"█"* ]]
	# Bars where the terminal shows them only: the first variable that is set says.
	local bars="$HOTTEXT report plan"
	run -0 env LC_ALL=C LANG=de_DE.UTF-8 TERM=xterm script -qec "$bars" /dev/null
	[[ $output == *$'\033['* && $output != *"█"* ]]
	run -0 env -u LC_ALL -u LC_CTYPE -u LANG TERM=xterm script -qec "$bars" /dev/null
	[[ $output != *"█"* ]]
	run -0 env LC_ALL= LC_CTYPE=en_US.utf8 LANG=C TERM=xterm script -qec "$bars" /dev/null
	[[ $output == *"█"* ]]
}

@test "report: --json gives the plan back, unchanged" {
	"$HOTTEXT" report --json plan >one.json
	"$HOTTEXT" report --json one.json >two.json
	cmp one.json two.json
}

@test "report: --csv has a line for every path" {
	"$HOTTEXT" report --csv plan >paths.csv
	[ "$(wc -l <paths.csv)" -eq 13 ]
	run -0 head -n1 paths.csv
	[[ $output == root,symbol,kind,weight,share,* ]]
}

@test "report: the same bytes twice, in every format" {
	for f in html dot csv json txt; do
		"$HOTTEXT" report -o "1.$f" plan
		"$HOTTEXT" report -o "2.$f" plan
		cmp "1.$f" "2.$f"
	done
	for o in --callgraph "--syscall read,write"; do
		# shellcheck disable=SC2086
		"$HOTTEXT" report $o -o 1.dot plan
		# shellcheck disable=SC2086
		"$HOTTEXT" report $o -o 2.dot plan
		cmp 1.dot 2.dot
	done
}

@test "report: dot accepts every picture" {
	have_dot
	hostile
	for p in plan hostile; do
		for o in --pages --callgraph "--syscall read" "--callgraph --focus function_1" "--callgraph --ignore function_1"; do
			# shellcheck disable=SC2086
			"$HOTTEXT" report $o $p >x.dot
			run -0 --separate-stderr dot -q -Tsvg -o x.svg x.dot
			[ -z "$stderr" ]
		done
	done
}

@test "report: hostile names come out as they are" {
	have_dot
	hostile
	"$HOTTEXT" report --callgraph --nodes 400 --node-percent 0 -o x.svg hostile
	grep -qF 'f&lt;b&gt;&amp;amp;&quot;q\|{x} $(id) [2Jé&lt;/script&gt;&lt;!' x.svg
	run -0 "$HOTTEXT" report hostile
	[[ $output != *$'\033'* ]]
	"$HOTTEXT" report --csv hostile >x.csv
	grep -qF '"a,""b""<i>\N&lt;' x.csv
}

@test "report: hostile names cannot leave the page's data" {
	hostile
	"$HOTTEXT" report -o x.html hostile
	[ "$(grep -c '</script>' x.html)" -eq 2 ]
	run ! grep -q '<!--\|<b>\|<i>\\' x.html
	grep -qF 'f\u003cb\u003e' x.html
}

@test "report: hostile words where a plan has few that are known" {
	mkdir odd
	sed 's/"kind":"syscall"/"kind":"a,\\"b\\u001b[2J"/; s/"tool": "[^"]*"/"tool": "x\\ndigraph {"/
		s/"algorithm": "pack"/"algorithm": "p\\u001b[2Jk"/; s/"release":"6.1.0-made-up"/"release":"6\\u001b[2J.1"/' \
		plan/plan.json >odd/plan.json
	run -0 "$HOTTEXT" report odd
	[[ $output == *"p?[2Jk, effort 3"* && $output == *' a,"b?[2J '* && $output != *$'\033'* ]]
	run -0 "$HOTTEXT" report --diff plan odd
	[[ $output == *"6?[2J.1"* && $output != *$'\033'* ]]
	"$HOTTEXT" report --csv odd >odd.csv
	grep -qF ',"a,""b' odd.csv
	for o in --pages --callgraph; do
		"$HOTTEXT" report $o odd >x.dot
		[ "$(head -n1 x.dot)" = '// x?digraph {: draw with `dot -Tsvg -O FILE`' ]
		[ "$(grep -c digraph x.dot)" -eq 2 ]
	done
}

@test "report: what cannot be had so is wrong usage, before a plan is read" {
	while IFS='|' read -r options says; do
		# shellcheck disable=SC2086
		run -2 "$HOTTEXT" report $options nowhere
		[ "$output" = "hottext: report: $says; try 'hottext report --help'" ]
	done <<-'END'
		--pages -o x.html|a picture cannot be had as HTML
		--pages --csv|a picture cannot be had as CSV
		--syscall read -j|a picture cannot be had as JSON
		--callgraph -o x.txt|a picture cannot be had as text
		--diff plan -o d.svg|a difference cannot be had as a drawing
		--diff plan --csv|a difference cannot be had as CSV
		--annotate f --vmlinux k -j|annotated source cannot be had as JSON
		--annotate f --vmlinux k -o x.html|annotated source cannot be had as HTML
		--csv -o x.html|'x.html' is a name for HTML, not for CSV
		-j --csv|--json and --csv cannot be had at once
		--pages -o x.gif|no format goes by the suffix '.gif'
		--diff plan --pages|--diff and --pages cannot be had at once
		--callgraph --pages|--callgraph and --pages cannot be had at once
		--diff plan --syscall read|--syscall chooses among a picture's paths, --diff has none
		--focus f|--focus wants --callgraph
		--pages --ignore f|--ignore wants --callgraph
		--node-percent 1|--node-percent wants --callgraph
		--edge-percent 0|--edge-percent wants --callgraph
		--nodes 80|--nodes wants --callgraph
		--callgraph --page-count 24|--page-count wants a picture of pages
		--page-count 24|--page-count wants a picture of pages
		--vmlinux k|--vmlinux wants --annotate FUNCTION
	END
	for f in x.txt x.csv ./x /dev/null; do
		"$HOTTEXT" report --csv -o "$f" plan
	done
	"$HOTTEXT" report --page-count 3 -o x.dot plan
}

@test "report: --focus follows a chain of 100,000 calls in one sweep" {
	mkdir chain
	# Edges in the order that one sweep over them a level takes longest for.
	awk -v functions=100000 -v pages=900 -v roots=1 -f "$HERE/plan.awk" /dev/null | awk '
		/"edges":/ { printf " \"edges\": ["; for (i = 99999; i > 0; i--) printf "%s[%d,%d,1]", i < 99999 ? "," : "", i - 1, i; print "]"; skip = 1; next }
		skip && /^ \]/ { next }
		skip && /^ *\[/ { next }
		{ print }' >chain/plan.json
	first=$(sed -n 's/^ *{"name":"\([^"]*\)".*/\1/p' chain/plan.json | head -n1)
	( ulimit -t 12; "$HOTTEXT" report --callgraph --focus "$first" --nodes 10 chain >x.dot )
	grep -q ' of 100000 functions' x.dot
}

@test "report: draws svg, pdf and png by suffix" {
	have_dot
	for f in svg pdf png; do
		"$HOTTEXT" report -o "x.$f" plan
		[ -s "x.$f" ]
	done
	[ "$(head -c4 x.pdf)" = "%PDF" ]
	grep -q '<svg' x.svg
}

@test "report: without graphviz says how to draw, and still writes DOT" {
	mkdir empty
	run -1 env PATH="$PWD/empty" "$HOTTEXT" report -o x.svg plan
	[[ $output == *"graphviz is not installed"* ]]
	[ ! -e x.svg ]
	env PATH="$PWD/empty" "$HOTTEXT" report -o x.dot plan
	[ -s x.dot ]
}

@test "report: 2,000 pages in under 5 s and 500 MB" {
	have_dot
	mkdir big
	awk -v functions=10000 -v pages=2000 -v roots=300 -f "$HERE/plan.awk" /dev/null >big/plan.json
	# The address sanitizer reserves terabytes.
	( grep -q __asan_init "$HOTTEXT" || ulimit -v 500000; ulimit -t 5; "$HOTTEXT" report -o big.svg big )
	[ -s big.svg ]
	grep -q 'more are in the overview only' big.svg
	"$HOTTEXT" report -o big.html big
	[ "$(stat -c %s big.html)" -lt 3000000 ]
}

@test "report: one path is drawn by name" {
	"$HOTTEXT" report --syscall read plan >x.dot
	grep -q 'Pages of read' x.dot
	grep -q 'ITLB entries, mean' x.dot
	run -1 "$HOTTEXT" report --syscall nosuch plan
	[[ $output == *"no path begins with 'nosuch'"* ]]
}

# Blocks of 16 KB with 4 KB at the edges, of which there is no text: pages of 16 KB.
@test "report: a machine's blocks are one page each" {
	command -v jq >/dev/null || skip "jq is not installed"
	jq '.machine_details.page_bytes = 16384' plan/plan.json >whole.json
	jq '.machine_details += {block_bytes: 16384, blocks_start: .text_start, blocks_end: "0xffffffff81200000"}' \
		plan/plan.json >blocks.json
	for plan in whole blocks; do
		"$HOTTEXT" report --syscall read -o $plan.dot $plan.json
		"$HOTTEXT" report -o $plan.html $plan.json
		"$HOTTEXT" report $plan.json >$plan.txt
		grep -o '[0-9]* pages of' $plan.dot >$plan.pages
		grep -o '^region .* pages of' $plan.txt >>$plan.pages
	done
	cmp whole.pages blocks.pages
	[ "$(wc -l <blocks.pages)" -eq 3 ]
	grep -q '(text in 16 KB pages, 4 KB at the edges, ' blocks.txt
	grep -q '^hot pages of 16 KB and 4 KB ' blocks.txt
	grep -q 'mapped by 16 KB pages, 4 KB at the edges\.' blocks.html
	grep -q '>this machine<' whole.html
	run -1 grep '>this machine<' blocks.html
	# In one block, and too large for a page of the edges.
	jq '.machine_details.block_bytes = 2097152' blocks.json >one.json
	run -0 "$HOTTEXT" report one.json
	[[ $output == *"that moved lie on one page of 2 MB"* ]]
	run -0 "$HOTTEXT" report --diff plan one.json
	[[ $output == *"differ in page size"* ]]
	[[ $("$HOTTEXT" explain one.json vfs_write | grep 'page 0 (of 2 MB and 4 KB') ]]
}

@test "report: --diff tells what changed" {
	mkdir other
	awk -v functions=420 -v pages=80 -v roots=14 -f "$HERE/plan.awk" /dev/null >other/plan.json
	run -0 "$HOTTEXT" report --diff plan other
	[[ $output == *"drift"* && $output == *"newly hot"* ]]
	run -0 "$HOTTEXT" report --diff plan plan
	[[ $output == *"drift     0.0 %"* && $output == *"units     400 hot in both, 0 newly hot, 0 no longer"* ]]
	"$HOTTEXT" report --diff --json plan other >a.json
	"$HOTTEXT" report --diff --json plan other >b.json
	cmp a.json b.json
	run -2 "$HOTTEXT" report --diff plan
}

@test "report: --annotate shows lines, inlining and cache lines" {
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >k.c <<-'END'
		static inline int twice(int x)
		{
			return x * x + 7;
		}
		int hot_function(int x)
		{
			if (x > 3)
				x = twice(x);
			return x + 1;
		}
		void _start(void) { }
		__asm__(".globl _text, _stext, _etext; .text; _text = 0x401000; _stext = 0x401000; _etext = 0x402000");
	END
	gcc -g -O1 -nostdlib -static -fno-pie -no-pie -ffunction-sections -Wl,--build-id=0x0123abcd -Wl,-Ttext=0x401000 \
		-o k k.c
	addr=0x$(nm k | awk '$3 == "hot_function" { print $1 }')
	size=$((0x$(nm -S k | awk '$4 == "hot_function" { print $2 }')))
	"$HOTTEXT" report --json plan | sed "s/\"build_id\":\"[0-9a-f]*\"/\"build_id\":\"0123abcd\"/
		s/\"text_start\": \"0x[0-9a-f]*\"/\"text_start\": \"0x401000\"/
		s/.*\"name\":\"function_9\".*/{\"name\":\"hot_function\",\"object\":null,\"section\":\".text.hot_function\",\"addr\":\"0x500000\",\"size\":$size,\"page\":0,\"weight\":1,\"moved\":true,\"why\":\"-\",\"addr_before\":\"$addr\",\"page_before\":0,\"path_weight\":250000,\"functions\":[[\"hot_function\",0,$size]],\"ranges\":[[0,$size,250000]]},/" >k.json
	run -0 "$HOTTEXT" report --annotate hot_function --vmlinux k k.json
	[[ $output == *"hot_function"*"run by 25.0 % of paths"* ]]
	[[ $output == *"k.c:3"*"return x * x + 7;"*"[inlined: twice]"* ]]
	[[ $output == *"1 of 1 cache lines run"* ]]
	run -1 "$HOTTEXT" report --annotate hot_function --vmlinux k plan
	[[ $output == *"build-id"* || $output == *"no hot function"* ]]
	run -1 "$HOTTEXT" report --annotate nosuch --vmlinux k k.json
	[[ $output == *"no hot function of that name"* ]]
	strip -g k
	run -1 "$HOTTEXT" report --annotate hot_function --vmlinux k k.json
	[[ $output == *"no debug information"* ]]
	run -2 "$HOTTEXT" report --annotate hot_function k.json
}

@test "report: bad input is one line and exit 1" {
	for bad in '' '{' '{"schema":1}' '[]' '{"schema":7}'; do
		printf '%s' "$bad" >bad.json
		run -1 "$HOTTEXT" report bad.json
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == hottext:* ]]
	done
	run -1 "$HOTTEXT" report nosuch
	[[ $output == *"cannot read 'nosuch'"* ]]
	head -c 2000 plan/plan.json >bad.json
	run -1 "$HOTTEXT" report bad.json
	run -2 "$HOTTEXT" report
	run -2 "$HOTTEXT" report -o x.doc plan
	[[ $output == *"suffix"* ]]
}

@test "report: a full disk is an error" {
	run -1 "$HOTTEXT" report -o /dev/full plan
	run -1 bash -c "'$HOTTEXT' report plan >/dev/full"
}

@test "plan.json follows its schema" {
	command -v python3 >/dev/null && python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
	"$HOTTEXT" report --json plan >x.json
	python3 - "$HERE/../doc/plan.schema.json" x.json plan/plan.json <<-'END'
		import json, sys, jsonschema
		schema = json.load(open(sys.argv[1]))
		for f in sys.argv[2:]:
		    jsonschema.Draft7Validator(schema).validate(json.load(open(f)))
	END
}

# The bundled sample's plan where it can be made, else the made-up one.
sample_plan() {
	local sample=$HERE/../samples/linux-6.1-x86_64
	if [ -e "$sample/vmlinux.xz" ] && command -v xz >/dev/null; then
		xz -dkc "$sample/vmlinux.xz" >vmlinux
		"$HOTTEXT" optimize -q --effort 1 --machine generic-4k-32 vmlinux "$sample/perf.data.zst" -o sample >/dev/null
		echo sample/report.html
	else
		"$HOTTEXT" report -o report.html plan
		echo report.html
	fi
}

@test "report.html works in a browser" {
	browser=${CHROMIUM:-$(command -v chromium || true)}
	modules=${BROWSER_MODULES:-$HERE/../build/browser}
	command -v node >/dev/null || skip "node is not installed"
	[ -x "$browser" ] || skip "chromium is not installed"
	[ -d "$modules/node_modules/playwright-core" ] && [ -d "$modules/node_modules/axe-core" ] ||
		skip "no playwright-core and axe-core: npm install --prefix build/browser playwright-core axe-core"
	page=$(sample_plan)
	CHROMIUM=$browser run -0 node "$HERE/browser/report.mjs" "$modules" "$page" "${SHOTS:-$HERE/../build/browser/shots}" vfs_read
}

# annotates MESSAGE FUNCTION FILE: why it is not done.
cannot_annotate() {
	run -1 "$HOTTEXT" report --annotate "$2" --vmlinux "$3" k.json
	[[ $output == "hottext: "$1 ]] || { echo "wanted $1, said: $output"; return 1; }
}

@test "report: why a function cannot be annotated" {
	command -v gcc >/dev/null || skip "gcc is not installed"
	printf '%s\n' '__asm__(".text; .globl first, _text, _stext, _etext; _text = 0x401000; _stext = 0x401000; _etext = 0x402000");' \
		'__asm__(".type first,@function; first: nop; nop; .size first, 2");' 'int hot(int x) { return x + 1; }' 'void _start(void) { }' > k.c
	echo 'int plain(int x) { return x + 2; }' > plain.c
	flags="-O1 -nostdlib -static -fno-pie -no-pie -fno-toplevel-reorder -Wl,--build-id=0x0123abcd -Wl,-Ttext=0x401000"
	gcc -O1 -fno-pie -c plain.c
	gcc -g $flags -o k k.c plain.o
	gcc -g ${flags/0123abcd/fedc9876} -o other k.c plain.o
	unit() {
		echo "{\"name\":\"$1\",\"object\":null,\"section\":\".text.$1\",\"addr\":\"$3\",\"size\":$2,\"page\":0,\"weight\":1,\"moved\":true,\"why\":\"-\",\"addr_before\":\"0x$(nm k | awk -v f=$1 '$3 == f { print $1 }')\",\"page_before\":0,\"path_weight\":250000,\"functions\":[[\"$1\",0,$2]],\"ranges\":[]},"
	}
	"$HOTTEXT" report --json plan | sed "s/\"build_id\":\"[0-9a-f]*\"/\"build_id\":\"0123abcd\"/
		s/\"text_start\": \"0x[0-9a-f]*\"/\"text_start\": \"0x401000\"/
		s/.*\"name\":\"function_9\".*/$(unit first 2 0x500000)$(unit hot 4 0x500100)$(unit plain 4 0x500200)/" > k.json
	cannot_annotate "'other' is not the kernel that the plan was made from: its build-id is fedc9876, not 0123abcd" hot other
	cannot_annotate "cannot annotate 'first': 'k' has no lines for it" first k
	cannot_annotate "cannot annotate 'plain': no debug information for 0x*[0-9a-f] in 'k'" plain k
	objcopy --remove-section .debug_line k k2
	cannot_annotate "cannot annotate 'hot': no line table in 'k2': *" hot k2
	sed -i 's/\["hot",0,4\]/["hot",4,0]/' k.json
	cannot_annotate "cannot annotate 'hot': it is empty" hot k
}
