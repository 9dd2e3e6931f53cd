/* SPDX-License-Identifier: Apache-2.0 */
#include "top/line.h"

#include "top/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Parts with two blanks between them, as long as they fit. */
struct line {
	struct bytes *out;
	size_t begin;
	unsigned columns;
};

static void part(const struct line *l, const char *text)
{
	size_t used = l->out->len - l->begin, space = used ? 2 : 0;

	if (used + space + strlen(text) > l->columns)
		return;
	bytes_puts(l->out, space ? "  " : "");
	bytes_puts(l->out, text);
}

static void figure(const struct line *l, const char *before, const double *v, enum now_figure f,
		   const char *after)
{
	char value[FIGURE_TEXT], text[64];

	if (isnan(v[f]))
		return;
	snprintf(text, sizeof text, "%s%s%s", before, figure_text(value, f, v[f]), after);
	part(l, text);
}

static void used_of(const struct line *l, const double *v, enum now_figure used,
		    enum now_figure whole, const char *after)
{
	char value[FIGURE_TEXT], text[64];

	if (isnan(v[whole])) {
		figure(l, "", v, used, after);
		return;
	}
	snprintf(text, sizeof text, " of %s%s", figure_text(value, whole, v[whole]), after);
	figure(l, "", v, used, text);
}

void line_put(struct bytes *out, const struct now *now, double elapsed_s, unsigned columns)
{
	const struct line l = { out, out->len, columns };
	const double *v = now->figure;
	uint32_t missing = now->state[NOW_LATE] + now->state[NOW_SILENT];
	char text[64];
	long s = (long)elapsed_s;

	snprintf(text, sizeof text, "sonde: %ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
	part(&l, text);
	used_of(&l, v, NOW_CPU, NOW_CORES, " cores");
	used_of(&l, v, NOW_MEMORY, NOW_MEMORY_LIMIT, "");
	figure(&l, "GPU ", v, NOW_GPU, "");
	figure(&l, "read ", v, NOW_READ, "");
	figure(&l, "written ", v, NOW_WRITTEN, "");
	figure(&l, "", v, NOW_PROCESSES, v[NOW_PROCESSES] == 1 ? " process" : " processes");
	if (now->n > 1) {
		snprintf(text, sizeof text, "%u nodes", now->n);
		part(&l, text);
	}
	if (missing) {
		snprintf(text, sizeof text, "%u late", missing);
		part(&l, text);
	}
}
