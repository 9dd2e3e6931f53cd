/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/shape.h"

#include "base/text/escape.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 100 }; /* of a point, in which lengths are kept */

static int64_t parts_of(double length)
{
	double most = SHAPE_LENGTH_MAX;

	return isnan(length) ? 0 : llround(fmin(fmax(length, -most), most) * PARTS);
}

static void put_length(struct bytes *d, double length)
{
	bytes_zigzag(d, parts_of(length));
}

static void put_box(struct bytes *d, const struct box *b)
{
	put_length(d, b->x);
	put_length(d, b->y);
	put_length(d, b->w);
	put_length(d, b->h);
}

/* Each as the way from the one before it. */
static void put_points(struct bytes *d, const struct point *p, uint32_t n)
{
	int64_t x = 0, y = 0;

	bytes_varint(d, n);
	for (uint32_t i = 0; i < n; i++) {
		int64_t to_x = parts_of(p[i].x), to_y = parts_of(p[i].y);

		bytes_zigzag(d, to_x - x);
		bytes_zigzag(d, to_y - y);
		x = to_x;
		y = to_y;
	}
}

void shape_page(struct bytes *d, double w, double h)
{
	bytes_u8(d, SHAPE_PAGE);
	put_length(d, w);
	put_length(d, h);
}

void shape_box(struct bytes *d, const struct box *b, uint32_t colour)
{
	bytes_u8(d, SHAPE_BOX);
	put_box(d, b);
	bytes_varint(d, colour);
}

void shape_line(struct bytes *d, const struct pen *pen, const struct point *p, uint32_t n)
{
	bytes_u8(d, SHAPE_LINE);
	bytes_varint(d, pen->colour);
	put_length(d, pen->width);
	bytes_u8(d, (uint8_t)pen->dash);
	put_points(d, p, n);
}

void shape_area(struct bytes *d, uint32_t colour, const struct point *p, uint32_t n)
{
	bytes_u8(d, SHAPE_AREA);
	bytes_varint(d, colour);
	put_points(d, p, n);
}

void shape_clean(struct bytes *out, const char *text)
{
	size_t i = out->len;

	escape_terminal(out, text);
	/* XML has no U+FFFE and U+FFFF. */
	for (; i + 2 < out->len; i++)
		if (out->data[i] == 0xef && out->data[i + 1] == 0xbf && out->data[i + 2] >= 0xbe)
			out->data[i + 2] = 0xbd;
}

void shape_text(struct bytes *d, const struct lettering *l, struct point at, const char *text)
{
	struct bytes clean = { 0 };

	shape_clean(&clean, text);
	bytes_u8(d, SHAPE_TEXT);
	put_length(d, at.x);
	put_length(d, at.y);
	put_length(d, l->size);
	bytes_varint(d, l->colour);
	bytes_u8(d, (uint8_t)l->anchor);
	bytes_u8(d, l->bold);
	bytes_u8(d, l->turned);
	bytes_varint(d, clean.len);
	bytes_put(d, clean.data, clean.len);
	d->failed |= clean.failed;
	bytes_free(&clean);
}

void shape_grid(struct bytes *d, const struct box *b, uint32_t columns, uint32_t rows,
		const uint8_t *cells)
{
	bytes_u8(d, SHAPE_GRID);
	put_box(d, b);
	bytes_varint(d, columns);
	bytes_varint(d, rows);
	bytes_put(d, cells, (size_t)columns * rows);
}

void shape_end(struct bytes *d)
{
	bytes_u8(d, SHAPE_END);
}

static double take_length(struct scan *in)
{
	int64_t v = scan_zigzag(in);

	if (v < -SHAPE_LENGTH_MAX * PARTS || v > SHAPE_LENGTH_MAX * PARTS)
		in->bad = true;
	return in->bad ? 0 : (double)v / PARTS;
}

static struct box take_box(struct scan *in)
{
	struct box b;

