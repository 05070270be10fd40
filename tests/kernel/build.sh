#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds and relinks the kernels that the kernel check uses, outside the tree:
#   build.sh has-source [NAME]       whether the kernel's source is there, unpacked or not
#   build.sh package [NAME]          Debian's package that has it
#   build.sh source [NAME]           unpack the kernel's source; prints its folder
#   build.sh kernel NAME stock|fs    build it; prints the folder
#   build.sh through NAME RESULT     link the stock build again, through the wrapper with nothing asked of it
#   build.sh relink NAME RESULT      link the fs build again with HOTTEXT_PLAN or HOTTEXT_PROFILE as in the
#                                    environment (neither: link order); vmlinux, vmlinux.map and the image go to RESULT
#   build.sh modules NAME SOURCES    build the modules in that folder for the kernel linked last, as in the environment
# NAME is x86_64, x86_64-ibt, x86_64-llvm, x86_64-6.12, ppc405, arm64, arm, riscv64 or mpc885; its configuration is
# samples/linux-6.1-NAME.config, for the last four on top of linux-6.1-small.config, for other x86_64 kernels on top
# of that of x86_64. stock: as the kernel builds by itself; fs: make CFLAGS_KERNEL=-ffunction-sections LD=hottext-ld.
# HOTTEXT_CACHE (default: /var/cache/hottext as root, else ~/.cache/hottext) keeps source and builds, each build
# keyed by source, configuration, compiler and linker, so that a second run only relinks.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
if [ -z "${HOTTEXT_CACHE-}" ]; then
	if [ "$(id -u)" = 0 ]; then HOTTEXT_CACHE=/var/cache/hottext; else HOTTEXT_CACHE=$HOME/.cache/hottext; fi
fi

die() { echo "build: $*" >&2; exit 1; }

# Fixed, so that equal inputs give equal kernels.
export KBUILD_BUILD_TIMESTAMP=2024-01-01 KBUILD_BUILD_USER=hottext KBUILD_BUILD_HOST=hottext
export LC_ALL=C
unset MAKEFLAGS MAKELEVEL MFLAGS O Q V VERSION prefix
export PATH=$PATH:$top

has_source() { [ -e "$source/Makefile" ] && [ -e "$source/.hottext" ]; }

unpack_source()
{
	local tar=/usr/src/$package.tar.xz version
	has_source && return
	if [ ! -e "$tar" ]; then
		[ "$(id -u)" = 0 ] || die "the kernel's source is missing: sudo apt-get install $package"
		apt-get install -y -qq "$package" > /dev/null 2>&1 ||
			{ apt-get update -qq && apt-get install -y -qq "$package" > /dev/null; } >&2 ||
			die "cannot install $package"
	fi
	version=$(dpkg-query -W -f '${Version}' "$package")
	if [ ! -e "$source/Makefile" ]; then
		mkdir -p "$HOTTEXT_CACHE"
		tmp=$(mktemp -d "$HOTTEXT_CACHE/unpack.XXXXXX")
		tar -C "$tmp" -xf "$tar" || die "cannot unpack '$tar'"
		mv "$tmp/$package" "$source"
		rmdir "$tmp"
	fi
	echo "$version" > "$source/.hottext"
}

# Per kernel: make's words, the image it makes, where that is.
describe()
{
	config=$top/samples/linux-6.1-$1.config small= base= llvm= package=linux-source-6.1
	case $1 in
	arm64|arm|riscv64|mpc885) small=$top/samples/linux-6.1-small.config ;;
	x86_64-*) base=$top/samples/linux-6.1-x86_64.config ;;
	esac
	case $1 in
	x86_64-6.12) package=linux-source-6.12 config=$top/samples/linux-6.12-x86_64.config ;;
	x86_64-llvm) llvm=-19 ;;
	esac
	source=$HOTTEXT_CACHE/$package
	case $1 in
	x86_64|x86_64-*)
		arch=x86 cross= target="bzImage modules" image=arch/x86/boot/bzImage ;;
	ppc405)
		arch=powerpc cross=powerpc-linux-gnu- target=zImage image=arch/powerpc/boot/cuImage.hotfoot.elf ;;
	arm64)
		arch=arm64 cross=aarch64-linux-gnu- target=Image image=arch/arm64/boot/Image ;;
	arm)
		arch=arm cross=arm-linux-gnueabi- target=zImage image=arch/arm/boot/zImage ;;
	riscv64)
		arch=riscv cross=riscv64-linux-gnu- target=Image image=arch/riscv/boot/Image ;;
	mpc885)	# never booted
		arch=powerpc cross=powerpc-linux-gnu- target=vmlinux image=vmlinux ;;
	*)
		die "no kernel '$1'" ;;
	esac
	cc=${cross}gcc ld=${cross}ld
	[ -z "$llvm" ] || cc=clang$llvm ld=ld.lld$llvm
	[ -e "$config" ] || die "no configuration '$config'"
}

