/* SPDX-License-Identifier: Apache-2.0 */
/* Samplers within a process: what they keep, that they disturb nobody, and what reports make of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sonde_sampler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/sampler_read.h"
#include "unit/allocations.h"

/* ---- what helps ---- */

enum { PATIENCE_S = 60 };

static void moment(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

static void wait_taken(const struct sonde_sampler *s, uint64_t n)
{
	time_t end = time(NULL) + PATIENCE_S;

	while (sonde_sampler_taken(s) < n && time(NULL) < end)
		moment();
	assert_true(sonde_sampler_taken(s) >= n);
}

static struct sonde_sampler *started(const struct sonde_sampler_options *o)
{
	struct sonde_error e = { 0 };
	struct sonde_sampler *s = sonde_sampler_start(o, &e);

	if (!s)
		fail_msg("%s", e.text);
	return s;
}

struct calls {
	atomic_uint samples, exits;
	struct sonde_sampler *_Atomic sampler;
};

static void count_sample(void *ctx, const struct sonde_sample *sample)
{
	struct calls *c = ctx;

	assert_true(sample->timestamp > 1e9);
	c->samples++;
}

static void count_exit(void *ctx)
{
	((struct calls *)ctx)->exits++;
}

/* ---- the store ---- */

static struct tracker_sample numbered(unsigned i, double memory)
{
	struct tracker_sample s = tracker_sample_at(1e9 + i, i);

	s.stands_s = 1;
	s.value[TRACKER_CPU_MEAN] = 0.5;
	s.value[TRACKER_CPU_MIN] = i == 37 ? 0.01 : 0.4;
	s.value[TRACKER_MEMORY] = memory;
	s.value[TRACKER_DISK_READ] = i;
	return s;
}

/* However many come: evenly spaced, the newest and the extremes are there, and all the time. */
static void test_a_full_store_keeps_what_matters(void **state)
{
	static const unsigned most[] = { 2, 4, 10, 100 }, counts[] = { 1, 10, 11, 100, 10007 };

	(void)state;
	for (size_t k = 0; k < 20; k++) {
		unsigned n = counts[k % 5];
		struct store t;
		double span = 0, largest = 0, least = 1;

		assert_int_equal(store_init(&t, most[k / 5]), 0);
		for (unsigned i = 1; i <= n; i++) {
			struct tracker_sample s = numbered(i, i == 42 ? 0.9 : 0.1);

			store_add(&t, &s, i);
			assert_true(t.n >= 1 && t.n <= most[k / 5]);
			assert_true(t.sample[t.n - 1].seconds == i);
		}
		for (size_t i = 0; i < t.n; i++) {
			span += t.sample[i].stands_s;
			largest = fmax(largest, t.sample[i].value[TRACKER_MEMORY]);
			least = fmin(least, t.sample[i].value[TRACKER_CPU_MIN]);
			assert_true(t.sample[i].value[TRACKER_CPU_MEAN] == 0.5);
			/* All but the first and the last, which are cut off, are of one length. */
			if (i && i + 1 < t.n)
				assert_true(t.sample[i].stands_s == (double)t.length);
		}
		assert_true(span == n);
		assert_true(largest == (n >= 42 ? 0.9 : 0.1));
		assert_true(least == (n >= 37 ? 0.01 : 0.4));
		assert_true(n < most[k / 5] || t.n * 2 + 2 >= most[k / 5]);
		store_free(&t);
	}
}

/* A machine that slept, or samples that were skipped: what is far apart stays apart. */
static void test_gaps_stay_gaps(void **state)
{
	struct store t;

	(void)state;
	assert_int_equal(store_init(&t, 3), 0);
	assert_int_equal(t.cap, 4);
	for (unsigned i = 0; i < 64; i++) {
		struct tracker_sample s = numbered(i, 0);

		store_add(&t, &s, i ? UINT64_C(1) << i : 0);
		assert_true(t.n <= 4);
	}
	assert_true(t.sample[t.n - 1].seconds == 63);
	store_free(&t);
}

/* ---- the thread ---- */

static void test_samples_are_of_this_node(void **state)
{
	struct calls c = { 0 };
	struct sonde_sampler_options o = { .interval = 0.01,
					   .max_length = 7,
					   .on_sample = count_sample,
					   .on_exit = count_exit,
					   .context = &c };
	struct sonde_sampler *s = started(&o);
	struct sonde_sample sample[16];
	size_t n;

	(void)state;
	assert_true(sonde_sampler_running(s));
	wait_taken(s, 30);
	assert_int_equal(c.exits, 0);
	sonde_sampler_stop(s);
	assert_false(sonde_sampler_running(s));
	assert_int_equal(c.samples, sonde_sampler_taken(s));
	assert_int_equal(c.exits, 1);
	n = sonde_sampler_samples(s, sample, 16);
	assert_in_range(n, 3, 8);
	for (size_t i = 0; i < n; i++) {
		assert_true(sample[i].memory > 0 && sample[i].memory < 1);
		assert_true(isnan(sample[i].cpu_mean) ||
			    (sample[i].cpu_min <= sample[i].cpu_mean &&
			     sample[i].cpu_mean <= sample[i].cpu_max && sample[i].cpu_max <= 1));
		assert_true(!i || sample[i].seconds > sample[i - 1].seconds);
		assert_true(!i || !(sample[i].disk_read < sample[i - 1].disk_read));
	}
	assert_int_equal(sonde_sampler_cpus(s), sysconf(_SC_NPROCESSORS_ONLN));
	sonde_sampler_stop(s);
	sonde_sampler_free(s);
	assert_int_equal(c.exits, 1);
}

/* What is asked for when it is over, or by the callback itself, or never came. */
static void stop_within(void *ctx, const struct sonde_sample *sample)
{
	struct calls *c = ctx;

	(void)sample;
	if (c->sampler)
		sonde_sampler_stop(c->sampler);
	c->samples++;
}

static void end_thread(void *ctx, const struct sonde_sample *sample)
{
	(void)sample;
	((struct calls *)ctx)->samples++;
	pthread_exit(NULL);
}

static void wait_over(const struct sonde_sampler *s)
{
	time_t end = time(NULL) + PATIENCE_S;

	while (sonde_sampler_running(s) && time(NULL) < end)
		moment();
	assert_false(sonde_sampler_running(s));
}

static void test_a_callback_may_stop_or_end_its_thread(void **state)
{
	struct calls c = { 0 };
	struct sonde_sampler_options o = {
		.interval = 0.005, .on_sample = stop_within, .on_exit = count_exit, .context = &c
	};
	struct sonde_sampler *s = started(&o);

	(void)state;
	c.sampler = s;
	wait_over(s);
	sonde_sampler_free(s);
	assert_int_equal(c.exits, 1);
	c.samples = c.exits = 0;
	o.on_sample = end_thread;
	s = started(&o);
	wait_over(s);
	sonde_sampler_stop(s);
	assert_int_equal(c.samples, 1);
	assert_int_equal(c.exits, 1);
	assert_int_equal(sonde_sampler_taken(s), 1);
	sonde_sampler_free(s);
}

static void free_within(void *ctx)
{
	struct calls *c = ctx;

	sonde_sampler_free(c->sampler);
	c->exits++;
}

/* Also while somebody waits for the thread. */
static void test_the_last_callback_may_free_it(void **state)
{
	struct calls c = { 0 };
	struct sonde_sampler_options o = { .interval = 0.2, .on_exit = free_within, .context = &c };

	(void)state;
	c.sampler = started(&o);
	sonde_sampler_stop(c.sampler);
	assert_int_equal(c.exits, 1);
}

static void test_stop_need_not_wait(void **state)
{
	struct sonde_sampler *s = started(&(struct sonde_sampler_options){ .interval = 86400 });
	struct sonde_sample sample;

	(void)state;
	assert_int_equal(sonde_sampler_samples(s, &sample, 1), 0);
	sonde_sampler_stop(s); /* the test's time limit is shorter than a day */
	assert_int_equal(sonde_sampler_samples(s, &sample, 1), 1);
	assert_true(isnan(sample.cpu_mean) || sample.window >= 0.1);
	sonde_sampler_free(s);
	sonde_sampler_free(NULL);
	sonde_sampler_stop(NULL);
}

static void test_two_samplers_do_not_mix(void **state)
{
	struct sonde_sampler *a = started(&(struct sonde_sampler_options){ .interval = 0.005 });
	struct sonde_sampler *b = started(&(struct sonde_sampler_options){
		.interval = 0.02, .cpu_interval = 0.01, .max_length = 2 });

	(void)state;
	wait_taken(a, 5);
	wait_taken(b, 5);
	sonde_sampler_free(a);
	wait_taken(b, 8);
	assert_in_range(sonde_sampler_samples(b, NULL, 0), 1, 2);
	sonde_sampler_free(b);
}

#ifndef SANITIZED
static void test_nothing_is_allocated_while_sampling(void **state)
{
	struct sonde_sampler *s =
		started(&(struct sonde_sampler_options){ .interval = 0.002, .max_length = 4 });
	unsigned long before;

	(void)state;
	wait_taken(s, 3);
	before = allocations;
	wait_taken(s, 60);
	assert_int_equal(allocations, before);
	sonde_sampler_free(s);
}
#endif

/* The mask of blocked signals of the sampler's thread, as the kernel tells it. */
static uint64_t blocked(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *entry;
	uint64_t mask = 0;

	while (d && (entry = readdir(d))) {
		char path[300], line[128];
		bool ours = false;
		FILE *f;

		snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof line, f)) {
			ours |= !strcmp(line, "Name:\tsonde-sampler\n");
			if (ours && !strncmp(line, "SigBlk:", 7))
				mask = strtoull(line + 7, NULL, 16);
		}
		if (f)
			fclose(f);
	}
	closedir(d);
	return mask;
}

