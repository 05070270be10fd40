# SPDX-License-Identifier: GPL-3.0-or-later
# Checks beyond the tests themselves: fuzzing and its corpus.

FUZZ_SRCS := tests/fuzz/targets.c

# Run by make check, beside the unit tests.
MORE_TESTS := $(O)/tests/fuzz/corpus
run-check: $(MORE_TESTS)

$(O)/tests/fuzz/corpus: $(O)/tests/fuzz/corpus.o $(FUZZ_SRCS:%.c=$(O)/%.o) $(OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

# libFuzzer comes with clang; everything is compiled again with its counters and the sanitizers.
CLANG ?= clang
# NULL + 0, which is what clang's pointer-overflow mostly finds, is harmless everywhere and allowed by C2y.
FUZZ_FLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow \
	-fno-sanitize-recover=undefined
FUZZ_OBJS := $(patsubst %.c,$(O)/fuzz/%.o,$(SRCS) $(FUZZ_SRCS) tests/fuzz/libfuzzer.c) $(O)/fuzz/analyze/machine_files.o

$(O)/fuzz/%.o: %.c $(O)/flags
	$(call say,CLANG,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(filter-out -D_FORTIFY_SOURCE=2,$(ALL_CFLAGS)) $(CPPFLAGS) $(FACTS) $(FUZZ_FLAGS) -MMD -MP -c -o $@ $<

$(O)/fuzz/analyze/machine_files.o: $(O)/analyze/machine_files.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(ALL_CFLAGS) $(FUZZ_FLAGS) -c -o $@ $<

$(O)/fuzz/lib/version.o: FACTS = -DHOTTEXT_LIBRARIES='"$(LIBRARIES)"'
$(O)/fuzz/reorder/report/page.o: reorder/report/page.css reorder/report/page.js

$(O)/fuzz/fuzz: $(FUZZ_OBJS)
	$(call say,CLANG,$@)
	$(Q)$(CLANG) $(subst fuzzer-no-link,fuzzer,$(FUZZ_FLAGS)) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

# All targets one after the other, or make fuzz TARGET="perfdata lds" SECONDS=600.
TARGET ?=
SECONDS ?= 60
# What was found, kept and done stays beside the kernels' cache, so that the CPU time of many runs adds up.
FUZZ_WORK ?= $(or $(HOTTEXT_CACHE),$(if $(filter 0,$(shell id -u)),/var/cache/hottext,$(HOME)/.cache/hottext))/fuzz
fuzz: $(O)/fuzz/fuzz
	$(Q)tests/fuzz/run.sh $< $(FUZZ_WORK) $(SECONDS) $(TARGET)

# For MINUTES, always the target that its present sources were fuzzed least for; then the table of doc/testing.md.
MINUTES ?= 0
fuzz-all: $(O)/fuzz/fuzz
	$(Q)tests/fuzz/all.sh $< $(FUZZ_WORK) $(MINUTES) $(TARGET)

# All tests under gcov, in a build of their own: lines run by room.
COVERAGE_MIN ?= 90
COVERAGE_O := $(O)-coverage
coverage:
	$(Q)tests/setup.sh
	$(Q)find $(COVERAGE_O) -name '*.gcda' -delete 2> /dev/null || true
	$(Q)mkdir -p $(COVERAGE_O)
	$(Q)$(CC) -O1 -c -o $(COVERAGE_O)/exit.o tests/coverage/exit.c
	$(Q)$(MAKE) --no-print-directory O=$(COVERAGE_O) CFLAGS='-Og -g --coverage' LDFLAGS=--coverage \
		LIBS='$(COVERAGE_O)/exit.o -Wl,--wrap=_exit' HOTTEXT=$(abspath $(COVERAGE_O)/hottext) coverage-tests || touch $(COVERAGE_O)/failed
	$(Q)tests/coverage/report.sh $(COVERAGE_O) $(COVERAGE_MIN)

coverage-tests: $(O)/hottext $(O)/hottext-qemu.so $(UNIT_TESTS:%=$(O)/tests/unit/%) $(MORE_TESTS)
	$(Q)HOTTEXT=$(abspath $(O)/hottext) tests/run.sh $(UNIT_TESTS:%=$(O)/tests/unit/%) $(MORE_TESTS) $(BATS_TESTS:%=tests/%.bats)

# The tests in a build that notes which messages were raised: their number, and each that none raises.
MESSAGES_O := $(O)-messages
messages:
	$(Q)tests/setup.sh
	$(Q)mkdir -p $(MESSAGES_O)
	$(Q)rm -f $(MESSAGES_O)/raised
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -I. -O1 -c -o $(MESSAGES_O)/messages.o tests/coverage/messages.c
	$(Q)$(MAKE) --no-print-directory O=$(MESSAGES_O) CFLAGS='-O1 -include tests/coverage/messages.h' \
		LIBS='$(MESSAGES_O)/messages.o' HOTTEXT_MESSAGES=$(abspath $(MESSAGES_O)/raised) messages-tests
	$(Q)tests/coverage/messages.sh $(MESSAGES_O)/hottext $(MESSAGES_O)/raised

messages-tests: $(O)/hottext $(O)/hottext-qemu.so $(UNIT_TESTS:%=$(O)/tests/unit/%)
	$(Q)HOTTEXT=$(abspath $(O)/hottext) HOTTEXT_MESSAGES=$(HOTTEXT_MESSAGES) \
		tests/run.sh $(UNIT_TESTS:%=$(O)/tests/unit/%) $(BATS_TESTS:%=tests/%.bats)

.PHONY: coverage coverage-tests fuzz fuzz-all messages messages-tests

# Unit tests' objects stay for the next link.
.SECONDARY: $(UNIT_TESTS:%=$(O)/tests/unit/%.o) $(O)/tests/fuzz/corpus.o

lint:
	$(Q)tests/lint.sh

# Memory errors and leaks that the sanitizers do not see, for what runs in bearable time under valgrind.
VALGRIND_UNITS := chain cluster fetch funcgraph knee layout lds linkmap machine order partition \
	perfdata_map perfdata_sample plan profile symtab
VALGRIND_BATS := calibrate collect machines tlbdump
check-valgrind: $(O)/hottext $(VALGRIND_UNITS:%=$(O)/tests/unit/%)
	$(Q)tests/valgrind.sh $(O) $(VALGRIND_UNITS:%=$(O)/tests/unit/%) $(VALGRIND_BATS:%=tests/%.bats)

.PHONY: check-valgrind lint