	b.x = take_length(in);
	b.y = take_length(in);
	b.w = take_length(in);
	b.h = take_length(in);
	in->bad |= b.w < 0 || b.h < 0;
	return b;
}

static uint32_t take_below(struct scan *in, uint32_t limit)
{
	uint64_t v = scan_varint(in);

	in->bad |= v >= limit;
	return in->bad ? 0 : (uint32_t)v;
}

static uint32_t take_colour(struct scan *in)
{
	return take_below(in, 1 << 24);
}

static int take_points(struct shape_reader *r)
{
	struct scan *in = &r->in;
	int64_t x = 0, y = 0, most = SHAPE_LENGTH_MAX * PARTS;
	uint32_t n = take_below(in, SHAPE_POINTS_MAX + 1);

	if (in->bad || n > (size_t)(in->end - in->at) / 2)
		return -EPROTO;
	if (n > r->cap) {
		struct point *more = reallocarray(r->shape.point, n, sizeof *more);

		if (!more)
			return -ENOMEM;
		r->shape.point = more;
		r->cap = n;
	}
	for (uint32_t i = 0; i < n; i++) {
		int64_t dx = scan_zigzag(in), dy = scan_zigzag(in);

		if (in->bad || dx < -2 * most || dx > 2 * most || dy < -2 * most || dy > 2 * most)
			return -EPROTO;
		x += dx;
		y += dy;
		if (x < -most || x > most || y < -most || y > most)
			return -EPROTO;
		r->shape.point[i] = (struct point){ (double)x / PARTS, (double)y / PARTS };
	}
	r->shape.n = n;
	return 0;
}

/* A copy that ends in NUL. Only what shape_text would leave as it is. */
static int take_text(struct shape_reader *r)
{
	uint64_t n = scan_varint(&r->in);
	const uint8_t *text = n <= INT32_MAX ? scan_take(&r->in, (size_t)n) : NULL;
	struct bytes clean = { 0 };
	int rc = -EPROTO;

	if (!text || memchr(text, 0, (size_t)n))
		return -EPROTO;
	bytes_reset(&r->text);
	bytes_put(&r->text, text, (size_t)n);
	bytes_u8(&r->text, 0);
	if (r->text.failed)
		return -ENOMEM;
	r->shape.text = (const char *)r->text.data;
	shape_clean(&clean, r->shape.text);
	if (clean.failed)
		rc = -ENOMEM;
	else if (clean.len == n && (!n || !memcmp(clean.data, text, (size_t)n)))
		rc = 0;
	bytes_free(&clean);
	return rc;
}

static int take_lettering(struct shape_reader *r)
{
	struct lettering *l = &r->shape.lettering;

	r->shape.box.x = take_length(&r->in);
	r->shape.box.y = take_length(&r->in);
	l->size = take_length(&r->in);
	l->colour = take_colour(&r->in);
	l->anchor = (enum anchor)take_below(&r->in, ANCHOR_NUMBER_OF);
	l->bold = take_below(&r->in, 2);
	l->turned = take_below(&r->in, 2);
	return l->size > 0 ? take_text(r) : -EPROTO;
}

static int take_grid(struct shape_reader *r)
{
	struct shape *s = &r->shape;

	s->box = take_box(&r->in);
	s->columns = take_below(&r->in, SHAPE_CELLS_MAX + 1);
	s->rows = take_below(&r->in, SHAPE_CELLS_MAX + 1);
	if (!s->columns || !s->rows || (uint64_t)s->columns * s->rows > SHAPE_CELLS_MAX)
		return -EPROTO;
	s->cell = scan_take(&r->in, (size_t)s->columns * s->rows);
	return s->cell ? 0 : -EPROTO;
}

static int take_page(struct shape_reader *r)
{
	r->shape.box = (struct box){ .w = take_length(&r->in) };
	r->shape.box.h = take_length(&r->in);
	return r->shape.box.w >= 1 && r->shape.box.h >= 1 && ++r->pages <= SHAPE_PAGES_MAX
		       ? 0
		       : -EPROTO;
}

