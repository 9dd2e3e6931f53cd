/* SPDX-License-Identifier: Apache-2.0 */
/* How many metrics the usual node of a cluster has (two-socket, tests/nodes/two_socket.py): those
 * with a value in a sample, and the formulas all of whose parts have one. What the sampler fills,
 * of processes, of the job and of Sonde itself, comes on top and is not counted; nor are perf
 * events, which no files tell. */
#include "core/expr/expr.h"
#include "unit/node.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* It may only grow. */
enum { METRICS_LEAST = 300 };

static bool has_value(const struct node *n, const struct metric *m)
{
	for (uint32_t i = 1; i < n->sample.nslots; i++)
		if (n->sample.slot[i].series && n->sample.slot[i].metric == m &&
		    n->sample.state[i] == STATE_PRESENT)
			return true;
	return false;
}

static bool is_told(const struct node *n, const struct metric *m);

/* Any number will do: it is asked whether there is one. */
static struct expr_value look_up(void *ctx, const char *function, const char *name)
{
	struct expr_value found = { .v = 1 + (double)strlen(name) };
	char public[128];

	for (size_t i = 0; i < nsources && !function; i++)
		for (size_t k = 0; k < sources[i]->nmetrics && !found.known; k++) {
			metric_rate_name(&sources[i]->metrics[k], public, sizeof public);
			found.known = (!strcmp(public, name) ||
				       !strcmp(sources[i]->metrics[k].name, name)) &&
				      is_told(ctx, &sources[i]->metrics[k]);
		}
	return found;
}

static bool is_told(const struct node *n, const struct metric *m)
{
	struct expr_value v = { 0 };
	struct expr *x;
	struct err e;

	if (!m->formula)
		return has_value(n, m);
	assert_int_equal(expr_parse(&x, m->formula, &e), 0);
	v = expr_eval(x, look_up, (void *)n);
	expr_free(x);
	return v.known;
}

static int metrics_of(const char *machine)
{
	const char *build = getenv("BUILD");
	char proc[512], sys[512];
	struct node n;
	int found = 0;

	snprintf(proc, sizeof proc, "%s/nodes/%s/proc", build ? build : "build", machine);
	snprintf(sys, sizeof sys, "%s/nodes/%s/sys", build ? build : "build", machine);
	node_open(&n, proc, sys);
	node_read(&n);
	for (size_t i = 0; i < nsources; i++)
		for (size_t k = 0; k < sources[i]->nmetrics && sources[i]->open; k++)
			found += is_told(&n, &sources[i]->metrics[k]);
	node_close(&n);
	print_message("%s: %d metrics\n", machine, found);
	return found;
}

static void the_catalogue_of_a_node_is_rich(void **unused)
{
	(void)unused;
	assert_in_range(metrics_of("two-socket"), METRICS_LEAST, 100000);
}

/* What there is not is not counted. */
static void a_machine_without_files_has_none(void **unused)
{
	(void)unused;
	assert_int_equal(metrics_of("none"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_catalogue_of_a_node_is_rich),
		cmocka_unit_test(a_machine_without_files_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
