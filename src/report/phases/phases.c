/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/phases.h"

#include "report/assets.h"

#include <errno.h>
#include <stdio.h>

int phase_rules_builtin(struct phase_rules *rules, struct err *e)
{
	return phase_rules_add(rules, "phases", asset_phases,
			       (size_t)(asset_phases_end - asset_phases), e);
}

/* A run need not have any of the metrics that nobody named. */
static int add_figures(struct phase_report *p, const char *globs, struct err *e)
{
	int rc;

	p->unmetered = !globs && p->phases.n > PHASE_METERED_MAX;
	if (p->unmetered)
		return 0;
	rc = phase_meter_make(&p->meter, p->run, &p->phases, &p->totals,
			      globs ? globs : PHASE_METRICS, e);

	return rc == -EINVAL && !globs ? 0 : rc;
}

int phase_report_make(struct phase_report *p, struct run *r, const struct phase_report_wish *w,
		      struct err *e)
{
	const struct phase_wish wish = { .names = w->names, .marks_only = w->marks_only };
	int rc;

	*p = (struct phase_report){ .run = r };
	rc = phase_rules_builtin(&p->rules, e);
	if (!rc && w->rules)
		rc = phase_rules_read(&p->rules, w->rules, e);
	if (!rc)
		rc = phases_make(&p->phases, r, &p->rules, &wish, e);
	if (!rc && phase_totals_make(&p->totals, &p->phases))
		rc = err_set(e, -ENOMEM, "out of memory for the phases of %.300s", r->path);
	if (!rc && w->figures && p->phases.n)
		rc = add_figures(p, w->metrics, e);
	return rc;
}

void phase_report_free(struct phase_report *p)
{
	phase_meter_free(&p->meter);
	phase_totals_free(&p->totals);
	phases_free(&p->phases);
	phase_rules_free(&p->rules);
	*p = (struct phase_report){ 0 };
}
