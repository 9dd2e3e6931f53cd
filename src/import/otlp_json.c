/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_json.c - OTLP's JSON: one document, or one after the other, as the Collector's file exporter
 * writes them. */
#include "base/text/decimal.h"
#include "base/text/jsondoc.h"
#include "base/text/number.h"
#include "import/importer.h"
#include "import/otlp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

struct reading {
	struct otlp *o;
	struct jsondoc j;
	int rc; /* what a taker answered */
};

static enum jsondoc_token next(struct reading *r)
{
	return jsondoc_next(&r->j, &r->o->fault);
}

static bool skip(struct reading *r, enum jsondoc_token t)
{
	return t != JSONDOC_BAD && jsondoc_skip(&r->j, t, &r->o->fault);
}

/* Each element that is an object goes to take, others are skipped. False: the document is bad, or
 * r->rc. */
static bool each_object(struct reading *r, bool (*take)(struct reading *r, void *ctx), void *ctx)
{
	enum jsondoc_token t = next(r);

	if (t != JSONDOC_ARRAY)
		return skip(r, t);
	while ((t = next(r)) != JSONDOC_ARRAY_END) {
		if (t == JSONDOC_OBJECT) {
			if (!take(r, ctx) || r->rc)
				return false;
		} else if (t == JSONDOC_BAD || !skip(r, t)) {
			return false;
		}
	}
	return true;
}

static bool text_of(struct reading *r, char *out, size_t size, bool *shortened)
{
	enum jsondoc_token t = next(r);

	if (t == JSONDOC_STRING || t == JSONDOC_NUMBER) {
		bool whole = otlp_copy(out, size, r->j.text, strlen(r->j.text)) && !r->j.shortened;

		if (shortened)
			*shortened |= !whole;
		return true;
	}
	return skip(r, t);
}

/* Of a fixed64, which JSON has as a text, but some write as a number. */
static bool time_of(struct reading *r, bool *has, int64_t *ns)
{
	char text[40] = "";
	const char *at = text;
	uint64_t v;

	if (!text_of(r, text, sizeof text, NULL))
		return false;
	*has = number_u64(&at, &v) && !*at && v && v < INT64_MAX / 2;
	*ns = *has ? (int64_t)v : 0;
	return true;
}

static bool number_of(struct reading *r, int64_t *out)
{
	enum jsondoc_token t = next(r);
	static const char *const kinds[] = { "SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL",
					     "SPAN_KIND_SERVER",      "SPAN_KIND_CLIENT",
					     "SPAN_KIND_PRODUCER",    "SPAN_KIND_CONSUMER" };

	*out = t == JSONDOC_NUMBER && r->j.whole ? r->j.integer : 0;
	if (t == JSONDOC_STRING) {
		for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
			if (!strcmp(r->j.text, kinds[i]))
				*out = (int64_t)i;
		if (!strcmp(r->j.text, "STATUS_CODE_ERROR"))
			*out = 2;
	}
	return skip(r, t);
}

static bool plain_value(struct reading *r, enum jsondoc_token t, char *out, size_t size)
{
	if (t == JSONDOC_STRING || t == JSONDOC_NUMBER)
		otlp_copy(out, size, r->j.text, strlen(r->j.text));
	else if (t == JSONDOC_TRUE || t == JSONDOC_FALSE)
		snprintf(out, size, "%s", t == JSONDOC_TRUE ? "true" : "false");
	return skip(r, t);
}

struct list {
	char *out;
	size_t size;
};

/* What is no list: one within a list is "...". */
static bool take_item(struct reading *r, void *ctx)
{
	struct list *l = ctx;
	char item[TIMELINE_TEXT_MAX + 1] = "...";
	enum jsondoc_token t;

	while ((t = next(r)) == JSONDOC_KEY)
		if (!plain_value(r, next(r), item, sizeof item))
			return false;
	otlp_list_put(l->out, l->size, item);
	return t == JSONDOC_OBJECT_END;
}

/* {"values": [...]} */
static bool list_value(struct reading *r, char *out, size_t size)
{
	struct list l = { out, size };
	enum jsondoc_token t = next(r);
	bool well = true;

	if (t != JSONDOC_OBJECT)
		return skip(r, t);
	*out = '\0';
	while (well && (t = next(r)) == JSONDOC_KEY)
		well = !strcmp(r->j.text, "values") ? each_object(r, take_item, &l)
						    : skip(r, JSONDOC_KEY);
	otlp_list_end(out, size);
	return well && t == JSONDOC_OBJECT_END;
}

