#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Boots a kernel with an initramfs and waits for the guest to leave:
#   boot.sh ARCH KERNEL INITRAMFS [OPTIONS] -- [KERNEL PARAMETERS]
#   -o FILE     what the console printed; default: standard output
#   -s FILE     what the guest wrote to its second serial port (x86_64)
#   -t SECONDS  stop it after so long; default 120
#   -q ARG      one more argument for QEMU, repeatable
#   -w ARG      one word put before the QEMU command, repeatable (such as: hottext record qemu -o TRACE --)
# Fails when the guest did not print DONE without failures.
set -eu

usage() { sed -n 's/^# \?//;3,10p' "$0" >&2; exit 2; }
[ $# -ge 3 ] || usage
arch=$1 kernel=$2 initramfs=$3
shift 3
console= port= seconds=120 extra=() wrapper=()
while getopts o:s:t:q:w: option; do
	case $option in
	o) console=$OPTARG ;;
	s) port=$OPTARG ;;
	t) seconds=$OPTARG ;;
	q) extra+=("$OPTARG") ;;
	w) wrapper+=("$OPTARG") ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))

# Virtual time counts instructions, so that timer interrupts fall on the same instructions in every run.
# 2^shift nanoseconds an instruction: near the machine's own speed where ticks would else disturb.
shift=3
[ "$arch" != ppc405 ] || shift=0
icount=(-icount "shift=${HOTTEXT_ICOUNT:-$shift},sleep=off")
# A panic must not wait for the timeout.
words="quiet panic=-1 $*"
case $arch in
x86_64|x86_64-*)
	qemu=(qemu-system-x86_64 -m 512 -append "console=ttyS0 $words")
	qemu+=(-serial stdio) ;;
ppc405)
	qemu=(qemu-system-ppc -M ref405ep -m 128 -serial null -serial stdio -append "console=ttyS0 $words") ;;
arm64)
	qemu=(qemu-system-aarch64 -M virt -cpu cortex-a53 -m 512 -serial stdio -append "console=ttyAMA0 $words") ;;
arm)
	qemu=(qemu-system-arm -M virt -m 512 -serial stdio -append "console=ttyAMA0 $words") ;;
riscv64)
	qemu=(qemu-system-riscv64 -M virt -m 512 -serial stdio -append "console=ttyS0 $words") ;;
*)
	echo "boot: no machine for architecture '$arch'" >&2
	exit 2 ;;
esac
[ -z "$port" ] || qemu+=(-serial "file:$port")
qemu+=(-rtc "base=2024-01-01,clock=vm" -display none -monitor none -no-reboot "${icount[@]}" -kernel "$kernel" -initrd "$initramfs" "${extra[@]}")

log=$(mktemp)
trap 'rm -f "$log" "$log.text"' EXIT
status=0
timeout --foreground -k 5 "$seconds" "${wrapper[@]}" "${qemu[@]}" > "$log" < /dev/null || status=$?
tr -d '\r' < "$log" > "$log.text"
if [ -n "$console" ]; then
	cp "$log.text" "$console"
else
	cat "$log.text"
fi
if [ "$status" != 0 ]; then
	echo "boot: QEMU ended with status $status" >&2
	exit 1
fi
if ! grep -q '^DONE$' "$log.text"; then
	echo "boot: the guest did not finish its work" >&2
	exit 1
fi
