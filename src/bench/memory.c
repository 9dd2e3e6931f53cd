/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/memory.h"

#include <math.h>
#include <string.h>

static struct bench_figure *peak_of(const struct bench_group *g)
{
	for (uint32_t i = 0; i < g->nfigures; i++)
		if (!g->figure[i].is_own && !strcmp(g->figure[i].name, "peak_memory_bytes"))
			return &g->figure[i];
	return NULL;
}

static bool is_of(const struct bench_group *g, const struct bench_figure *peak, uint32_t i,
		  const char *kind)
{
	return isfinite(peak->value[i]) && g->row[i].memory_kind &&
	       !strcmp(g->row[i].memory_kind, kind);
}

static uint32_t count(const struct bench_group *g, const struct bench_figure *peak,
		      const char *kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->ntrials; i++)
		n += is_of(g, peak, i, kind);
	return n;
}

void bench_memory_choose(struct bench_group *g)
{
	struct bench_figure *peak = peak_of(g);
	const char *last = NULL;
	uint32_t most = 0;

	for (uint32_t i = 0; peak && i < g->ntrials; i++) {
		const char *kind = g->row[i].memory_kind;

		if (!kind || !isfinite(peak->value[i]) || (last && !strcmp(last, kind)))
			continue;
		last = kind;
		if (count(g, peak, kind) > most) {
			most = count(g, peak, kind);
			g->memory_kind = kind;
		}
	}
	for (uint32_t i = 0; peak && g->memory_kind && i < g->ntrials; i++) {
		const char *kind = g->row[i].memory_kind;

		if (!kind || !isfinite(peak->value[i]) || !strcmp(kind, g->memory_kind))
			continue;
		peak->value[i] = NAN;
		g->memory_left_out++;
	}
}

/* Each of the other kinds once: there are few. */
static void put_others(const struct bench_group *g, struct bytes *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->ntrials; i++) {
		const char *kind = g->row[i].memory_kind;
		bool first = kind && strcmp(kind, g->memory_kind) != 0;

		for (uint32_t k = 0; k < i && first; k++)
			first = !g->row[k].memory_kind || strcmp(g->row[k].memory_kind, kind) != 0;
		if (first)
			bytes_printf(out, "%s%s", n++ ? " or " : "", kind);
	}
}

void bench_memory_text(const struct bench_group *g, struct bytes *out)
{
	if (!g->memory_left_out)
		return;
	bytes_printf(out, "peak_memory_bytes of %u of %u trials is not of the kind %s but ",
		     g->memory_left_out, g->ntrials - g->nfailed, g->memory_kind);
	put_others(g, out);
	bytes_puts(out, ", and is left out");
}
