/* SPDX-License-Identifier: Apache-2.0 */
/* How many metrics the usual node of a cluster has (two-socket, tests/nodes/two_socket.py): those
 * with a value in a sample, the formulas of the sources that are there, and what the sampler fills,
 * of processes, of the job and of Sonde itself. What this node does not tell is not counted. */
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

static int count(const struct node *n, size_t source)
{
	const struct source *k = sources[source];
	int found = 0;

	for (size_t i = 0; i < k->nmetrics; i++)
		found += !k->open || (n->state[source] && k->metrics[i].formula) ||
			 has_value(n, &k->metrics[i]);
	return found;
}

static void the_catalogue_of_a_node_is_rich(void **unused)
{
	const char *build = getenv("BUILD");
	char proc[512], sys[512];
	struct node n;
	int found = 0;

	(void)unused;
	snprintf(proc, sizeof proc, "%s/nodes/two-socket/proc", build ? build : "build");
	snprintf(sys, sizeof sys, "%s/nodes/two-socket/sys", build ? build : "build");
	node_open(&n, proc, sys);
	node_read(&n);
	for (size_t i = 0; i < nsources; i++)
		found += count(&n, i);
	print_message("%d metrics\n", found);
	assert_in_range(found, METRICS_LEAST, 100000);
	node_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_catalogue_of_a_node_is_rich) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
