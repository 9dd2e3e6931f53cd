/* SPDX-License-Identifier: Apache-2.0 */
/* history_json.c - runs of the history as JSON, and back. */
#include "base/clock.h"
#include "base/text/jsondoc.h"
#include "store/history_columns.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define START_KEY "start"

/* What a file of another version might hold is no reason to take all memory. */
enum { HOSTS_MAX = 65536, FIGURES_MAX = 200 };

static void put_number(struct json *j, double v, bool whole)
{
	if (whole && fabs(v) < 1e15)
		json_int(j, (int64_t)v);
	else
		json_real(j, v);
}

static void put_figures(struct json *j, const struct history *h, const struct history_run *r)
{
	json_key(j, "figures");
	json_object(j);
	for (uint32_t i = 0; i < r->nfigures; i++) {
		const struct history_figure *f = &h->figure[r->first_figure + i];

		json_key(j, f->name);
		if (f->text)
			json_text(j, f->text);
		else
			json_real(j, f->value);
	}
	json_object_end(j);
}

void history_json(struct json *j, const struct history *h, const struct history_run *r)
{
	json_object(j);
	for (size_t i = 0; i < HISTORY_TEXTS; i++) {
		json_key(j, history_text_columns[i]);
		json_text(j, r->text[i]);
	}
	json_key(j, START_KEY);
	json_time(j, r->start_ns);
	for (size_t i = 0; i < HISTORY_NUMBERS; i++) {
		json_key(j, history_number_columns[i].name);
		put_number(j, r->number[i], history_number_columns[i].whole);
	}
	json_key(j, "hosts");
	json_array(j);
	for (uint32_t i = 0; i < r->nhosts; i++)
		json_text(j, h->host[r->first_host + i]);
	json_array_end(j);
	put_figures(j, h, r);
	json_object_end(j);
}

static int malformed(struct err *e)
{
	return err_set(e, -EBADMSG, "this is not a run of the history");
}

/* "2026-11-20T13:05:33.123Z" in ns since 1970; 0: it is not a time. */
static int64_t time_of(const char *text)
{
	struct tm t = { 0 };
	const char *p = strptime(text, "%Y-%m-%dT%H:%M:%S", &t);
	int64_t ns = 0, unit = NS_PER_S;

	if (!p || t.tm_year < 70 || t.tm_year > 300)
		return 0;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && unit > 1; p++)
			ns += (*p - '0') * (unit /= 10);
	return strcmp(p, "Z") ? 0 : (int64_t)timegm(&t) * NS_PER_S + ns;
}

static int parse_hosts(struct history *h, struct jsondoc *d, struct err *e)
{
	enum jsondoc_token t = jsondoc_next(d, e);

	if (t != JSONDOC_ARRAY)
		return malformed(e);
	for (uint32_t n = 0; (t = jsondoc_next(d, e)) == JSONDOC_STRING; n++) {
		if (n == HOSTS_MAX)
			return malformed(e);
		history_add_host(h, d->text);
	}
	return t == JSONDOC_ARRAY_END ? 0 : malformed(e);
}

static int parse_figure(struct history *h, struct jsondoc *d, struct err *e)
{
	char name[64];
	enum jsondoc_token t;

	if (strlen(d->text) >= sizeof name)
		return malformed(e);
	memcpy(name, d->text, strlen(d->text) + 1);
	t = jsondoc_next(d, e);
	if (t == JSONDOC_NUMBER && isfinite(d->number))
		history_add_figure(h, name, d->number, NULL);
	else if (t == JSONDOC_STRING)
		history_add_figure(h, name, NAN, d->text);
	else
		return malformed(e);
	return 0;
}

static int parse_figures(struct history *h, struct jsondoc *d, struct err *e)
{
	enum jsondoc_token t = jsondoc_next(d, e);

	if (t != JSONDOC_OBJECT)
		return malformed(e);
	for (uint32_t n = 0; (t = jsondoc_next(d, e)) == JSONDOC_KEY; n++)
		if (n == FIGURES_MAX || parse_figure(h, d, e))
			return malformed(e);
	return t == JSONDOC_OBJECT_END ? 0 : malformed(e);
}

/* A text or number of the run; what is not known is skipped. */
static int parse_value(struct history *h, size_t text, size_t number, struct jsondoc *d,
		       struct err *e)
{
	enum jsondoc_token t = jsondoc_next(d, e);

	if (text < HISTORY_TEXTS && t == JSONDOC_STRING)
		history_add_text(h, (enum history_text)text, d->text);
	else if (number < HISTORY_NUMBERS && t == JSONDOC_NUMBER && !h->failed)
		h->run[h->n - 1].number[number] = isfinite(d->number) ? d->number : NAN;
	else if (number == HISTORY_NUMBERS && t == JSONDOC_STRING && !h->failed)
		h->run[h->n - 1].start_ns = time_of(d->text);
	else if (!jsondoc_skip(d, t, e))
		return malformed(e);
	return 0;
}

static int parse_member(struct history *h, struct jsondoc *d, struct err *e)
{
	size_t text = 0, number = 0;

	if (!strcmp(d->text, "hosts"))
		return parse_hosts(h, d, e);
	if (!strcmp(d->text, "figures"))
		return parse_figures(h, d, e);
	while (text < HISTORY_TEXTS && strcmp(d->text, history_text_columns[text]) != 0)
		text++;
	while (number < HISTORY_NUMBERS &&
	       strcmp(d->text, history_number_columns[number].name) != 0)
		number++;
	if (number == HISTORY_NUMBERS && strcmp(d->text, START_KEY) != 0)
		number++;
	return parse_value(h, text, number, d, e);
}

int history_parse(struct history *h, const void *text, size_t n, struct err *e)
{
	struct jsondoc d;
	enum jsondoc_token t;
	uint32_t before = h->n;
	int rc = 0;

	history_add(h);
	if (h->failed)
		return err_set(e, -ENOMEM, "out of memory for the history");
	jsondoc_open_text(&d, text, n);
	t = jsondoc_next(&d, e);
	if (t != JSONDOC_OBJECT)
		rc = malformed(e);
	while (!rc && (t = jsondoc_next(&d, e)) == JSONDOC_KEY)
		rc = parse_member(h, &d, e);
	if (!rc && (t != JSONDOC_OBJECT_END || jsondoc_next(&d, e) != JSONDOC_END))
		rc = malformed(e);
	/* The store would refuse it, and with it all that is put there together with it. */
	if (!rc && !h->failed && h->run[before].text[HISTORY_UID] &&
	    !h->run[before].text[HISTORY_STATE])
		rc = malformed(e);
	jsondoc_close(&d);
	if (rc)
		h->n = before;
	return h->failed ? err_set(e, -ENOMEM, "out of memory for the history") : rc;
}
