# SPDX-License-Identifier: GPL-3.0-or-later
# The steps of the kernel check; check.sh sources this.

passed=0 failed=0

die() { echo "check-kernel: $*" >&2; exit 1; }
note() { echo "# $(date +%T) $*"; }

# check WHAT COMMAND...: one TAP line by the command's exit status.
check()
{
	local what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - $what"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - $what"
	fi
}

# Shell arithmetic as a condition; an unknown figure is a failure.
holds()
{
	case " $* " in
	*null*|*" - "*) return 1 ;;
	esac
	[ "$(awk "BEGIN { print ($*) ? 1 : 0 }")" = 1 ]
}

exits()
{
	local want=$1 got=0
	shift
	"$@" > "$out/last.log" 2>&1 || got=$?
	[ "$got" = "$want" ] && return
	sed 's/^/# /' "$out/last.log" | tail -n 5
	echo "# exit status $got, not $want"
	return 1
}

# Programs that must be there, and Debian's packages that have them.
install_packages()
{
	local missing= need="gcc:gcc make:make bc:bc bison:bison flex:flex xz:xz-utils cpio:cpio jq:jq cmp:diffutils"
	need="$need qemu-system-x86_64:qemu-system-x86 perf:linux-perf trace-cmd:trace-cmd"
	for kernel; do
		case $kernel in
		ppc405) need="$need qemu-system-ppc:qemu-system-ppc powerpc-linux-gnu-gcc:gcc-powerpc-linux-gnu"
			need="$need mkimage:u-boot-tools" ;;
		arm64) need="$need qemu-system-aarch64:qemu-system-arm aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu" ;;
		arm) need="$need qemu-system-arm:qemu-system-arm arm-linux-gnueabi-gcc:gcc-arm-linux-gnueabi" ;;
		riscv64) need="$need qemu-system-riscv64:qemu-system-misc riscv64-linux-gnu-gcc:gcc-riscv64-linux-gnu"
			[ -e /usr/share/qemu/opensbi-riscv64-generic-fw_dynamic.bin ] || missing=" opensbi" ;;
		x86_64-ibt) need="$need pahole:dwarves" ;;
		x86_64-llvm) need="$need clang-19:clang-19 ld.lld-19:lld-19 llvm-ar-19:llvm-19" ;;
		mpc885) need="$need powerpc-linux-gnu-gcc:gcc-powerpc-linux-gnu" ;;
		esac
	done
	for pair in $need; do
		command -v "${pair%%:*}" > /dev/null || missing="$missing ${pair#*:}"
	done
	[ -e /usr/include/libelf.h ] || missing="$missing libelf-dev"
	[ -e /usr/include/openssl/ssl.h ] || missing="$missing libssl-dev"
	for kernel; do
		"$here/build.sh" has-source "$kernel" || missing="$missing $("$here/build.sh" package "$kernel")"
	done
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] || die "packages are missing: sudo apt-get install --no-install-recommends$missing"
	note "installing$missing"
	apt-get update -qq > /dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing > /dev/null ||
		die "cannot install$missing"
}

