/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.h - what becomes of a drawing: the words before it on the way to the helper sonde-draw.
 *
 * Everything that would differ from one time to the next is told, so that the same recording gives
 * the same file. What is read is not trusted.
 */
#ifndef SONDE_CHART_DOCUMENT_H
#define SONDE_CHART_DOCUMENT_H

#include "chart/shape.h"

enum document_format { DOCUMENT_PNG = 0, DOCUMENT_PDF, DOCUMENT_SVG, DOCUMENT_FORMAT_NUMBER_OF };

enum { DOCUMENT_WORDS = 256, DOCUMENT_DPI_MAX = 2400 };

struct document {
	enum document_format format;
	uint32_t dpi;                                       /* of a PNG: 1 .. DOCUMENT_DPI_MAX */
	int64_t created_s;                                  /* since 1970; 0: not told */
	char title[DOCUMENT_WORDS], author[DOCUMENT_WORDS]; /* "": none; made harmless when put */
};

/* Before the shapes. */
void document_encode(struct bytes *out, const struct document *d);
/* 0 and *in at the first shape, or -EPROTO. */
int document_decode(struct scan *in, struct document *d, struct err *e);

#endif
