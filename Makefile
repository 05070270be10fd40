# SPDX-License-Identifier: GPL-3.0-or-later
# hottext: `make help` lists the targets.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:

VERSION := 0.1
prefix ?= /usr/local
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib/hottext
mandir ?= $(prefix)/share/man
completiondir ?= $(prefix)/share/bash-completion/completions

O ?= build
CC ?= gcc
CFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

PACKAGES := libelf libdw libzstd jansson libtracecmd libtracefs
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
# Addresses that cannot be foretold, and tables that are read-only once the program runs.
HARDEN := -pie -Wl,-z,relro,-z,now,-z,noexecstack
SANFLAGS = $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
, := ,
override O := $(O)$(if $(SAN),-san)
FOLDERS_OUT = -ffile-prefix-map=$(abspath $(O))=build -ffile-prefix-map=$(O)=build -ffile-prefix-map=$(CURDIR)=.
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -DHOTTEXT_VERSION='"$(VERSION)"' -DPLUGIN_DIR='"$(libdir)"' -I. $(WARN) \
	$(FOLDERS_OUT) -fstack-protector-strong $(if $(SAN),,-D_FORTIFY_SOURCE=2) $(SANFLAGS) \
	$(shell $(PKG_CONFIG) --cflags $(PACKAGES)) $(CFLAGS)
