/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmetrics.c - OpenMetrics 1.0 as text: a family for each metric, its series one after the
 * other.
 *
 * Labels are the node and the device: nothing that is new with each job, which would make a series
 * of each job in the database that reads it.
 */
#include "sink/openmetrics.h"

#include "base/text/escape.h"
#include "base/text/json.h"
#include "core/frame/losses.h"
#include "sink/columnar/sorted.h"
#include "sink/sink.h"
#include "sink/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct openmetrics {
	const struct frame_schema *schema;
	FILE *out;
	struct sorted sorted;
	struct bytes text;
	struct bytes family; /* name of the open one, with its NUL */
	struct bytes sample; /* name and labels of the open series */
	const char *metric;  /* of the open family */
	uint32_t rank;       /* of the open series */
	int64_t last_ns;     /* time of its last sample */
	int64_t newest_ns;   /* of all samples */
	bool counter;
};

static int by_name(const void *a, const void *b)
{
	const char *x = ((const struct column *)a)->name, *y = ((const struct column *)b)->name;

	return openmetrics_compare(x, y);
}

/* The catalogue's names differ without their points, too; those of other programs may not. */
static int check_names(const struct frame_schema *schema, struct err *e)
{
	struct column *c = calloc(schema->nmetrics + 1u, sizeof(*c));
	int rc = 0;

	if (!c)
		return err_set(e, -ENOMEM, "out of memory");
	if (schema->nmetrics) {
		memcpy(c, schema->metrics, schema->nmetrics * sizeof(*c));
		qsort(c, schema->nmetrics, sizeof(*c), by_name);
	}
	for (uint32_t i = 1; i < schema->nmetrics && !rc; i++)
		if (!by_name(&c[i - 1], &c[i]))
			rc = err_set(e, -EINVAL,
				     "the metrics \"%s\" (%s) and \"%s\" (%s) have one name in "
				     "OpenMetrics; choose one with --metrics",
				     c[i - 1].name, c[i - 1].unit, c[i].name, c[i].unit);
	free(c);
	return rc;
}

static int openmetrics_begin(void *state, const struct frame_schema *schema, FILE *out,
			     struct err *e)
{
	struct openmetrics *o = state;
	int rc;

	o->schema = schema;
	o->out = out;
	rc = sorted_init(&o->sorted, schema, SORTED_ROWS, e);
	return rc ? rc : check_names(schema, e);
}

static int openmetrics_batch(void *state, const struct batch *b, struct err *e)
{
	struct openmetrics *o = state;

	return sorted_add(&o->sorted, b, e);
}

static const struct column *find_metric(const struct frame_schema *schema, const char *name)
{
	for (uint32_t i = 0; i < schema->nmetrics; i++)
		if (!strcmp(schema->metrics[i].name, name))
			return &schema->metrics[i];
	return NULL;
}

static void put_family(struct openmetrics *o, const struct column *c)
{
	const char *name = (const char *)o->family.data;

	o->counter = c && c->kind && (!strcmp(c->kind, "counter") || !strcmp(c->kind, "total"));
	openmetrics_family(&o->text, name, o->counter, c ? c->unit : NULL, c ? c->help : NULL);
}

static int begin_family(struct openmetrics *o, const char *metric, struct err *e)
{
	bytes_reset(&o->family);
	openmetrics_name(&o->family, metric);
	bytes_u8(&o->family, '\0');
	if (o->family.failed)
		return err_set(e, -ENOMEM, "out of memory");
	o->metric = metric;
	put_family(o, find_metric(o->schema, metric));
	return 0;
}

static void begin_series(struct openmetrics *o, const struct sorted_series *x)
{
	bytes_reset(&o->sample);
	bytes_puts(&o->sample, (const char *)o->family.data);
	bytes_puts(&o->sample, o->counter ? "_total{node=\"" : "{node=\"");
	escape_openmetrics(&o->sample, x->node);
	if (x->instance) {
		bytes_puts(&o->sample, "\",");
		openmetrics_label(&o->sample, x->metric);
		bytes_puts(&o->sample, "=\"");
		escape_openmetrics(&o->sample, x->instance);
	}
	bytes_puts(&o->sample, "\"} ");
}

/* Seconds since 1970, exactly. */
static void put_time(struct bytes *b, int64_t ns)
{
	uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	uint32_t fraction = (uint32_t)(magnitude % 1000000000);
	int digits = 9;

	bytes_printf(b, " %s%" PRIu64, ns < 0 ? "-" : "", magnitude / 1000000000);
	while (digits > 0 && fraction % 10 == 0) {
		fraction /= 10;
		digits--;
	}
	if (digits)
		bytes_printf(b, ".%0*" PRIu32, digits, fraction);
	bytes_u8(b, '\n');
}

