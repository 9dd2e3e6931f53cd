/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric.h - the catalogue row: what a number is, declared once, in the source that measures it;
 * and the five states that its values have.
 */
#ifndef SONDE_CORE_METRIC_H
#define SONDE_CORE_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The five states of a value. Absent is never 0.
 *
 * ABSENT: nothing was there then. The last three are states of a series over a time range, each
 * with a reason. Empty in CSV, null in JSON and tables.
 */

/* The numbers are in the file format: append only. ABSENT is 0, so that zeroed memory holds
 * nothing. */
enum state {
	STATE_ABSENT = 0,
	STATE_PRESENT,
	STATE_UNSUPPORTED, /* this machine has no such thing */
	STATE_FORBIDDEN,   /* it is there and this user may not read it */
	STATE_FAILED,      /* it should have worked: the reason says what happened */
	STATE_NUMBER_OF
};

const char *state_name(enum state s);
/* What a failed open or read means: -ENOENT, -ENODEV, -ENOSYS, -EOPNOTSUPP -> unsupported;
 * -EACCES, -EPERM -> forbidden; everything else -> failed. */
enum state state_of(int negative_errno);

/*
 * The catalogue row: what a number is, declared once, in the source that measures it.
 *
 * CSV headers, JSON keys, axes, tables, docs/metrics.md and `sonde metrics` all read this row;
 * nothing else spells a metric's name. Stored values are integers: stored x mul / div is in the
 * base unit.
 */

/* Base units only; a rate's unit is computed (unit_rate). The names are in core/metric.c.
 * The numbers are in the file format: append only. */
enum unit {
	UNIT_ONE = 0, /* a bare number: load */
	UNIT_COUNT,   /* things: processes, calls, faults */
	UNIT_RATIO,   /* 0..1 */
	UNIT_SECONDS, /* counter: rate is cores (or seconds per second) */
	UNIT_BYTES,
	UNIT_JOULES,
	UNIT_HERTZ,
	UNIT_CELSIUS,
	/* made by rates, or declared by imports */
	UNIT_CORES,
	UNIT_BYTES_PER_SECOND,
	UNIT_PER_SECOND,
	UNIT_WATTS,
	UNIT_ELAPSED_SECONDS, /* counter of time that passed (busy, stalled): its rate is a ratio */
	UNIT_NUMBER_OF
};

/* A total grows as a counter does, but in steps that do not say when: it has no rate. */
enum kind { KIND_COUNTER = 0, KIND_GAUGE, KIND_STATE, KIND_TOTAL, KIND_NUMBER_OF };

/* How values of several instances, or of several nodes, become one. NONE: they may not be combined.
 */
enum combine {
	COMBINE_NONE = 0,
	COMBINE_SUM,
	COMBINE_MEAN,
	COMBINE_MAX,
	COMBINE_MIN,
	COMBINE_NUMBER_OF
};

/* How the 64 stored bits are read. */
enum storage { STORE_INT = 0, STORE_REAL, STORE_NUMBER_OF };

struct metric {
	const char *name; /* scope.noun_unit, [a-z][a-z0-9_.]*: "process.cpu_seconds" */
	const char
		*domain;   /* what an instance is: "process", "disk", ...; NULL = the node itself */
	const char *label; /* heading or axis, without the unit */
	const char *help;  /* one sentence, ends with a full stop */
	const char *formula; /* derived metric: an expression (core/expr/expr.h); NULL = measured */
	uint32_t mul, div;   /* stored x mul / div = base unit; 0 means 1 */
	enum unit unit;
	enum kind kind;
	enum storage storage;
	enum combine over_instances, over_nodes;
};

const char *unit_name(enum unit u); /* "bytes", "seconds", ...; "" for UNIT_ONE */
/* What a counter in u becomes per second: bytes -> bytes/s, seconds -> cores, joules -> watts. */
enum unit unit_rate(enum unit u);
/* The reverse of unit_name; UNIT_NUMBER_OF when unknown. */
enum unit unit_parse(const char *name);
const char *kind_name(enum kind k);
const char *combine_name(enum combine c);

/* The public name of a counter's rate: the trailing unit word is replaced by the rate's.
 * process.cpu_seconds -> process.cpu_cores; disk.read_bytes -> disk.read_bytes_per_second;
 * disk.busy_seconds (UNIT_ELAPSED_SECONDS) -> disk.busy_ratio;
 * job.processes_started -> job.processes_started_per_second. Gauges keep their name. */
void metric_rate_name(const struct metric *m, char *out, size_t size);

/* Stored integer (or the bits of a double) to base units. */
static inline double metric_value(const struct metric *m, int64_t stored)
{
	double v;

	if (m->storage == STORE_REAL)
		memcpy(&v, &stored, sizeof v);
	else
		v = (double)stored;
	if (m->mul > 1)
		v *= m->mul;
	if (m->div > 1)
		v /= m->div;
	return v;
}

/* A number for people with its unit, in the manner of the unit: "3.1 GiB", "42.0 MB/s", "3.10
 * cores", "1 h 02 min", "12 %". Returns out. */
const char *unit_format(enum unit u, double value, char *out, size_t size);

#endif
