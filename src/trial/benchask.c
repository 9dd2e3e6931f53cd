/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/benchask.h"

#include "console/command.h"
#include "session/history.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SWEEP_WORD "sweep:"
#define BENCH_WORD "bench:"

/* Of a batch, its trials alone. */
static int read_batch(struct campaign *c, struct database *s, int64_t batch, struct err *e)
{
	const struct field v = field_int(batch), *row = NULL;
	char name[CONTRACT_NAME + 1], condition[64];
	int rc = database_first(s,
				"SELECT i.name FROM trials t JOIN indicators i ON i.id = "
				"t.indicator_id WHERE t.batch_id = $1 ORDER BY t.number LIMIT 1",
				&v, 1, &row, e);

	if (rc <= 0 || !row)
		return rc < 0 ? rc
			      : err_set(e, -ENOENT,
					"no trial of bench:%" PRId64
					" said what it measures; sonde "
					"bench list lists batches",
					batch);
	snprintf(name, sizeof name, "%s", row[0].s);
	snprintf(condition, sizeof condition, "batch=%" PRId64, batch);
	rc = campaign_read(c, s, name, e);
	return rc ? rc : campaign_where(c, condition, e);
}

const char *benchask_indicator(const char *word)
{
	return strncmp(word, BENCH_WORD, strlen(BENCH_WORD)) ? word : word + strlen(BENCH_WORD);
}

int benchask_campaign(struct campaign *c, struct database *s, const char *word, struct err *e)
{
	int64_t batch = bench_batch_id(word);

	if (!strncmp(word, SWEEP_WORD, strlen(SWEEP_WORD)))
		return campaign_read_sweep(c, s, word + strlen(SWEEP_WORD), e);
	if (batch)
		return read_batch(c, s, batch, e);
	return campaign_read(c, s, benchask_indicator(word), e);
}

int benchask_read(struct campaign *c, const struct bench_figure **f, const struct benchask *ask,
		  const char *verb, const char *indicator, struct err *e)
{
	const struct history_options where = { .store = ask->store };
	struct database *s = NULL;
	int rc;

	if (!indicator)
		return err_set(e, -EINVAL,
			       "no indicator given: sonde %s INDICATOR; sonde bench list lists "
			       "them",
			       verb);
	rc = history_open(&s, &where, verb, e);
	if (!rc)
		rc = benchask_campaign(c, s, indicator, e);
	database_close(s);
	for (uint32_t i = 0; i < ask->where.n && !rc; i++)
		rc = campaign_where(c, ask->where.text[i], e);
	rc = rc ? rc : campaign_choose(c, ask->column, f, e);
	if (!rc && !strcmp((*f)->name, "peak_memory_bytes"))
		benchprint_say_memory(&c->g, verb);
	return rc;
}

void benchask_say_silent(const struct campaign *c, const char *verb)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->g.ntrials; i++)
		n += !c->left_out[i] && !campaign_said(c, i);
	if (n)
		say("%s: %u trial%s failed before %s said what %s", verb, n, n == 1 ? "" : "s",
		    n == 1 ? "it" : "they", n == 1 ? "it was" : "they were");
}

const char *benchask_number(const struct bench_figure *f, double v, char *out, size_t size)
{
	enum unit u = bench_unit(f);

	if (isnan(v))
		snprintf(out, size, "-");
	else if (u != UNIT_ONE)
		unit_format(u, v, out, size);
	else
		snprintf(out, size, "%.5g%s%.40s", v, f->unit ? " " : "", f->unit ? f->unit : "");
	return out;
}

const char *benchask_trial(const struct campaign *c, uint32_t trial, char *out, size_t size)
{
	snprintf(out, size, "bench:%" PRId64 "/%" PRId64, c->g.row[trial].batch_id,
		 c->g.row[trial].number);
	return out;
}

const char *benchask_trials(uint32_t n, char *out, size_t size)
{
	snprintf(out, size, "%u trial%s", n, n == 1 ? "" : "s");
	return out;
}

void benchask_trial_json(struct json *j, const struct campaign *c, uint32_t trial)
{
	json_object(j);
	json_put_int(j, "batch", c->g.row[trial].batch_id);
	json_put_int(j, "trial", c->g.row[trial].number);
	json_key(j, "start");
	if (c->g.row[trial].start_ns)
		json_time(j, c->g.row[trial].start_ns);
	else
		json_null(j);
	json_object_end(j);
}

void benchask_parameters_json(struct json *j, const struct campaign *c, uint32_t trial)
{
	json_key(j, "parameters");
	json_object(j);
	for (uint32_t i = 0; i < c->g.nparameters; i++)
		if (c->g.parameter[i].text[trial])
			json_put_text(j, c->g.parameter[i].name, c->g.parameter[i].text[trial]);
	json_object_end(j);
}

const char *benchask_better(const struct bench_figure *f)
{
	return f->sense == BENCH_LESS_IS_BETTER   ? "less"
	       : f->sense == BENCH_MORE_IS_BETTER ? "more"
						  : NULL;
}
