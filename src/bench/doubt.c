/* SPDX-License-Identifier: Apache-2.0 */
/* doubt.c - which trials of a group fail the checks of their model. */
#include "base/array.h"
#include "base/text/decimal.h"
#include "bench/group.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

struct place {
	const struct bench_group *g;
	uint32_t row;
};

static struct expr_value look_up(void *ctx, const char *function, const char *name)
{
	const struct place *at = ctx;
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
	struct place at = { g, row };
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
