/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_folded.c - a line for each stack: "process;main;f 1234", for flamegraph.pl and its like.
 *
 * The number is microseconds of CPU time, or of the time of threads; below one of them a stack
 * counts one.
 */
#include "base/bytes.h"
#include "base/text/escape.h"
#include "sink/profile/profile.h"
#include "sink/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A semicolon separates, a blank precedes the number, and a line ends. */
static void put_name(struct bytes *out, const char *name)
{
	size_t from = out->len;

	escape_utf8(out, name);
	for (size_t i = from; i < out->len; i++) {
		if (out->data[i] == ';')
			out->data[i] = ':';
		else if (out->data[i] < ' ' || out->data[i] == 0x7f)
			out->data[i] = '?';
	}
}

static void put_line(const struct profile_data *d, const struct stacks_cell *c, struct bytes *out)
{
	const struct stacks_function *functions = d->stacks->functions;
	uint32_t path[PROFILE_DEEP], n = profile_path(d, c->place, path);
	double weight =
		round((double)c->value * (stacks_in_bytes(d->stacks->selection.kind) ? 1 : 1e6));

	put_name(out, d->nodes.groups[c->group].name);
	for (uint32_t i = 0; i < n; i++) {
		bytes_puts(out, ";");
		if (path[i] == PROFILE_CUT)
			bytes_puts(out, "(deeper)");
		else
			put_name(out, profile_name(&functions[path[i]]));
	}
	bytes_printf(out, " %.0f\n", fmax(1, weight));
}

static int folded_write(const struct profile_data *d, FILE *out, struct err *e)
{
	struct bytes text = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < d->nodes.n && !rc; i++) {
		put_line(d, &d->nodes.cell[i], &text);
		rc = text_flush(&text, out, TEXT_BLOCK, e);
	}
	if (!rc)
		rc = text_flush(&text, out, 0, e);
	bytes_free(&text);
	return rc;
}

const struct profile profile_folded = {
	.name = "folded",
	.file = "stacks.folded",
	.write = folded_write,
};
