/* SPDX-License-Identifier: Apache-2.0 */
#include "import/documents.h"

#include <string.h>

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

ssize_t documents_read(void *ctx, void *data, size_t n)
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

bool documents_next(struct documents *d)
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
