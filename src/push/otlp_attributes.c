/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_attributes.c - attributes of OTLP's JSON; and the values of programs' counters, which have
 * some. */
#include "base/text/decimal.h"
#include "core/phase/markline.h"
#include "push/otlp_push.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_A_REQUEST = 5000 };

/* {"key": key, "value": { */
static void attribute_begin(struct json *j, const char *key)
{
	json_object(j);
	json_put_text(j, "key", key);
	json_key(j, "value");
	json_object(j);
}

static void attribute_end(struct json *j)
{
	json_object_end(j);
	json_object_end(j);
}

void otlp_push_attribute(struct json *j, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	attribute_begin(j, key);
	json_put_text(j, "stringValue", value);
	attribute_end(j);
}

void otlp_push_time(struct json *j, const char *key, int64_t utc_ns)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRId64, utc_ns);
	json_put_text(j, key, text);
}

void otlp_push_whole(struct json *j, const char *key, int64_t value)
{
	attribute_begin(j, key);
	otlp_push_time(j, "intValue", value);
	attribute_end(j);
}

/* A number as programs write it: "0x10", "nan", "007" and " 5" are texts. */
static void put_value(struct json *j, const char *key, const char *value)
{
	const char *digits = value + (*value == '-');
	bool number = isdigit((unsigned char)*digits) &&
		      !(digits[0] == '0' && isdigit((unsigned char)digits[1]));
	char *end = NULL, *whole_end = NULL;
	double real = number ? decimal_parse(value, &end) : 0;
	long long whole;

	errno = 0;
	whole = number ? strtoll(value, &whole_end, 10) : 0;
	if (number && !*whole_end && !errno) {
		otlp_push_whole(j, key, whole);
	} else if (number && !*end && isfinite(real)) {
		attribute_begin(j, key);
		json_put_real(j, "doubleValue", real);
		attribute_end(j);
	} else {
		attribute_begin(j, key);
		json_put_text(j, "stringValue", value);
		attribute_end(j);
	}
}

static bool is_pairs(const char *text)
{
	char word[MARK_LINE_MAX];

	while (mark_word_read(&text, word, sizeof word))
		if (!strchr(word, '=') || *word == '=')
			return false;
	return !*text;
}

void otlp_push_words(struct json *j, const char *key, const char *text)
{
	char word[MARK_LINE_MAX];

	if (!text || !*text)
		return;
	if (!is_pairs(text)) {
		otlp_push_attribute(j, key, text);
		return;
	}
	while (mark_word_read(&text, word, sizeof word)) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		put_value(j, word, value);
	}
}

/* ---- counters of programs ---- */

static void put_point(struct otlp_push *s, struct json *j, const struct run_point *p)
{
	const struct run *r = s->job->run;
	static const char *const keys[][2] = { { "rank", "sonde.rank" }, { "pid", "process.pid" } };

	json_object(j);
	otlp_push_time(j, "timeUnixNano", run_utc_ns(r, r->instances[p->instance].node, p->at_ns));
	json_put_real(j, "asDouble", p->value);
	json_key(j, "attributes");
	json_array(j);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		otlp_push_attribute(j, keys[i][1], run_label(r, p->instance, keys[i][0]));
	json_array_end(j);
	json_object_end(j);
}

/* Values of one counter from the first on; how many. */
static uint32_t put_counter(struct otlp_push *s, uint32_t first)
{
	const char *words[] = { "resourceMetrics", "scopeMetrics", "metrics" };
	const struct run *r = s->job->run;
	uint32_t in = r->points[first].instance, i = first;
	const char *unit = run_label(r, in, "unit");
	struct json j;

	otlp_push_begin(s, &j, r->instances[in].node, words);
	json_object(&j);
	json_put_text(&j, "name", r->instances[in].name);
	json_put_text(&j, "unit", unit ? unit : "1");
	json_key(&j, "gauge");
	json_object(&j);
	json_key(&j, "dataPoints");
	json_array(&j);
	for (; i < r->npoints && i - first < POINTS_A_REQUEST && r->points[i].instance == in; i++)
		if (isfinite(r->points[i].value))
			put_point(s, &j, &r->points[i]);
	json_array_end(&j);
	json_object_end(&j);
	json_object_end(&j);
	otlp_push_end(&j);
	return i - first;
}

int otlp_push_counters(struct otlp_push *s, struct err *e)
{
	const struct run *r = s->job->run;
	bool same = journal_number(&s->journal, "points_of") == r->npoints;
	uint64_t sent = same ? journal_number(&s->journal, "points") : 0;
	int rc = same ? 0 : journal_set_number(&s->journal, "points_of", r->npoints, e);

	for (uint32_t i = (uint32_t)sent; i < r->npoints && !rc;) {
		uint32_t n = put_counter(s, i);

		i += n;
		rc = otlp_push_post(s, "/v1/metrics", e);
		rc = rc ? rc : journal_set_number(&s->journal, "points", i, e);
		s->result->values += rc ? 0 : n;
	}
	return rc;
}