/* {"stringValue": "x"} */
static bool any_value(struct reading *r, char *out, size_t size)
{
	enum jsondoc_token t = next(r);
	bool well = true;

	if (t != JSONDOC_OBJECT)
		return skip(r, t);
	snprintf(out, size, "...");
	while (well && (t = next(r)) == JSONDOC_KEY)
		well = !strcmp(r->j.text, "arrayValue") ? list_value(r, out, size)
							: plain_value(r, next(r), out, size);
	return well && t == JSONDOC_OBJECT_END;
}

struct attributes {
	void (*put)(void *of, const char *key, const char *value);
	void *of;
};

static bool take_attribute(struct reading *r, void *ctx)
{
	const struct attributes *a = ctx;
	char key[OTLP_KEY] = "", value[TIMELINE_TEXT_MAX + 1] = "";
	enum jsondoc_token t;
	bool well = true;

	while (well && (t = next(r)) == JSONDOC_KEY) {
		if (!strcmp(r->j.text, "key"))
			well = text_of(r, key, sizeof key, NULL);
		else if (!strcmp(r->j.text, "value"))
			well = any_value(r, value, sizeof value);
		else
			well = skip(r, JSONDOC_KEY);
	}
	if (!well || t != JSONDOC_OBJECT_END)
		return false;
	a->put(a->of, key, value);
	return true;
}

static bool take_attributes(struct reading *r, void (*put)(void *, const char *, const char *),
			    void *of)
{
	struct attributes a = { put, of };

	return each_object(r, take_attribute, &a);
}

static void put_resource(void *of, const char *key, const char *value)
{
	otlp_resource_attribute(of, key, value);
}

static void put_span(void *of, const char *key, const char *value)
{
	otlp_attribute(of, key, value);
}

static void put_event(void *of, const char *key, const char *value)
{
	struct otlp_event *ev = of;

	timeline_word(ev->detail, key, value);
}

/* ---- spans ---- */

static bool take_event(struct reading *r, void *ctx)
{
	struct otlp_event *ev = otlp_event(ctx);
	enum jsondoc_token t;
	bool well = true;

	while (well && (t = next(r)) == JSONDOC_KEY) {
		if (ev && !strcmp(r->j.text, "timeUnixNano"))
			well = time_of(r, &ev->has_time, &ev->at_ns);
		else if (ev && !strcmp(r->j.text, "name"))
			well = text_of(r, ev->name, sizeof ev->name, NULL);
		else if (ev && !strcmp(r->j.text, "attributes"))
			well = take_attributes(r, put_event, ev);
		else
			well = skip(r, JSONDOC_KEY);
	}
	return well && t == JSONDOC_OBJECT_END;
}

static bool take_link(struct reading *r, void *ctx)
{
	struct otlp_span *s = ctx;

	s->links++;
	return skip(r, JSONDOC_OBJECT);
}

static bool take_status(struct reading *r, struct otlp_span *s)
{
	char message[TIMELINE_TEXT_MAX + 1] = "";
	enum jsondoc_token t = next(r);
	int64_t code = 0;
	bool well = true;

	if (t != JSONDOC_OBJECT)
		return skip(r, t);
	while (well && (t = next(r)) == JSONDOC_KEY) {
		if (!strcmp(r->j.text, "code"))
			well = number_of(r, &code);
		else if (!strcmp(r->j.text, "message"))
			well = text_of(r, message, sizeof message, NULL);
		else
			well = skip(r, JSONDOC_KEY);
	}
	otlp_status(s, code, message);
	return well && t == JSONDOC_OBJECT_END;
}

static bool take_kind(struct reading *r, struct otlp_span *s)
{
	int64_t kind;
	bool well = number_of(r, &kind);

	otlp_kind(s, kind);
	return well;
}

static bool take_member(struct reading *r, struct otlp_span *s)
{
	const char *key = r->j.text;

	if (!strcmp(key, "name"))
		return text_of(r, s->name, sizeof s->name, &s->shortened);
	if (!strcmp(key, "startTimeUnixNano"))
		return time_of(r, &s->has_begin, &s->begin_ns);
	if (!strcmp(key, "endTimeUnixNano"))
		return time_of(r, &s->has_end, &s->end_ns);
	if (!strcmp(key, "attributes"))
		return take_attributes(r, put_span, s);
	if (!strcmp(key, "events"))
		return each_object(r, take_event, s);
	if (!strcmp(key, "links"))
		return each_object(r, take_link, s);
	if (!strcmp(key, "status"))
		return take_status(r, s);
	if (!strcmp(key, "kind"))
		return take_kind(r, s);
	return skip(r, JSONDOC_KEY);
}

