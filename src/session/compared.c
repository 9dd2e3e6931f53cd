/* SPDX-License-Identifier: Apache-2.0 */
#include "session/compared.h"
#include "recording/join.h"

#include <errno.h>

int compared_usual_conditions(struct comparison *x, struct err *e)
{
	static const char *const figures[] = { "wall_seconds", "cpu_seconds", "peak_memory_bytes" };
	char text[128];
	int rc = 0;

	for (size_t i = 0; i < sizeof figures / sizeof figures[0] && !rc; i++) {
		snprintf(text, sizeof text, "%s>+%.6g%%", figures[i], 100 * x->margin);
		rc = comparison_add_condition(x, text, e);
		if (!rc)
			x->condition[x->nconditions - 1].if_known = true;
	}
	return rc;
}

static int read_run(const struct compared_reading *c, const char *path, enum comparison_group group,
		    struct err *e)
{
	struct run *r = NULL;
	struct summary s = { 0 };
	struct progress progress;
	int rc;

	progress_begin(&progress);
	rc = run_open_showing(&r, path, &(struct run_progress){ progress_show, &progress }, e);
	if (rc)
		return rc;
	if (r->ndamages && group != GROUP_HISTORY)
		say("%s: %s is damaged; comparing the undamaged part", c->verb, path);
	rc = summary_make(&s, r, e);
	if (!rc && group != GROUP_HISTORY && !s.complete)
		say("%s: %s is incomplete: it was truncated or is still running", c->verb, path);
	if (!rc && comparison_add_run(c->result, group, r, &s))
		rc = err_set(e, -ENOMEM, "out of memory for the figures of %.300s", path);
	if (!rc && c->also && group != GROUP_HISTORY)
		rc = c->also(c->ctx, group, r, &s, e);
	summary_free(&s);
	run_close(r);
	return rc;
}

int compared_read(const struct compared_reading *c, struct err *e)
{
	const struct wanted *w = c->wanted;
	const struct history *past = &w->past;
	int rc = 0;

	if (comparison_expect(c->result, w->n + past->n))
		rc = err_set(e, -ENOMEM, "out of memory for the figures of %u runs", w->n);
	for (uint32_t i = 0; i < w->n && !rc; i++)
		rc = read_run(c, w->run[i].path, w->run[i].group, e);
	for (uint32_t i = 0; i < past->n && !rc; i++)
		if (comparison_add_past(c->result, past, &past->run[i]))
			rc = err_set(e, -ENOMEM, "out of memory for the figures of the history");
	if (!rc && comparison_judge(c->result))
		rc = err_set(e, -ENOMEM, "out of memory while comparing");
	return rc;
}
