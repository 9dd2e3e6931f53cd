/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes do now: rates between two looks, what is not known, and what all nodes do together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/now.h"
#include "recording/writer.h"
#include "top/terminal.h"

#define ROW(n, d, u, k)                                                                            \
	{                                                                                          \
		.name = (n), .domain = (d), .label = "L", .help = "H.", .unit = (u), .kind = (k)   \
	}
enum { CPU, RSS, PSS, READ, JOB };
static const struct metric job[JOB] = {
	ROW("job.cpu_seconds", NULL, UNIT_SECONDS, KIND_COUNTER),
	ROW("job.resident_bytes", NULL, UNIT_BYTES, KIND_GAUGE),
	ROW("job.pss_bytes", NULL, UNIT_BYTES, KIND_GAUGE),
	ROW("job.read_bytes", NULL, UNIT_BYTES, KIND_COUNTER),
};
static const struct metric process[] = {
	ROW("process.cpu_seconds", "process", UNIT_SECONDS, KIND_COUNTER),
	ROW("process.resident_bytes", "process", UNIT_BYTES, KIND_GAUGE),
};
static const struct metric gpu[] = {
	{ .name = "gpu.utilization_ratio",
	  .domain = "gpu",
	  .label = "L",
	  .help = "H.",
	  .div = 100,
	  .unit = UNIT_RATIO,
	  .kind = KIND_GAUGE,
	  .over_instances = COMBINE_MEAN },
};

struct node {
	struct sample s;
	struct writer *w;
	uint32_t job, process, gpu[3];
	int64_t mono_ns;
};

static char directory[32];
static int dirfd_;

static void begin(struct node *n, const char *host, int64_t limit)
{
	*n = (struct node){ .mono_ns = 1000 * NS_PER_S };
	assert_int_equal(sample_init(&n->s, 256, 256), 0);
	assert_int_equal(writer_open(&n->w, dirfd_, host, &(struct writer_options){ 0 }, NULL), 0);
	sample_begin(&n->s, clock_utc_ns(), n->mono_ns);
	sample_meta_int(&n->s, "run.interval_ns", NS_PER_S);
	sample_meta_int(&n->s, "node.cores_present", 16);
	sample_meta_int(&n->s, "node.cores_allowed", 4);
	sample_meta_int(&n->s, "job.memory_asked_bytes", limit);
	n->job = sample_series(&n->s, job, JOB, 0);
	n->process = sample_instance(&n->s, "process", "p", 0, 0, 0);
	sample_label(&n->s, n->process, "pid", "77");
	n->process = sample_series(&n->s, process, 2, n->process);
	for (uint32_t i = 0; i < 3; i++)
		n->gpu[i] = sample_series(
			&n->s, gpu, 1,
			sample_instance(&n->s, "gpu", "g", 0, 0, i == 2 ? INSTANCE_ASIDE : 0));
}

static void put(struct node *n, int64_t cpu, int64_t rss, int64_t pss)
{
	sample_put(&n->s, n->job + CPU, cpu);
	sample_put(&n->s, n->job + RSS, rss);
	if (pss >= 0)
		sample_put(&n->s, n->job + PSS, pss);
	sample_put(&n->s, n->process, cpu);
	sample_put(&n->s, n->process + 1, rss);
	for (uint32_t i = 0; i < 3; i++)
		sample_put(&n->s, n->gpu[i], 20 + 20 * i);
	assert_int_equal(writer_sample(n->w, &n->s, NULL), 0);
}

static void next(struct node *n, int64_t seconds)
{
	n->mono_ns += seconds * NS_PER_S;
	sample_begin(&n->s, clock_utc_ns(), n->mono_ns);
}

static void close_node(struct node *n, bool ended)
{
	if (n->w && ended)
		assert_int_equal(writer_close(n->w, NULL), 0);
	else if (n->w)
		writer_abandon(n->w);
	sample_free(&n->s);
}

static struct now opened(void)
{
	struct now x;
	struct err e = { "" };

	assert_int_equal(now_open(&x, directory, &e), 0);
	assert_int_equal(now_look(&x, &e), 0);
	return x;
}

static int setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof directory, "now_XXXXXX");
	assert_non_null(mkdtemp(directory));
	dirfd_ = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dirfd_ < 0;
}

static int teardown(void **state)
{
	DIR *d = fdopendir(dirfd_);
	struct dirent *entry;

	(void)state;
	while ((entry = readdir(d)))
		unlinkat(dirfd_, entry->d_name, 0);
	closedir(d);
	return rmdir(directory);
}

static void close_to(double wanted, double got)
{
	if (!(fabs(wanted - got) < 1e-9))
		fail_msg("wanted %g, got %g", wanted, got);
}