/* Two recorders of one node may have read the same thing at the same time: it is written once. */
static void put_sample(struct openmetrics *o, const struct sorted_row *row, bool first)
{
	struct json number = { .out = &o->text };

	if (!first && row->time_ns <= o->last_ns)
		return;
	o->last_ns = row->time_ns;
	o->newest_ns = row->time_ns > o->newest_ns ? row->time_ns : o->newest_ns;
	bytes_put(&o->text, o->sample.data, o->sample.len);
	json_real(&number, row->value);
	put_time(&o->text, row->time_ns);
}

static int put_row(struct openmetrics *o, const struct sorted_row *row, struct err *e)
{
	const struct sorted_series *x = &o->sorted.series[row->series];
	bool first = row->rank != o->rank;
	int rc = 0;

	if (!o->metric || strcmp(o->metric, x->metric))
		rc = begin_family(o, x->metric, e);
	if (first && !rc)
		begin_series(o, x);
	o->rank = row->rank;
	if (!rc && o->sample.failed)
		rc = err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		put_sample(o, row, first);
	return rc ? rc : text_flush(&o->text, o->out, TEXT_BLOCK, e);
}

/* What the recording lost, at the time of its last sample: readers want a time of each. */
static void put_losses(struct openmetrics *o)
{
	static const char name[] = "sonde_recording_losses";
	const struct losses *lost = o->schema->lost;
	struct json number = { .out = &o->text };

	if (!lost || !lost->n || !o->metric)
		return;
	openmetrics_family(&o->text, name, false, NULL,
			   "How much the recording lost or left out, of each kind.");
	for (const struct loss *l = lost->row; l < lost->row + lost->n; l++) {
		bytes_printf(&o->text, "%s{kind=\"%s\"} ", name, l->key);
		json_real(&number, l->lost);
		put_time(&o->text, o->newest_ns);
	}
}

static int openmetrics_end(void *state, struct err *e)
{
	struct openmetrics *o = state;
	struct sorted_row row;
	int rc;

	while ((rc = sorted_next(&o->sorted, &row, e)) > 0) {
		rc = put_row(o, &row, e);
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	put_losses(o);
	bytes_puts(&o->text, "# EOF\n");
	return text_flush(&o->text, o->out, 0, e);
}

static void openmetrics_free(void *state)
{
	struct openmetrics *o = state;

	sorted_free(&o->sorted);
	bytes_free(&o->text);
	bytes_free(&o->family);
	bytes_free(&o->sample);
}

const struct sink sink_openmetrics = {
	.name = "openmetrics",
	.what = "text of OpenMetrics 1.0: the series of nodes and devices",
	.series_only = true,
	.size = sizeof(struct openmetrics),
	.begin = openmetrics_begin,
	.batch = openmetrics_batch,
	.end = openmetrics_end,
	.free = openmetrics_free,
};

#define PREFIX "sonde_"

static char in_name(char c)
{
	bool known = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

	return known || !c ? c : '_';
}

static void put_name(struct bytes *b, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes_u8(b, (uint8_t)in_name(text[i]));
}

void openmetrics_name(struct bytes *b, const char *metric)
{
	bytes_puts(b, PREFIX);
	put_name(b, metric, strlen(metric));
}

int openmetrics_compare(const char *a, const char *b)
{
	while (*a && in_name(*a) == in_name(*b)) {
		a++;
		b++;
	}
	return in_name(*a) - in_name(*b);
}

void openmetrics_label(struct bytes *b, const char *metric)
{
	static const char *const taken[] = { "node", "job", "instance", "job_id", "recorder" };
	size_t n = strcspn(metric, ".");

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strlen(taken[i]) == n && !memcmp(taken[i], metric, n)) {
			bytes_puts(b, "device");
			return;
		}
	put_name(b, metric, n);
}

static bool ends_with(const char *name, const char *word)
{
	size_t n = strlen(name), m = strlen(word);

	return n > m + 1 && name[n - m - 1] == '_' && !strcmp(name + n - m, word);
}

void openmetrics_family(struct bytes *b, const char *name, bool counter, const char *unit,
			const char *help)
{
	bytes_printf(b, "# TYPE %s %s\n", name, counter ? "counter" : "gauge");
	if (unit && ends_with(name, unit))
		bytes_printf(b, "# UNIT %s %s\n", name, unit);
	if (!help || !*help)
		return;
	bytes_printf(b, "# HELP %s ", name);
	escape_openmetrics(b, help);
	bytes_u8(b, '\n');
}
