/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/record.h"

#include "recording/format.h"

#include <errno.h>
#include <string.h>

enum shape {
	SHAPE_NONE, /* a bit without a field */
	SHAPE_U32,
	SHAPE_U64,
	SHAPE_I64,
	SHAPE_REAL,
	SHAPE_TEXT,
	SHAPE_VALUES,
	SHAPE_ROWS,
	SHAPE_SPANS,
	SHAPE_POINTS,
	SHAPE_ITEMS
};

struct field {
	enum shape shape;
	size_t offset;     /* into struct record */
	uint32_t fallback; /* SHAPE_U32: what it is when left out */
};

#define EVENT_FIELD(shape, member)                                                                 \
	{                                                                                          \
		shape, offsetof(struct record, event.member), 0                                    \
	}

static const struct field fields[] = {
	[FIELD_NODE] = { SHAPE_U32, offsetof(struct record, event.node), 1 },
	[FIELD_ID] = EVENT_FIELD(SHAPE_U32, id),
	[FIELD_PARENT] = EVENT_FIELD(SHAPE_U32, parent),
	[FIELD_COUNT] = EVENT_FIELD(SHAPE_U32, count),
	[FIELD_FLAGS] = EVENT_FIELD(SHAPE_U32, flags),
	[FIELD_STATE] = EVENT_FIELD(SHAPE_U32, state),
	[FIELD_META_TYPE] = EVENT_FIELD(SHAPE_U32, meta_type),
	[FIELD_T0] = EVENT_FIELD(SHAPE_I64, t0),
	[FIELD_T1] = EVENT_FIELD(SHAPE_I64, t1),
	[FIELD_VALUE] = EVENT_FIELD(SHAPE_I64, value),
	[FIELD_REAL] = EVENT_FIELD(SHAPE_REAL, real),
	[FIELD_MASK] = EVENT_FIELD(SHAPE_U64, mask),
	[FIELD_NAME] = EVENT_FIELD(SHAPE_TEXT, name),
	[FIELD_TEXT] = EVENT_FIELD(SHAPE_TEXT, text),
	[FIELD_DOMAIN] = EVENT_FIELD(SHAPE_TEXT, domain),
	[FIELD_VALUES] = EVENT_FIELD(SHAPE_VALUES, values),
	[FIELD_METRIC] = { SHAPE_U32, offsetof(struct record, metric_id), 0 },
	[FIELD_ROWS] = EVENT_FIELD(SHAPE_ROWS, metric),
	[FIELD_SPANS] = EVENT_FIELD(SHAPE_SPANS, spans),
	[FIELD_POINTS] = EVENT_FIELD(SHAPE_POINTS, points),
	[FIELD_ITEMS] = EVENT_FIELD(SHAPE_ITEMS, items),
};
_Static_assert(sizeof fields / sizeof fields[0] == FIELD_NUMBER_OF, "a row for each field");
_Static_assert(sizeof(enum state) == 4 && sizeof(enum meta_type) == 4, "they are read as 32 bits");

static uint32_t load_u32(const void *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

static uint64_t load_u64(const void *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

static const void *load_pointer(const void *at)
{
	const void *p;

	memcpy(&p, at, sizeof p);
	return p;
}

/* ---- writing ---- */

uint64_t record_real_mask(const struct event *e)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; e->metric && i < e->count && i < EVENT_SET_MAX; i++)
		mask |= (uint64_t)(e->metric[i].storage == STORE_REAL) << i;
	return mask;
}

static bool has_items(enum event_kind kind)
{
	return kind == EVENT_STACKS || kind == EVENT_SAMPLES;
}

/* The event with what is not written of its kind taken out, so that every field has one rule. */
static struct record record_of(const struct event *e, uint32_t metric_id)
{
	struct record r = { .event = *e, .metric_id = e->metric ? metric_id : 0 };