static int take(struct shape_reader *r)
{
	struct shape *s = &r->shape;

	/* Nothing lies outside of a page. */
	if (s->kind != SHAPE_PAGE && s->kind != SHAPE_END && !r->pages)
		return -EPROTO;
	switch (s->kind) {
	case SHAPE_PAGE:
		return take_page(r);
	case SHAPE_BOX:
		s->box = take_box(&r->in);
		s->colour = take_colour(&r->in);
		return 0;
	case SHAPE_LINE:
		s->pen.colour = take_colour(&r->in);
		s->pen.width = take_length(&r->in);
		s->pen.dash = (enum dash)take_below(&r->in, DASH_NUMBER_OF);
		return s->pen.width > 0 ? take_points(r) : -EPROTO;
	case SHAPE_AREA:
		s->colour = take_colour(&r->in);
		return take_points(r);
	case SHAPE_TEXT:
		return take_lettering(r);
	case SHAPE_GRID:
		return take_grid(r);
	case SHAPE_END:
	case SHAPE_KIND_NUMBER_OF:
		break;
	}
	return 0;
}

int shape_next(struct shape_reader *r, struct err *e)
{
	uint32_t kind = take_below(&r->in, SHAPE_KIND_NUMBER_OF);
	int rc;

	r->shape = (struct shape){ .kind = (enum shape_kind)kind, .point = r->shape.point };
	rc = r->in.bad ? -EPROTO : take(r);
	if (!rc && r->in.bad)
		rc = -EPROTO;
	if (rc == -ENOMEM)
		return err_set(e, rc, "out of memory while drawing");
	if (rc)
		return err_set(e, rc, "what came is not a drawing of this version of Sonde");
	return r->shape.kind != SHAPE_END;
}

void shape_reader_free(struct shape_reader *r)
{
	free(r->shape.point);
	bytes_free(&r->text);
	*r = (struct shape_reader){ 0 };
}

/* ---- document ---- */

/* Of the documents and the shapes: both ends are of one version of Sonde. */
enum { MAGIC = 0x57524453 /* "SDRW" */, VERSION = 1 };

static void put_words(struct bytes *out, const char *words)
{
	struct bytes clean = { 0 };
	char cut[DOCUMENT_WORDS];

	shape_clean(&clean, words);
	bytes_u8(&clean, 0);
	if (clean.failed)
		out->failed = true;
	else
		bytes_text(out, escape_terminal_into(cut, sizeof cut, (const char *)clean.data));
	bytes_free(&clean);
}

void document_encode(struct bytes *out, const struct document *d)
{
	bytes_u32(out, MAGIC);
	bytes_u8(out, VERSION);
	bytes_u8(out, (uint8_t)d->format);
	bytes_u32(out, d->dpi);
	bytes_zigzag(out, d->created_s);
	put_words(out, d->title);
	put_words(out, d->author);
}

static void take_words(struct scan *in, char out[DOCUMENT_WORDS])
{
	size_t n = 0;
	const char *words = scan_text(in, &n);

	out[0] = '\0';
	if (!words || n >= DOCUMENT_WORDS || memchr(words, 0, n)) {
		in->bad = true;
		return;
	}
	memcpy(out, words, n);
	out[n] = '\0';
	in->bad |= !escape_is_utf8(out);
}

int document_decode(struct scan *in, struct document *d, struct err *e)
{
	bool good = scan_u32(in) == MAGIC && scan_u8(in) == VERSION;
	uint8_t format = scan_u8(in);

	*d = (struct document){ .dpi = scan_u32(in) };
	d->created_s = scan_zigzag(in);
	take_words(in, d->title);
	take_words(in, d->author);
	if (!good || in->bad || format >= DOCUMENT_FORMAT_NUMBER_OF || !d->dpi ||
	    d->dpi > DOCUMENT_DPI_MAX)
		return err_set(e, -EPROTO, "what came is not a drawing of this version of Sonde");
	d->format = (enum document_format)format;
	return 0;
}
