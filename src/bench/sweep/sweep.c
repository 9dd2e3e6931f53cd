/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/sweep.h"

#include "bench/group.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int in_transaction(struct database *s, int rc, struct err *e)
{
	if (!rc)
		return database_commit(s, e);
	database_rollback(s);
	return rc;
}

int sweep_find(struct database *s, struct sweep *w, struct err *e)
{
	const struct field v = field_text(w->uid), *row = NULL;
	int rc = database_first(s, "SELECT id, directory, trial_order FROM sweeps WHERE uid = $1",
				&v, 1, &row, e);

	if (rc <= 0 || !row)
		return rc < 0 ? rc : 0;
	w->id = row[0].i;
	snprintf(w->directory, sizeof w->directory, "%s", row[1].s ? row[1].s : "");
	w->order = row[2].s && !strcmp(row[2].s, sweep_order_names[SWEEP_ROUNDS])
			   ? SWEEP_ROUNDS
			   : SWEEP_COMBINATIONS;
	return 1;
}

int sweep_put(struct database *s, struct sweep *w, struct err *e)
{
	const struct field v[] = {
		field_text(w->uid),           field_text(w->identifier),
		field_text(w->user),          field_int(w->start_ns),
		field_text(w->directory),     field_text(w->decision),
		field_int(w->seed),           field_int(w->batch_size),
		field_text(w->specification), field_text(sweep_order_names[w->order])
	};
	int rc = database_begin(s, e);

	if (rc)
		return rc;
	rc = database_exec(
		s,
		"INSERT INTO sweeps (uid, identifier, user_name, start_ns, directory, "
		"decision, seed, batch_size, specification, trial_order) VALUES ($1, $2, "
		"$3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (uid) DO NOTHING",
		v, sizeof v / sizeof v[0], e);
	if (!rc)
		rc = sweep_find(s, w, e);
	if (!rc)
		rc = err_set(e, -EIO, "the store has lost a sweep");
	return in_transaction(s, rc < 0 ? rc : 0, e);
}

int sweep_ask_anew(struct database *s, const struct sweep *w, struct err *e)
{
	const struct field v = field_int(w->id);
	int rc = database_begin(s, e);

	if (rc)
		return rc;
	rc = database_exec(s, "UPDATE sweep_points SET skipped = NULL WHERE sweep_id = $1", &v, 1,
			   e);
	return in_transaction(s, rc, e);
}

int sweep_skip(struct database *s, const struct sweep *w, uint32_t combination, const char *reason,
	       struct err *e)
{
	const struct field v[] = { field_text(reason), field_int(w->id), field_int(combination) };
	int rc = database_begin(s, e);

	if (rc)
		return rc;
	rc = database_exec(s,
			   "UPDATE sweep_points SET skipped = $1 WHERE sweep_id = $2 AND "
			   "combination = $3",
			   v, 3, e);
	return in_transaction(s, rc, e);
}

int sweep_reason(struct database *s, const struct sweep *w, uint32_t combination, struct pool *pool,
		 const char **reason, struct err *e)
{
	const struct field v[] = { field_int(w->id), field_int(combination) }, *row = NULL;
	int rc = database_first(s,
				"SELECT skipped FROM sweep_points WHERE sweep_id = $1 AND "
				"combination = $2",
				v, 2, &row, e);

	*reason = NULL;
	if (rc <= 0 || !row || !row[0].s)
		return rc < 0 ? rc : 0;
	*reason = pool_text(pool, row[0].s, strlen(row[0].s));
	return *reason ? 0 : err_set(e, -ENOMEM, "out of memory for a sweep");
}

int sweep_put_point(struct database *s, const struct sweep *w, const struct sweep_point *p,
		    struct trial_batch *b, struct err *e)
{
	int rc = database_begin(s, e);

	if (rc)
		return rc;
	if (b)
		rc = batch_put(s, b, e);
	if (!rc) {
		const struct field v[] = {
			field_int(w->id),          field_int(p->combination),
			field_int(p->position),    b ? field_int(b->id) : (struct field){ 0 },
			field_text(p->stack),      field_text(p->environment),
			field_text(p->parameters), field_text(p->skipped)
		};

		rc = database_exec(
			s,
			"INSERT INTO sweep_points (sweep_id, combination, position, batch_id, "
			"stack, environment, parameters, skipped) VALUES ($1, $2, $3, $4, $5, $6, "
			"$7, $8) ON CONFLICT (sweep_id, combination) DO UPDATE SET batch_id = "
			"COALESCE(excluded.batch_id, sweep_points.batch_id), skipped = "
			"COALESCE(excluded.skipped, sweep_points.skipped)",
			v, sizeof v / sizeof v[0], e);
	}
	return in_transaction(s, rc, e);
}

int sweep_batch_uid(struct database *s, const struct sweep *w, uint32_t combination, char *out,
		    size_t size, struct err *e)
{
	const struct field v[] = { field_int(w->id), field_int(combination) }, *row = NULL;
	int rc = database_first(s,
				"SELECT b.uid FROM sweep_points p JOIN batches b ON b.id = "
				"p.batch_id WHERE p.sweep_id = $1 AND p.combination = $2",
				v, 2, &row, e);

	if (rc <= 0 || !row || !row[0].s)
		return rc < 0 ? rc : 0;
	snprintf(out, size, "%s", row[0].s);
	return 1;
}

int sweep_done(struct database *s, const struct trial_batch *b, bool *done, int64_t n,
	       struct err *e)
{
	const struct field v = field_int(b->id), *row;
	int rc = database_query(s, "SELECT number FROM trials WHERE batch_id = $1", &v, 1, e);

	memset(done, 0, (size_t)n * sizeof *done);
	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (row[0].i >= 1 && row[0].i <= n)
			done[row[0].i - 1] = true;
	}
	return rc;
}

/* Of the trials up to that number. */
static double median_of(const struct bench_group *g, const struct bench_figure *f, int64_t trials)
{
	double *value = calloc(g->ntrials + 1u, sizeof *value), median;
	uint32_t n = 0;

	if (!value)
		return NAN;
	for (uint32_t i = 0; i < g->ntrials; i++)
		if (g->row[i].number <= trials && !isnan(f->value[i]))
			value[n++] = f->value[i];
	median = n ? describe(value, n).median : NAN;
	free(value);
	return median;
}

int sweep_score_of(struct database *s, const struct trial_batch *b, const struct sweep_spec *spec,
		   int64_t trials, struct sweep_score *score, struct err *e)
{
	const char *wanted = spec->result ? spec->result : "score";
	struct bench_group g = { 0 };
	int rc = bench_group_read(&g, s, b->id, e);

	*score = (struct sweep_score){ .state = SWEEP_FAILED };
	for (uint32_t i = 0; i < g.nfigures && !rc; i++) {
		double median = strcmp(g.figure[i].name, wanted) != 0
					? (double)NAN
					: median_of(&g, &g.figure[i], trials);

		if (isnan(median))
			continue;
		score->state = SWEEP_KNOWN;
		score->value = spec->less_is_better ? -median : median;
	}
	bench_group_free(&g);
	return rc;
}
