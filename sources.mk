# SPDX-License-Identifier: GPL-3.0-or-later
# What is compiled, room by room, and which tests are run.

LIB_SRCS := \
	lib/completion.c \
	lib/elf_note.c \
	lib/error.c \
	lib/file.c \
	lib/index.c \
	lib/input.c \
	lib/mem.c \
	lib/modules.c \
	lib/modules_elf.c \
	lib/number.c \
	lib/opt.c \
	lib/progress.c \
	lib/shell.c \
	lib/symtab.c \
	lib/symtab_elf.c \
	lib/symtab_text.c \
	lib/version.c

COLLECT_SRCS := \
	collect/autofdo.c \
	collect/chain.c \
	collect/cmd_collect.c \
	collect/cmd_record.c \
	collect/fdata.c \
	collect/folded.c \
	collect/normalize.c \
	collect/path_walk.c \
	collect/procprofile.c \
	collect/profile.c \
	collect/profile_read.c \
	collect/profile_write.c \
	collect/reader.c \
	collect/root.c \
	collect/spill.c \
	collect/fetch/fetch.c \
	collect/fetch/fetchmap.c \
	collect/fetch/fetchpaths.c \
	collect/fetch/reader_fetch.c \
	collect/ftrace/ftrace_names.c \
	collect/ftrace/ftrace_settings.c \
	collect/ftrace/ftracetext.c \
	collect/ftrace/funcgraph.c \
	collect/ftrace/tracedat.c \
	collect/ftrace/tracedat_repair.c \
	collect/ftrace/tracedat_repair7.c \
	collect/perf/perfdata.c \
	collect/perf/perfdata_events.c \
	collect/perf/perfdata_file.c \
	collect/perf/perfdata_map.c \
	collect/perf/perfdata_record.c \
	collect/perf/perfdata_sample.c \
	collect/perf/perfscript.c \
	collect/qemu/decode.c \
	collect/qemu/sim.c \
	collect/record/record_ftrace.c \
	collect/record/record_perf.c \
	collect/record/record_profile.c \
	collect/record/record_qemu.c \
	collect/record/record_run.c

ANALYZE_SRCS := \
	analyze/callgraph.c \
	analyze/cmd_calibrate.c \
	analyze/cmd_compare.c \
	analyze/cmd_complete.c \
	analyze/cmd_machines.c \
	analyze/cmd_tlbdump.c \
	analyze/calibrate/chase.c \
	analyze/calibrate/knee.c \
	analyze/calibrate/plot.c \
	analyze/code/branch.c \
	analyze/code/disasm.c \
	analyze/code/disasm_ppc.c \
	analyze/code/disasm_risc.c \
	analyze/code/disasm_x86.c \
	analyze/code/flow.c \
	analyze/code/flow_dom.c \
	analyze/code/pointers.c \
	analyze/code/program.c \
	analyze/code/targets.c \
	analyze/compare/cost.c \
	analyze/compare/figures.c \
	analyze/compare/judge.c \
	analyze/compare/kernels.c \
	analyze/compare/label.c \
	analyze/compare/lmbench_tables.c \
	analyze/compare/ranktest.c \
	analyze/compare/read.c \
	analyze/compare/read_counters.c \
	analyze/compare/read_lmbench.c \
	analyze/compare/read_perf.c \
	analyze/compare/read_time.c \
	analyze/compare/show_json.c \
	analyze/compare/show_text.c \
	analyze/completion/activation.c \
	analyze/completion/callers.c \
	analyze/completion/complete.c \
	analyze/completion/coverage.c \
	analyze/completion/evidence.c \
	analyze/completion/expand.c \
	analyze/completion/likely.c \
	analyze/image/align.c \
	analyze/image/image.c \
	analyze/image/linkmap.c \
	analyze/image/linkmap_lld.c \
	analyze/image/objects.c \
	analyze/image/text.c \
	analyze/image/units.c \
	analyze/image/units_map.c \
	analyze/image/units_symbols.c \
	analyze/tlb/machine.c \
	analyze/tlb/pageset.c \
	analyze/tlb/measured.c \
	analyze/tlb/replay.c \
	analyze/tlb/steady.c \
	analyze/tlb/tlb.c \
	analyze/tlb/tlbdump.c

