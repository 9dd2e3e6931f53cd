/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/own.h"

#include "base/text/decimal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 40, HALVES_LEAST = 4 };

const char own_counter[] = "program.counter";

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts them. */
static double middle(double *v, uint64_t n)
{
	qsort(v, n, sizeof *v, by_number);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* ---- the numbers of a mark's words ---- */

struct word {
	const char *key;
	size_t length;
	double value;
};

/* The next KEY=NUMBER at *at; false: there is none. Of when a mark was seen is not a number of the
 * job's. */
static bool next_word(const char **at, struct word *w)
{
	static const char when[] = "seen_within";

	for (const char *p = *at; *p;) {
		size_t length = strcspn(p, " \t,;"), key = strcspn(p, " \t,;=");
		char *end;

		*at = p + length;
		if (key && key < length && key <= KEY_MAX &&
		    (key != sizeof when - 1 || strncmp(p, when, key) != 0)) {
			*w = (struct word){ p, key, decimal_parse(p + key + 1, &end) };
			if (end == p + length && end > p + key + 1 && isfinite(w->value))
				return true;
		}
		p = *at + strspn(*at, " \t,;");
		*at = p;
	}
	return false;
}

static struct own_series *series_of(struct own *x, uint32_t node, const char *mark,
				    const char *name)
{
	struct own_series *s;

	for (uint32_t i = 0; i < x->nseries; i++)
		if (x->series[i].node == node && !x->series[i].mark == !mark &&
		    !strcmp(x->series[i].name, name))
			return &x->series[i];
	if (x->nseries == OWN_SERIES) {
		x->left_out = true;
		return NULL;
	}
	s = &x->series[x->nseries++];
	snprintf(s->name, sizeof s->name, "%s", name);
	s->node = node;
	s->mark = mark;
	return s;
}

/* "epoch loss" of the mark "epoch loss=0.3"; "epoch" of "epoch epoch=3". */
static void name_of(const struct run_mark *m, const struct word *w, char out[OWN_NAME])
{
	const char *mark = m->name ? m->name : "";

	if (strlen(mark) == w->length && !strncmp(mark, w->key, w->length))
		snprintf(out, OWN_NAME, "%s", mark);
	else
		snprintf(out, OWN_NAME, "%.48s %.*s", mark, (int)w->length, w->key);
}

/* How many values a point is of, when there will be so many in all. */
static uint64_t a_point(uint64_t n)
{
	return (n + OWN_POINTS - 1) / OWN_POINTS;
}

static void add_value(struct own_series *s, uint64_t before, uint64_t each, double at_s, double v)
{
	uint32_t point = (uint32_t)(before / each);
	double k = (double)(before % each);

	if (point >= OWN_POINTS)
		return;
	s->at_s[point] = (s->at_s[point] * k + at_s) / (k + 1);
	s->value[point] = (s->value[point] * k + v) / (k + 1);
	s->npoints = point + 1;
}

static double next_step(const struct own_series *s, double v)
{
	double step = v - s->last;

	if (!s->n)
		return 0;
	return step > 0 && step == floor(step) && (s->n == 1 || step == s->step) ? step : NAN;
}

static void see_value(struct own_series *s, double v)
{
	s->step = next_step(s, v);
	s->least = s->n ? fmin(s->least, v) : v;
	s->most = s->n ? fmax(s->most, v) : v;
	s->first = s->n ? s->first : v;
	s->last = v;
	s->n++;
}

enum place { BEFORE = -1, WITHIN, BEHIND };

static enum place place_of(const struct own *x, uint32_t node, double at_s)
{
	if (!x->range)
		return WITHIN;
	return at_s < x->range->from_s[node] ? BEFORE
	       : at_s < x->range->to_s[node] ? WITHIN
					     : BEHIND;
}

/* First counted NULL: how many there are; then their points. */
static void take_value(struct own *x, struct own_series *s, double at_s, double v,
		       const uint64_t *counted, uint64_t *taken)
{
	enum place place = place_of(x, s->node, at_s);
	ptrdiff_t k = s - x->series;

	if (place == WITHIN && counted)
		add_value(s, taken[k]++, a_point(counted[k]), at_s, v);
	else if (place == WITHIN)
		see_value(s, v);
	else if (place == BEFORE && !counted)
		s->before++;
}

/* Twice through the marks: how many values each has, then their points. */
static void take_marks(struct own *x, const struct run *r, const uint64_t *counted, uint64_t *taken)
{
	char name[OWN_NAME];

	for (uint32_t i = 1; i < r->nmarks; i++) {
		const struct run_mark *m = &r->marks[i];
		const char *at = m->message ? m->message : "";
		struct word w;

		while (next_word(&at, &w)) {
			struct own_series *s;

			name_of(m, &w, name);
			s = series_of(x, m->node, m->name, name);
			if (s)
				take_value(x, s, run_seconds(r, m->node, m->at_ns), w.value,
					   counted, taken);
		}
	}
}

static double change_of(const struct own_series *s)
{
	double v[OWN_POINTS];
	uint32_t half = s->npoints / 2;

	if (s->npoints < HALVES_LEAST)
		return NAN;
	memcpy(v, s->value, s->npoints * sizeof *v);
	return middle(v + s->npoints - half, half) - middle(v, half);
}

/* ---- from mark to mark ---- */

static bool is_before(const struct run *r, uint32_t i, uint32_t node, const char *name)
{
	return r->marks[i].node == node && !strcmp(r->marks[i].name, name);
}

static bool has_laps(const struct own *x, uint32_t node, const char *name)
{
	for (uint32_t i = 0; i < x->nlaps; i++)
		if (x->laps[i].node == node && !strcmp(x->laps[i].mark, name))
			return true;
	return false;
}

/* room: of as many as there are marks. Of those of a name that begin at i. */
static void add_laps(struct own *x, const struct run *r, uint32_t i, double *room)
{
	const struct run_mark *first = &r->marks[i];
	double last_s = run_seconds(r, first->node, first->at_ns);
	struct own_laps *l = &x->laps[x->nlaps];
	uint64_t n = 0, half;

	for (uint32_t k = i + 1; k < r->nmarks; k++) {
		double at_s = run_seconds(r, r->marks[k].node, r->marks[k].at_ns);

		if (!is_before(r, k, first->node, first->name))
			continue;
		if (at_s >= last_s)
			room[n++] = at_s - last_s;
		last_s = at_s;
	}
	if (n < 2)
		return;
	*l = (struct own_laps){ .mark = first->name, .node = first->node, .n = n, .change = NAN };
	half = n / 2;
	if (n >= HALVES_LEAST) {
		double early = middle(room, half), late = middle(room + n - half, half);

		l->change = early > 0 ? late / early - 1 : NAN;
	}
	l->median_s = middle(room, n);
	l->least_s = room[0];
	l->most_s = room[n - 1];
	x->nlaps++;
}

/* Of the first few names: a mark that nobody repeats is looked at once. */
static int make_laps(struct own *x, const struct run *r)
{
	enum { LOOKS = 256 };
	double *room = calloc(r->nmarks + 1u, sizeof *room);
	uint32_t looks = 0;

	if (!room)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->nmarks && x->nlaps < OWN_LAPS && looks < LOOKS; i++) {
		if (!r->marks[i].name || has_laps(x, r->marks[i].node, r->marks[i].name))
			continue;
		looks++;
		add_laps(x, r, i, room);
	}
	free(room);
	return 0;
}

