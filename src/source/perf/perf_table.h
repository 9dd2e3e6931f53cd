/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_table.h - what events files say for one CPU: groups of events with their codes, and the
 * formulas of what follows from them.
 *
 * docs/events.md says how a file is written. A group that a later file gives replaces the one of
 * the same name; groups of a named CPU stand before those of `arch any`. What a file says of other
 * CPUs is checked and forgotten. Nothing is opened here but the files named.
 */
#ifndef SONDE_SOURCE_PERF_PERF_TABLE_H
#define SONDE_SOURCE_PERF_PERF_TABLE_H

#include "base/err.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which CPU this is, as far as its counters' codes depend on it.
 *
 * Pure: reads the text of /proc/cpuinfo, its first CPU. On Arm the vendor is "arm", the family the
 * implementer and the model the part of MIDR; on POWER the vendor is "power" and the family the
 * upper half of PVR; on RISC-V the vendor is "riscv", the family the bits of a register and the
 * model mvendorid.
 */

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

enum {
	PERF_GROUPS_MAX = 48,
	PERF_GROUP_EVENTS_MAX = 24,
	PERF_EVENTS_MAX = 512,
	PERF_FORMULAS_MAX = 512,
	PERF_NAME_MAX = 48, /* of ids, groups, metrics and PMUs */
	PERF_FORMULA_MAX = 480,
	PERF_KIND_CODES_MAX = 3,
};

/* On a hybrid CPU: the code of the cores that this PMU counts. pmu NULL: none. */
struct perf_kind_code {
	const char *pmu; /* "cpu_atom" */
	uint64_t config;
};

struct perf_event {
	const char *id, *name; /* "l1d_repl", "L1D.REPLACEMENT" */
	const char *pmu;       /* "hardware", "software", "cpu", "breakpoint", or of sysfs */
	uint64_t config[3];
	struct perf_kind_code of_kind[PERF_KIND_CODES_MAX]; /* instead of config[0] */
	uint32_t counters; /* general ones it takes: 0 has one of its own */
	bool nanoseconds;  /* it counts time */
	bool kernel;       /* it is 0 where only user mode may be counted */
	bool automatic;    /* counted when nothing was asked for */
};

struct perf_formula {
	const char *name, *text; /* "load_bytes_per_second", "64*l1d_repl" */
};

struct perf_group {
	const char *name, *about; /* about: a sentence, or NULL */
	struct perf_event *event; /* PERF_GROUP_EVENTS_MAX at most */
	struct perf_formula *formula;
	uint32_t nevents, nformulas;
	bool any; /* of `arch any` */
};

struct perf_table {
	struct pool pool;
	struct perf_group group[PERF_GROUPS_MAX];
	struct perf_event event[PERF_EVENTS_MAX];
	struct perf_formula formula[PERF_FORMULAS_MAX];
	uint32_t ngroups, nevents, nformulas;
	const char *arch, *what;    /* of the CPU; NULL: no file knows it */
	uint32_t counters, smtless; /* general counters with and without SMT; 0: not known */
	const struct perf_cpu *cpu; /* whose groups are taken; */
	const char *name;           /* or this file's or archspec's name, when not NULL */
};

/* Which CPU the groups are for; both NULL: all of them, the first group of each name, to know the
 * names. Both are borrowed as long as files are read. */
void perf_table_init(struct perf_table *t, const struct perf_cpu *cpu, const char *name);
void perf_table_free(struct perf_table *t);

/* file is what errors call it: "my.events:12: ...". The text need not end in NUL. 0 or -errno. */
int perf_table_parse(struct perf_table *t, const char *file, const char *text, size_t len,
		     struct err *e);
/* The files that travel in the program. */
int perf_table_builtin(struct perf_table *t, struct err *e);
int perf_table_file(struct perf_table *t, const char *path, struct err *e);

/* The event's code for cores of that kind (NULL: all are alike). */
uint64_t perf_code(const struct perf_event *ev, const char *kind);

const struct perf_group *perf_table_group(const struct perf_table *t, const char *name);

/* For perf_parse.c: a group that was read and is sound is copied into the table. 0; -E2BIG when the
 * table is full, -ENOMEM. */
int perf_table_add(struct perf_table *t, const struct perf_group *g);

#endif