static void rates_take_two_looks(void **state)
{
	struct node n;
	struct now x;
	struct now_things t = { 0 };

	(void)state;
	begin(&n, "a", 1000);
	put(&n, 10, 100, -1);
	x = opened();
	assert_int_equal(x.n, 1);
	assert_true(isnan(x.node[0].figure[NOW_CPU]));
	assert_true(isnan(x.figure[NOW_READ])); /* never read: not 0 */
	close_to(10, x.node[0].figure[NOW_CPU_TIME]);
	close_to(100, x.node[0].figure[NOW_MEMORY]);
	assert_false(x.node[0].pss);
	close_to(0.1, x.node[0].figure[NOW_MEMORY_RATIO]);
	next(&n, 2);
	put(&n, 16, 100, 70);
	assert_int_equal(now_look(&x, NULL), 0);
	close_to(3, x.node[0].figure[NOW_CPU]);
	close_to(0.75, x.node[0].figure[NOW_CPU_RATIO]); /* of 4, not of 16 */
	close_to(70, x.node[0].figure[NOW_MEMORY]);
	assert_true(x.node[0].pss);
	close_to(0.3, x.node[0].figure[NOW_GPU]); /* of two: the third is aside */
	assert_int_equal(x.node[0].ngpus, 2);
	assert_int_equal(now_look(&x, NULL), 0); /* no news: it stays */
	close_to(3, x.node[0].figure[NOW_CPU]);
	assert_int_equal(now_things(&x.node[0], "process", &t), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.thing[0].pid, 77);
	assert_string_equal(t.thing[0].name, "p");
	close_to(3, t.thing[0].figure[NOW_CPU]);
	next(&n, 1);
	put(&n, 5, 100, 70); /* it went back: no rate */
	assert_int_equal(now_look(&x, NULL), 0);
	assert_true(isnan(x.node[0].figure[NOW_CPU]));
	now_things_free(&t);
	now_close(&x);
	close_node(&n, false);
}

static void what_runs_no_more_has_no_figures(void **state)
{
	struct node n[2];
	struct now x;
	uint32_t id;

	(void)state;
	begin(&n[0], "a", 1000);
	begin(&n[1], "b", 500);
	put(&n[0], 1, 100, 50);
	put(&n[1], 1, 100, 50);
	x = opened();
	for (int i = 0; i < 2; i++) {
		next(&n[i], 1);
		put(&n[i], 2 + i, 100, 50);
	}
	assert_int_equal(now_look(&x, NULL), 0);
	close_to(3, x.figure[NOW_CPU]);
	close_to(8, x.figure[NOW_CORES]);
	close_to(100, x.figure[NOW_MEMORY]);
	close_to(1500, x.figure[NOW_MEMORY_LIMIT]);
	close_to(0.3, x.figure[NOW_GPU]);
	assert_int_equal(x.state[NOW_RUNNING], 2);
	id = x.node[1].id;
	close_node(&n[0], true);
	n[0].w = NULL;
	assert_int_equal(now_look(&x, NULL), 0);
	assert_int_equal(x.state[NOW_ENDED], 1);
	assert_true(isnan(x.node[0].figure[NOW_CPU]));
	assert_true(isnan(x.node[0].figure[NOW_MEMORY]));
	close_to(2, x.node[0].figure[NOW_CPU_TIME]);
	close_to(2, x.figure[NOW_CPU]); /* of the one that is left */
	close_to(4, x.figure[NOW_CORES]);
	unlinkat(dirfd_, "node-a.sonde", 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(now_look(&x, NULL), 0);
	assert_int_equal(x.n, 1);
	assert_int_equal(x.node[0].id, id);
	assert_string_equal(x.node[0].name, "b");
	now_close(&x);
	close_node(&n[1], false);
}

/* An hour ago, by the clock of the node. */
static void old_samples_are_silence(void **state)
{
	struct node n;
	struct now x;

	(void)state;
	begin(&n, "a", 1000);
	sample_begin(&n.s, clock_utc_ns() - 3600 * NS_PER_S, n.mono_ns);
	put(&n, 1, 100, 50);
	x = opened();
	assert_int_equal(x.node[0].state, NOW_SILENT);
	assert_true(isnan(x.node[0].figure[NOW_MEMORY]));
	assert_true(x.node[0].age_s > 3599);
	/* its clock is wrong: it is alive */
	next(&n, 1);
	n.s.utc_ns -= 3600 * NS_PER_S;
	put(&n, 2, 100, 50);
	assert_int_equal(now_look(&x, NULL), 0);
	assert_int_equal(x.node[0].state, NOW_RUNNING);
	close_to(1, x.node[0].figure[NOW_CPU]);
	now_close(&x);
	close_node(&n, false);
}

static void a_line_has_what_fits(void **state)
{
	struct node n;
	struct now x;
	struct bytes b = { 0 };

	(void)state;
	begin(&n, "a", INT64_C(8) << 30);
	put(&n, 1, 3 << 29, -1);
	x = opened();
	next(&n, 1);
	put(&n, 3, 3 << 29, -1);
	assert_int_equal(now_look(&x, NULL), 0);
	line_put(&b, &x, 3725.9, 79);
	bytes_u8(&b, '\0');
	assert_string_equal(b.data, "sonde: 1:02:05  2.00 of 4 cores  1.5 GiB of 8.0 GiB  GPU 30%");
	bytes_reset(&b);
	line_put(&b, &x, 5, 40);
	bytes_u8(&b, '\0');
	assert_string_equal(b.data, "sonde: 0:00:05  2.00 of 4 cores  GPU 30%");
	bytes_free(&b);
	now_close(&x);
	close_node(&n, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rates_take_two_looks, setup, teardown),
		cmocka_unit_test_setup_teardown(what_runs_no_more_has_no_figures, setup, teardown),
		cmocka_unit_test_setup_teardown(old_samples_are_silence, setup, teardown),
		cmocka_unit_test_setup_teardown(a_line_has_what_fits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
