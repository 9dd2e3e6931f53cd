/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/noise.h"

#include "core/describe.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	for (uint32_t i = 0; i < g->nfigures; i++)
		if (!g->figure[i].is_own && !strcmp(g->figure[i].name, trial_noise_names[which]))
			return g->figure[i].value;
	return NULL;
}

static double usual_frequency(const struct bench_group *g)
{
	for (uint32_t i = 0; i < g->nfigures; i++)
		if (!g->figure[i].is_own &&
		    !strcmp(g->figure[i].name, trial_noise_names[NOISE_FREQUENCY]))
			return g->figure[i].d.median;
	return NAN;
}

__attribute__((format(printf, 2, 3))) static void add(struct noise *x, const char *format, ...)
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
			add(x, "%s %.3g %% %s", shares[i].before, 100 * value[x->row],
			    shares[i].after);
	}
}

static void examine(struct noise *x, const struct bench_group *g, double usual)
{
	const double *heat = values_of(g, NOISE_HEAT), *frequency = values_of(g, NOISE_FREQUENCY);

	examine_shares(x, g);
	if (heat && heat[x->row] > 0)
		add(x, "cores were slowed down by heat");
	if (frequency && frequency[x->row] < (1 - slower) * usual)
		add(x, "its cores ran %.3g %% slower than usual",
		    100 * (1 - frequency[x->row] / usual));
}

int noises_find(struct noises *x, const struct bench_group *g, struct err *e)
{
	double usual = usual_frequency(g);

	*x = (struct noises){ .noise = calloc(g->ntrials + 1u, sizeof *x->noise) };
	if (!x->noise)
		return err_set(e, -ENOMEM, "out of memory for the noise of a batch");
	for (uint32_t i = 0; i < g->ntrials; i++) {
		struct noise one = { .row = i };

		if (g->row[i].reason)
			continue;
		x->nwell++;
		examine(&one, g, usual);
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