/* Values as they were set, of counters that have them. which: of an instance, 1 + its series.
 * Twice: how many each has, then their points. */
static void take_points(struct own *x, const struct run *r, const uint16_t *which,
			const uint64_t *counted, uint64_t *taken)
{
	for (uint32_t i = 0; i < r->npoints; i++) {
		const struct run_point *p = &r->points[i];
		uint32_t k = which[p->instance], node = r->instances[p->instance].node;

		if (k)
			take_value(x, &x->series[k - 1], run_seconds(r, node, p->at_ns), p->value,
				   counted, taken);
	}
}

static bool is_namesake(const struct run *r, uint32_t a, uint32_t b)
{
	const struct run_instance *x = &r->instances[a], *y = &r->instances[b];

	return a != b && x->node == y->node && x->domain && y->domain &&
	       !strcmp(x->domain, y->domain) && !strcmp(x->name, y->name);
}

/* Of several processes of a node that have one of the same name: with the rank, or the pid. */
static void counter_name(const struct run *r, uint32_t in, char out[OWN_NAME])
{
	const char *rank = run_label(r, in, "rank");
	uint32_t i = 1;
	const char *pid = run_label(r, in, "pid");

	while (i < r->ninstances && !is_namesake(r, in, i))
		i++;
	if (i == r->ninstances || !(rank || pid))
		snprintf(out, OWN_NAME, "%s", r->instances[in].name);
	else
		snprintf(out, OWN_NAME, "%.64s (%s %.16s)", r->instances[in].name,
			 rank ? "rank" : "process", rank ? rank : pid);
}