	if (e->kind == EVENT_SERIES) {
		r.event.value = 0; /* its slot, of no use to a reader */
		r.event.mask = record_real_mask(e);
	}
	if (e->kind == EVENT_FINAL && e->count < EVENT_SET_MAX)
		r.event.mask &= (UINT64_C(1) << e->count) - 1;
	if (e->kind != EVENT_FINAL || !r.event.mask)
		r.event.values = NULL;
	if (e->kind != EVENT_CATALOGUE)
		r.event.metric = NULL;
	if (e->kind != EVENT_SPANS)
		r.event.spans = NULL;
	if (e->kind != EVENT_POINTS)
		r.event.points = NULL;
	if (!has_items(e->kind))
		r.event.items = NULL;
	return r;
}

static bool is_set(const struct record *r, const struct field *f)
{
	const uint8_t *at = (const uint8_t *)r + f->offset;
	const char *text;

	switch (f->shape) {
	case SHAPE_NONE:
		return false;
	case SHAPE_U32:
		return load_u32(at) != f->fallback;
	case SHAPE_U64:
	case SHAPE_I64:
	case SHAPE_REAL:
		return load_u64(at) != 0;
	case SHAPE_TEXT:
		text = load_pointer(at);
		return text && *text;
	case SHAPE_VALUES:
	case SHAPE_ROWS:
	case SHAPE_SPANS:
	case SHAPE_POINTS:
	case SHAPE_ITEMS:
		break;
	}
	return load_pointer(at) != NULL;
}

static void rows_put(struct bytes *out, const struct metric *m, uint32_t count)
{
	for (; count--; m++) {
		bytes_text(out, m->name);
		bytes_text(out, m->domain);
		bytes_text(out, m->label);
		bytes_text(out, m->help);
		bytes_text(out, m->formula);
		bytes_varint(out, m->mul);
		bytes_varint(out, m->div);
		bytes_u8(out, (uint8_t)m->unit);
		bytes_u8(out, (uint8_t)m->kind);
		bytes_u8(out, (uint8_t)m->storage);
		bytes_u8(out, (uint8_t)m->over_instances);
		bytes_u8(out, (uint8_t)m->over_nodes);
	}
}

static void values_put(struct bytes *out, const struct event *e)
{
	for (uint32_t i = 0; i < EVENT_SET_MAX; i++) {
		if (e->mask >> i & 1)
			bytes_zigzag(out, e->values[i]);
	}
}

/* One begins soon after the end of the one before, or before it. */
static void span_set_put(struct bytes *out, const struct event *e)
{
	int64_t before_ns = 0;

	for (uint32_t i = 0; i < e->count; i++) {
		const struct event_span *s = &e->spans[i];

		bytes_varint(out, s->word);
		bytes_zigzag(out, (int64_t)((uint64_t)s->begin_ns - (uint64_t)before_ns));
		bytes_varint(out, (uint64_t)s->end_ns - (uint64_t)s->begin_ns);
		before_ns = s->end_ns;
	}
}

/* The last bytes of a double are often 0, and the first ones those of the value before. */
static void point_set_put(struct bytes *out, const struct event *e)
{
	uint64_t before_ns = 0, before = 0, bits;

	for (uint32_t i = 0; i < e->count; i++) {
		const struct event_point *p = &e->points[i];

		memcpy(&bits, &p->value, sizeof bits);
		bytes_zigzag(out, (int64_t)((uint64_t)p->at_ns - before_ns));
		bytes_varint(out, __builtin_bswap64(bits ^ before));
		before_ns = (uint64_t)p->at_ns;
		before = bits;
	}
}

static void items_put(struct bytes *out, const struct event *e)
{
	struct event_item before = { 0 };

	for (uint32_t i = 0; i < e->count; i++) {
		const struct event_item *t = &e->items[i];

		bytes_zigzag(out, (int64_t)t->task - before.task);
		bytes_zigzag(out, (int64_t)t->node - before.node);
		bytes_varint(out, t->weight);
		before = *t;
	}
}