static bool take_span(struct reading *r, void *ctx)
{
	struct otlp *o = r->o;
	enum jsondoc_token t;

	(void)ctx;
	otlp_span_begin(o);
	while ((t = next(r)) == JSONDOC_KEY)
		if (!take_member(r, &o->span))
			return false;
	if (t != JSONDOC_OBJECT_END)
		return false;
	r->rc = otlp_span_end(o);
	return !r->rc;
}

/* ---- metrics ---- */

static void put_label(void *of, const char *key, const char *value)
{
	struct otlp_point *p = of;

	timeline_word(p->labels, key, value);
}

/* Numbers, or texts of numbers. */
static bool real_of(struct reading *r, bool *has, double *out)
{
	char text[64] = "", *end;

	if (!text_of(r, text, sizeof text, NULL))
		return false;
	*out = decimal_parse(text, &end);
	*has = end != text && !*end;
	return true;
}

static bool take_point(struct reading *r, void *ctx)
{
	struct otlp_point *p = &r->o->point;
	enum jsondoc_token t;
	bool well = true;

	(void)ctx;
	otlp_point_begin(r->o);
	while (well && (t = next(r)) == JSONDOC_KEY) {
		if (!strcmp(r->j.text, "timeUnixNano"))
			well = time_of(r, &p->has_time, &p->at_ns);
		else if (!strcmp(r->j.text, "asDouble") || !strcmp(r->j.text, "asInt"))
			well = real_of(r, &p->has_value, &p->value);
		else if (!strcmp(r->j.text, "count"))
			well = real_of(r, &p->has_count, &p->count);
		else if (!strcmp(r->j.text, "sum"))
			well = real_of(r, &p->has_sum, &p->sum);
		else if (!strcmp(r->j.text, "attributes"))
			well = take_attributes(r, put_label, p);
		else
			well = skip(r, JSONDOC_KEY);
	}
	if (!well || t != JSONDOC_OBJECT_END)
		return false;
	r->rc = otlp_point_end(r->o);
	return !r->rc;
}

/* {"dataPoints": [...]} */
static bool take_points(struct reading *r)
{
	enum jsondoc_token t = next(r);
	bool well = true;

	if (t != JSONDOC_OBJECT)
		return skip(r, t);
	while (well && (t = next(r)) == JSONDOC_KEY)
		well = !strcmp(r->j.text, "dataPoints") ? each_object(r, take_point, NULL)
							: skip(r, JSONDOC_KEY);
	return well && t == JSONDOC_OBJECT_END;
}

static bool take_metric(struct reading *r, void *ctx)
{
	static const char *const kinds[] = { "gauge", "sum", "histogram", "exponentialHistogram",
					     "summary" };
	struct otlp_point *p = &r->o->point;
	enum jsondoc_token t;
	bool well = true;

	(void)ctx;
	*p->metric = *p->unit = '\0';
	while (well && (t = next(r)) == JSONDOC_KEY) {
		bool values = false;

		for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
			values |= !strcmp(r->j.text, kinds[i]);
		if (values)
			well = take_points(r);
		else if (!strcmp(r->j.text, "name"))
			well = text_of(r, p->metric, sizeof p->metric, NULL);
		else if (!strcmp(r->j.text, "unit"))
			well = text_of(r, p->unit, sizeof p->unit, NULL);
		else
			well = skip(r, JSONDOC_KEY);
	}
	return well && t == JSONDOC_OBJECT_END;
}

/* ---- logs ---- */

static bool log_member(struct reading *r, struct otlp_span *s)
{
	char body[TIMELINE_TEXT_MAX + 1] = "";
	const char *key = r->j.text;
	bool observed = !strcmp(key, "observedTimeUnixNano"), well;

	if (!strcmp(key, "timeUnixNano") || (observed && !s->has_begin)) {
		int64_t at_ns = 0;
		bool has = false;

		well = time_of(r, &has, &at_ns);
		s->begin_ns = has ? at_ns : s->begin_ns;
		s->has_begin |= has;
		return well;
	}
	if (!strcmp(key, "eventName") || (!strcmp(key, "severityText") && !*s->name))
		return text_of(r, s->name, OTLP_NAME + 1, NULL);
	if (!strcmp(key, "attributes"))
		return take_attributes(r, put_span, s);
	if (strcmp(key, "body") != 0)
		return skip(r, JSONDOC_KEY);
	well = any_value(r, body, sizeof body);
	timeline_word(s->detail, "body", body);
	return well;
}