static int add_points(struct own *x, const struct run *r)
{
	uint64_t counted[OWN_SERIES] = { 0 }, taken[OWN_SERIES] = { 0 };
	uint16_t *which = calloc(r->ninstances + 1u, sizeof *which);
	uint32_t before = x->nseries, last = 0;
	char name[OWN_NAME];

	x->stream = calloc(r->ninstances + 1u, 1);
	if (!which || !x->stream) {
		free(which);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->npoints; i++) {
		uint32_t in = r->points[i].instance;
		const struct own_series *s;

		if (in == last || x->stream[in])
			continue;
		last = in;
		x->stream[in] = 1;
		counter_name(r, in, name);
		s = series_of(x, r->instances[in].node, NULL, name);
		which[in] = s ? (uint16_t)(s - x->series + 1) : 0;
	}
	take_points(x, r, which, NULL, NULL);
	for (uint32_t i = before; i < x->nseries; i++)
		counted[i] = x->series[i].n;
	take_points(x, r, which, counted, taken);
	for (uint32_t i = before; i < x->nseries; i++)
		x->series[i].change = change_of(&x->series[i]);
	free(which);
	return 0;
}

/* "n=3", "epoch=3": it says which mark it is, and not how the job goes. */
static bool only_counts(const struct own_series *s)
{
	return s->mark && s->n > 2 && s->step > 0;
}

/* Those that only count come last. */
static int put_counts_last(struct own *x)
{
	struct own_series *sorted = calloc(OWN_SERIES, sizeof *sorted);
	uint32_t n = 0;

	if (!sorted)
		return -ENOMEM;
	for (int last = 0; last < 2; last++)
		for (uint32_t i = 0; i < x->nseries; i++)
			if (only_counts(&x->series[i]) == last)
				sorted[n++] = x->series[i];
	free(x->series);
	x->series = sorted;
	return 0;
}

static int of_marks(struct own *x, const struct run *r, const struct own_range *range)
{
	uint64_t counted[OWN_SERIES] = { 0 }, taken[OWN_SERIES] = { 0 };

	*x = (struct own){ .series = calloc(OWN_SERIES, sizeof *x->series), .range = range };
	if (!x->series)
		return -ENOMEM;
	take_marks(x, r, NULL, NULL);
	for (uint32_t i = 0; i < x->nseries; i++)
		counted[i] = x->series[i].n;
	take_marks(x, r, counted, taken);
	for (uint32_t i = 0; i < x->nseries; i++)
		x->series[i].change = change_of(&x->series[i]);
	if ((r->npoints && add_points(x, r)) || put_counts_last(x))
		return -ENOMEM;
	return make_laps(x, r);
}

int own_of_marks(struct own *x, const struct run *r)
{
	return of_marks(x, r, NULL);
}

/* ---- counters ---- */

/* The last value with each sample: of a program of an older library it is all there is. */
static void take_counter(struct own *x, const struct run *r, const struct traces *t,
			 const struct trace *c)
{
	const struct trace_node *node = &t->node[c->node];
	const char *name = r->instances[c->instance].name;
	struct own_series *s;
	uint64_t n = 0, taken = 0;

	for (uint32_t i = 0; i < node->npoints; i++)
		n += c->point[i].weight > 0;
	s = n ? series_of(x, c->node, NULL, name ? name : "") : NULL;
	if (!s || s->n || s->before)
		return;
	for (uint32_t i = 0; i < node->npoints; i++) {
		double mean = trace_mean(&c->point[i]);

		if (isnan(mean))
			continue;
		see_value(s, mean);
		s->least = fmin(s->least, (double)c->point[i].min);
		s->most = fmax(s->most, (double)c->point[i].max);
		add_value(s, taken++, a_point(n), node->at[i], mean);
	}
	s->change = change_of(s);
}