# The build folder's name tells everything that its objects depend on.
build_folder()
{
	local key
	key=$({ cat "$source/.hottext" $small $base "$config"; "$cc" --version; "$ld" --version; } |
		sha256sum | cut -c1-12)
	echo "$HOTTEXT_CACHE/$1-$2-$key"
}

# kmake FOLDER MODE WORDS...; MODE through: as stock, linked by the wrapper
kmake()
{
	local folder=$1 mode=$2 words=()
	shift 2
	[ "$mode" = stock ] || words+=("LD=${HOTTEXT_LD_WRAPPER:-hottext-ld}")
	[ "$mode" != fs ] || words+=(CFLAGS_KERNEL=-ffunction-sections)
	[ -z "$cross" ] || export CROSS_COMPILE=$cross
	[ -z "$llvm" ] || { words+=("LLVM=$llvm"); export HOTTEXT_LD=$ld; }
	make -C "$source" -s O="$folder" ARCH="$arch" -j"$(nproc)" "${words[@]}" "$@"
}

# configure FOLDER MODE: a whole configuration as it is; settings, on top of one or of nothing.
configure()
{
	if [ -n "$small" ]; then
		cat "$small" "$config" > "$1/hottext.config"
		KCONFIG_ALLCONFIG=$1/hottext.config kmake "$1" "$2" allnoconfig
	else
		cat $base "$config" > "$1/hottext.config"
		cmp -s "$1/hottext.config" "$1/.config" || cp "$1/hottext.config" "$1/.config"
		kmake "$1" "$2" olddefconfig
	fi
}

say_tail() { tail -n 12 "$1" >&2; }

build_kernel()
{
	local folder
	folder=$(build_folder "$1" "$2")
	if [ ! -e "$folder/.hottext-built" ]; then
		echo "build: building $1 ($2) in $folder; this takes minutes" >&2
		mkdir -p "$folder"
		(
			unset HOTTEXT_PLAN HOTTEXT_PROFILE
			configure "$folder" "$2" && kmake "$folder" "$2" $target
		) > "$folder/build.log" 2>&1 || { say_tail "$folder/build.log"; die "the build of $1 ($2) failed"; }
		mkdir -p "$folder/first"
		cp "$folder/vmlinux" "$folder/first/"
		[ "$image" = vmlinux ] || cp "$folder/$image" "$folder/first/"
		date > "$folder/.hottext-built"
	fi
	echo "$folder"
}

# link_again NAME MODE RESULT
link_again()
{
	local mode=$2 result=$3 folder
	folder=$(build_kernel "$1" "${mode/through/stock}")
	mkdir -p "$result"
	# Kbuild knows nothing of plans: only a missing vmlinux is linked again.
	rm -f "$folder/vmlinux" "$folder"/.tmp_vmlinux.* "$folder/$image" "$result/vmlinux"
	echo 0 > "$folder/.version"
	kmake "$folder" "$mode" $target > "$result/link.log" 2>&1 ||
		{ say_tail "$result/link.log"; die "the link of $1 failed"; }
	cp "$folder/vmlinux" "$folder/vmlinux.map" "$result/"
	[ "$image" = vmlinux ] || cp "$folder/$image" "$result/"
}

describe "${2-x86_64}"
case ${1-} in
has-source)
	has_source || [ -e "/usr/src/$package.tar.xz" ] ;;
package)
	echo "$package" ;;
source)
	unpack_source
	echo "$source" ;;
kernel)
	unpack_source
	build_kernel "$2" "${3:?}" ;;
folder)
	unpack_source
	build_folder "$2" "${3:?}" ;;
relink)
	unpack_source
	link_again "$2" fs "${3:?}" ;;
modules)
	unpack_source
	kmake "$(build_folder "$2" fs)" fs M="${3:?}" CFLAGS_MODULE=-ffunction-sections modules > "$3/build.log" 2>&1 ||
		{ say_tail "$3/build.log"; die "the build of modules for $2 failed"; } ;;
through)
	unpack_source
	unset HOTTEXT_PLAN HOTTEXT_PROFILE
	link_again "$2" through "${3:?}" ;;
*)
	sed -n 's/^# \?//;3,16p' "$0" >&2
	exit 2 ;;
esac
