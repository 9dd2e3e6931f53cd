/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_json.c - OTLP's JSON: one document, or one after the other, as the Collector's file exporter
 * writes them. */
#include "base/text/jsondoc.h"
#include "base/text/number.h"
#include "import/otlp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- documents ---- */

/* The bytes of one document after the other: where its outermost brace is closed it ends. */
struct documents {
	struct packed *file;
	uint8_t data[65536];
	size_t at, end;
	bool over; /* of the file */
	unsigned depth;
	bool in_text, escaped, begun, done; /* of the document */
};

/* A byte of it was seen; true: it was its last. */
static bool step(struct documents *d, uint8_t c)
{
	if (d->in_text) {
		if (d->escaped)
			d->escaped = false;
		else if (c == '\\')
			d->escaped = true;
		else if (c == '"')
			d->in_text = false;
		return false;
	}
	if (c == '"') {
		d->in_text = true;
	} else if (c == '{' || c == '[') {
		d->depth++;
		d->begun = true;
	} else if (c == '}' || c == ']') {
		d->depth -= d->depth > 0;
		return d->begun && !d->depth;
	}
	return false;
}

static ssize_t fill(struct documents *d)
{
	ssize_t got = d->over ? 0 : packed_read(d->file, d->data, sizeof d->data);

	d->at = 0;
	d->end = got > 0 ? (size_t)got : 0;
	d->over |= got <= 0;
	return got;
}

static ssize_t read_document(void *ctx, void *data, size_t n)
{
	struct documents *d = ctx;
	uint8_t *out = data;
	size_t put = 0;

	if (d->done)
		return 0;
	if (d->at == d->end) {
		ssize_t got = fill(d);

		if (got <= 0)
			return got;
	}
	while (put < n && d->at < d->end && !d->done) {
		d->done = step(d, d->data[d->at]);
		out[put++] = d->data[d->at++];
	}
	return (ssize_t)put;
}

/* False: there is none. */
static bool next_document(struct documents *d)
{
	d->depth = 0;
	d->in_text = d->escaped = d->begun = d->done = false;
	for (;;) {
		if (d->at == d->end && fill(d) <= 0)
			return false;
		if (!strchr(" \t\r\n,", d->data[d->at]) || !d->data[d->at])
			return true;
		d->at++;
	}
}

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

/* {"stringValue": "x"} */
static bool any_value(struct reading *r, char *out, size_t size)
{
	enum jsondoc_token t = next(r);

	if (t != JSONDOC_OBJECT)
		return skip(r, t);
	snprintf(out, size, "...");
	while ((t = next(r)) == JSONDOC_KEY) {
		t = next(r);
		if (t == JSONDOC_STRING || t == JSONDOC_NUMBER)
			otlp_copy(out, size, r->j.text, strlen(r->j.text));
		else if (t == JSONDOC_TRUE || t == JSONDOC_FALSE)
			snprintf(out, size, "%s", t == JSONDOC_TRUE ? "true" : "false");
		if (!skip(r, t))
			return false;
	}
	return t == JSONDOC_OBJECT_END;
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

	otlp_detail(ev->detail, key, value);
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

static bool take_scope(struct reading *r, void *ctx)
{
	enum jsondoc_token t;
	bool well = true;

	(void)ctx;
	while (well && (t = next(r)) == JSONDOC_KEY)
		well = !strcmp(r->j.text, "spans") ? each_object(r, take_span, NULL)
						   : skip(r, JSONDOC_KEY);
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
		else if (!strcmp(r->j.text, "scopeSpans") ||
			 !strcmp(r->j.text, "instrumentationLibrarySpans"))
			well = each_object(r, take_scope, NULL);
		else
			well = skip(r, JSONDOC_KEY);
	}
	rc = otlp_part_end(r->o);
	r->rc = r->rc ? r->rc : rc;
	return well && !r->rc && t == JSONDOC_OBJECT_END;
}

static bool take_other(struct reading *r, uint64_t *count)
{
	++*count;
	return skip(r, JSONDOC_KEY);
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
		if (!strcmp(r->j.text, "resourceSpans"))
			well = each_object(r, take_part, NULL);
		else if (!strcmp(r->j.text, "resourceMetrics"))
			well = take_other(r, &r->o->count.metrics);
		else if (!strcmp(r->j.text, "resourceLogs"))
			well = take_other(r, &r->o->count.logs);
		else
			well = skip(r, JSONDOC_KEY);
	}
	return well && t == JSONDOC_OBJECT_END;
}

static int read_one(struct otlp *o, struct documents *d)
{
	struct reading r = { .o = o };

	if (jsondoc_open_from(&r.j, read_document, d))
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
	while (!rc && !o->bad && next_document(d))
		rc = read_one(o, d);
	o->bad |= *o->file.e.text != '\0';
	free(d);
	return rc;
}
