/* SPDX-License-Identifier: Apache-2.0 */
/* A document as the helper sonde-draw gets it: any bytes. All that is given must be readable, and
 * what is a drawing is drawn. */
#include "chart/shape.h"
#include "chart/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile double sum;

static void touch(const struct shape *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		sum += s->point[i].x + s->point[i].y;
	for (uint32_t i = 0; s->cell && i < s->columns * s->rows; i++)
		sum += s->cell[i];
	if (s->text)
		sum += (double)strlen(s->text);
	if (!(fabs(s->box.x) <= SHAPE_LENGTH_MAX) || s->colour > 0xffffff)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shape_reader r = { .in = { data, data + size, false } };
	struct document d;

	if (size && data[0] == 'S' && document_decode(&r.in, &d, NULL))
		return 0;
	if (r.in.at < r.in.end) {
		struct bytes drawing = { .data = (uint8_t *)r.in.at,
					 .len = (size_t)(r.in.end - r.in.at) };
		struct bytes svg = { 0 };

		/* A grid's cells are named one by one: of very many the text would be too long. */
		if (size < 4096)
			svg_write(&svg, &drawing, "title", NULL);
		bytes_free(&svg);
	}
	while (shape_next(&r, NULL) > 0)
		touch(&r.shape);
	shape_reader_free(&r);
	return 0;
}