REORDER_SRCS := \
	reorder/c3.c \
	reorder/cdsort.c \
	reorder/cmd_analyze.c \
	reorder/cmd_explain.c \
	reorder/cmd_reorder.c \
	reorder/cmd_report.c \
	reorder/hotgraph.c \
	reorder/for_cache.c \
	reorder/job.c \
	reorder/job_options.c \
	reorder/layout.c \
	reorder/layout_read.c \
	reorder/order.c \
	reorder/region.c \
	reorder/trial.c \
	reorder/explain/decisions.c \
	reorder/explain/explain.c \
	reorder/explain/explain_show.c \
	reorder/pack/cluster.c \
	reorder/pack/pack.c \
	reorder/pack/page_order.c \
	reorder/pack/pages.c \
	reorder/pack/partition.c \
	reorder/pack/samples.c \
	reorder/pack/stagger.c \
	reorder/pack/windows.c \
	reorder/plan/plan.c \
	reorder/plan/plan_evidence.c \
	reorder/plan/plan_fields.c \
	reorder/plan/plan_fill.c \
	reorder/plan/plan_measured.c \
	reorder/plan/plan_read.c \
	reorder/plan/plan_write.c \
	reorder/plan/positions.c \
	reorder/report/annotate.c \
	reorder/report/callgraph_dot.c \
	reorder/report/diff.c \
	reorder/report/dot.c \
	reorder/report/draw.c \
	reorder/report/format.c \
	reorder/report/html.c \
	reorder/report/html_curve.c \
	reorder/report/html_data.c \
	reorder/report/measured.c \
	reorder/report/page.c \
	reorder/report/pagemap.c \
	reorder/report/style.c \
	reorder/report/text.c \
	reorder/report/write.c

LDSCRIPTS_SRCS := \
	ldscripts/cmd_kbuild.c \
	ldscripts/cmd_ld.c \
	ldscripts/cmd_optimize.c \
	ldscripts/cmd_verify.c \
	ldscripts/fragment.c \
	ldscripts/fragment_read.c \
	ldscripts/kbuild.c \
	ldscripts/match.c \
	ldscripts/orders.c \
	ldscripts/pattern.c \
	ldscripts/plan_folder.c \
	ldscripts/run.c \
	ldscripts/verify.c \
	ldscripts/lds/lds.c \
	ldscripts/lds/lds_edit.c \
	ldscripts/lds/lds_glob.c \
	ldscripts/lds/lds_lex.c \
	ldscripts/wrapper/linkline.c \
	ldscripts/wrapper/wrapper.c \
	ldscripts/wrapper/wrapper_module.c \
	ldscripts/wrapper/wrapper_plan.c \
	ldscripts/wrapper/wrapper_relocatable.c

# One cmocka program each, tests/unit/NAME.c, linked with everything but hottext.c.
UNIT_TESTS := \
	chain \
	cluster \
	fetch \
	flow \
	funcgraph \
	image \
	knee \
	layout \
	lds \
	link \
	linkmap \
	machine \
	order \
	perfdata \
	plan \
	plan_fill \
	profile \
	ranktest \
	region \
	replay \
	steady \
	symtab \
	tlb \
	trial \
	truncated

# One bats file each.
BATS_TESTS := \
	calibrate \
	collect \
	compare \
	complete \
	docs \
	explain \
	faults \
	fetch \
	formats \
	ftrace \
	kbuild \
	ld \
	machines \
	matrix \
	measured \
	messages \
	messages_elf \
	messages_read \
	messages_system \
	modules \
	optimize \
	options \
	perfdata \
	positions \
	ppc405 \
	record \
	relax \
	report \
	tlbdump \
	trust \
	verify