# The tools are copied: a make meanwhile must not pull a running plugin away. A check script may set parameters, words for
# the kernel's command line.
start_kernel()
{
	kernel=$1 parameters=
	cache=$(dirname "$("$here/build.sh" source "$kernel")")
	out=${HOTTEXT_CHECK:-$cache/check}/$kernel
	rm -rf "$out"
	mkdir -p "$out/bin"
	cp "${HOTTEXT:-$top/hottext}" "$out/bin/hottext"
	cp "${HOTTEXT_QEMU_PLUGIN:-$top/hottext-qemu.so}" "$out/bin/hottext-qemu.so"
	ln -s hottext "$out/bin/hottext-ld"
	PATH=$out/bin:$PATH
	unset HOTTEXT_PLAN HOTTEXT_PROFILE
	case $kernel in
	x86_64|x86_64-*)
		mark=__x64_sys_getsid image=bzImage
		"$here/initramfs.sh" "$out/guest.cpio"
		"$here/initramfs.sh" "$out/record.cpio" perf trace-cmd ;;
	ppc405)
		mark=sys_getsid image=cuImage.hotfoot.elf
		CROSS_COMPILE=powerpc-linux-gnu- GUEST_CFLAGS="-mcpu=405 -msoft-float" \
			"$here/initramfs.sh" "$out/guest.cpio" ;;
	arm64)
		mark=__arm64_sys_getsid image=Image
		CROSS_COMPILE=aarch64-linux-gnu- "$here/initramfs.sh" "$out/guest.cpio" ;;
	arm)
		mark=sys_getsid image=zImage
		CROSS_COMPILE=arm-linux-gnueabi- "$here/initramfs.sh" "$out/guest.cpio" ;;
	riscv64)
		mark=sys_getsid image=Image
		CROSS_COMPILE=riscv64-linux-gnu- "$here/initramfs.sh" "$out/guest.cpio" ;;
	esac
}

# relink NAME [VARIABLE=VALUE]: the fs build linked once more, into $out/NAME.
relink()
{
	note "linking: $1"
	env ${2+"$2"} "$here/build.sh" relink "$kernel" "$out/$1" || die "cannot link the kernel '$1'"
}

# The kernel as it builds by itself, as $out/stock, and linked again by the wrapper.
through_wrapper()
{
	local stock words
	stock=$("$here/build.sh" kernel "$kernel" stock)
	mkdir -p "$out/stock"
	cp "$stock"/first/* "$out/stock/"
	note "linking: stock, through the wrapper"
	"$here/build.sh" through "$kernel" "$out/through" || die "cannot link the stock kernel through the wrapper"
	check "the wrapper with nothing asked of it changes no byte" cmp "$out/stock/vmlinux" "$out/through/vmlinux"
	# Its vmlinux.o, too, which kernels with X86_KERNEL_IBT link last.
	words=$(sed -n 's/^\(saved\)\?cmd_vmlinux\.o := [^ ]* //p' "$stock/.vmlinux.o.cmd" | sed 's/;.*//; s/ -o vmlinux\.o//')
	(cd "$stock" && ld $words -o "$out/through/plain.o" && hottext-ld $words -o "$out/through/vmlinux.o") ||
		die "cannot link vmlinux.o"
	check "nor in vmlinux.o" cmp "$out/through/plain.o" "$out/through/vmlinux.o"
	rm -f "$out/through/plain.o" "$out/through/vmlinux.o"
}

# The kernel that profiles come from, as $out/link; its map stays in the build folder, whose objects it names.
link_order()
{
	folder=$("$here/build.sh" kernel "$kernel" fs)
	relink link
	cp "$out/link/vmlinux.map" "$folder/hottext-link.map"
}

# perf.data of about 2,500 samples from inside the guest, KASLR on; traces of the workloads and the held-out mix.
record_sample()
{
	link_order
	note "recording perf.data in the guest"
	"$here/boot.sh" "$kernel" "$out/link/$image" "$out/record.cpio" -o "$out/console.perf" -s "$out/perf.data" \
		-t 600 -- $parameters hottext.record=perf hottext.freq=1223 || die "cannot record perf.data"
	trace link all.fetch all
	trace link mix.fetch mix
}

# trace NAME FILE WORKLOADS: what kernel NAME fetches meanwhile.
trace()
{
	note "recording what '$3' fetches"
	"$here/boot.sh" "$kernel" "$out/$1/$image" "$out/guest.cpio" -o "$out/$1/console.trace" -t 600 \
		-w hottext -w record -w qemu -w -q -w --vmlinux -w "$out/$1/vmlinux" -w --mark -w $mark -w -o -w "$out/$2" -w -- \
		-- nokaslr $parameters hottext.run="$3" || die "cannot record a trace"
}

