/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.h - the phases of a run with their totals and figures, as text, JSON and a table.
 *
 * Names, keys and hosts are hostile and escaped here.
 */
#ifndef SONDE_REPORT_PHASES_PHASES_H
#define SONDE_REPORT_PHASES_PHASES_H

#include "base/bytes.h"
#include "core/phase/phase_meter.h"

#include <stdio.h>

/* What figures are made of when nobody says. */
#define PHASE_METRICS                                                                              \
	"job.cpu_cores,job.resident_bytes,job.pss_bytes,job.read_bytes_per_second,"                \
	"job.written_bytes_per_second,job.storage_*_bytes_per_second,node.power_watts,"            \
	"job.power_apportioned_watts,gpu.utilization_ratio,gpu.memory_used_bytes,gpu.power_watts," \
	"network.[rt]*_bytes_per_second"

struct phase_report {
	struct run *run; /* borrowed */
	struct phase_rules rules;
	struct phases phases;
	struct phase_totals totals;
	struct phase_meter meter;
	bool unmetered; /* there are too many for figures, which nobody asked for */
};

struct phase_report_wish {
	const char *names;   /* globs; NULL: all phases */
	const char *metrics; /* globs; NULL: those of PHASE_METRICS that there are */
	const char *rules;   /* a file or a directory of rules beside the built-in ones; or NULL */
	bool figures;        /* with figures of metrics */
	bool marks_only;     /* no spans */
};

/* The rules that travel in the program. 0 or -errno with a sentence. */
int phase_rules_builtin(struct phase_rules *rules, struct err *e);

/* 0 or -errno with a sentence: -EINVAL for rules or globs that make no sense. Free in either case.
 */
int phase_report_make(struct phase_report *p, struct run *r, const struct phase_report_wish *w,
		      struct err *e);
void phase_report_free(struct phase_report *p);

/* Lines of at most 80 columns but for names; all: every phase, and rows by node and key. */
void phase_report_text(struct bytes *b, const struct phase_report *p, bool all);
/* Schema sonde/phases/1, written as it is made. 0 or -errno with a sentence. */
int phase_report_json(const struct phase_report *p, FILE *out, struct err *e);
/* A row for each phase, or for each total. 0 or -errno with a sentence. */
int phase_report_csv(const struct phase_report *p, bool totals, FILE *out, struct err *e);

/* The node's name, apart from others of its host; "" for node 0. Returns out. */
const char *phase_report_node(const struct phase_report *p, uint32_t node, char *out, size_t size);

#endif