static bool take_log(struct reading *r, void *ctx)
{
	enum jsondoc_token t;

	(void)ctx;
	otlp_span_begin(r->o);
	while ((t = next(r)) == JSONDOC_KEY)
		if (!log_member(r, &r->o->span))
			return false;
	if (t != JSONDOC_OBJECT_END)
		return false;
	r->rc = otlp_log_end(r->o);
	return !r->rc;
}

static bool take_scope(struct reading *r, void *ctx)
{
	enum jsondoc_token t;
	bool well = true;

	(void)ctx;
	while (well && (t = next(r)) == JSONDOC_KEY) {
		if (!strcmp(r->j.text, "spans"))
			well = each_object(r, take_span, NULL);
		else if (!strcmp(r->j.text, "metrics"))
			well = each_object(r, take_metric, NULL);
		else if (!strcmp(r->j.text, "logRecords"))
			well = each_object(r, take_log, NULL);
		else
			well = skip(r, JSONDOC_KEY);
	}
	return well && t == JSONDOC_OBJECT_END;
}

/* ---- parts ---- */

static bool take_resource(struct reading *r)
{
	enum jsondoc_token t = next(r);
	bool well = true;

	if (t != JSONDOC_OBJECT)
		return skip(r, t);
	while (well && (t = next(r)) == JSONDOC_KEY)
		well = !strcmp(r->j.text, "attributes") ? take_attributes(r, put_resource, r->o)
							: skip(r, JSONDOC_KEY);
	return well && t == JSONDOC_OBJECT_END;
}

/* What came before its fault counts as a part, too. */
static bool take_part(struct reading *r, void *ctx)
{
	enum jsondoc_token t;
	bool well = true;
	int rc;

	(void)ctx;
	r->rc = otlp_part_begin(r->o);
	while (well && !r->rc && (t = next(r)) == JSONDOC_KEY) {
		if (!strcmp(r->j.text, "resource"))
			well = take_resource(r);
		else if (!strcmp(r->j.text, "scopeSpans") || !strcmp(r->j.text, "scopeMetrics") ||
			 !strcmp(r->j.text, "scopeLogs") ||
			 !strcmp(r->j.text, "instrumentationLibrarySpans"))
			well = each_object(r, take_scope, NULL);
		else
			well = skip(r, JSONDOC_KEY);
	}
	rc = otlp_part_end(r->o);
	r->rc = r->rc ? r->rc : rc;
	return well && !r->rc && t == JSONDOC_OBJECT_END;
}

static bool take_root(struct reading *r)
{
	enum jsondoc_token t = next(r);
	bool well = true;

	if (t != JSONDOC_OBJECT) {
		r->o->count.malformed += t != JSONDOC_BAD;
		return skip(r, t);
	}
	while (well && (t = next(r)) == JSONDOC_KEY) {
		if (!strcmp(r->j.text, "resourceSpans") || !strcmp(r->j.text, "resourceMetrics") ||
		    !strcmp(r->j.text, "resourceLogs"))
			well = each_object(r, take_part, NULL);
		else
			well = skip(r, JSONDOC_KEY);
	}
	return well && t == JSONDOC_OBJECT_END;
}

static int read_one(struct otlp *o, struct documents *d)
{
	struct reading r = { .o = o };

	if (jsondoc_open_from(&r.j, documents_read, d))
		return err_set(o->e, -ENOMEM, "out of memory for %.300s", o->x->path);
	r.j.shortens = true;
	if (!take_root(&r) || next(&r) != JSONDOC_END)
		o->bad = true;
	jsondoc_close(&r.j);
	return r.rc;
}

int otlp_json_read(struct otlp *o)
{
	struct documents *d = calloc(1, sizeof *d);
	int rc = 0;

	if (!d)
		return err_set(o->e, -ENOMEM, "out of memory for %.300s", o->x->path);
	d->file = &o->file;
	while (!rc && !o->bad && documents_next(d))
		rc = read_one(o, d);
	o->bad |= *o->file.e.text != '\0';
	free(d);
	return rc;
}
