# SPDX-License-Identifier: GPL-3.0-or-later
# What a guest with probe.c is asked and what it must answer; sourced by a kernel's check script.

# Functions that exercise() in probe.c runs; of these the moved ones are traced and probed.
probed="vfs_read vfs_write ksys_read filp_close do_sys_openat2 path_openat shmem_file_write_iter generic_perform_write"

# build_modules NAME [VARIABLE=VALUE]: the test modules for that kernel, which must have been linked last.
build_modules()
{
	note "building modules: $1"
	rm -rf "$out/$1/modules"
	cp -r "$here/modules" "$out/$1/modules"
	cp "$out/$1/vmlinux" "$folder/vmlinux"
	env ${2+"$2"} "$here/build.sh" modules "$kernel" "$out/$1/modules" || die "cannot build modules"
}

has_symbol() { nm "$out/$1/vmlinux" | grep -q " $2\$"; }

# Functions of $probed that the plan moved, separated by commas.
moved_functions()
{
	jq -r --arg names "$probed" '[.units[] | select(.moved) | .functions[][0]] as $moved |
		[$names | split(" ")[] | select(. as $n | $moved | index($n))] | join(",")' "$out/plan-pack/plan.json"
}

# body_of NAME FUNCTION: FUNCTION+OFFSET of its fifth instruction, behind endbr64 and the call of __fentry__.
body_of()
{
	objdump -d --no-show-raw-insn --disassemble="$2" "$out/$1/vmlinux" | awk -v f="$2" '
		$0 ~ "<" f ">:$" { start = $1; n = 0; next }
		/^ *ffff/ && start && ++n == 5 { sub(/:/, "", $1); print start, $1; exit }' |
		{ read -r from to; echo "$2+$((0x$to - 0x$from))"; }
}

# position_of NAME: which of the init_once() by address is that of net/socket.o; nothing without livepatching.
position_of()
{
	has_symbol "$1" klp_enable_patch || return 0
	awk '/^ \.text\.init_once(\.\.|$| )/ { name = $1; if (NF < 2) getline; else $1 = ""
			at = name ~ /\.\.net_socket$/ || $0 ~ / net\/socket\.o$/ ? "socket" : "-"
			for (i = 1; i <= NF; i++) if ($i ~ /^0x/) { print $i, at; break } }' "$out/$1/vmlinux.map" |
		sort | awk '$2 == "socket" { print NR; exit }'
}