static void test_no_signal_is_for_its_thread(void **state)
{
	struct sonde_sampler *s = started(&(struct sonde_sampler_options){ .interval = 0.01 });
	const int signals[] = { SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGPROF, SIGHUP };
	sigset_t now;

	(void)state;
	wait_taken(s, 1);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		assert_true(blocked() >> (signals[i] - 1) & 1);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	assert_false(sigismember(&now, SIGINT)); /* the caller's own is as it was */
	sonde_sampler_free(s);
}

static int in_the_child(struct sonde_sampler *s, uint64_t taken)
{
	struct sonde_sampler *own;
	int bad = sonde_sampler_running(s) || sonde_sampler_taken(s) < taken ||
		  sonde_sampler_samples(s, NULL, 0) == 0;

	sonde_sampler_stop(s);
	sonde_sampler_free(s);
	own = sonde_sampler_start(&(struct sonde_sampler_options){ .interval = 0.005 }, NULL);
	if (!own)
		return 2;
	sonde_sampler_stop(own);
	bad |= sonde_sampler_taken(own) == 0;
	sonde_sampler_free(own);
	return bad;
}

static void test_a_child_finds_it_not_running(void **state)
{
	struct sonde_sampler *s = started(&(struct sonde_sampler_options){ .interval = 0.001 });

	(void)state;
	for (int i = 0; i < 20; i++) {
		uint64_t taken;
		int status;
		pid_t child;

		wait_taken(s, (uint64_t)(3 * i + 2));
		taken = sonde_sampler_taken(s);
		child = fork();
		if (!child)
			_exit(in_the_child(s, taken));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_true(sonde_sampler_running(s));
		wait_taken(s, taken + 1);
	}
	sonde_sampler_free(s);
}