static void field_put(struct bytes *out, const struct record *r, const struct field *f)
{
	const uint8_t *at = (const uint8_t *)r + f->offset;

	switch (f->shape) {
	case SHAPE_NONE:
		break;
	case SHAPE_U32:
		bytes_varint(out, load_u32(at));
		break;
	case SHAPE_U64:
		bytes_varint(out, load_u64(at));
		break;
	case SHAPE_I64:
		bytes_zigzag(out, (int64_t)load_u64(at));
		break;
	case SHAPE_REAL:
		bytes_u64(out, load_u64(at));
		break;
	case SHAPE_TEXT:
		bytes_text(out, load_pointer(at));
		break;
	case SHAPE_VALUES:
		values_put(out, &r->event);
		break;
	case SHAPE_ROWS:
		rows_put(out, r->event.metric, r->event.count);
		break;
	case SHAPE_SPANS:
		span_set_put(out, &r->event);
		break;
	case SHAPE_POINTS:
		point_set_put(out, &r->event);
		break;
	case SHAPE_ITEMS:
		items_put(out, &r->event);
		break;
	}
}

/* The length comes first and is a varint: the body is written behind room for one of five bytes,
 * and moved down when its length is known. */
enum { ROOM = 5 };

size_t record_begin(struct bytes *out)
{
	bytes_put(out, (uint8_t[ROOM]){ 0 }, ROOM);
	return out->len;
}

void record_end(struct bytes *out, size_t body)
{
	size_t n = out->len - body;

	if (out->failed)
		return;
	out->len = body - ROOM;
	bytes_varint(out, n);
	memmove(out->data + out->len, out->data + body, n);
	out->len += n;
}

void record_put(struct bytes *out, const struct event *e, uint32_t metric_id)
{
	const struct record r = record_of(e, metric_id);
	size_t body = record_begin(out);
	uint32_t mask = 0;

	for (uint32_t i = 0; i < FIELD_NUMBER_OF; i++)
		mask |= (uint32_t)is_set(&r, &fields[i]) << i;
	bytes_u8(out, (uint8_t)e->kind);
	bytes_varint(out, mask);
	for (uint32_t i = 0; i < FIELD_NUMBER_OF; i++) {
		if (mask >> i & 1)
			field_put(out, &r, &fields[i]);
	}
	record_end(out, body);
}

/* ---- reading ---- */

struct reading {
	struct scan in;
	struct record *r;
	struct pool *pool; /* NULL: texts are skipped */
	bool no_memory;
};

static const char *text_get(struct reading *g)
{
	size_t n;
	const char *text = scan_text(&g->in, &n), *copy;

	if (!g->pool || !n)
		return "";
	copy = pool_text(g->pool, text, n);
	g->no_memory |= !copy;
	return copy ? copy : "";
}

static void *array_get(struct reading *g, size_t n, size_t size)
{
	void *array = g->pool ? pool_take(g->pool, n * size) : NULL;

	g->no_memory |= g->pool && !array;
	if (array)
		memset(array, 0, n * size);
	return array;
}

static void values_get(struct reading *g)
{
	struct event *e = &g->r->event;
	int64_t *values = array_get(g, EVENT_SET_MAX, sizeof *values);

	for (uint32_t i = 0; i < EVENT_SET_MAX; i++) {
		int64_t v = e->mask >> i & 1 ? scan_zigzag(&g->in) : 0;

		if (values)
			values[i] = v;
	}
	e->values = values;
}

static void row_get(struct reading *g, struct metric *m)
{
	const char *domain, *formula;

	m->name = text_get(g);
	domain = text_get(g);
	m->domain = *domain ? domain : NULL;
	m->label = text_get(g);
	m->help = text_get(g);
	formula = text_get(g);
	m->formula = *formula ? formula : NULL;
	m->mul = (uint32_t)scan_varint(&g->in);
	m->div = (uint32_t)scan_varint(&g->in);
	m->unit = scan_u8(&g->in);
	m->kind = scan_u8(&g->in);
	m->storage = scan_u8(&g->in);
	m->over_instances = scan_u8(&g->in);
	m->over_nodes = scan_u8(&g->in);
}

