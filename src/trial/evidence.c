/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/evidence.h"

#include "base/array.h"
#include "base/clock.h"
#include "core/glob.h"
#include "recording/join.h"
#include "report/summary/past.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is said of machine and software; what is another one each time is not of them. */
static const char facts_kept[] = "host.*,node.memory_bytes,node.cores_*,sonde.version";
static const char facts_left_out[] = "host.boot_id,host.cpu_hertz,host.*_evidence";

static void add_meta(struct bench_facts *f, const struct run_meta *m)
{
	char number[40];

	if (!glob_match(facts_kept, m->key) || glob_match(facts_left_out, m->key))
		return;
	if (m->type == META_REAL)
		snprintf(number, sizeof number, "%.12g", m->real);
	else if (m->type == META_BOOL)
		snprintf(number, sizeof number, "%s", m->value ? "true" : "false");
	else
		snprintf(number, sizeof number, "%" PRId64, m->value);
	if (m->type != META_TEXT)
		bench_facts_put(f, m->key, number);
	else if (m->text)
		bench_facts_put(f, m->key, m->text);
}

static void put_counters(struct bytes *b, const struct summary *s)
{
	struct json j = { .out = b };

	if (!s->ncounters)
		return;
	json_object(&j);
	for (uint32_t i = 0; i < s->ncounters; i++) {
		json_key(&j, s->counters[i].metric);
		json_real(&j, s->counters[i].value);
	}
	json_object_end(&j);
	bytes_u8(b, 0);
}

static const char *text_of(const struct run *r, const char *key)
{
	const char *text = r->nnodes ? run_find_text(r, r->nnodes - 1, key) : NULL;

	return text ? text : "";
}

/* The kernel counts them in ticks of 10 ms: of short trials nothing follows. */
static const double least_s = 0.2;
#define FREQUENCY "cpu.frequency_hertz"

/* Over all cores. */
static double mean_frequency(const struct summary *s)
{
	struct stats all = { 0 };

	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (!strncmp(s->metrics[i].name, FREQUENCY "[", strlen(FREQUENCY "[")))
			stats_join(&all, &s->metrics[i].stats);
	return stats_mean(&all);
}

static double known_sum(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static void take_noise(struct trial *t, const struct summary *s)
{
	double time = s->wall_s * s->cores_present;

	t->noise[NOISE_HEAT] =
		known_sum(summary_grown(s, "cpu.throttles"), summary_grown(s, "package.throttles"));
	t->noise[NOISE_FREQUENCY] = mean_frequency(s);
	if (!(s->wall_s >= least_s))
		return;
	t->noise[NOISE_OTHERS] = s->cpu_is_bound ? (double)NAN : summary_others_s(s) / time;
	t->noise[NOISE_WAITED] = s->account.whole_s > 0
					 ? s->account.part_s[ACCOUNT_OTHERS] / s->wall_s
					 : (double)NAN;
	t->noise[NOISE_STEAL] = summary_grown(s, "node.cpu_steal_seconds") / time;
	t->noise[NOISE_THROTTLED] = summary_grown(s, "cgroup.throttled_seconds") / s->wall_s;
}

static int take(struct evidence *v, struct trial *t, struct run *r, struct err *e)
{
	char absolute[PATH_MAX], wished[128];
	const struct summary_wish wish = { .compared = wished };
	struct summary s;
	int rc;

	snprintf(wished, sizeof wished, "%s," FREQUENCY, past_metrics);
	rc = summary_make_as(&s, r, &wish, e);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < r->nmetas; i++)
		add_meta(&v->facts, &r->metas[i]);
	snprintf(v->governor, sizeof v->governor, "%s", text_of(r, "host.cpu_governor"));
	snprintf(v->host, sizeof v->host, "%s", text_of(r, "node.host"));
	put_counters(&v->counters, &s);
	t->peak_memory_bytes = s.peak_memory_bytes;
	snprintf(v->memory_kind, sizeof v->memory_kind, "%s",
		 s.peak_memory_kind ? s.peak_memory_kind : "");
	t->energy_j = s.energy_j;
	t->energy_apportioned_j = s.energy_job_j;
	take_noise(t, &s);
	if (past_add(&v->past, r, &s, realpath(r->path, absolute) ? absolute : r->path,
		     clock_utc_ns()) ||
	    v->facts.failed || v->counters.failed)
		rc = err_set(e, -ENOMEM, "out of memory for the recording of a trial");
	summary_free(&s);
	return rc;
}

int evidence_read(struct evidence *v, struct trial *t, const char *path, struct err *e)
{
	struct run *r = NULL;
	int rc;

	*v = (struct evidence){ 0 };
	rc = run_open(&r, path, e);
	if (!rc)
		rc = take(v, t, r, e);
	run_close(r);
	if (rc)
		return rc;
	t->path = v->past.n ? v->past.run[0].text[HISTORY_PATH] : NULL;
	t->peak_memory_kind = *v->memory_kind ? v->memory_kind : NULL;
	t->governor = *v->governor ? v->governor : NULL;
	t->counters = v->counters.len ? (const char *)v->counters.data : NULL;
	if (*v->host)
		t->host = v->host;
	return 0;
}

void evidence_free(struct evidence *v)
{
	bench_facts_free(&v->facts);
	history_free(&v->past);
	bytes_free(&v->counters);
}
