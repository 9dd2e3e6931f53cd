/* SPDX-License-Identifier: Apache-2.0 */
/* summary_growth.c - how much counters rose: the footers' last values less their first ones. */
#include "report/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_of_the_node(const struct metric *m)
{
	return m->kind == KIND_COUNTER && m->storage == STORE_INT && !m->formula &&
	       (!m->domain ||
		(strcmp(m->domain, "process") != 0 && strcmp(m->domain, "gpu_process") != 0));
}

int summary_growth_make(struct summary *s, const struct run *r, const struct series_index *x,
			struct err *e)
{
	double *grown = malloc((r->nmetrics + 1) * sizeof *grown);

	s->growth = calloc(r->nmetrics + 1, sizeof *s->growth);
	for (uint32_t i = 0; grown && i < r->nmetrics; i++)
		grown[i] = NAN;
	for (uint32_t i = 1; grown && i < r->nseries; i++) {
		const struct run_series *row = &r->series[i];
		double rise = x->last[i] - x->begin[i], *sum = &grown[row->metric];

		if (!is_of_the_node(&r->metrics[row->metric].row) || !(rise >= 0) ||
		    row->instance >= r->ninstances ||
		    r->instances[row->instance].flags & INSTANCE_ASIDE)
			continue;
		*sum = isnan(*sum) ? rise : *sum + rise;
	}
	for (uint32_t i = 1; grown && s->growth && i < r->nmetrics; i++)
		if (!isnan(grown[i]))
			s->growth[s->ngrowth++] =
				(struct summary_growth){ r->metrics[i].row.name, grown[i] };
	free(grown);
	return grown && s->growth
		       ? 0
		       : err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
}