static void test_what_cannot_be_is_refused(void **state)
{
	const struct sonde_sampler_options bad[] = {
		{ .interval = -1 },          { .interval = 1e-6 },
		{ .interval = (double)NAN }, { .interval = 1e9 },
		{ .cpu_interval = -0.5 },    { .cpu_interval = (double)NAN },
		{ .max_length = SIZE_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct sonde_error e = { 0 };

		assert_null(sonde_sampler_start(&bad[i], &e));
		assert_true(e.code > 0 && e.text[0]);
		assert_null(sonde_sampler_start(&bad[i], NULL));
	}
}

/* ---- reports ---- */

struct told {
	char key[256][64];
	double value[256];
	unsigned step[256];
	size_t n;
};

static void tell(void *ctx, const char *key, double value, unsigned step)
{
	struct told *t = ctx;

	assert_true(t->n < 256);
	snprintf(t->key[t->n], sizeof t->key[0], "%s", key);
	t->value[t->n] = value;
	t->step[t->n++] = step;
}

static double told(const struct told *t, const char *key, unsigned step)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!strcmp(t->key[i], key) && t->step[i] == step)
			return t->value[i];
	}
	return (double)NAN;
}

static struct sonde_sample made(double seconds, double window, double cpu)
{
	return (struct sonde_sample){ .timestamp = 1e9 + seconds,
				      .seconds = seconds,
				      .window = window,
				      .cpu_mean = cpu,
				      .cpu_min = cpu / 2,
				      .cpu_max = cpu,
				      .memory = 0.25,
				      .disk = 0.5,
				      .disk_read = 1048576 * seconds,
				      .disk_written = (double)NAN,
				      .network_sent = 10 };
}

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* 1 s at 100 %, then 3 s at 20 %; the other node has CPUs of its own. */
static void test_figures_are_weighted_by_time(void **state)
{
	struct sonde_report *r = sonde_report_new();
	const struct sonde_sample a[] = { made(1, 1, 1), made(4, 3, 0.2) };
	const struct sonde_sample b[] = { made(2, 2, 0.5) };
	struct told t = { .n = 0 };
	size_t n;

	(void)state;
	assert_non_null(r);
	assert_true(sonde_report_add(r, 7, b, 1, 64));
	assert_true(sonde_report_add(r, 0, a, 2, 2));
	assert_true(sonde_report_add(r, 3, NULL, 0, 2));
	n = sonde_report_emit(r, tell, &t);
	assert_int_equal(n, t.n);
	assert_int_equal(t.step[0], 0);
	NEAR(told(&t, "cpu_avg_utilization_pct", 0), 40);
	NEAR(told(&t, "max_t_cpu_pct_per_cpu_avg", 0), 100);
	NEAR(told(&t, "cpu_avg_utilization_over80_pct", 0), 25);
	NEAR(told(&t, "node_cpu_hours", 0), 8. / 3600);
	NEAR(told(&t, "node_cpu_hours", 7), 128. / 3600);
	NEAR(told(&t, "total_disk_io_read_mb", 0), 4);
	NEAR(told(&t, "max_t_mem_percent", 7), 25);
	assert_true(isnan(told(&t, "total_disk_io_write_mb", 0)));
	assert_true(isnan(told(&t, "max_t_mem_percent", 3)));
	sonde_report_free(r);
	sonde_report_free(NULL);
}