# probe NAME: boots it with the probe; answers in $out/NAME/console.probe, tables in $out/NAME/probe.out
probe()
{
	note "probing: $1"
	"$here/initramfs.sh" "$out/$1/probe.cpio" perf probe "$out/$1"/modules/*.ko
	"$here/boot.sh" "$kernel" "$out/$1/$image" "$out/$1/probe.cpio" -o "$out/$1/console.probe" -s "$out/$1/probe.out" -t 600 \
		-- $parameters hottext.record=probe hottext.moved="$(moved_functions)" \
		hottext.body="$(body_of "$1" vfs_read)" hottext.position="$(position_of "$1")" \
		hottext.warns="$(! has_symbol "$1" report_bug || echo 1)" || die "the probe of '$1' did not finish"
}

# part_of NAME PART: a table of what the probe left; each begins with "== PART"
part_of() { awk -v part="$2" '$1 == "==" { on = $2 == part; next } on' "$out/$1/probe.out"; }
perf_text() { part_of "$1" module; }

# The probe's own answers.
say_probes()
{
	local word what
	while read -r word what; do
		case $word in
		ok) check "$what" true ;;
		not) check "${what#ok }" false ;;
		esac
	done < <(grep -E '^(ok|not ok) ' "$out/$1/console.probe")
	check "at least four moved functions were traced" holds "$(grep -c '^ok ftrace' "$out/$1/console.probe") >= 4"
}

# Addresses and names of the text in kallsyms and in nm, one "ADDRESS NAME" a line, from _text on.
kallsyms_of()
{
	part_of "$1" kallsyms | awk 'NF == 3 && $2 ~ /^[tTwW]$/ { print $1, $3 }' > "$out/$1/kallsyms"
	nm "$out/$1/vmlinux" | awk '$2 ~ /^[tTwW]$/ { print $1, $3 }' > "$out/$1/nm"
	slide=$((0x$(awk '$2 == "_text" { print $1 }' "$out/$1/kallsyms") - 0x$(awk '$2 == "_text" { print $1 }' "$out/$1/nm")))
}

# slid FILE SLIDE: its addresses without the slide; awk cannot count so far, a kernel's lowest 32 bits are enough.
slid()
{
	awk -v slide=$(($2 & 0xffffffff)) '
		function value(hex,   i, n) {
			for (i = length(hex) - 7; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		{ n = value($1) - slide; if (n < 0) n += 4294967296; printf "x%08x %s\n", n, $2 }' "$1" | sort
}

kallsyms_agree()
{
	local all found
	kallsyms_of "$1"
	slid "$out/$1/kallsyms" $slide > "$out/$1/kallsyms.slid"
	slid "$out/$1/nm" 0 > "$out/$1/nm.slid"
	all=$(wc -l < "$out/$1/kallsyms.slid")
	found=$(comm -12 "$out/$1/kallsyms.slid" "$out/$1/nm.slid" | wc -l)
	echo "# kallsyms: $found of $all as in nm, slide $(printf %#x $slide)"
	[ "$found" = "$all" ] && holds "$all >= 0.99 * $(wc -l < "$out/$1/nm.slid") && $all > 10000 && $slide > 0"
}

# perf's names of kernel addresses are those of nm; aliases share an address.
perf_agrees()
{
	local all wrong
	part_of "$1" perf | awk 'NF == 2 && $1 ~ /^ffffffff/ { print $1, $2 }' > "$out/$1/perf"
	all=$(wc -l < "$out/$1/perf")
	wrong=$(slid "$out/$1/perf" $slide | awk -v nm="$out/$1/nm.slid" '
		BEGIN {
			while ((getline line < nm) > 0) {
				split(line, f, " ")
				addr[n] = f[1]; names[f[1]] = names[f[1]] " " f[2] " "
				n += addr[n] != addr[n - 1]
			}
		}
		{	# the last function that does not begin behind it
			lo = 0; hi = n
			while (hi - lo > 1) {
				mid = int((lo + hi) / 2)
				if (addr[mid] <= $1) lo = mid; else hi = mid
			}
			if (!index(names[addr[lo]], " " $2 " ")) print
		}' | tee "$out/$1/perf.wrong" | wc -l)
	echo "# perf: $((all - wrong)) of $all samples named as nm does"
	[ "$wrong" = 0 ] && [ "$all" -gt 300 ]
}

same_stacks()
{
	grep '^STACK' "$out/link/console.probe" > "$out/stacks.link"
	grep '^STACK' "$out/pack/console.probe" > "$out/stacks.pack"
	[ "$(wc -l < "$out/stacks.link")" -ge 5 ] && diff "$out/stacks.link" "$out/stacks.pack"
}

# objtool_says LD: what linking vmlinux.o again by that linker, and objtool behind it, print.
objtool_says()
{
	local to=$out/objtool/$1 command
	mkdir -p "$to"
	command=$(sed -n 's/^\(saved\)\?cmd_vmlinux\.o := //p' "$folder/.vmlinux.o.cmd" |
		sed "s@^[^ ]*@$1@; s@ vmlinux\.o@ $to/vmlinux.o@g")
	case $command in
	*objtool*) ;;
	*) echo "objtool does not see vmlinux.o: $1"; return ;;
	esac
	(cd "$folder" && eval "$command") 2>&1 | sed "s@$to/@@g"
	rm -f "$to/vmlinux.o"
}

# Renaming the sections that would fuse must not upset objtool.
same_objtool_messages()
{
	mkdir -p "$out/objtool"
	objtool_says ld > "$out/objtool/said.ld"
	objtool_says hottext-ld > "$out/objtool/said.hottext-ld"
	echo "# objtool: $(grep -c 'warning: objtool' "$out/objtool/said.ld") warnings without the wrapper"
	cmp "$out/objtool/said.ld" "$out/objtool/said.hottext-ld"
}

# The objects of each name that several functions have, in the order of addresses, one name a line. Sections of the
# same name have the object's behind two dots in vmlinux.o; .text.unlikely.f is symbol f.cold. Of a weak function that
# another overrides the section is there, but not the symbol.
namesakes_of()
{
	awk '/^ \.text\./ && index($1, "..") > 1 { name = $1; if (NF < 2) getline
			for (i = 1; i <= NF; i++) if ($i ~ /^0x/) { print $i, name; break } }' "$out/$1/vmlinux.map" |
		sort | awk '{
			at = match($2, /\.\.[^.]*(\.[0-9]+)?$/)
			name = substr($2, 7, at - 7); object = substr($2, at)
			if (sub(/^unlikely\./, "", name)) name = name ".cold"
			if (name != "asm") { order[name] = order[name] " " object; want[name]++ }
		} END { for (name in order) print name, want[name] order[name] }' | sort > "$out/sections.$1"
	nm "$out/$1/vmlinux" | awk '$2 ~ /^[tTwW]$/ { n[$3]++ } END { for (name in n) print name, n[name] }' |
		awk 'FNR == NR { have[$1] = $2; next } have[$1] == $2' - "$out/sections.$1"
}

# Counted from the link maps alone, the names whose functions changed their order are those that the plan lists.
positions_agree()
{
	namesakes_of link > "$out/namesakes.link"
	namesakes_of pack > "$out/namesakes.pack"
	comm -13 "$out/namesakes.link" "$out/namesakes.pack" | sed 's/ .*//' | sort > "$out/positions.counted"
	jq -r '[.positions[].name] | unique[]' "$out/plan-pack/plan.json" | sort > "$out/positions.planned"
	echo "# $(wc -l < "$out/positions.planned") of $(wc -l < "$out/namesakes.link") names that several functions have change their order"
	[ "$(wc -l < "$out/namesakes.link")" -gt 20 ] && diff "$out/positions.counted" "$out/positions.planned"
}

