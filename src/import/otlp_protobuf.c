/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_protobuf.c - OTLP's protobuf (TracesData, MetricsData, LogsData, which differ in what their
 * scopes hold): one message, or several, each behind its length in four bytes, as the Collector's
 * file exporter writes them. */
#include "base/hash.h"
#include "base/text/decimal.h"
#include "import/otlp.h"
#include "import/protobuf.h"
#include "recording/format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool copy(char *out, size_t size, const struct field *f)
{
	return f->wire == PROTOBUF_BYTES &&
	       otlp_copy(out, size, (const char *)f->bytes.at, f->value);
}

/* A time of the span's; 0 and what is beyond 1970 to 2116 is none. */
static void time_of(const struct field *f, bool *has, int64_t *ns)
{
	*has = f->wire == PROTOBUF_FIXED64 && f->value && f->value < INT64_MAX / 2;
	*ns = *has ? (int64_t)f->value : 0;
}

/* What is no list; false: it is one, at *list. */
static bool plain_value(struct message m, char *out, size_t size, struct message *list)
{
	struct field f;
	double real;
	bool plain = true;

	snprintf(out, size, "...");
	while (message_next(&m, &f) > 0) {
		if (f.number == 1)
			copy(out, size, &f);
		else if (f.number == 2 && f.wire == PROTOBUF_VARINT)
			snprintf(out, size, "%s", f.value ? "true" : "false");
		else if (f.number == 3 && f.wire == PROTOBUF_VARINT)
			snprintf(out, size, "%" PRId64, (int64_t)f.value);
		if (f.number == 4 && f.wire == PROTOBUF_FIXED64) {
			memcpy(&real, &f.value, sizeof real);
			decimal_print(out, size, "%.17g", real);
		}
		if (f.number == 5 && f.wire == PROTOBUF_BYTES) {
			*list = f.bytes;
			plain = false;
		}
	}
	return plain;
}

/* AnyValue, as text; a list within a list is "...". */
static void any_value(struct message m, char *out, size_t size)
{
	char item[TIMELINE_TEXT_MAX + 1];
	struct message list, inner;
	struct field f;

	if (plain_value(m, out, size, &list))
		return;
	*out = '\0';
	while (message_next(&list, &f) > 0)
		if (f.number == 1 && f.wire == PROTOBUF_BYTES) {
			plain_value(f.bytes, item, sizeof item, &inner);
			otlp_list_put(out, size, item);
		}
	otlp_list_end(out, size);
}

/* KeyValue */
static void attribute(const struct field *f, char key[OTLP_KEY], char *value, size_t size)
{
	struct message m = f->bytes;
	struct field part;

	*key = *value = '\0';
	while (message_next(&m, &part) > 0) {
		if (part.number == 1)
			copy(key, OTLP_KEY, &part);
		else if (part.number == 2 && part.wire == PROTOBUF_BYTES)
			any_value(part.bytes, value, size);
	}
}

static void take_event(struct otlp_span *s, struct message m)
{
	struct otlp_event *ev = otlp_event(s);
	char key[OTLP_KEY], value[TIMELINE_TEXT_MAX + 1];
	struct field f;

	while (ev && message_next(&m, &f) > 0) {
		if (f.number == 1)
			time_of(&f, &ev->has_time, &ev->at_ns);
		else if (f.number == 2)
			copy(ev->name, sizeof ev->name, &f);
		else if (f.number == 3 && f.wire == PROTOBUF_BYTES) {
			attribute(&f, key, value, sizeof value);
			timeline_word(ev->detail, key, value);
		}
	}
}

static void take_status(struct otlp_span *s, struct message m)
{
	char message[TIMELINE_TEXT_MAX + 1] = "";
	int64_t code = 0;
	struct field f;

	while (message_next(&m, &f) > 0) {
		if (f.number == 2)
			copy(message, sizeof message, &f);
		else if (f.number == 3 && f.wire == PROTOBUF_VARINT)
			code = (int64_t)f.value;
	}
	otlp_status(s, code, message);
}

