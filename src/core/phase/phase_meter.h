/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_meter.h - what metrics were while phases went on: mean, most, and the total of what is a
 * rate.
 *
 * A reading holds for the time it stands for (core/frame/derive.h) and counts in a phase with the
 * part of it that lies within; the most of a phase is that of readings whose middle lies within.
 * known_s says for how much of the phase there were readings; without any a figure is absent. So it
 * is when readings that lie within altogether make up less than half of that: of a phase that is
 * finer than the samples, what they saw outside of it would be told. Of several phases together
 * each instant of a node counts once.
 */
#ifndef SONDE_CORE_PHASE_PHASE_METER_H
#define SONDE_CORE_PHASE_PHASE_METER_H

#include "core/phase/phase_nest.h"

enum { PHASE_METERED_MAX = 50000 };

struct phase_metric {
	char name[96];
	const char *label;
	char total_name[96];        /* of what it adds up to: "job.cpu_seconds" */
	enum unit unit, total_unit; /* total_unit UNIT_NUMBER_OF: it adds up to nothing */
	bool known, used;           /* some phase has a figure; one above 0 */
};

struct phase_figure {
	double mean, most, total; /* NAN: not known */
	double known_s, inner_s;  /* over all nodes; of readings that lie within altogether */
};

struct phase_meter {
	struct phase_metric *metric;
	uint32_t nmetrics;
	struct phase_figure *of_phase; /* [phases.n * nmetrics] */
	struct phase_figure *of_total; /* [totals.n * nmetrics] */
};

/* Metrics that match a glob and have values on a node. 0 or -errno with a sentence: -E2BIG for more
 * than PHASE_METERED_MAX phases. {0} is empty and safe to free. Labels are borrowed from the run.
 */
int phase_meter_make(struct phase_meter *m, struct run *r, const struct phases *p,
		     const struct phase_totals *t, const char *globs, struct err *e);
void phase_meter_free(struct phase_meter *m);

/* Those of one phase, or total: [nmetrics]. NULL: there are none. */
static inline const struct phase_figure *phase_figures(const struct phase_meter *m,
						       const struct phase_figure *all, uint32_t i)
{
	return all ? all + (size_t)i * m->nmetrics : NULL;
}

#endif