# measure NAME WORKLOADS: counts of the simulated ITLBs ($sims) and symbols ($counts) into $out/NAME/measured.
measure()
{
	local words=() sim symbol
	for sim in $sims; do
		words+=(-w --machine-sim -w "$sim")
	done
	for symbol in $counts; do
		words+=(-w --count -w "$symbol")
	done
	note "measuring: $1"
	"$here/boot.sh" "$kernel" "$out/$1/$image" "$out/guest.cpio" -o "$out/$1/console" -t 600 \
		-w hottext -w record -w qemu -w -q -w --vmlinux -w "$out/$1/vmlinux" -w --mark -w $mark \
		"${words[@]}" -w --counts -w "$out/$1/counts" -w -- \
		-- nokaslr $parameters hottext.run="$2" || die "kernel '$1' did not finish its work"
	awk -f "$here/measure.awk" "$out/$1/console" "$out/$1/counts" > "$out/$1/measured"
}

# measured NAME WORKLOAD KEY: one figure, "-" when there is none.
measured()
{
	awk -v w="$2" -v key="$3=" '
		$1 == w { for (i = 2; i <= NF; i++) if (index($i, key) == 1) v = substr($i, length(key) + 1) }
		END { print v == "" ? "-" : v }' "$out/$1/measured"
}

# plan NAME ALGORITHM PROFILE...: optimize into $out/plan-NAME; time and memory are noted.
plan()
{
	local name=$1 algorithm=$2
	shift 2
	note "planning: $name"
	TIMEFORMAT="# optimize took %U s of CPU"
	time hottext optimize -q "$out/link/vmlinux" --map "$folder/hottext-link.map" "$@" -o "$out/plan-$name" \
		--algorithm "$algorithm" ${machine:+--machine "$machine"} ${HOTTEXT_EFFORT+--effort "$HOTTEXT_EFFORT"} \
		> "$out/plan-$name.log" || die "cannot plan '$name'"
}

# planned NAME JQ-EXPRESSION: a figure of its plan.json.
planned()
{
	jq -r "$2 | if type == \"number\" then (. * 100 | round / 100) else . // \"-\" end" "$out/plan-$1/plan.json"
}

# Text up to its last function; x86-64 aligns its entry code behind all other, and a thunk of RETHUNK before it, to 2 MB,
# which would hide all growth.
text_bytes()
{
	local end=_etext
	case $kernel in
	x86_64*) end=__entry_text_start ;;
	esac
	nm -n -S "$out/$1/vmlinux" | awk -v end=$end '
		$NF == "_stext" { start = $1 }
		$NF == end { exit }
		start != "" && NF == 4 && $3 ~ /[tTwW]/ && $4 !~ /^srso_/ { last = $1 " " $2 }
		END { print start, last }' |
		{ read -r start at size; echo $((0x$at + 0x$size - 0x$start)); }
}

image_bytes() { stat -c %s "$out/$1/$image"; }

# row LABEL FIGURE...
row()
{
	local label=$1 cell
	shift
	printf '%-40s' "$label"
	for cell; do
		printf ' %14s' "$cell"
	done
	echo
}

# The kernel's row in the table: of its packed kernel in $out/pack, planned as "pack". A check script sets boots=WHY
# where the kernel cannot be booted.
matrix_row()
{
	local works=- verify=no before=- after=-
	if [ -z "${boots-}" ]; then
		boots=no works=$(grep -c '^WORKLOAD ' "$out/pack/console") || works=0
		! grep -q '^DONE$' "$out/pack/console" || boots=yes
		before=$(measured link all 32x4K.lru.kernel_misses) after=$(measured pack all 32x4K.lru.kernel_misses)
	fi
	! exits 0 hottext verify "$out/plan-pack" "$out/pack/vmlinux" || verify=yes
	"$here/matrix.sh" row "${HOTTEXT_MATRIX:-$top/README.md}" "$kernel" "$("$here/matrix.sh" toolchain "$out/pack/vmlinux")" \
		"$boots" "$works" "$verify" "$before" "$after" || die "cannot write the table of kernels"
	boots=
}
