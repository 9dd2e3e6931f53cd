/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - a drawing: pages of shapes, as bytes. What draws charts appends to it; what paints
 * (chart/svg.h, the helper sonde-draw) reads it.
 *
 * Lengths are in points of 1/72 inch from the top left corner, kept in hundredths. Colours are
 * 0xRRGGBB. Texts are made harmless when they are put: valid UTF-8, no control characters. What is
 * read is not trusted.
 */
#ifndef SONDE_CHART_SHAPE_H
#define SONDE_CHART_SHAPE_H

#include "base/bytes.h"
#include "base/err.h"

struct point {
	double x, y;
};

struct box {
	double x, y, w, h;
};

enum shape_kind {
	SHAPE_END = 0, /* of the drawing: what lacks it was cut off */
	SHAPE_PAGE,
	SHAPE_BOX,  /* filled */
	SHAPE_LINE, /* through its points */
	SHAPE_AREA, /* filled, within its points */
	SHAPE_TEXT,
	SHAPE_GRID, /* cells of colours in a box, row by row */
	SHAPE_KIND_NUMBER_OF
};

enum anchor { ANCHOR_START = 0, ANCHOR_MIDDLE, ANCHOR_END, ANCHOR_NUMBER_OF };
enum dash { DASH_NONE = 0, DASH_LONG, DASH_SHORT, DASH_DOTS, DASH_NUMBER_OF };

struct pen {
	uint32_t colour;
	double width;
	enum dash dash;
};

struct lettering {
	double size;
	uint32_t colour;
	enum anchor anchor;
	bool bold;
	bool turned; /* reads from the bottom to the top */
};

enum {
	SHAPE_POINTS_MAX = 1 << 20,
	SHAPE_CELLS_MAX = 1 << 22,
	SHAPE_PAGES_MAX = 4096,
	SHAPE_LENGTH_MAX = 14400 /* points; what a PDF page may measure at most */
};

/* Lengths beyond SHAPE_LENGTH_MAX are cut to it. */
void shape_page(struct bytes *drawing, double w, double h);
void shape_box(struct bytes *drawing, const struct box *b, uint32_t colour);
void shape_line(struct bytes *drawing, const struct pen *pen, const struct point *p, uint32_t n);
void shape_area(struct bytes *drawing, uint32_t colour, const struct point *p, uint32_t n);
/* x, y: where its base line begins, has its middle or ends. text may be hostile. */
void shape_text(struct bytes *drawing, const struct lettering *l, struct point at,
		const char *text);
/* Append text as shape_text keeps it. */
void shape_clean(struct bytes *out, const char *text);
/* cells: [rows * columns], each a colour of chart/svg.h's scale. */
void shape_grid(struct bytes *drawing, const struct box *b, uint32_t columns, uint32_t rows,
		const uint8_t *cells);
void shape_end(struct bytes *drawing);

/* What was read last; its members that the kind has not are 0. Borrowed until the next is read. */
struct shape {
	enum shape_kind kind;
	struct box box; /* of a text: x, y */
	uint32_t colour;
	struct pen pen;
	struct lettering lettering;
	struct point *point;
	uint32_t n;
	const char *text;
	uint32_t columns, rows;
	const uint8_t *cell;
};

/* {0} with scan set is the start. */
struct shape_reader {
	struct scan in;
	struct shape shape;
	struct bytes text;
	uint32_t cap, pages;
};

/* 1 and a shape, 0 at the end, -EPROTO of what no writer makes, -ENOMEM. */
int shape_next(struct shape_reader *r, struct err *e);
void shape_reader_free(struct shape_reader *r);

enum document_format { DOCUMENT_PNG = 0, DOCUMENT_PDF, DOCUMENT_SVG, DOCUMENT_FORMAT_NUMBER_OF };

enum { DOCUMENT_WORDS = 256, DOCUMENT_DPI_MAX = 2400 };

/* The words before the shapes on the way to the helper sonde-draw. Everything that would differ
 * from one time to the next is in them, so that the same recording gives the same file. */
struct document {
	enum document_format format;
	uint32_t dpi;                                       /* of a PNG: 1 .. DOCUMENT_DPI_MAX */
	int64_t created_s;                                  /* since 1970; 0: not known */
	char title[DOCUMENT_WORDS], author[DOCUMENT_WORDS]; /* "": none; made harmless when put */
};

/* Before the shapes. */
void document_encode(struct bytes *out, const struct document *d);
/* 0 and *in at the first shape, or -EPROTO. */
int document_decode(struct scan *in, struct document *d, struct err *e);

#endif
