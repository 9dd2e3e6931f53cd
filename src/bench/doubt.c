/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/doubt.h"

#include "base/array.h"
#include "base/text/decimal.h"
#include "bench/group.h"
#include "core/describe.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- checks of the model ---- */

struct row_of_group {
	const struct bench_group *g;
	uint32_t row;
};

static struct expr_value look_up(void *ctx, const char *function, const char *name)
{
	const struct row_of_group *at = ctx;
	const struct bench_group *g = at->g;
	double v = NAN;

	for (uint32_t i = 0; i < g->nfigures && !function; i++)
		if (!strcasecmp(g->figure[i].name, name)) {
			v = g->figure[i].value[at->row];
			return (struct expr_value){ isfinite(v), v };
		}
	for (uint32_t i = 0; i < g->ntexts && !function; i++)
		if (!strcasecmp(g->parameter[i].name, name) && g->parameter[i].text[at->row])
			v = decimal_of(g->parameter[i].text[at->row]);
	return (struct expr_value){ isfinite(v), v };
}

static int add(struct bench_group *g, const struct bench_doubt *x)
{
	void *grown = array_room(g->doubt, g->ndoubts, &g->doubt_cap, sizeof *g->doubt);

	if (!grown)
		return -ENOMEM;
	g->doubt = grown;
	g->doubt[g->ndoubts++] = *x;
	return 0;
}

static int examine(struct bench_group *g, uint32_t check, uint32_t row)
{
	const struct model_check *x = &g->model.check[check];
	struct row_of_group at = { g, row };
	struct expr_value reported = look_up(&at, NULL, x->name),
			  computed = expr_eval(x->computed, look_up, &at);

	if (g->row[row].reason || !reported.known || !computed.known ||
	    !modelcheck_fails(x, reported.v, computed.v))
		return 0;
	return add(g, &(struct bench_doubt){ row, check, reported.v, computed.v });
}

int bench_doubts_find(struct bench_group *g, struct err *e)
{
	for (uint32_t i = 0; i < g->model.nchecks; i++)
		for (uint32_t k = 0; k < g->ntrials; k++)
			if (examine(g, i, k))
				return err_set(e, -ENOMEM, "out of memory for the checks");
	return 0;
}

uint32_t bench_doubts_of(const struct bench_group *g, uint32_t check, const bool *left_out,
			 const struct bench_doubt **first)
{
	uint32_t n = 0;

	*first = NULL;
	for (uint32_t i = 0; i < g->ndoubts; i++) {
		const struct bench_doubt *x = &g->doubt[i];

		if (x->check != check || (left_out && left_out[x->row]))
			continue;
		*first = n++ ? *first : x;
	}
	return n;
}

void bench_doubt_text(const struct bench_group *g, const struct bench_doubt *first, uint32_t n,
		      uint32_t of, struct bytes *out)
{
	const struct bench_row *row = &g->row[first->row];

	bytes_printf(out, "%u of %u trial%s fail%s the check %s; bench:%" PRId64 "/%" PRId64, n, of,
		     of == 1 ? "" : "s", n == 1 ? "s" : "", g->model.check[first->check].text,
		     row->batch_id, row->number);
	bytes_printf(out, " reports %.6g where %.6g is computed", first->reported, first->computed);
}

/* ---- kinds of peak memory ---- */

/* What is known of every trial, whatever its indicator. */
static struct bench_figure *figure_of(const struct bench_group *g, const char *name)
{
	for (uint32_t i = 0; i < g->nfigures; i++)
		if (!g->figure[i].is_own && !strcmp(g->figure[i].name, name))
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
	struct bench_figure *peak = figure_of(g, "peak_memory_bytes");
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

/* ---- noise ---- */

enum { SHOWN = 12, REASONS = 2 };

static const struct {
	enum trial_noise which;
	double limit;               /* more is a disturbance */
	const char *before, *after; /* the share in percent */
} shares[] = {
	{ NOISE_WAITED, 0.02, "it waited", "of its time for cores that others used" },
	{ NOISE_OTHERS, 0.1, "others used", "of the machine's CPU time" },
	{ NOISE_STEAL, 0.02, "the hypervisor took", "of the CPU time" },
	{ NOISE_THROTTLED, 0.02, "a CPU limit stopped it for", "of its time" },
};
static const double slower = 0.03; /* than the batch's median */

static const double *values_of(const struct bench_group *g, enum trial_noise which)
{
	const struct bench_figure *f = figure_of(g, trial_noise_names[which]);

	return f ? f->value : NULL;
}

__attribute__((format(printf, 2, 3))) static void add_reason(struct noise *x, const char *format,
							     ...)
{
	size_t n = strlen(x->why);
	va_list v;

	if (n && n + 2 < sizeof x->why) {
		memcpy(x->why + n, ", ", 3);
		n += 2;
	}
	va_start(v, format);
	vsnprintf(x->why + n, sizeof x->why - n, format, v);
	va_end(v);
}

static void examine_shares(struct noise *x, const struct bench_group *g)
{
	for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
		const double *value = values_of(g, shares[i].which);

		if (value && value[x->row] > shares[i].limit)
			add_reason(x, "%s %.3g %% %s", shares[i].before, 100 * value[x->row],
				   shares[i].after);
	}
}

static void examine_noise(struct noise *x, const struct bench_group *g, double usual)
{
	const double *heat = values_of(g, NOISE_HEAT), *frequency = values_of(g, NOISE_FREQUENCY);

	examine_shares(x, g);
	if (heat && heat[x->row] > 0)
		add_reason(x, "cores were slowed down by heat");
	if (frequency && frequency[x->row] < (1 - slower) * usual)
		add_reason(x, "its cores ran %.3g %% slower than usual",
			   100 * (1 - frequency[x->row] / usual));
}

int noises_find(struct noises *x, const struct bench_group *g, struct err *e)
{
	const struct bench_figure *frequency = figure_of(g, trial_noise_names[NOISE_FREQUENCY]);

	*x = (struct noises){ .noise = calloc(g->ntrials + 1u, sizeof *x->noise) };
	if (!x->noise)
		return err_set(e, -ENOMEM, "out of memory for the noise of a batch");
	for (uint32_t i = 0; i < g->ntrials; i++) {
		struct noise one = { .row = i };

		if (g->row[i].reason)
			continue;
		x->nwell++;
		examine_noise(&one, g, frequency ? frequency->d.median : (double)NAN);
		if (*one.why)
			x->noise[x->n++] = one;
	}
	x->worth_little = 3 * x->n > x->nwell;
	return 0;
}

void noises_free(struct noises *x)
{
	free(x->noise);
	*x = (struct noises){ 0 };
}

void noises_text(const struct noises *x, const struct bench_group *g, struct bytes *out)
{
	if (!x->n)
		return;
	bytes_printf(out, "%u of %u trial%s %s disturbed: ", x->n, x->nwell,
		     x->nwell == 1 ? "" : "s", x->n == 1 ? "was" : "were");
	for (uint32_t i = 0; i < x->n && i < SHOWN; i++) {
		bytes_printf(out, "%s%" PRId64, i ? ", " : "", g->row[x->noise[i].row].number);
		if (i < REASONS)
			bytes_printf(out, " (%s)", x->noise[i].why);
	}
	if (x->n > SHOWN)
		bytes_printf(out, " and %u more", x->n - SHOWN);
	bytes_puts(out, x->worth_little
				? "; the batch is worth little: run it again on a quieter machine"
				: "; run these again");
}