# hot_bytes NAME: from the first of the module's hot functions to the end of the last.
hot_bytes()
{
	nm -n -S "$out/$1/modules/hottext_hot.ko" | awk '$4 ~ /^hottext_(outer|middle|leaf|far|near)$/ { print $1, $2 }' |
		{ first= ; while read -r at size; do first=${first:-$at}; end=$((0x$at + 0x$size)); done; echo $((end - 0x$first)); }
}

# Both kernels with their modules; the recording in link order is the profile of the other's.
run_probes()
{
	build_modules link
	probe link
	perf_text link > "$out/modules.perf"
	hottext collect -q --vmlinux "$out/link/vmlinux" "$out/modules.perf" -o "$out/modules.hot" ||
		die "cannot read the module's profile"
	build_modules pack HOTTEXT_PROFILE="$out/modules.hot"
	probe pack
	say_probes pack
	check "kallsyms has every function where nm has it" kallsyms_agree pack
	check "perf names every sample as nm does" perf_agrees pack
	check "stacks show the same functions as in link order" same_stacks
	check_modules
}

check_modules()
{
	local link pack
	link=$(hot_bytes link) pack=$(hot_bytes pack)
	check "a module's hot functions lie within $pack bytes, $link in link order" holds "$pack < 1024 && $link > 8192"
	check "the module has no section for each function" \
		eval "! readelf -SW '$out/pack/modules/hottext_hot.ko' | grep -q '\.text\.hottext'"
	check "kallsyms has the module's functions" \
		eval "part_of pack kallsyms | grep -q 'hottext_middle.\[hottext_hot\]'"
}