static void rows_get(struct reading *g)
{
	uint32_t count = g->r->event.count;
	struct metric *rows;

	if (count > CATALOGUE_MAX || !g->pool)
		return; /* the caller sees a CATALOGUE without rows */
	rows = array_get(g, count, sizeof *rows);
	for (uint32_t i = 0; rows && i < count && !g->in.bad; i++)
		row_get(g, &rows[i]);
	g->r->event.metric = rows;
}

static void span_set_get(struct reading *g)
{
	uint32_t count = g->r->event.count;
	struct event_span *spans;
	uint64_t at_ns = 0;

	if (count > EVENT_SPANS_MAX || !g->pool)
		return; /* the caller sees a set without spans */
	spans = array_get(g, count, sizeof *spans);
	for (uint32_t i = 0; spans && i < count && !g->in.bad; i++) {
		uint64_t word = scan_varint(&g->in);

		g->in.bad |= word > UINT32_MAX;
		at_ns += (uint64_t)scan_zigzag(&g->in);
		spans[i].word = (uint32_t)word;
		spans[i].begin_ns = (int64_t)at_ns;
		at_ns += scan_varint(&g->in);
		spans[i].end_ns = (int64_t)at_ns;
	}
	g->r->event.spans = spans;
}

static void point_set_get(struct reading *g)
{
	uint32_t count = g->r->event.count;
	struct event_point *points;
	uint64_t at_ns = 0, bits = 0;

	if (count > EVENT_SPANS_MAX || !g->pool)
		return; /* as above */
	points = array_get(g, count, sizeof *points);
	for (uint32_t i = 0; points && i < count && !g->in.bad; i++) {
		at_ns += (uint64_t)scan_zigzag(&g->in);
		bits ^= __builtin_bswap64(scan_varint(&g->in));
		points[i].at_ns = (int64_t)at_ns;
		memcpy(&points[i].value, &bits, sizeof bits);
	}
	g->r->event.points = points;
}

/* An id that is written as its distance from the one before. */
static uint32_t id_get(struct reading *g, uint32_t before)
{
	uint64_t id = (uint64_t)before + (uint64_t)scan_zigzag(&g->in);

	g->in.bad |= id > UINT32_MAX;
	return (uint32_t)id;
}

static void items_get(struct reading *g)
{
	uint32_t count = g->r->event.count;
	struct event_item *items, before = { 0 };

	if (count > EVENT_ITEMS_MAX || !g->pool)
		return; /* the caller sees a set without items */
	items = array_get(g, count, sizeof *items);
	for (uint32_t i = 0; items && i < count && !g->in.bad; i++) {
		items[i].task = id_get(g, before.task);
		items[i].node = id_get(g, before.node);
		items[i].weight = scan_varint(&g->in);
		before = items[i];
	}
	g->r->event.items = items;
}

static void field_get(struct reading *g, const struct field *f)
{
	void *at = (uint8_t *)g->r + f->offset;
	const char *text;
	uint64_t v = 0;
	uint32_t narrow;

	switch (f->shape) {
	case SHAPE_NONE:
		return;
	case SHAPE_U32:
		v = scan_varint(&g->in);
		narrow = (uint32_t)v;
		g->in.bad |= v > UINT32_MAX;
		memcpy(at, &narrow, sizeof narrow);
		return;
	case SHAPE_U64:
		v = scan_varint(&g->in);
		break;
	case SHAPE_I64:
		v = (uint64_t)scan_zigzag(&g->in);
		break;
	case SHAPE_REAL:
		v = scan_u64(&g->in);
		break;
	case SHAPE_TEXT:
		text = text_get(g);
		memcpy(at, &text, sizeof text);
		return;
	case SHAPE_VALUES:
		values_get(g);
		return;
	case SHAPE_ROWS:
		rows_get(g);
		return;
	case SHAPE_SPANS:
		span_set_get(g);
		return;
	case SHAPE_POINTS:
		point_set_get(g);
		return;
	case SHAPE_ITEMS:
		items_get(g);
		return;
	}
	memcpy(at, &v, sizeof v);
}

