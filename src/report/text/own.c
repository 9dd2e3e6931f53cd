/* SPDX-License-Identifier: Apache-2.0 */
/* own.c - a job's own numbers in words, for a terminal, and as JSON. */
#include "report/summary/own.h"
#include "base/text/escape.h"

#include <math.h>
#include <string.h>

enum { SPARKS = 24, SPARKS_BRIEFLY = 8, BRIEFLY = 2, NAME_BRIEFLY = 20 };

/* Low to high; one colour, one line; out: of 4 * most + 1 bytes. */
static void spark(const struct own_series *s, uint32_t most, char *out)
{
	static const char *const level[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	uint32_t n = s->npoints < most ? s->npoints : most;
	double range = s->most - s->least;

	*out = '\0';
	for (uint32_t i = 0; i < n; i++) {
		double v = s->value[n > 1 ? (uint64_t)i * (s->npoints - 1) / (n - 1) : 0];
		double share = range > 0 ? (v - s->least) / range : 0;

		out = stpcpy(out, level[(int)(7 * fmin(fmax(share, 0), 1) + 0.5)]);
	}
}

/* A change that is small beside what the values range over is none. */
static const char *trend(const struct own_series *s)
{
	if (isnan(s->change))
		return "";
	if (fabs(s->change) <= 0.1 * (s->most - s->least))
		return "steady";
	return s->change > 0 ? "rising" : "falling";
}

enum { NUMBER = 24 };

/* What programs count may be 4173000 or 0.00001: all but the smallest without an exponent. */
static const char *number(char out[NUMBER], double v)
{
	if (fabs(v) >= 1e6)
		return unit_format(UNIT_COUNT, v, out, NUMBER);
	snprintf(out, NUMBER, fabs(v) >= 1000 ? "%.0f" : "%.4g", v);
	return out;
}

static void host_of(const struct run *r, uint32_t node, char out[48])
{
	char host[32];

	*out = '\0';
	if (r->nnodes > 2)
		snprintf(out, 48, "  on %s",
			 escape_terminal_into(host, sizeof host, r->nodes[node].host));
}

static void print_laps(const struct own_laps *l, const struct run *r, FILE *out)
{
	char least[32], median[32], most[32], name[24], host[48], change[32] = "";

	host_of(r, l->node, host);
	if (!isnan(l->change) && fabs(l->change) >= 0.05)
		snprintf(change, sizeof change, ", later ones %.0f %% %s", fabs(100 * l->change),
			 l->change > 0 ? "longer" : "shorter");
	fprintf(out, "  %-22s every %s (median of %llu; %s to %s)%s%s\n",
		escape_terminal_into(name, sizeof name, l->mark),
		unit_format(UNIT_SECONDS, l->median_s, median, sizeof median),
		(unsigned long long)l->n,
		unit_format(UNIT_SECONDS, l->least_s, least, sizeof least),
		unit_format(UNIT_SECONDS, l->most_s, most, sizeof most), change, host);
}

void own_print(const struct own *x, const struct run *r, FILE *out)
{
	char name[24], host[48], line[SPARKS * 4 + 1], least[NUMBER], most[NUMBER], last[NUMBER];

	if (!x->nseries && !x->nlaps)
		return;
	fprintf(out, "\nthe job's own numbers\n");
	for (uint32_t i = 0; i < x->nseries; i++) {
		const struct own_series *s = &x->series[i];
		const char *how = trend(s);

		spark(s, SPARKS, line);
		host_of(r, s->node, host);
		fprintf(out, "  %-22s %s  %s to %s, last %s%s%s%s\n",
			escape_terminal_into(name, sizeof name, s->name), line,
			number(least, s->least), number(most, s->most), number(last, s->last),
			*how ? ", " : "", how, host);
	}
	for (uint32_t i = 0; i < x->nlaps; i++)
		print_laps(&x->laps[i], r, out);
	if (x->left_out)
		fprintf(out, "  more are in the recording: sonde export has them\n");
}

static void add_series(struct bytes *b, const struct own_series *s)
{
	char line[SPARKS_BRIEFLY * 4 + 1], name[NAME_BRIEFLY + 1], from[NUMBER], to[NUMBER];

	spark(s, SPARKS_BRIEFLY, line);
	bytes_printf(b, "%s %s %s to %s", escape_terminal_into(name, sizeof name, s->name), line,
		     number(from, s->first), number(to, s->last));
}

static void add_laps(struct bytes *b, const struct own_laps *l)
{
	char median[32], name[NAME_BRIEFLY + 1];

	bytes_printf(b, "%s every %s", escape_terminal_into(name, sizeof name, l->mark),
		     unit_format(UNIT_SECONDS, l->median_s, median, sizeof median));
}

void own_briefly(const struct own *x, struct bytes *out)
{
	uint32_t shown = 0, names = 0;

	for (uint32_t i = 0; i < x->nseries; i++) {
		if (!own_is_first(x, i) || names++ >= BRIEFLY)
			continue;
		bytes_puts(out, shown++ ? ", " : "");
		add_series(out, &x->series[i]);
	}
	if (names > BRIEFLY)
		bytes_printf(out, " and %u more", names - BRIEFLY);
	if (x->nlaps)
		bytes_puts(out, shown ? "; " : "");
	if (x->nlaps)
		add_laps(out, &x->laps[0]);
}

static void series_json(struct json *j, const struct own_series *s, const struct run *r)
{
	json_object(j);
	json_put_text(j, "name", s->name);
	json_put_text(j, "mark", s->mark);
	json_put_text(j, "host", r->nodes[s->node].host);
	json_key(j, "n");
	json_int(j, (int64_t)s->n);
	json_put_real(j, "first", s->first);
	json_put_real(j, "last", s->last);
	json_put_real(j, "least", s->least);
	json_put_real(j, "most", s->most);
	json_put_real(j, "change", s->change);
	json_object_end(j);
}

static void laps_json(struct json *j, const struct own_laps *l, const struct run *r)
{
	json_object(j);
	json_put_text(j, "mark", l->mark);
	json_put_text(j, "host", r->nodes[l->node].host);
	json_key(j, "n");
	json_int(j, (int64_t)l->n);
	json_put_real(j, "least_seconds", l->least_s);
	json_put_real(j, "median_seconds", l->median_s);
	json_put_real(j, "most_seconds", l->most_s);
	json_put_real(j, "change_ratio", l->change);
	json_object_end(j);
}

void own_json(struct json *j, const struct own *x, const struct run *r)
{
	json_key(j, "own");
	json_object(j);
	json_key(j, "series");
	json_array(j);
	for (uint32_t i = 0; i < x->nseries; i++)
		series_json(j, &x->series[i], r);
	json_array_end(j);
	json_key(j, "intervals");
	json_array(j);
	for (uint32_t i = 0; i < x->nlaps; i++)
		laps_json(j, &x->laps[i], r);
	json_array_end(j);
	json_object_end(j);
}
