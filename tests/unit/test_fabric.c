/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of the fabric side by side: idle ones, slow links, whoever saw them. */
#include "summary_made.h"

#include <string.h>

static void label(struct synthetic *x, uint32_t i, const char *key, const char *value)
{
	x->label[x->run.nlabels++] = (struct run_label){ .key = key, .value = value };
	x->instance[i].nlabels++;
}

/* A port that moves so many bytes a second over a link of so many, and half as many the other way:
 * it sends more, or with moved < 0 receives more. */
static void port(struct synthetic *x, uint32_t node, const char *name, const char *network,
		 int64_t moved, int64_t speed)
{
	const char *domain = strcmp(network, "Slingshot") == 0 ? "slingshot" : "infiniband";
	bool ss = domain[0] == 's';
	uint32_t received = metric(x, ss ? "slingshot.received_bytes" : "infiniband.received_bytes",
				   domain, KIND_COUNTER, UNIT_BYTES);
	uint32_t sent =
		metric(x, ss ? "slingshot.transmitted_bytes" : "infiniband.transmitted_bytes",
		       domain, KIND_COUNTER, UNIT_BYTES);
	uint32_t rate = metric(
		x, ss ? "slingshot.speed_bytes_per_second" : "infiniband.speed_bytes_per_second",
		domain, KIND_GAUGE, UNIT_BYTES_PER_SECOND);
	uint32_t i = instance(x, node, domain, name, false);
	uint32_t in = series(x, node, received, i), out = series(x, node, sent, i);
	uint32_t link = speed ? series(x, node, rate, i) : 0;

	label(x, i, "network", network);
	for (int row = 0; row < ROWS; row++) {
		put(x, in, row, 1000000 + row * (moved < 0 ? -moved : moved / 2));
		put(x, out, row, 2000000 + row * (moved < 0 ? -moved / 2 : moved));
		if (link)
			put(x, link, row, speed);
	}
}

static struct summary of(struct synthetic *x)
{
	struct summary s = made(x);

	free(x);
	return s;
}

static void test_a_port_that_moves_nothing_beside_a_busy_one_is_idle(void **state)
{
	struct synthetic *x = synthetic_new(2);
	struct summary s;

	(void)state;
	for (uint32_t node = 1; node <= 2; node++) {
		port(x, node, "mlx5_0/1", "InfiniBand", 2000000000, 25000000000);
		port(x, node, "mlx5_1/1", "InfiniBand", node == 2 ? 10000000 : 1000000000,
		     25000000000);
	}
	s = of(x);
	assert_true(s.story.fabric.ports == 4);
	assert_true(s.story.fabric.ports_idle == 1);
	assert_string_equal(s.story.fabric.idle_port, "mlx5_1/1 on n2");
	assert_string_equal(s.story.fabric.busy_port, "mlx5_0/1 on n2");
	assert_true(s.story.fabric.busy_bytes_per_s == 2e9);
	assert_true(s.story.fabric.busy_ratio == 0.08);
	assert_true(s.story.fabric.used_ratio == 0.08);
	assert_true(s.story.fabric.sent_bytes == 20 * (2 * 2e9 + 1e9 + 1e7));
	assert_true(s.story.fabric.received_bytes == 10 * (2 * 2e9 + 1e9 + 1e7));
	assert_string_equal(s.story.fabric.slow_port, "");
	summary_free(&s);
}

static void test_ethernet_ports_and_other_networks_are_for_something_else(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	port(x, 1, "mlx5_0/1", "InfiniBand", 2000000000, 25000000000);
	port(x, 1, "mlx5_1/1", "RoCE", 1000, 3125000000);
	port(x, 1, "mlx5_2/1", "RoCE", 1000000000, 12500000000);
	port(x, 1, "cxi0", "Slingshot", 1000, 25000000000);
	s = of(x);
	assert_true(s.story.fabric.ports == 4);
	assert_true(s.story.fabric.ports_idle == 0);
	assert_string_equal(s.story.fabric.idle_port, "");
	assert_string_equal(s.story.fabric.slow_port, "");
	summary_free(&s);
}

static void test_a_port_that_is_down_is_not_idle(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	port(x, 1, "mlx5_0/1", "InfiniBand", 2000000000, 25000000000);
	port(x, 1, "mlx5_1/1", "InfiniBand", 0, 0);
	s = of(x);
	assert_true(s.story.fabric.ports == 1);
	assert_true(s.story.fabric.ports_idle == 0);
	summary_free(&s);
}

