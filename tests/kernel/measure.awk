# SPDX-License-Identifier: GPL-3.0-or-later
# Joins what the guest printed with the plugin's counts: awk -f measure.awk CONSOLE COUNTS
# Sections are numbered by marks: 0 is the boot, 2i+1 the i-th workload, 2i+2 what lies between.
# Prints "WORKLOAD instructions KEY=VALUE..." a line, and the same for "all": every workload but mix.
FNR == NR {
	if ($1 == "WORKLOAD")
		names[nr_names++] = $2
	next
}
$1 != "section" || $2 % 2 == 0 { next }
{
	name = names[($2 - 1) / 2]
	# "sim 32x4K lru flush=user: NAME=N ..." becomes 32x4K.lru.flush=user.NAME
	spec = ""
	for (i = 4; i <= NF && $(i - 1) !~ /:$/; i++)
		spec = spec $i "."
	sub(/:\.$/, ".", spec)
	for (; i <= NF; i++) {
		if (split($i, part, "=") != 2 || ($3 == "sim" && part[1] == "insns"))
			continue
		key = spec part[1]
		if (!(key in known)) {
			known[key] = 1
			keys[nr_keys++] = key
		}
		sum[name, key] += part[2]
		if (name != "mix")
			sum["all", key] += part[2]
	}
}
function show(name,   i)
{
	printf "%s", name
	for (i = 0; i < nr_keys; i++)
		printf " %s=%d", keys[i], sum[name, keys[i]]
	print ""
}
END {
	show("all")
	for (n = 0; n < nr_names; n++)
		if (!(names[n] in shown)) {
			shown[names[n]] = 1
			show(names[n])
		}
}