static json_t *saved(struct sonde_report *r, const char *path)
{
	struct sonde_error e = { 0 };
	const char *where = sonde_report_save(r, path, &e);
	json_error_t why;
	struct stat st;
	json_t *j;

	if (!where)
		fail_msg("%s", e.text);
	assert_int_equal(stat(where, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	j = json_load_file(where, 0, &why);
	assert_non_null(j);
	if (!path)
		unlink(where);
	return j;
}

static void test_the_file_has_the_trackers_shape(void **state)
{
	struct sonde_report *r = sonde_report_new();
	struct sonde_sample late = made(5, 1, 0.5), early = made(1, 1, 1);
	struct sonde_error e = { 0 };
	json_t *j = saved(r, NULL), *first;

	(void)state;
	assert_int_equal(json_object_size(j), 0);
	json_decref(j);
	assert_true(sonde_report_add(r, 0, NULL, 0, 0));
	assert_true(sonde_report_add(r, 12, &late, 1, 2));
	assert_true(sonde_report_add(r, 12, &early, 1, 2));
	j = saved(r, "out.json");
	assert_int_equal(json_array_size(json_object_get(j, "0")), 0);
	assert_int_equal(json_array_size(json_object_get(j, "12")), 2);
	first = json_array_get(json_object_get(j, "12"), 0);
	assert_int_equal(json_object_size(first), 12);
	NEAR(json_number_value(json_object_get(first, "timestamp")), 1e9 + 1);
	NEAR(json_number_value(json_object_get(first, "cpu_pct_per_cpu_avg")), 100);
	NEAR(json_number_value(json_object_get(first, "disk_io_read_mb")), 1);
	assert_true(json_is_null(json_object_get(first, "disk_io_write_mb")));
	json_decref(j);
	assert_null(sonde_report_save(r, "nowhere/out.json", &e));
	assert_non_null(strstr(e.text, "nowhere/out.json"));
	sonde_report_free(r);
	unlink("out.json");
}

/* The store merges, the figures do not. */
static void test_a_samplers_figures_are_of_every_sample(void **state)
{
	struct sonde_sampler *s =
		started(&(struct sonde_sampler_options){ .interval = 0.01, .max_length = 2 });
	struct sonde_report *r = sonde_report_new();
	struct told t = { .n = 0 };
	struct sonde_sample last[2];
	size_t n;

	(void)state;
	wait_taken(s, 20);
	sonde_sampler_stop(s);
	n = sonde_sampler_samples(s, last, 2);
	assert_true(sonde_report_add_sampler(r, 1, s));
	sonde_report_emit(r, tell, &t);
	NEAR(told(&t, "node_cpu_hours", 1), last[n - 1].seconds * sonde_sampler_cpus(s) / 3600);
	assert_true(told(&t, "max_t_mem_percent", 1) > 0);
	sonde_sampler_free(s);
	sonde_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_store_keeps_what_matters),
		cmocka_unit_test(test_gaps_stay_gaps),
		cmocka_unit_test(test_samples_are_of_this_node),
		cmocka_unit_test(test_a_callback_may_stop_or_end_its_thread),
		cmocka_unit_test(test_the_last_callback_may_free_it),
		cmocka_unit_test(test_stop_need_not_wait),
		cmocka_unit_test(test_two_samplers_do_not_mix),
#ifndef SANITIZED
		cmocka_unit_test(test_nothing_is_allocated_while_sampling),
#endif
		cmocka_unit_test(test_no_signal_is_for_its_thread),
		cmocka_unit_test(test_a_child_finds_it_not_running),
		cmocka_unit_test(test_what_cannot_be_is_refused),
		cmocka_unit_test(test_figures_are_weighted_by_time),
		cmocka_unit_test(test_the_file_has_the_trackers_shape),
		cmocka_unit_test(test_a_samplers_figures_are_of_every_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
