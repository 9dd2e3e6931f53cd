/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_cpu.h - which CPU this is, as far as its counters' codes depend on it.
 *
 * Pure: reads the text of /proc/cpuinfo, its first CPU. On Arm the vendor is "arm", the family the
 * implementer and the model the part of MIDR; on POWER the vendor is "power" and the family the
 * upper half of PVR; on RISC-V the vendor is "riscv", the family the bits of a register and the
 * model mvendorid.
 */
#ifndef SONDE_SOURCE_PERF_PERF_CPU_H
#define SONDE_SOURCE_PERF_PERF_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct perf_cpu {
	char vendor[16]; /* "GenuineIntel"; "" = not known */
	uint64_t family, model, stepping;
};

/* False, and a vendor of "", when the text does not tell. */
bool perf_cpu_parse(const char *cpuinfo, struct perf_cpu *out);

/* A number, decimal or 0x...; false when there is none or it does not fit. Moves *p behind it. */
bool perf_number(const char **p, uint64_t *out);
/* Whether v is in a list as "0x4e,0x5e-0x5f"; false when it is malformed, too. */
bool perf_list_has(const char *list, uint64_t v);
bool perf_list_is_sound(const char *list);

#endif
