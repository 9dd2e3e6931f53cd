/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - what is told of a logical core beside its time: labels, frequency, thermal throttling.
 *
 * All cores are asked in the same sample, so that their mean is of one instant: at most 16 files a
 * second in the mean, but every 10 s; interrupts, whose file is a large one, within a
 * ten-thousandth of one core. In the samples between, the values are absent. The rows are
 * CORE_DETAILS series side by side, in the device's own, from `first` on; those that no core
 * here tells may be left out at the end.
 */
#ifndef SONDE_SOURCE_CORE_H
#define SONDE_SOURCE_CORE_H

#include "base/root.h"
#include "source/cpulist.h"
#include "source/device.h"
#include "source/period.h"
#include "source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many interrupts each CPU has taken, of all kinds: the sums of the columns of
 * /proc/interrupts, proc_interrupts(5).
 *
 * The file has a number for each kind and CPU, so it is fed in pieces of any size. The text is
 * hostile. Rows that do not have a number for every CPU count for none, nor do ERR and
 * MIS, which are counted for the machine and look like any other where it has one CPU.
 */

enum interrupts_part { INTERRUPTS_HEADER, INTERRUPTS_LABEL, INTERRUPTS_COUNTS, INTERRUPTS_REST };

struct interrupts {
	uint32_t ncolumns, nrows; /* rows that counted */
	uint32_t *cpu;            /* of each column */
	int64_t *sum;
	/* of the line that is being read */
	enum interrupts_part part;
	int64_t *row;
	uint32_t label; /* its last three characters */
	uint32_t column;
	int64_t number; /* -1: none has begun */
};

int interrupts_init(struct interrupts *x); /* 0 or -ENOMEM */
void interrupts_free(struct interrupts *x);

void interrupts_begin(struct interrupts *x);
void interrupts_feed(struct interrupts *x, const char *text, size_t n);
/* Was that a whole file? Then cpu[] and sum[] hold ncolumns figures. */
bool interrupts_end(const struct interrupts *x);

/*
 * Where a logical core sits: its package, core, NUMA node, and kind on a hybrid CPU.
 *
 * Asked when a core appears; nothing is kept open. What the kernel does not tell is -1 or NULL,
 * never 0.
 */

struct topology {
	const struct root *sys;
	struct cpulist performance, efficiency, low_power; /* empty where cores are all alike */
	uint16_t numa[CPUS_MAX];                           /* node + 1; 0: not known */
};

struct place {
	int64_t package, core, thread, numa; /* thread: its rank among those of its core */
	const char *type;                    /* "performance", "efficiency", "low_power" */
};

enum core_detail { CORE_INTERRUPTS, CORE_FREQUENCY, CORE_THROTTLES, CORE_THROTTLED, CORE_DETAILS };

struct core_reader {
	const struct root *sys, *proc;
	struct topology topology;
	uint32_t first; /* CPU that is online: what it has, all have */
	struct period period;
	int64_t period_ns;
	int cpuinfo; /* kept open where it tells the frequency */
	bool tells[CORE_DETAILS];
	struct interrupts interrupts;
	struct period interrupts_period;
	int64_t interrupts_period_ns;
	int interrupts_file;  /* kept open */
	int interrupts_error; /* why it could not be */
};

/* ncores: as many as there are now. */
void core_open(struct core_reader *r, const struct source_env *env, uint32_t ncores);
/* Does what it reads of a core depend on where the core is? */
bool core_reads_by_place(const struct core_reader *r);
/* Before the first core_born and core_read. */
void core_open_rest(struct core_reader *r);
void core_close(struct core_reader *r);
/* How many of the details, from the first on, cores here have to be asked for. */
uint32_t core_ndetails(const struct core_reader *r);
/* A core was told of: its labels, and what it cannot tell. */
void core_born(const struct core_reader *r, struct device *core, struct sample *s, uint32_t first);
void core_read_interrupts(struct core_reader *r, struct devices *cores, struct sample *s,
			  uint32_t first);
/* The other details. */
void core_read(struct core_reader *r, struct devices *cores, struct sample *s, uint32_t first);

#endif