static void take_span_field(struct otlp_span *s, const struct field *f)
{
	char key[OTLP_KEY], value[TIMELINE_TEXT_MAX + 1];

	switch (f->number) {
	case 5:
		s->shortened |= !copy(s->name, sizeof s->name, f);
		break;
	case 6:
		otlp_kind(s, f->wire == PROTOBUF_VARINT ? (int64_t)f->value : 0);
		break;
	case 7:
		time_of(f, &s->has_begin, &s->begin_ns);
		break;
	case 8:
		time_of(f, &s->has_end, &s->end_ns);
		break;
	default:
		break;
	}
	if (f->wire != PROTOBUF_BYTES)
		return;
	if (f->number == 9) {
		attribute(f, key, value, sizeof value);
		otlp_attribute(s, key, value);
	} else if (f->number == 11) {
		take_event(s, f->bytes);
	} else if (f->number == 13) {
		s->links++;
	} else if (f->number == 15) {
		take_status(s, f->bytes);
	}
}

static int take_span(struct otlp *o, struct message m)
{
	struct field f;

	otlp_span_begin(o);
	while (message_next(&m, &f) > 0)
		take_span_field(&o->span, &f);
	return otlp_span_end(o);
}

static void take_resource(struct otlp *o, struct message m)
{
	char key[OTLP_KEY], value[TIMELINE_TEXT_MAX + 1];
	struct field f;

	while (message_next(&m, &f) > 0)
		if (f.number == 1 && f.wire == PROTOBUF_BYTES) {
			attribute(&f, key, value, sizeof value);
			otlp_resource_attribute(o, key, value);
		}
}

struct stream {
	struct otlp *o;
	struct protobuf in;
};

/* ---- metrics ---- */

static double real_of(const struct field *f)
{
	double real;

	if (f->wire == PROTOBUF_VARINT)
		return (double)(int64_t)f->value;
	memcpy(&real, &f->value, sizeof real);
	return real;
}

/* Where the attributes of a point are: by the field of what has it, a gauge, a sum, a histogram, an
 * exponential one, a summary. */
static const uint32_t labels_of[] = { [5] = 7, [7] = 7, [9] = 9, [10] = 1, [11] = 7 };
#define METRIC_KINDS (sizeof labels_of / sizeof labels_of[0])

/* NumberDataPoint, and those of histograms and summaries, which have other numbers for the same. */
static int take_point(struct otlp *o, struct message m, uint32_t of)
{
	struct otlp_point *p = &o->point;
	char key[OTLP_KEY], value[TIMELINE_TEXT_MAX + 1];
	struct field f;

	otlp_point_begin(o);
	while (message_next(&m, &f) > 0) {
		bool number = f.wire == PROTOBUF_FIXED64;

		if (f.number == 3 && number) {
			time_of(&f, &p->has_time, &p->at_ns);
		} else if (f.number == labels_of[of] && f.wire == PROTOBUF_BYTES) {
			attribute(&f, key, value, sizeof value);
			timeline_word(p->labels, key, value);
		} else if ((of == 5 || of == 7) && number && (f.number == 4 || f.number == 6)) {
			p->has_value = true;
			p->value = f.number == 4 ? real_of(&f) : (double)(int64_t)f.value;
		} else if (of >= 9 && number && f.number == 4) {
			p->has_count = true;
			p->count = (double)f.value;
		} else if (of >= 9 && number && f.number == 5) {
			p->has_sum = true;
			p->sum = real_of(&f);
		}
	}
	return otlp_point_end(o);
}

static int take_metric(struct otlp *o, struct message m)
{
	struct otlp_point *p = &o->point;
	struct field f, part;
	int rc = 0;

	*p->metric = *p->unit = '\0';
	while (!rc && message_next(&m, &f) > 0) {
		if (f.number == 1)
			copy(p->metric, sizeof p->metric, &f);
		else if (f.number == 3)
			copy(p->unit, sizeof p->unit, &f);
		if (f.number >= METRIC_KINDS || !labels_of[f.number] || f.wire != PROTOBUF_BYTES)
			continue;
		while (!rc && message_next(&f.bytes, &part) > 0)
			if (part.number == 1 && part.wire == PROTOBUF_BYTES)
				rc = take_point(o, part.bytes, f.number);
	}
	return rc;
}

/* ---- logs ---- */

static void take_log_field(struct otlp_span *s, const struct field *f)
{
	char key[OTLP_KEY], value[TIMELINE_TEXT_MAX + 1];
	bool has;
	int64_t at_ns;

	if (f->number == 1 || (f->number == 11 && !s->has_begin)) {
		time_of(f, &has, &at_ns);
		s->begin_ns = has ? at_ns : s->begin_ns;
		s->has_begin |= has;
	} else if (f->number == 12 || (f->number == 3 && !*s->name)) {
		copy(s->name, OTLP_NAME + 1, f);
	} else if (f->number == 5 && f->wire == PROTOBUF_BYTES) {
		any_value(f->bytes, value, sizeof value);
		timeline_word(s->detail, "body", value);
	} else if (f->number == 6 && f->wire == PROTOBUF_BYTES) {
		attribute(f, key, value, sizeof value);
		otlp_attribute(s, key, value);
	}
}