void own_add_counters(struct own *x, const struct run *r, const struct traces *t)
{
	uint32_t n;
	const struct trace *c = traces_of(t, own_counter, true, &n);

	for (uint32_t i = 0; i < n; i++)
		if (c[i].instance && !(x->stream && x->stream[c[i].instance]))
			take_counter(x, r, t, &c[i]);
}

/* A catalogue has metrics that a run has no values of. */
static bool has_series(const struct run *r, uint32_t metric)
{
	for (uint32_t i = 1; metric && i < r->nseries; i++)
		if (r->series[i].metric == metric)
			return true;
	return false;
}

uint64_t own_values_a_point(const struct own_series *s)
{
	return a_point(s->n);
}

int own_make_between(struct own *x, struct run *r, const struct own_range *range, bool sampled,
		     struct err *e)
{
	struct traces t = { .points = OWN_POINTS };
	int rc = of_marks(x, r, range);

	if (rc)
		return err_set(e, rc, "out of memory for the job's own numbers");
	if (!sampled || !has_series(r, run_find_metric(r, own_counter)))
		return 0;
	traces_wish(&t, own_counter, true);
	rc = traces_read(&t, r, e);
	if (!rc)
		own_add_counters(x, r, &t);
	traces_free(&t);
	return rc;
}

int own_make(struct own *x, struct run *r, struct err *e)
{
	return own_make_between(x, r, NULL, true, e);
}

void own_free(struct own *x)
{
	free(x->series);
	free(x->stream);
	*x = (struct own){ 0 };
}

/* ---- several recordings together ---- */

/* Each value at the time that is nearest; of several their mean. */
static void put_at(const struct own_series *s, const double *at_s, uint32_t n, double *v)
{
	uint32_t k = 0, many = 0;

	for (uint32_t i = 0; i < n; i++)
		v[i] = NAN;
	for (uint32_t i = 0; i < s->npoints && n; i++) {
		while (k + 1 < n && fabs(at_s[k + 1] - s->at_s[i]) < fabs(at_s[k] - s->at_s[i])) {
			k++;
			many = 0;
		}
		v[k] = many ? (v[k] * many + s->value[i]) / (many + 1) : s->value[i];
		many++;
	}
}

/* From value to value. */
static void join(const double *at_s, uint32_t n, double *v)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		for (uint32_t k = last + 1; last != UINT32_MAX && k < i; k++)
			v[k] = v[last] +
			       (v[i] - v[last]) * (at_s[k] - at_s[last]) / (at_s[i] - at_s[last]);
		last = i;
	}
}

bool own_is_first(const struct own *x, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(x->series[k].name, x->series[i].name))
			return false;
	return true;
}

static void widen(const struct own_values *to, const double *v)
{
	for (uint32_t k = 0; k < to->n; k++) {
		if (isnan(v[k]))
			continue;
		to->least[k] = fmin(to->least[k], v[k]);
		to->most[k] = fmax(to->most[k], v[k]);
		to->mean[k] = isnan(to->mean[k]) ? v[k] : to->mean[k] + v[k];
		to->count[k]++;
	}
}

uint32_t own_values_of(const struct own *x, uint32_t first, const struct own_values *to)
{
	uint32_t found = 0;

	for (uint32_t k = 0; k < to->n; k++) {
		to->least[k] = to->most[k] = to->mean[k] = NAN;
		to->count[k] = 0;
	}
	for (uint32_t i = first; i < x->nseries; i++) {
		if (strcmp(x->series[i].name, x->series[first].name) != 0)
			continue;
		put_at(&x->series[i], to->at_s, to->n, to->one);
		if (!to->gaps)
			join(to->at_s, to->n, to->one);
		widen(to, to->one);
		found++;
		if (to->one_node)
			break;
	}
	for (uint32_t k = 0; k < to->n; k++)
		to->mean[k] /= to->count[k] > 0 ? to->count[k] : 1;
	return found;
}

bool own_values_reserve(struct own_values *v, uint32_t n)
{
	*v = (struct own_values){ .n = n, .at_s = calloc(6 * (n + 1u), sizeof *v->at_s) };
	if (!v->at_s)
		return false;
	v->mean = v->at_s + n;
	v->least = v->mean + n;
	v->most = v->least + n;
	v->count = v->most + n;
	v->one = v->count + n;
	return true;
}