static void test_a_link_that_is_slower_than_on_other_hosts(void **state)
{
	struct synthetic *x = synthetic_new(3);
	struct summary s;

	(void)state;
	for (uint32_t node = 1; node <= 3; node++) {
		port(x, node, "mlx5_0/1", "RoCE", 1000000, node == 2 ? 3125000000 : 12500000000);
		port(x, node, "mlx5_1/1", "RoCE", 1000000, 3125000000); /* as everywhere */
	}
	s = of(x);
	assert_string_equal(s.story.fabric.slow_port, "mlx5_0/1 on n2");
	assert_true(s.story.fabric.slow_bytes_per_s == 3125000000);
	assert_true(s.story.fabric.usual_bytes_per_s == 12500000000);
	summary_free(&s);
}

static void test_a_link_that_is_slower_than_those_beside_it(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	for (int i = 0; i < 4; i++)
		port(x, 1, ((const char *[]){ "cxi0", "cxi1", "cxi2", "cxi3" })[i], "Slingshot",
		     1000000, i == 1 ? 12500000000 : 25000000000);
	s = of(x);
	assert_string_equal(s.story.fabric.slow_port, "cxi1 on n1");
	assert_true(s.story.fabric.usual_bytes_per_s == 25000000000);
	summary_free(&s);
}

static void check_proof(const struct summary *s, const char *rule, const char *metric)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (strcmp(s->verdicts[i].rule, rule) == 0) {
			assert_string_equal(s->verdicts[i].metric, metric);
			return;
		}
	fail_msg("no verdict %s", rule);
}

/* Not another network's, even where the node has both. */
static void test_the_proof_is_the_metric_of_the_network_that_is_there(void **state)
{
	static const struct {
		const char *network, *name[2], *sent, *speed;
	} cases[] = {
		{ "InfiniBand",
		  { "mlx5_0/1", "mlx5_1/1" },
		  "infiniband.transmitted_bytes_per_second",
		  "infiniband.speed_bytes_per_second" },
		{ "Slingshot",
		  { "cxi0", "cxi1" },
		  "slingshot.transmitted_bytes_per_second",
		  "slingshot.speed_bytes_per_second" },
	};

	(void)state;
	for (size_t c = 0; c < 2; c++) {
		struct synthetic *x = synthetic_new(3);
		struct summary s;

		for (uint32_t node = 1; node <= 3; node++)
			for (int i = 0; i < 2; i++)
				port(x, node, cases[c].name[i], cases[c].network,
				     i ? 1000 : 20000000000,
				     node == 2 && i ? 12500000000 : 25000000000);
		port(x, 1, cases[!c].name[0], cases[!c].network, 1000000, 25000000000);
		s = of(x);
		check_proof(&s, "fabric-port-idle", cases[c].sent);
		check_proof(&s, "fabric-link-slow", cases[c].speed);
		summary_free(&s);
	}
}

/* Of a port that receives more, what it received. */
static void test_the_proof_is_of_the_direction_that_was_busy(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	port(x, 1, "cxi0", "Slingshot", -20000000000, 25000000000);
	port(x, 1, "cxi1", "Slingshot", 1000, 25000000000);
	s = of(x);
	assert_string_equal(s.story.fabric.busy_metric, "slingshot.received_bytes_per_second");
	summary_free(&s);
}

static void test_without_a_fabric_nothing_is_known(void **state)
{
	struct summary s = of(synthetic_new(1));

	(void)state;
	assert_true(s.story.fabric.ports != s.story.fabric.ports);
	assert_true(s.story.fabric.ports_idle != s.story.fabric.ports_idle);
	summary_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_port_that_moves_nothing_beside_a_busy_one_is_idle),
		cmocka_unit_test(test_ethernet_ports_and_other_networks_are_for_something_else),
		cmocka_unit_test(test_a_port_that_is_down_is_not_idle),
		cmocka_unit_test(test_a_link_that_is_slower_than_on_other_hosts),
		cmocka_unit_test(test_a_link_that_is_slower_than_those_beside_it),
		cmocka_unit_test(test_the_proof_is_the_metric_of_the_network_that_is_there),
		cmocka_unit_test(test_the_proof_is_of_the_direction_that_was_busy),
		cmocka_unit_test(test_without_a_fabric_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