static int take_log(struct otlp *o, struct message m)
{
	struct field f;

	otlp_span_begin(o);
	while (message_next(&m, &f) > 0)
		take_log_field(&o->span, &f);
	return otlp_log_end(o);
}

/* A trace's id, which no metric is called. */
static bool is_trace_id(const struct field *f)
{
	bool odd = false;

	if (f->number != 1 || f->wire != PROTOBUF_BYTES || f->value != 16)
		return false;
	for (const uint8_t *at = f->bytes.at; at < f->bytes.end; at++)
		odd |= *at < ' ' || *at > '~';
	return odd;
}

/* What a scope holds does not say what it is: a record of a log has a time as field 1 or 11, a span
 * has one as 7 or 8, or at least an id; a metric's fields are texts and messages. */
static int take_any(struct otlp *o, struct message m)
{
	struct message rest = m;
	struct field f;
	bool log = false, span = false;
	int more;

	while ((more = message_next(&rest, &f)) > 0) {
		log |= (f.number == 1 || f.number == 11) && f.wire == PROTOBUF_FIXED64;
		span |= (f.number == 7 || f.number == 8) && f.wire == PROTOBUF_FIXED64;
		span |= is_trace_id(&f);
	}
	if (more < 0) {
		o->count.malformed++;
		return 0;
	}
	return log ? take_log(o, m) : span ? take_span(o, m) : take_metric(o, m);
}

/* ScopeSpans and its like */
static int read_scope(struct stream *s, uint64_t end)
{
	struct message m;
	struct field f;
	int rc = 0;

	while (!rc && !s->in.bad && protobuf_next(&s->in, end, &f)) {
		if (f.number == 2 && f.wire == PROTOBUF_BYTES)
			rc = protobuf_whole(&s->in, &f, &m) ? take_any(s->o, m) : 0;
		else
			protobuf_pass(&s->in, &f);
	}
	return rc;
}

/* ResourceSpans */
static int read_part(struct stream *s, uint64_t end)
{
	struct otlp *o = s->o;
	struct message m;
	struct field f;
	int rc = otlp_part_begin(o), ended;

	while (!rc && !s->in.bad && protobuf_next(&s->in, end, &f)) {
		if (f.number == 1 && f.wire == PROTOBUF_BYTES) {
			if (protobuf_whole(&s->in, &f, &m))
				take_resource(o, m);
		} else if ((f.number == 2 || f.number == 1000) && f.wire == PROTOBUF_BYTES) {
			rc = read_scope(s, s->in.pos + f.value);
		} else {
			protobuf_pass(&s->in, &f);
		}
	}
	ended = otlp_part_end(o);
	return rc ? rc : ended;
}

/* TracesData */
static int read_message(struct stream *s, uint64_t end)
{
	struct field f;
	int rc = 0;

	while (!rc && !s->in.bad && protobuf_next(&s->in, end, &f)) {
		if (f.number == 1 && f.wire == PROTOBUF_BYTES)
			rc = read_part(s, s->in.pos + f.value);
		else
			protobuf_pass(&s->in, &f);
	}
	return rc;
}

/* A message that does not say how long it is ends with the file: between two of its fields. */
static int read_alone(struct stream *s)
{
	struct field f;
	int rc = 0;

	while (!rc && !s->in.bad && !protobuf_is_over(&s->in) &&
	       protobuf_next(&s->in, UINT64_MAX, &f)) {
		if (f.number == 1 && f.wire == PROTOBUF_BYTES)
			rc = read_part(s, s->in.pos + f.value);
		else
			protobuf_pass(&s->in, &f);
	}
	return rc;
}

static int read_each(struct stream *s)
{
	uint8_t n[4];
	int rc = 0;

	while (!rc && !s->in.bad && !protobuf_is_over(&s->in)) {
		if (!protobuf_take(&s->in, n, sizeof n)) {
			protobuf_fault(&s->in, "it ends too early");
			break;
		}
		rc = read_message(s, s->in.pos + ((uint64_t)n[0] << 24 | (uint64_t)n[1] << 16 |
						  (uint64_t)n[2] << 8 | n[3]));
	}
	return rc;
}

