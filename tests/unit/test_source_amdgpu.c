/* SPDX-License-Identifier: Apache-2.0 */
/* AMD GPUs as their driver's files tell of them: an MI250X, an integrated one, and another maker's.
 */
#include "base/clock.h"
#include "unit/node.h"
#include "unit/tree.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct source source_amdgpu;

struct cards {
	struct node n;
	void *state;
};

static size_t one_pid(const void *tree, pid_t *out, size_t cap)
{
	(void)tree;
	assert_true(cap > 0);
	out[0] = 77;
	return 1;
}

static int cards_open(struct cards *c, const char *fixture)
{
	char path[PATH_MAX];

	*c = (struct cards){ .n.env = { .interval_ns = NS_PER_S,
					.job = { .tree = c, .pids = one_pid } } };
	assert_int_equal(sample_init(&c->n.sample, NODE_SLOTS, NODE_SLOTS), 0);
	snprintf(path, sizeof path, "%s/tests/fixtures/%s/proc", getenv("TOP"), fixture);
	assert_int_equal(root_open(&c->n.env.proc, path), 0);
	snprintf(path, sizeof path, "%s/tests/fixtures/%s/sys", getenv("TOP"), fixture);
	assert_int_equal(root_open(&c->n.env.sys, path), 0);
	c->state = calloc(1, source_amdgpu.size);
	return source_amdgpu.open(c->state, &c->n.env, &c->n.sample, &c->n.why[0]);
}

static void cards_read(struct cards *c, int64_t mono_ns)
{
	sample_begin(&c->n.sample, 1, mono_ns);
	assert_int_equal(source_amdgpu.read(c->state, &c->n.sample), 0);
}

static void cards_close(struct cards *c, bool opened)
{
	if (opened)
		source_amdgpu.close(c->state);
	free(c->state);
	sample_free(&c->n.sample);
	root_close(&c->n.env.proc);
	root_close(&c->n.env.sys);
}

static void every_file_has_its_metric(void **unused)
{
	static const struct {
		const char *metric;
		int64_t of_card1, of_card2; /* -1: not told */
	} wanted[] = {
		{ "gpu.utilization_ratio", 87, 0 },
		{ "gpu.memory_utilization_ratio", 31, -1 },
		{ "gpu.memory_used_bytes", INT64_C(34359738368), 440401920 },
		{ "gpu.memory_total_bytes", INT64_C(68702699520), 536870912 },
		{ "gpu.power_watts", 412000000, 9000000 },
		{ "gpu.power_limit_watts", 560000000, -1 },
		{ "gpu.temperature_celsius", 52000, 41000 },
		{ "gpu.memory_temperature_celsius", 58000, -1 },
		{ "gpu.clock_hertz", 1700000000, -1 },
		{ "gpu.memory_clock_hertz", 1600000000, -1 },
		{ "gpu.hotspot_temperature_celsius", 61000, 41000 },
		{ "gpu.host_memory_used_bytes", 16777216, -1 },
	};
	struct cards c;

	(void)unused;
	assert_int_equal(cards_open(&c, "amdgpu"), 0);
	cards_read(&c, NS_PER_S);
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		assert_int_equal(node_value(&c.n, wanted[i].metric, "card1"), wanted[i].of_card1);
		assert_int_equal(node_value(&c.n, wanted[i].metric, "card2"), wanted[i].of_card2);
	}
	/* Graphics of another maker are not AMD's, a connector is no card. */
	assert_int_equal(node_slot(&c.n, "gpu.utilization_ratio", "card0"), 0);
	/* Not read twice within a second. */
	cards_read(&c, NS_PER_S + NS_PER_S / 10);
	assert_int_equal(node_value(&c.n, "gpu.utilization_ratio", "card1"), -1);
	cards_read(&c, 2 * NS_PER_S);
	assert_int_equal(node_value(&c.n, "gpu.utilization_ratio", "card1"), 87);
	cards_close(&c, true);
}

static void what_is_not_told_is_unsupported(void **unused)
{
	struct bytes b = { 0 };
	struct cards c;

	(void)unused;
	assert_int_equal(cards_open(&c, "amdgpu"), 0);
	cards_read(&c, NS_PER_S);
	node_text(&c.n, &b);
	bytes_u8(&b, '\0');
	assert_non_null(strstr((char *)b.data,
			       "refused gpu.memory_temperature_celsius card2 "
			       "unsupported: the driver amdgpu does not report it"));
	assert_null(strstr((char *)b.data, "refused gpu.power_watts"));
	assert_non_null(strstr((char *)b.data, "label card1 model=AMD Instinct MI250X"));
	assert_non_null(strstr((char *)b.data, "label card1 device_file=/dev/dri/renderD128"));
	assert_non_null(strstr((char *)b.data, "label card1 job=open device file"));
	assert_null(strstr((char *)b.data, "label card2 job"));
	bytes_free(&b);
	cards_close(&c, true);
}

#define CARD "class/drm/card1/device/"

/* Garbage has failed, a GPU in its sleep will be back; neither is a thing that the GPU has not. */
static void what_cannot_be_read_has_failed(void **unused)
{
	struct cards c = { .n.env = { .interval_ns = NS_PER_S,
				      .job = { .tree = &c, .pids = one_pid } } };
	struct bytes b = { 0 };

	(void)unused;
	tree_put("gpu", "module/amdgpu/version", "6.7.0\n");
	tree_put("gpu", CARD "vendor", "0x1002\n");
	tree_put("gpu", CARD "gpu_busy_percent", " \n");
	tree_put("gpu", CARD "mem_busy_percent", "12x\n");
	tree_put("gpu", CARD "mem_info_vram_used", "-1\n");
	tree_put("gpu", CARD "mem_info_vram_total", "1000\n");
	assert_int_equal(sample_init(&c.n.sample, NODE_SLOTS, NODE_SLOTS), 0);
	assert_int_equal(root_open(&c.n.env.proc, "gpu"), 0);
	assert_int_equal(root_open(&c.n.env.sys, "gpu"), 0);
	c.state = calloc(1, source_amdgpu.size);
	assert_int_equal(source_amdgpu.open(c.state, &c.n.env, &c.n.sample, &c.n.why[0]), 0);
	tree_put("gpu", CARD "gpu_busy_percent", "34\n");
	cards_read(&c, NS_PER_S);
	node_text(&c.n, &b);
	bytes_u8(&b, '\0');
	assert_non_null(strstr((char *)b.data, "refused gpu.utilization_ratio card1 failed: "));
	assert_non_null(strstr((char *)b.data, "refused gpu.utilization_ratio card1 present"));
	assert_non_null(strstr((char *)b.data, "gpu.utilization_ratio card1 present 34"));
	assert_non_null(
		strstr((char *)b.data, "refused gpu.memory_utilization_ratio card1 failed: "));
	assert_non_null(strstr((char *)b.data, "refused gpu.memory_used_bytes card1 failed: "));
	assert_non_null(strstr((char *)b.data, "refused gpu.host_memory_used_bytes card1 "
					       "unsupported: "));
	bytes_free(&b);
	cards_close(&c, true);
}

static void without_the_driver_it_is_off(void **unused)
{
	struct cards c;

	(void)unused;
	assert_int_equal(cards_open(&c, "vm-small"), -ENODEV);
	assert_string_equal(c.n.why[0].text, "the driver amdgpu is not loaded");
	cards_close(&c, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_has_its_metric),
		cmocka_unit_test(what_is_not_told_is_unsupported),
		cmocka_unit_test(what_cannot_be_read_has_failed),
		cmocka_unit_test(without_the_driver_it_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
