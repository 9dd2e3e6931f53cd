# SPDX-License-Identifier: Apache-2.0
# On a machine with NVIDIA GPUs: what is recorded of each is what nvidia-smi shows.
. "$TOP/tests/lib.sh"
need nvidia-smi
need jq
unset SONDE_NVML SONDE_NVML_PATIENCE

shown() { # INDEX FIELD: a number without its unit; empty when nvidia-smi has none
	nvidia-smi -i "$1" --query-gpu="$2" --format=csv,noheader,nounits 2>/dev/null | grep -E '^[0-9.]+$'
}

recorded() { # INDEX METRIC: the last value, in base units; empty when there is none
	awk -F, -v m="$2" -v g="gpu$1" '$2 == m && $3 == g && $6 != "" { v = $6 } END { print v }' out/series.csv
}

near() { # WHAT INDEX FIELD SCALE METRIC SLACK: of both or of neither, and not further apart than SLACK
	local smi mine
	smi=$(shown "$2" "$3") mine=$(recorded "$2" "$5")
	[ -n "$smi" ] || return 0
	[ -n "$mine" ] || fail "gpu$2: nvidia-smi shows $1 = $smi, and $5 is absent"
	holds "$1 of gpu$2: nvidia-smi $smi, recorded $mine" \
		"($smi * $4 - $mine) <= $6 && ($mine - $smi * $4) <= $6"
}

gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader) || skip "nvidia-smi finds no GPU here"
"$SONDE" run --quiet -o out -- sleep 5 || fail "the job failed"
"$SONDE" export out --to csv >/dev/null 2>&1 || fail "export"

for i in $gpus; do
	near "memory, all" "$i" memory.total 1048576 gpu.memory_total_bytes 1048576
	near "memory, used" "$i" memory.used 1048576 gpu.memory_used_bytes 268435456
	near "power limit" "$i" enforced.power.limit 1 gpu.power_limit_watts 0.02
	near "power" "$i" power.draw 1 gpu.power_watts 60
	near "temperature" "$i" temperature.gpu 1 gpu.temperature_celsius 5
	near "highest clock" "$i" clocks.max.sm 1e6 gpu.clock_limit_hertz 1
	near "lanes" "$i" pcie.link.width.current 1 gpu.pcie_width_count 0
	near "ECC, corrected" "$i" ecc.errors.corrected.aggregate.total 1 gpu.ecc_corrected_errors 0
	near "ECC, uncorrected" "$i" ecc.errors.uncorrected.aggregate.total 1 gpu.ecc_uncorrected_errors 0
	# Two ways to the same: a counter of energy, and a power.
	energy=$(recorded "$i" gpu.energy_watts) power=$(recorded "$i" gpu.power_watts)
	[ -z "$energy" ] || holds "power of gpu$i by its energy: $energy" "$energy > 0.6 * $power && $energy < 1.6 * $power"
done

"$SONDE" doctor --json | json_says '.sources[] | select(.name == "nvidia") | .state == "available"' >/dev/null ||
	fail "doctor does not find the GPUs"