int otlp_protobuf_read(struct otlp *o)
{
	struct stream *s = calloc(1, sizeof *s);
	int rc = s ? protobuf_begin(&s->in, &o->file, &o->fault) : -ENOMEM;

	if (rc) {
		free(s);
		return err_set(o->e, rc, "out of memory for %.300s", o->x->path);
	}
	s->o = o;
	/* A field's number is never 0; a message behind its length is below 16 MiB. */
	rc = !protobuf_is_over(&s->in) && s->in.ahead[0] == 0 ? read_each(s) : read_alone(s);
	o->bad |= s->in.bad || *o->file.e.text != '\0';
	o->count.malformed += s->in.too_long;
	protobuf_end(&s->in);
	free(s);
	return rc;
}

/* Values of OpenTelemetry's metrics become counters, one for each metric and set of
 * attributes of a process; and texts of values that are lists. */

void otlp_point_begin(struct otlp *o)
{
	struct otlp_point *p = &o->point;

	p->has_time = p->has_value = p->has_count = p->has_sum = false;
	*p->labels = '\0';
}

/* A count of things has no unit of its own. */
static bool has_unit(const struct otlp_point *p, const char *part)
{
	return *p->unit && strcmp(p->unit, "1") != 0 && strcmp(part, " count") != 0;
}

/* Of several processes each has counters of its own. */
static uint32_t counter_of(struct otlp *o, const char *part)
{
	const struct otlp_point *p = &o->point;
	const struct otlp_resource *r = &o->now;
	char name[TIMELINE_NAME_MAX + TIMELINE_TEXT_MAX + OTLP_WHOSE + 16], whose[OTLP_WHOSE] = "";
	bool unit = has_unit(p, part);
	uint64_t key;
	uint32_t id;

	if (o->nresources > 1 && *o->now.service)
		otlp_whose(o, whose);
	snprintf(name, sizeof name, "%s%s%s%s%s%s%s%s%s%s", whose, *whose ? ": " : "", p->metric,
		 part, unit ? " (" : "", unit ? p->unit : "", unit ? ")" : "",
		 *p->labels ? " {" : "", p->labels, *p->labels ? "}" : "");
	key = hash_bytes(hash_text(hash_bytes(0, &o->now_id, sizeof o->now_id), name), "", 1) | 1;
	id = sampled_ids_get(&o->counters, key);
	if (id)
		return id == UINT32_MAX ? 0 : id;
	name[TIMELINE_NAME_MAX] = '\0';
	id = timeline_counter(&o->line, name, r->pid);
	timeline_label(&o->line, id, "unit", p->unit);
	sampled_ids_put(&o->counters, key, id ? id : UINT32_MAX);
	return id;
}

static int put(struct otlp *o, const char *part, double value)
{
	if (!isfinite(value))
		return 0;
	return timeline_value(&o->line, counter_of(o, part), o->point.at_ns - o->times.first_ns,
			      value);
}

int otlp_point_end(struct otlp *o)
{
	const struct otlp_point *p = &o->point;
	int rc = 0;

	if (!p->has_time || (o->writes && p->at_ns - o->times.first_ns > MONO_MAX)) {
		o->count.bad_time++;
		return 0;
	}
	if (!*p->metric || !(p->has_value || p->has_count || p->has_sum)) {
		o->count.no_value++;
		return 0;
	}
	if (o->writes && !otlp_is_of_the_node(o))
		return 0;
	o->count.points++;
	if (!o->writes) {
		otlp_see(o, p->at_ns, p->at_ns);
		return 0;
	}
	if (p->has_value)
		rc = put(o, "", p->value);
	if (!rc && p->has_count)
		rc = put(o, " count", p->count);
	if (!rc && p->has_sum)
		rc = put(o, " sum", p->sum);
	return rc;
}

/* ---- lists ---- */

void otlp_list_put(char *out, size_t size, const char *item)
{
	size_t n = strlen(out);

	if (!n)
		n += otlp_copy(out, size, "[", 1);
	else if (n > 1)
		n += otlp_copy(out + n, size - n, ",", 1);
	otlp_copy(out + n, size - n, item, strlen(item));
}

void otlp_list_end(char *out, size_t size)
{
	size_t n = strlen(out);

	otlp_copy(out + n, size - n, n ? "]" : "[]", n ? 1 : 2);
}