/* A later Sonde may know more states and types: the record is skipped, as one of a later kind is,
 * and nobody indexes a table with a stranger's number. */
static bool is_later(const struct event *e)
{
	return e->state >= STATE_NUMBER_OF || e->meta_type >= META_TYPE_NUMBER_OF;
}

static bool sound(const struct event *e)
{
	if ((e->kind == EVENT_SERIES || e->kind == EVENT_SERIES_END || e->kind == EVENT_FINAL) &&
	    (!e->count || e->count > EVENT_SET_MAX || e->id > UINT32_MAX - e->count))
		return false;
	if (has_items(e->kind) && (e->count > EVENT_ITEMS_MAX || e->id > UINT32_MAX - e->count))
		return false;
	return true;
}

/* Numbers that have no kind yet are skipped as those beyond the last one are. */
static bool is_known(uint8_t kind)
{
	return kind && kind < EVENT_KIND_NUMBER_OF &&
	       (kind <= EVENT_POINTS || kind >= EVENT_MODULE);
}

/* The body of the next record of a kind that is known, into g->in. 1, 0 at the end, -EBADMSG. */
static int body_next(struct scan *in, struct reading *g, uint8_t *kind, const uint8_t **start)
{
	uint64_t length;

	do {
		*start = in->at;
		length = in->at < in->end ? scan_varint(in) : 0;
		if (!length && !in->bad)
			return 0;
		g->in.at = length > SIZE_MAX ? NULL : scan_take(in, (size_t)length);
		if (in->bad || !g->in.at)
			return -EBADMSG;
		g->in.end = in->at;
		*kind = scan_u8(&g->in);
	} while (!is_known(*kind));
	return 1;
}

int record_get(struct scan *in, struct record *r, struct pool *pool)
{
	struct reading g = { .r = r, .pool = pool };
	const uint8_t *start;
	uint64_t mask;
	uint8_t kind;
	int rc;

	do {
		rc = body_next(in, &g, &kind, &start);
		if (rc <= 0)
			return rc;
		*r = (struct record){
			.event = { .kind = kind, .node = 1, .name = "", .text = "", .domain = "" },
			.start = start,
		};
		mask = scan_varint(&g.in);
		for (uint32_t i = 0; i < FIELD_NUMBER_OF && !g.in.bad; i++) {
			if (!(mask >> i & 1))
				continue;
			if (fields[i].shape == SHAPE_NONE)
				break; /* nobody here knows where it ends */
			field_get(&g, &fields[i]);
		}
		if (g.no_memory || g.in.bad)
			return g.no_memory ? -ENOMEM : -EBADMSG;
	} while (is_later(&r->event));
	return sound(&r->event) ? 1 : -EBADMSG;
}

const char *record_metric_fault(const struct metric *m)
{
	const char *c = m->name;

	if (*c < 'a' || *c > 'z')
		return "a metric's name does not begin with a letter";
	for (; *c; c++) {
		if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_' ||
		      *c == '.'))
			return "a metric's name has an illegal character";
	}
	if (m->unit >= UNIT_NUMBER_OF || m->kind >= KIND_NUMBER_OF ||
	    m->storage >= STORE_NUMBER_OF || m->over_instances >= COMBINE_NUMBER_OF ||
	    m->over_nodes >= COMBINE_NUMBER_OF)
		return "a metric has a unit or kind that is not known here";
	return NULL;
}