# The multiarch libopcodes knows every target, the plain one only the host's.
BINUTILS_LIBS := $(if $(wildcard /usr/lib/*/libopcodes-multiarch.so),-l:libopcodes-multiarch.so -l:libbfd-multiarch.so,-lopcodes -lbfd)
# Where they are shared libraries, hottext loads them when it disassembles: analyze/code/opcodes.h.
ALL_LIBS = $(shell $(PKG_CONFIG) --libs $(PACKAGES)) -Wl,--push-state,--as-needed $(BINUTILS_LIBS) -Wl,--pop-state -ldl -lm $(LIBS)

# Said by --version.
LIBRARIES := $(shell for p in $(PACKAGES); do echo "$$p $$($(PKG_CONFIG) --modversion $$p 2> /dev/null),"; done) \
	$(patsubst -l%,lib%,$(patsubst -l:lib%.so,-l%,$(firstword $(BINUTILS_LIBS))))

include sources.mk

SRCS := $(LIB_SRCS) $(COLLECT_SRCS) $(ANALYZE_SRCS) $(REORDER_SRCS) $(LDSCRIPTS_SRCS)
OBJS := $(SRCS:%.c=$(O)/%.o) $(O)/analyze/machine_files.o

all: hottext hottext-ld hottext-qemu.so $(O)/hottext.bash

hottext: $(O)/hottext
	$(Q)cp --remove-destination $< $@

# The wrapper is the same program under another name.
hottext-ld: hottext
	$(Q)ln -sf $< $@

# From the option tables, so that it cannot disagree with them.
$(O)/hottext.bash: $(O)/hottext
	$(Q)$< --completion > $@

# QEMU loads this: no sanitizers, nothing of lib/, symbols of the emulator left open.
PLUGIN_SRCS := collect/qemu/plugin.c collect/qemu/decode.c collect/qemu/sim.c collect/qemu/writer.c
PLUGIN_OBJS := $(PLUGIN_SRCS:%.c=$(O)/plugin/%.o)

hottext-qemu.so: $(O)/hottext-qemu.so
	$(Q)cp --remove-destination $< $@

$(O)/hottext-qemu.so: $(PLUGIN_OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $^ $(shell $(PKG_CONFIG) --libs libzstd) -lpthread

$(O)/plugin/%.o: %.c $(O)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -I. -ffile-prefix-map=$(CURDIR)=. $(WARN) -fPIC -fvisibility=hidden -O2 $(CFLAGS) -MMD -MP -c -o $@ $<

# What millions of samples go through is optimised as a whole, in hottext itself; the objects serve other links too.
WHOLE_SRCS := lib/index.c collect/chain.c collect/path_walk.c collect/profile.c $(filter collect/perf/perfdata%,$(COLLECT_SRCS))
LTO := -flto -ffat-lto-objects
WHOLE := $(if $(SAN),,$(if $(findstring -O2,$(CFLAGS)),$(shell mkdir -p $(O); \
	$(CC) $(LTO) -c -o $(O)/lto.o -x c /dev/null 2>&1 | grep -q . || echo $(LTO))))
$(WHOLE_SRCS:%.c=$(O)/%.o): FACTS = $(WHOLE)

$(O)/hottext: $(O)/hottext.o $(OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) $(if $(WHOLE),$(CFLAGS) $(FOLDERS_OUT) -flto) $(HARDEN) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

# Changes only when a flag does: then everything is compiled again.
$(O)/flags: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(CC) $(ALL_CFLAGS) $(LIBRARIES)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS) $(LIBRARIES)' > $@

FORCE:

$(O)/%.o: %.c $(O)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(FACTS) -MMD -MP -c -o $@ $<

# The machine files as strings, so that the binary stands alone.
MACHINE_NAMES := $(sort $(patsubst analyze/machines/%.machine,%,$(wildcard analyze/machines/*.machine)))
MACHINES := $(MACHINE_NAMES:%=analyze/machines/%.machine)

$(O)/analyze/machine_files.c: $(MACHINES) Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q){ echo '#include <stddef.h>'; \
	echo 'extern const struct machine_file { const char *name, *text; } machine_files[];'; \
	echo 'const struct machine_file machine_files[] = {'; \
	for f in $(MACHINES); do \
		printf '{ "%s",\n' "$$(basename $$f .machine)"; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $$f; \
		echo '},'; \
	done; echo '{ NULL, NULL } };'; } > $@

$(O)/analyze/machine_files.o: $(O)/analyze/machine_files.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The name that libopcodes is loaded by, as the linker notes it; none where it is a static library.
$(O)/opcodes.so: Makefile $(O)/flags $(wildcard /usr/lib/*/libopcodes*.so)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,--no-as-needed -o $@ $(BINUTILS_LIBS)

$(O)/opcodes-name.h: $(O)/opcodes.so
	$(Q)readelf -d $< | sed -n 's/.*(NEEDED).*\[\(libopcodes.*\)\]/#define OPCODES_SONAME "\1"/p' > $@

$(O)/analyze/code/opcodes.o: $(O)/opcodes-name.h
$(O)/analyze/code/opcodes.o: FACTS = -include $(O)/opcodes-name.h

$(O)/lib/version.o: FACTS = -DHOTTEXT_LIBRARIES='"$(LIBRARIES)"'

# Taken in by the assembler, which leaves no dependency behind.
$(O)/reorder/report/page.o: reorder/report/page.css reorder/report/page.js

$(O)/tests/unit/%: $(O)/tests/unit/%.o $(OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) $(if $(WHOLE),-fno-lto) $(LDFLAGS) -o $@ $^ $(ALL_LIBS) -lcmocka

# These two set themselves up: what is missing is installed before a new make looks for it.
demo check:
	$(Q)tests/setup.sh
	$(Q)$(MAKE) --no-print-directory run-$@

run-demo: all
	$(Q)tests/demo.sh ./hottext $(O)/demo

# A sanitizer's end is not to look like one of ours, whose status is 1, too.
run-check: all $(UNIT_TESTS:%=$(O)/tests/unit/%)
	$(Q)$(if $(SAN),ASAN_OPTIONS=abort_on_error=1 )tests/run.sh $(UNIT_TESTS:%=$(O)/tests/unit/%) $(MORE_TESTS) $(BATS_TESTS:%=tests/%.bats)

include tests/check.mk

run-unit-tests: $(UNIT_TESTS:%=$(O)/tests/unit/%)
	$(Q)tests/run.sh $^

# Events a second of the TLB simulator.
$(O)/bench/tlb: $(O)/bench/tlb.o $(OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

bench-tlb: $(O)/bench/tlb
	$(Q)$<

# Every algorithm on two kernels and the yardstick machines, relative to cdsort; EFFORT and TRAINING may be set.
$(O)/bench/layout: $(O)/bench/layout.o $(O)/bench/draws.o $(OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

# The readers against perf script and trace-cmd report; SIZE=1G: of the large files.
bench-collect: hottext
	$(Q)HOTTEXT=./hottext bench/collect.sh

# One emulated run, every source; wants the kernel that check-kernel links.
$(O)/bench/shares: $(O)/bench/shares.o $(OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

bench-sources: hottext hottext-qemu.so $(O)/bench/shares
	$(Q)SHARES=$(O)/bench/shares bench/sources.sh ./hottext $(O)/bench/sources-out

# Seconds and memory at a distribution's size.
bench-scale: hottext
	$(Q)bench/scale.sh ./hottext

# The same on Debian's kernel with its debug information; VMLINUX: another one, nothing is downloaded then.
bench-distribution: hottext
	$(Q)bench/distribution.sh ./hottext $(VMLINUX)

# Our cdsort and c3 against lld's.
bench-lld: hottext
	$(Q)bench/lld.sh ./hottext $(O)/bench/lld-out

EFFORT ?= 3
bench-layout: $(O)/bench/layout
	$(Q)bench/layout.sh $< $(O)/bench/layout-out $(EFFORT) "$(TRAINING)"

# Builds, profiles, relinks, boots and measures real kernels; KERNELS chooses among the tests/kernel/check-KERNEL.sh.
KERNELS ?= x86_64
# PLANS random plans are linked and verified, too.
PLANS ?= 100
check-kernel: all $(O)/tests/unit/link
	$(Q)PLANS=$(PLANS) LINK_TEST=$(O)/tests/unit/link tests/kernel/check.sh $(KERNELS)

# Rebuilds the bundled sample kernel and its recordings.
sample: all
	$(Q)samples/make-sample.sh

install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man5
	install -m 755 $(O)/hottext $(DESTDIR)$(bindir)/hottext
	ln -sf hottext $(DESTDIR)$(bindir)/hottext-ld
	install -m 644 $(O)/hottext-qemu.so $(DESTDIR)$(libdir)/hottext-qemu.so
	install -m 644 doc/*.1 $(DESTDIR)$(mandir)/man1
	install -m 644 doc/*.5 $(DESTDIR)$(mandir)/man5
	install -d $(DESTDIR)$(completiondir)
	install -m 644 $(O)/hottext.bash $(DESTDIR)$(completiondir)/hottext

include dist/dist.mk

clean:
	rm -rf $(O) hottext hottext-ld hottext-qemu.so

help:
	@echo 'make            build ./hottext'
	@echo 'make demo       run the main job on the bundled sample kernel'
	@echo 'make check      run the tests'
	@echo 'make fuzz       fuzz the readers (TARGET="perfdata lds" SECONDS=60)'
	@echo 'make fuzz-all   the same for MINUTES, least fuzzed targets first; the table of what was done'
	@echo 'make coverage   lines that the tests reach'
	@echo 'make messages   messages that the tests raise'
	@echo 'make lint       static analysis'
	@echo 'make check-valgrind  the tests under valgrind'
	@echo 'make check-kernel  build, order, boot and measure real kernels (KERNELS="x86_64 ppc405")'
	@echo 'make sample     rebuild the bundled sample kernel and its recordings'
	@echo 'make install    below DESTDIR and prefix'
	@echo 'make dist       the source tarball'
	@echo 'make deb        the Debian packages'
	@echo 'make check-dist install, package, and build twice the same'
	@echo 'make check-stranger  the commands of README in a fresh Debian'
	@echo 'make clean      remove what was built'
	@echo 'variables: V=1 (show commands), O=DIR (build folder), SAN=1 (ASan and UBSan), DESTDIR, prefix'

-include $(shell find $(O) -name '*.d' 2>/dev/null)

.PHONY: all install bench-collect bench-distribution bench-layout bench-lld bench-scale bench-sources bench-tlb check check-kernel clean demo help run-check run-demo run-unit-tests sample
