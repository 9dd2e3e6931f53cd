/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - what is known of series without decoding them: as much as the parts of a summary ask
 * for, and by how much counters rose. */
#include "base/array.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a series whose nodes are being read. */
struct series_seen {
	double begin, last, max, min; /* in base units; NAN: no value */
	double sum, seconds;          /* of value x seconds; the mean is their quotient */
};

/* ---- what is asked for ---- */

uint32_t series_index_ask(struct series_index *x, const char *metric, unsigned fields)
{
	uint32_t id = run_find_metric(x->run, metric);

	if (id)
		x->asked[id] |= (uint8_t)fields;
	return id;
}

static void ask_all(struct series_index *x)
{
	summary_job_ask(x);
	summary_energy_ask(x);
	summary_straggler_ask(x);
	summary_counters_ask(x);
	summary_devices_ask(x);
	summary_failure_ask(x);
	summary_processes_ask(x);
	summary_standouts_ask(x);
	summary_movers_ask(x);
	summary_ending_ask(x);
	summary_mpi_ask(x);
}

/* ---- shares of a machine ---- */

/*
 * What several recordings of one host saw of the machine at the same time is the same: it is their
 * mean, so that it counts once.
 */

struct span {
	double from, to, sum;
};

/* share[i]: of what node i saw of its machine, the part that no other recording saw as well.
 * [nnodes]; to be freed; NULL: out of memory. */
static double *shares(const struct run *r)
{
	uint32_t *host = calloc(r->nnodes + 1, sizeof *host);
	struct span *span = calloc(r->nnodes + 1, sizeof *span);
	double *share = calloc(r->nnodes + 1, sizeof *share);
	bool made = host && span && share && !run_hosts(r, host);

	for (uint32_t i = 0; made && i < r->nnodes; i++)
		span[i] = (struct span){ NAN, NAN, 0 };
	for (uint32_t i = 1; made && i < r->nnodes; i++) {
		struct span *all = &span[host[i]];
		double from = run_seconds(r, i, r->nodes[i].first_ns);
		double to = run_seconds(r, i, r->nodes[i].last_ns);

		if (!r->nodes[i].rows || !(to > from))
			continue;
		all->from = fmin(all->from, from);
		all->to = fmax(all->to, to);
		all->sum += to - from;
	}
	for (uint32_t i = 1; made && i < r->nnodes; i++)
		share[i] = fmin(1, (span[host[i]].to - span[host[i]].from) / span[host[i]].sum);
	free(host);
	free(span);
	if (made)
		return share;
	free(share);
	return NULL;
}

/* ---- from the first node to the last ---- */

int series_index_make(struct series_index *x, const struct run *r, bool *unasked)
{
	*unasked = false;
	*x = (struct series_index){ .run = r,
				    .unasked = unasked,
				    .asked = calloc(r->nmetrics + 1u, sizeof *x->asked),
				    .grown = malloc((r->nmetrics + 1u) * sizeof *x->grown),
				    .first = calloc(r->ninstances + 1u, sizeof *x->first),
				    .kept = calloc(1, sizeof *x->kept),
				    .share = shares(r),
				    .nkept = 1,
				    .kept_cap = 1 };
	if (!x->asked || !x->grown || !x->first || !x->kept || !x->share)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nmetrics; i++)
		x->grown[i] = NAN;
	ask_all(x);
	return 0;
}

int series_index_begin(struct series_index *x, uint32_t from, uint32_t to)
{
	static const struct series_seen none = { NAN, NAN, NAN, NAN, 0, 0 };

	x->from = from;
	x->to = to;
	run_series_of(x->run, from, to, &x->first_seen, &x->behind_seen);
	x->seen = malloc((x->behind_seen - x->first_seen + 1u) * sizeof *x->seen);
	for (uint32_t i = x->first_seen; x->seen && i < x->behind_seen; i++)
		x->seen[i - x->first_seen] = none;
	return x->seen ? 0 : -ENOMEM;
}

void series_index_add(struct series_index *x, const struct range *range, uint32_t n)
{
	const struct run *r = x->run;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t series = range[i].series;
		struct series_seen *seen;
		const struct metric *m;

		if (!range[i].count || series < x->first_seen || series >= x->behind_seen)
			continue;
		m = &r->metrics[r->series[series].metric].row;
		seen = &x->seen[series - x->first_seen];
		if (isnan(seen->begin))
			seen->begin = metric_value(m, range[i].first);
		seen->last = metric_value(m, range[i].last);
		seen->max = fmax(seen->max, metric_value(m, range[i].max));
		seen->min = fmin(seen->min, metric_value(m, range[i].min));
		seen->sum += range[i].weighted_sum * metric_value(m, 1);
		seen->seconds += range[i].weight;
	}
}

static bool is_of_the_node(const struct metric *m)
{
	return m->kind == KIND_COUNTER && m->storage == STORE_INT && !m->formula &&
	       (!m->domain ||
		(strcmp(m->domain, "process") != 0 && strcmp(m->domain, "gpu_process") != 0));
}

/* Not of the machine, so that each recording has its own. */
static bool is_of_the_job(const struct metric *m)
{
	static const char *const scopes[] = { "job.", "cgroup", "monitor.", "perf." };

	for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
		if (strncmp(m->name, scopes[i], strlen(scopes[i])) == 0)
			return true;
	return false;
}

static void add_growth(struct series_index *x, const struct run_series *row,
		       const struct series_seen *seen)
{
	const struct run *r = x->run;
	const struct metric *m = &r->metrics[row->metric].row;
	double rise = seen->last - seen->begin, *sum = &x->grown[row->metric];

	if (!(rise >= 0) || !is_of_the_node(m) || row->instance >= r->ninstances ||
	    r->instances[row->instance].flags & INSTANCE_ASIDE)
		return;
	rise *= is_of_the_job(m) ? 1 : x->share[row->node];
	*sum = isnan(*sum) ? rise : *sum + rise;
}

