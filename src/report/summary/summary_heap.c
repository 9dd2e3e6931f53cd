/* SPDX-License-Identifier: Apache-2.0 */
/* summary_heap.c - processes whose command line, or environment, sets the size of their heap, and
 * how much memory the one held that came nearest to it. */
#include "base/text/decimal.h"
#include "report/summary/summary_part.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { END_S = 1 }; /* who ended so shortly before the job, or lived on, may have ended it */

/* What sets it; unit: of a number without a suffix. */
static const struct option {
	const char *words;
	double unit;
} options[] = {
	{ "-Xmx", 1 },
	{ "--max-old-space-size=", 1048576 },
	{ "--max-old-space-size ", 1048576 },
	{ "--max_old_space_size=", 1048576 },
};

/* Where the programs look for options besides their command lines. */
static const struct {
	const char *command, *key;
} variables[] = {
	{ "java", "job.environment.JAVA_TOOL_OPTIONS" },
	{ "java", "job.environment.JDK_JAVA_OPTIONS" },
	{ "java", "job.environment._JAVA_OPTIONS" },
	{ "node", "job.environment.NODE_OPTIONS" },
};

static double with_suffix(const char *text, double unit)
{
	static const char suffixes[] = "kmgt";
	char *end;
	double v = decimal_parse(text, &end);
	const char *found = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;

	if (end == text || !(v > 0))
		return NAN;
	return found ? ldexp(v, 10 * (int)(found - suffixes + 1)) : v * unit;
}

/* The last one counts. */
static double heap_in(const char *text, const struct option **which)
{
	double heap = NAN;

	for (size_t i = 0; text && i < sizeof options / sizeof options[0]; i++)
		for (const char *at = text; (at = strstr(at, options[i].words)); at++) {
			bool begins = at == text || strchr(" '\"", at[-1]);
			double v = with_suffix(at + strlen(options[i].words), options[i].unit);

			if (!begins || isnan(v))
				continue;
			heap = v;
			*which = &options[i];
		}
	return heap;
}

static double heap_of(const struct run *r, uint32_t i, const struct option **which)
{
	const struct run_instance *in = &r->instances[i];
	double heap = heap_in(run_label(r, i, "command_line"), which);

	for (size_t k = 0; isnan(heap) && k < sizeof variables / sizeof variables[0]; k++)
		if (in->name && !strncmp(in->name, variables[k].command, 4))
			heap = heap_in(run_find_text(r, in->node, variables[k].key), which);
	return heap;
}

void summary_heap_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	uint32_t rss = run_find_metric(r, "process.resident_bytes");
	struct story *y = &s->story;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		const struct option *which = options;
		const char *pid = run_label(r, i, "pid");
		double heap, held;

		if (!in->domain || strcmp(in->domain, "process") != 0 ||
		    (in->end_ns != INT64_MAX &&
		     run_seconds(r, in->node, in->end_ns) < s->wall_s - END_S))
			continue;
		heap = heap_of(r, i, &which);
		if (!run_final_value(r, i, "process.peak_resident_bytes", &held))
			held = series_index_max(x, r, i, rss);
		if (s->nby_memory && s->by_memory[0].instance == i)
			held = fmax(held, summary_unseen_peak(s));
		if (isnan(heap) || isnan(held) || held / heap <= y->heap_held / y->heap_limit)
			continue;
		y->heap_limit = heap;
		y->heap_held = held;
		snprintf(y->heap_option, sizeof y->heap_option, "%.*s",
			 (int)strcspn(which->words, "= "), which->words);
		snprintf(y->heap_process, sizeof y->heap_process, "%s (pid %s)",
			 in->name ? in->name : "", pid ? pid : "?");
	}
}
