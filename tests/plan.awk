# SPDX-License-Identifier: GPL-3.0-or-later
# Writes a made-up plan.json of any size, the same for the same numbers:
#   awk -v functions=10000 -v pages=2000 -v roots=300 -f tests/plan.awk /dev/null
function rnd(n) { seed = (seed * 16807) % 2147483647; return seed % n }
function hex(n) { return sprintf("0xffffffff%08x", 2164260864 + n) }
BEGIN {
	seed = 42
	if (!functions) functions = 1300
	if (!pages) pages = 300
	if (!roots) roots = 60
	n = split("read write openat close newfstatat pread64 sendto recvfrom epoll_wait select poll mmap munmap " \
		"clone execve exit_group wait4 rt_sigaction rt_sigreturn kill pipe2 getppid unlink creat", names, " ")
	total = 0
	for (i = 0; i < functions; i++) {
		size[i] = 16 + int(exp((rnd(6000) + 800) / 1000))
		before[i] = int((i + rnd(100) / 101) * pages * 4096 / functions)
		order[i] = i
	}
	for (i = functions - 1; i > 0; i--) { j = rnd(i + 1); t = order[i]; order[i] = order[j]; order[j] = t }
	at = 4096
	for (i = 0; i < functions; i++) { after[order[i]] = at; at += int((size[order[i]] + 15) / 16) * 16; heat[order[i]] = int(1000000 * exp(-9 * i / functions)) + 1 }
	printf "{\n \"schema\": 1,\n \"tool\": \"hottext 0.1\",\n \"algorithm\": \"pack\",\n \"effort\": 3,\n"
	printf " \"command\": \"hottext optimize vmlinux perf.data\",\n \"exact_units\": true,\n \"exact_align\": true,\n"
	printf " \"text_start\": \"%s\",\n \"hot_start\": \"%s\",\n \"hot_end\": \"%s\",\n \"path_weight\": 1000000,\n", hex(0), hex(4096), hex(at)
	printf " \"machine\": \"generic-4k-32\",\n \"machine_details\": {\"about\":\"32 entries of 4 KB, LRU\",\"arch\":\"any\",\"page_bytes\":4096,\"pinned_text\":false,\"miss_cycles_min\":20,\"miss_cycles_max\":140,\"clock_hz\":1e9,\"levels\":[{\"entries\":32,\"ways\":32,\"policy\":\"lru\",\"unified\":false}]},\n"
	printf " \"vmlinux\": {\"build_id\":\"0123456789abcdef0123456789abcdef01234567\",\"release\":\"6.1.0-made-up\",\"arch\":\"x86_64\"},\n"
	printf " \"profile\": {\"samples\":2638,\"kernel\":1902,\"resolved\":1902,\"lost\":0,\"matched_exact\":1800,\"matched_name\":60,\"matched_normalized\":20,\"unmatched\":22},\n"
	printf " \"hot\": {\"functions\":%d,\"bytes\":%d,\"touched_bytes\":%d,\"units\":%d,\"fixed\":%d},\n", functions, at, at / 2, functions, functions / 40
	printf " \"before\": {\"pages\":%d,\"misses\":775541,\"l1i_misses\":123456,\"text_bytes\":%d,\"entries_per_path\":{\"mean\":22.4,\"p95\":41.0,\"max\":88.0}},\n", pages, pages * 4096
	printf " \"after\": {\"pages\":%d,\"misses\":45625,\"l1i_misses\":120000,\"text_bytes\":%d,\"entries_per_path\":{\"mean\":9.7,\"p95\":17.0,\"max\":35.0}},\n", at / 4096, pages * 4096 + 8192
	printf " \"sources\": [{\"reader\":\"perf.data\",\"event\":\"cpu-clock\",\"host\":\"made-up\",\"release\":\"6.1.0\",\"build_id\":\"-\",\"samples\":2638,\"kernel\":1902,\"resolved\":1902,\"lost\":0}],\n"
	printf " \"curve\": ["
	for (k = 0; k < 13; k++) printf "%s{\"page_bytes\":%d,\"before\":%.2f,\"after\":%.2f}", k ? "," : "", 4096 * 2 ^ k, 1 + 21.4 / 1.5 ^ k, 1 + 8.7 / 2 ^ k
	printf "],\n \"units\": ["
	for (i = 0; i < functions; i++) {
		u = order[i]; index_of[u] = i
		name = u % 50 == 0 && u / 50 < n ? "vfs_" names[u / 50 + 1] : "function_" u
		printf "%s\n  {\"name\":\"%s\",\"object\":\"dir%d/file%d.o\",\"section\":\".text.%s\",\"addr\":\"%s\",\"size\":%d,\"page\":%d,\"weight\":%d,\"moved\":%s,\"why\":\"%s\",\"group\":\"main\",\"align\":16,\"addr_before\":\"%s\",\"page_before\":%d,\"calls\":%d,\"path_weight\":%d,\"touched_bytes\":%d,\"functions\":[[\"%s\",0,%d]],\"ranges\":[[0,%d,%d]]}", i ? "," : "", name, u % 30, u % 200, name, hex(after[u]), size[u], int(after[u] / 4096), heat[u] / 10, i % 40 == 39 ? "false" : "true", i % 40 == 39 ? "kept between its boundary symbols" : "run by 12 % of paths, most by read", hex(before[u]), int(before[u] / 4096), heat[u], heat[u], int(size[u] * 0.7) + 1, name, size[u], int(size[u] * 0.7) + 1, heat[u]
	}
	printf "\n ],\n \"paths\": ["
	for (r = 0; r < roots; r++) {
		w = int(300000 * 0.7 ^ r) + 1; k = 20 + rnd(180)
		name = r < n ? names[r + 1] : "worker_" r
		uses = ""; nb = na = 0; split("", pb); split("", pa)
		for (j = 0; j < k && j < functions; j++) {
			i = j < k / 2 ? j : rnd(functions); if ((r, i) in seen) continue; seen[r, i] = 1; u = order[i]
			uses = uses (uses == "" ? "" : ",") "[" i "," w "]"
			if (!((int(before[u] / 4096)) in pb)) { pb[int(before[u] / 4096)] = 1; nb++ }
			if (!((int(after[u] / 4096)) in pa)) { pa[int(after[u] / 4096)] = 1; na++ }
		}
		printf "%s\n  {\"root\":\"%s\",\"kind\":\"%s\",\"weight\":%d,\"entries_before\":%d.0,\"entries_after\":%d.0,\"symbol\":\"%s%s\",\"variants\":3,\"max_before\":%d,\"max_after\":%d,\"touched_bytes\":%d", r ? "," : "", name, r < n ? "syscall" : "task", w, nb, na, r < n ? "__x64_sys_" : "", name, nb, na, k * 200
		s = ""; for (q = 0; q < pages * 2; q++) if (q in pb) s = s (s == "" ? "" : ",") "[" q "," w "]"
		printf ",\"pages_before\":[%s]", s
		s = ""; for (q = 0; q < pages * 2; q++) if (q in pa) s = s (s == "" ? "" : ",") "[" q "," w "]"
		printf ",\"pages_after\":[%s],\"uses\":[%s]}", s, uses
	}
	printf "\n ],\n \"edges\": ["
	for (i = 0; i < functions; i++) { j = rnd(functions); if (j != i) printf "%s\n  [%d,%d,%d]", i ? "," : "", i, j, rnd(1000) * int(1 + heat[order[i]] / 1000) }
	printf "\n ]\n}\n"
}