/* What of a series is asked for, side by side in the order of enum series_field. */
static int keep(struct series_index *x, uint32_t series, const struct series_seen *seen)
{
	const double all[] = { seen->begin, seen->last, seen->max,
			       seen->min,   seen->sum,  seen->seconds };
	struct series_kept *kept = array_room(x->kept, x->nkept, &x->kept_cap, sizeof *kept);

	if (!kept)
		return -ENOMEM;
	x->kept = kept;
	kept[x->nkept++] = (struct series_kept){ .series = series, .value = x->nvalues };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		double *value;

		if (!(x->asked[x->run->series[series].metric] >> i & 1))
			continue;
		value = array_room(x->value, x->nvalues, &x->values_cap, sizeof *value);
		if (!value)
			return -ENOMEM;
		x->value = value;
		value[x->nvalues++] = all[i];
	}
	return 0;
}

int series_index_end(struct series_index *x)
{
	const struct run *r = x->run;
	int rc = 0;

	for (uint32_t i = x->first_seen; i < x->behind_seen && !rc; i++) {
		const struct run_series *row = &r->series[i];
		const struct series_seen *seen = &x->seen[i - x->first_seen];

		if (row->node < x->from || row->node >= x->to || row->metric >= r->nmetrics)
			continue;
		add_growth(x, row, seen);
		if (x->asked[row->metric])
			rc = keep(x, i, seen);
	}
	free(x->seen);
	x->seen = NULL;
	return rc;
}

void series_index_chain(struct series_index *x)
{
	const struct run *r = x->run;

	for (uint32_t k = x->nkept; k-- > 1;) {
		uint32_t instance = r->series[x->kept[k].series].instance;

		if (instance >= r->ninstances)
			continue;
		x->kept[k].next = x->first[instance];
		x->first[instance] = k;
	}
}

int series_index_growth(const struct series_index *x, struct summary *s)
{
	s->growth = calloc(x->run->nmetrics + 1u, sizeof *s->growth);
	for (uint32_t i = 1; s->growth && i < x->run->nmetrics; i++)
		if (!isnan(x->grown[i]))
			s->growth[s->ngrowth++] =
				(struct summary_growth){ x->run->metrics[i].row.name, x->grown[i] };
	return s->growth ? 0 : -ENOMEM;
}

void series_index_free(struct series_index *x)
{
	free(x->asked);
	free(x->grown);
	free(x->share);
	free(x->first);
	free(x->kept);
	free(x->value);
	free(x->seen);
	*x = (struct series_index){ 0 };
}

/* ---- what was kept ---- */

/* Whether it is kept of a metric; a part that looks at what it did not ask for is a fault. */
static bool is_asked(const struct series_index *x, uint32_t metric, unsigned fields)
{
	bool asked = (x->asked[metric] & fields) == fields;

	*x->unasked |= metric && !asked;
	return metric && asked;
}

double series_index_value(const struct series_index *x, uint32_t k, enum series_field field)
{
	const struct series_kept *kept = &x->kept[k];
	uint32_t metric = x->run->series[kept->series].metric;
	unsigned before = x->asked[metric] & (field - 1u);

	if (!is_asked(x, metric, field))
		return NAN;
	return x->value[kept->value + (uint32_t)__builtin_popcount(before)];
}

double series_index_rise(const struct series_index *x, uint32_t k)
{
	return series_index_value(x, k, SERIES_LAST) - series_index_value(x, k, SERIES_BEGIN);
}

double series_index_mean(const struct series_index *x, uint32_t k)
{
	return series_index_value(x, k, SERIES_SUM) / series_index_value(x, k, SERIES_SECONDS);
}

/* The instance's next of a metric, from the k-th on; 0: none. */
static uint32_t of_metric(const struct series_index *x, uint32_t k, uint32_t metric)
{
	while (k && x->run->series[x->kept[k].series].metric != metric)
		k = x->kept[k].next;
	return k;
}

double series_index_last(const struct series_index *x, uint32_t instance, uint32_t metric)
{
	uint32_t k =
		is_asked(x, metric, SERIES_LAST) ? of_metric(x, x->first[instance], metric) : 0;
	double found = NAN;

	for (; k; k = of_metric(x, x->kept[k].next, metric)) {
		double last = series_index_value(x, k, SERIES_LAST);

		found = isnan(last) ? found : last;
	}
	return found;
}

double series_index_grown(const struct series_index *x, uint32_t instance, uint32_t metric)
{
	uint32_t k =
		is_asked(x, metric, SERIES_RISE) ? of_metric(x, x->first[instance], metric) : 0;
	double found = NAN;

	for (; k; k = of_metric(x, x->kept[k].next, metric)) {
		double rise = series_index_rise(x, k);

		found = rise >= 0 ? rise : found;
	}
	return found;
}

/* Of its series of that metric, by fmax or fmin. */
static double furthest(const struct series_index *x, uint32_t instance, uint32_t metric,
		       enum series_field field, double (*further)(double, double))
{
	uint32_t k = is_asked(x, metric, field) ? of_metric(x, x->first[instance], metric) : 0;
	double found = NAN;

	for (; k; k = of_metric(x, x->kept[k].next, metric))
		found = further(found, series_index_value(x, k, field));
	return found;
}

double series_index_max(const struct series_index *x, uint32_t instance, uint32_t metric)
{
	return furthest(x, instance, metric, SERIES_MAX, fmax);
}

double series_index_min(const struct series_index *x, uint32_t instance, uint32_t metric)
{
	return furthest(x, instance, metric, SERIES_MIN, fmin);
}
