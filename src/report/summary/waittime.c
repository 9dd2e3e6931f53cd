/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/waittime.h"

#include "base/text/json.h"
#include "report/phases/phases.h"
#include "report/summary/code.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int open_with_phases(struct waittime *w, struct run *r, struct err *e)
{
	struct phase_rules rules = { 0 };
	struct phases phases = { 0 };
	int rc = phase_rules_builtin(&rules, e);

	if (!rc)
		rc = phases_make(&phases, r, &rules, &(struct phase_wish){ 0 }, e);
	if (!rc)
		rc = waiting_open(&w->waiting, r, &w->classes, &phases, e);
	phases_free(&phases);
	phase_rules_free(&rules);
	return rc;
}

static const char *text_of(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_TEXT ? m->text : NULL;
}

/* Why there are none: the node whose source refused, 0: none did. */
static uint32_t node_that_refused(const struct run *r)
{
	for (uint32_t node = 1; node < r->nnodes; node++)
		if (text_of(r, node, "source.waits"))
			return node;
	return 0;
}

static bool was_wanted(const struct run *r)
{
	for (uint32_t node = 1; node < r->nnodes; node++)
		if (run_find_meta(r, node, "waits.looks_per_second"))
			return true;
	return false;
}

int waittime_make(struct waittime **out, struct run *r, bool phases, struct err *e)
{
	bool recorded = r->nsample_sets_of[SAMPLE_WAITS];
	uint32_t node = node_that_refused(r);
	const char *refused = node ? text_of(r, node, "source.waits") : NULL;
	struct waittime *w;
	int rc;

	if (!recorded && !node && was_wanted(r))
		refused = "its processes were too short to be watched";
	*out = NULL;
	if (!recorded && !refused)
		return 0;
	w = calloc(1, sizeof *w);
	if (!w)
		return err_set(e, -ENOMEM, "out of memory for the waits of %.300s", r->path);
	w->refused = refused;
	w->fix_user = node ? text_of(r, node, "source.waits.fix_user") : NULL;
	w->fix_admin = node ? text_of(r, node, "source.waits.fix_admin") : NULL;
	rc = code_classes(&w->classes, NULL, e);
	if (!rc)
		rc = phases ? open_with_phases(w, r, e)
			    : waiting_open(&w->waiting, r, &w->classes, NULL, e);
	if (rc)
		waittime_free(w);
	else
		*out = w;
	return rc;
}

void waittime_free(struct waittime *w)
{
	if (!w)
		return;
	waiting_close(w->waiting);
	classes_free(&w->classes);
	free(w);
}

double waittime_ratio(const struct waiting *w, double seconds)
{
	double wall = waiting_wall(&w->time);

	return wall > 0 ? seconds / wall : 0;
}

/* ---- as JSON ---- */

static void put_time(struct json *j, const struct waiting_time *t)
{
	double most;
	enum wait_kind kind = waiting_most(t, &most);

	json_put_real(j, "wall_seconds", waiting_wall(t));
	json_put_real(j, "on_cpu_seconds", t->on_cpu);
	json_put_real(j, "ready_seconds", t->ready);
	json_put_real(j, "waited_seconds", waiting_waited(t));
	json_put_real(j, "unseen_seconds", t->unseen);
	json_put_real(j, "forbidden_seconds", t->forbidden);
	json_put_text(j, "waits_for", most > 0 ? wait_kind_name(kind) : NULL);
	json_put_real(j, "waits_for_seconds", most);
}

static void put_function(struct json *j, const struct waiting_row *row)
{
	json_put_text(j, "function", *row->function ? row->function : NULL);
	json_put_text(j, "module", row->module);
	json_put_text(j, "file", row->file);
	json_key(j, "line");
	if (row->line)
		json_int(j, row->line);
	else
		json_null(j);
}

static void put_row(struct json *j, const struct run *r, enum waiting_by by,
		    const struct waiting_row *row)
{
	json_object(j);
	json_put_text(j, "name", row->name);
	if (by == WAITING_BY_OBJECT || by == WAITING_BY_PLACE)
		json_put_text(j, "object", *row->object ? row->object : NULL);
	if (by == WAITING_BY_FUNCTION || by == WAITING_BY_PLACE)
		put_function(j, row);
	if (by == WAITING_BY_RANK)
		json_put_real(j, "rank", row->rank);
	if (by == WAITING_BY_PROCESS || by == WAITING_BY_THREAD) {
		json_put_text(j, "host", row->node < r->nnodes ? r->nodes[row->node].host : NULL);
		json_put_text(j, "pid", run_label(r, row->instance, "pid"));
	}
	if (by == WAITING_BY_THREAD)
		json_put_int(j, "tid", row->tid);
	put_time(j, &row->time);
	json_object_end(j);
}

static void put_rows(struct json *j, const struct run *r, const struct waiting *w,
		     enum waiting_by by, unsigned most)
{
	const struct waiting_rows *rows = &w->rows[by];

	json_key(j, waiting_by_names[by]);
	json_array(j);
	for (uint32_t i = 0; i < rows->n && i < most; i++)
		put_row(j, r, by, &rows->row[i]);
	json_array_end(j);
}

void waittime_json(const struct waittime *w, const struct run *r, unsigned most, struct bytes *out)
{
	struct json j = { .out = out, .indent = true };
	bool known = w && w->waiting;

	json_object(&j);
	json_put_text(&j, "schema", "sonde/waits/1");
	json_put_text(&j, "recording", r->path);
	json_put_text(&j, "not_recorded",
		      known             ? NULL
		      : w && w->refused ? w->refused
					: "waits were not recorded");
	if (known) {
		put_time(&j, &w->waiting->time);
		json_put_real(&j, "processes_seconds", w->waiting->processes_s);
		json_put_real(&j, "watched_seconds", w->waiting->watched_s);
		for (int by = 0; by < WAITING_BY_NUMBER_OF; by++)
			put_rows(&j, r, w->waiting, (enum waiting_by)by, most);
	}
	json_object_end(&j);
	bytes_puts(out, "\n");
}
