/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events are counted: execution breakpoints, which need no counters of the CPU and no
 * privilege, say how often a function ran. Where even those are not permitted the tests skip. */
#include "source/perf/perf_count.h"
#include "source/perf/perf_session.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static __attribute__((noinline)) void counted(void)
{
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void also_counted(void)
{
	__asm__ volatile("nop" ::: "memory");
}

static void run_counted(int n)
{
	for (int i = 0; i < n; i++)
		counted();
}

static void *thread_counts(void *n)
{
	run_counted(*(const int *)n);
	return NULL;
}

static void thread_of(int n)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, thread_counts, &n))
		pthread_join(t, NULL);
}

/* A process that waits, does what it is told, says so, and waits again. */
struct worker {
	pid_t pid;
	int go[2], done[2];
};

static void worker_start(struct worker *w, void (*work)(void))
{
	char c = 0;

	assert_int_equal(pipe(w->go) | pipe(w->done), 0);
	w->pid = fork();
	assert_true(w->pid >= 0);
	if (w->pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(w->go[0], &c, 1) == 1) {
		work();
		if (write(w->done[1], &c, 1) != 1)
			break;
	}
	_exit(0);
}

static void worker_go(struct worker *w)
{
	char c = 0;

	assert_int_equal(write(w->go[1], &c, 1), 1);
	assert_int_equal(read(w->done[0], &c, 1), 1);
}

static void worker_end(struct worker *w)
{
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
	close(w->go[0]);
	close(w->go[1]);
	close(w->done[0]);
	close(w->done[1]);
}

/* A session on a file of events of our own. */
struct scene {
	struct source_env env;
	struct perf_options options;
	struct sample s;
	struct perf_session *p;
	struct err e;
	int bad;
};

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* launched: the roots are launchers. */
static void scene_open_of(struct scene *x, const struct perf_options *o, const pid_t *roots,
			  size_t n, bool launched)
{
	*x = (struct scene){ .options = *o };
	x->env.perf = &x->options;
	x->env.roots = roots;
	x->env.nroots = n;
	x->env.launched = launched;
	assert_int_equal(sample_init(&x->s, 1024, 1024), 0);
	assert_int_equal(root_open(&x->env.proc, "/proc") | root_open(&x->env.sys, "/sys"), 0);
	x->p = calloc(1, sizeof *x->p);
	assert_non_null(x->p);
	x->bad = perf_session_open(x->p, &x->env, &x->s, &x->e);
}

static void scene_open(struct scene *x, const struct perf_options *o, const pid_t *root,
		       bool launched)
{
	scene_open_of(x, o, root, 1, launched);
}

static void scene_close(struct scene *x)
{
	if (!x->bad)
		perf_session_close(x->p);
	free(x->p);
	sample_free(&x->s);
	root_close(&x->env.proc);
	root_close(&x->env.sys);
}

static void scene_read(struct scene *x)
{
	sample_begin(&x->s, 2000, x->s.mono_ns + 60000000000);
	assert_int_equal(perf_session_read(x->p, &x->s), 0);
}

/* What is stored of a metric; -1: absent, or there is no such series. */
static int64_t value(const struct scene *x, const char *name)
{
	for (uint32_t i = 1; i < x->s.nslots; i++)
		if (x->s.slot[i].series && !strcmp(x->s.slot[i].metric->name, name))
			return x->s.state[i] == STATE_PRESENT ? x->s.value[i] : -1;
	return -1;
}

static const char *meta(const struct scene *x, const char *key)
{
	for (uint32_t i = 0; i < x->s.nevents; i++)
		if (x->s.event[i].kind == EVENT_META && !strcmp(x->s.event[i].name, key))
			return x->s.event[i].text;
	return "";
}

static void breakpoints_file(char *text, size_t size)
{
	snprintf(text, size,
		 "group calls\nevent calls counted breakpoint config1=%#" PRIxPTR "\n"
		 "event others also_counted breakpoint config1=%#" PRIxPTR "\n"
		 "metric ratio = others/calls\n",
		 (uintptr_t)counted, (uintptr_t)also_counted);
	write_file("calls.events", text);
}

static bool permitted(const struct scene *x)
{
	if (!x->bad)
		return true;
	print_message("perf events: %s\n", x->e.text);
	return false;
}

static void work_in_a_tree(void)
{
	pid_t child = fork();

	if (!child) {
		run_counted(1000);
		thread_of(200);
		if (!fork()) {
			run_counted(30);
			_exit(0);
		}
		_exit(0);
	}
	waitpid(child, NULL, 0);
	run_counted(4);
	also_counted();
	thread_of(7);
	/* the orphan ends some time */
	usleep(100000);
}

/* Threads, children and their children that have ended are in the count, exactly. */
static void what_runs_already_is_counted_with_all_it_starts(void **state)
{
	struct worker w;
	struct scene x;
	char text[512];

	(void)state;
	breakpoints_file(text, sizeof text);
	worker_start(&w, work_in_a_tree);
	worker_go(&w);
	scene_open(&x, &(struct perf_options){ .groups = "calls", .file = "calls.events" }, &w.pid,
		   false);
	if (!permitted(&x)) {
		scene_close(&x);
		worker_end(&w);
		skip();
	}
	scene_read(&x);
	assert_int_equal(value(&x, "perf.calls.calls"), 0);
	worker_go(&w);
	scene_read(&x);
	assert_int_equal(value(&x, "perf.calls.calls"), 1241);
	assert_int_equal(value(&x, "perf.calls.others"), 1);
	assert_true(value(&x, "perf.calls.enabled_seconds") > 0);
	assert_int_equal(value(&x, "perf.calls.running_seconds"),
			 value(&x, "perf.calls.enabled_seconds"));
	worker_end(&w);
	scene_read(&x);
	assert_int_equal(value(&x, "perf.calls.calls"), 1241);
	scene_close(&x);
}

enum { PAGES = 20000 };

static void work_as_a_launcher(void)
{
	char *memory = malloc((size_t)PAGES * 4096);
	pid_t child;

	for (size_t i = 0; memory && i < PAGES; i++)
		((volatile char *)memory)[i * 4096] = 1;
	child = fork();
	if (!child) {
		execlp("true", "true", (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	free(memory);
}

/* What the launcher itself does is none of the job's. */
static void a_launcher_is_not_counted_but_what_it_executes(void **state)
{
	struct worker w;
	struct scene x;
	int64_t faults;

	(void)state;
	worker_start(&w, work_as_a_launcher);
	scene_open(&x, &(struct perf_options){ .groups = "software" }, &w.pid, true);
	if (!permitted(&x)) {
		scene_close(&x);
		worker_end(&w);
		skip();
	}
	worker_go(&w);
	scene_read(&x);
	faults = value(&x, "perf.software.page_faults");
	assert_in_range(faults, 1, PAGES / 4);
	worker_go(&w);
	scene_read(&x);
	assert_in_range(value(&x, "perf.software.page_faults"), faults + 1, PAGES / 2);
	scene_close(&x);
	worker_end(&w);
}

static void launchers_that_join_are_counted_too(void **state)
{
	struct worker first, second;
	struct scene x;

	(void)state;
	worker_start(&first, work_as_a_launcher);
	worker_start(&second, work_as_a_launcher);
	scene_open(&x, &(struct perf_options){ .groups = "software" }, &first.pid, true);
	if (!permitted(&x)) {
		scene_close(&x);
		worker_end(&first);
		worker_end(&second);
		skip();
	}
	assert_int_equal(perf_session_joined(x.p, first.pid, false, &x.s), 0);
	assert_int_equal(perf_session_joined(x.p, second.pid, false, &x.s), 0);
	assert_string_equal(meta(&x, "perf.tasks_not_counted.reason"), "");
	scene_read(&x);
	assert_int_equal(value(&x, "perf.software.page_faults"), 0);
	worker_go(&second);
	scene_read(&x);
	assert_in_range(value(&x, "perf.software.page_faults"), 1, PAGES / 4);
	assert_int_equal(perf_session_joined(x.p, INT32_MAX, false, &x.s), -ESRCH);
	assert_string_not_equal(meta(&x, "perf.tasks_not_counted.reason"), "");
	scene_close(&x);
	worker_end(&first);
	worker_end(&second);
}

static int64_t meta_number(const struct scene *x, const char *key)
{
	for (uint32_t i = x->s.nevents; i-- > 0;)
		if (x->s.event[i].kind == EVENT_META && !strcmp(x->s.event[i].name, key))
			return x->s.event[i].value;
	return -1;
}

/* Until release, no more than `left` files may be opened. */
struct shortage {
	struct rlimit before;
	int fd[128], n;
};

static void take_files(struct shortage *x, int left)
{
	struct rlimit less;

	getrlimit(RLIMIT_NOFILE, &x->before);
	less = x->before;
	less.rlim_cur = sizeof x->fd / sizeof x->fd[0];
	setrlimit(RLIMIT_NOFILE, &less);
	for (x->n = 0; (x->fd[x->n] = dup(0)) >= 0;)
		x->n++;
	for (; left > 0 && x->n > 0; left--)
		close(x->fd[--x->n]);
}

static void release_files(struct shortage *x)
{
	while (x->n > 0)
		close(x->fd[--x->n]);
	setrlimit(RLIMIT_NOFILE, &x->before);
}

/* Each task takes a file: those for which there is none are told, and the others are counted. */
static void tasks_that_are_not_counted_are_told(void **state)
{
	enum { WORKERS = 12, LEFT = 8 };
	struct worker w[WORKERS];
	pid_t roots[WORKERS];
	char text[512];
	struct scene x;
	struct shortage files;
	int64_t missed;

	(void)state;
	breakpoints_file(text, sizeof text);
	for (int i = 0; i < WORKERS; i++) {
		worker_start(&w[i], work_in_a_tree);
		roots[i] = w[i].pid;
	}
	take_files(&files, LEFT);
	scene_open_of(&x, &(struct perf_options){ .groups = "calls", .file = "calls.events" },
		      roots, WORKERS, false);
	release_files(&files);
	missed = meta_number(&x, "perf.tasks_not_counted");
	if (permitted(&x)) {
		assert_in_range(missed, WORKERS - LEFT, WORKERS - 1);
		assert_non_null(strstr(meta(&x, "perf.tasks_not_counted.reason"), "open file"));
		scene_read(&x);
		assert_int_equal(value(&x, "perf.calls.calls"), 0);
	}
	for (int i = 0; i < WORKERS; i++)
		worker_end(&w[i]);
	scene_close(&x);
}

/* A CPU has four breakpoints: the fifth event is not counted, which is said, and never 0. */
static void what_does_not_fit_is_absent(void **state)
{
	char text[1024] = "group many\n";
	struct worker w;
	struct scene x;

	(void)state;
	for (int i = 0; i < 5; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			 "event e%d E%d breakpoint config1=%#" PRIxPTR "\n", i, i,
			 (uintptr_t)counted + (unsigned)i);
	write_file("many.events", text);
	worker_start(&w, work_in_a_tree);
	scene_open(&x, &(struct perf_options){ .groups = "MANY,flops_hp", .file = "many.events" },
		   &w.pid, false);
	if (!permitted(&x)) {
		scene_close(&x);
		worker_end(&w);
		skip();
	}
	scene_read(&x);
	assert_int_equal(value(&x, "perf.many.e0"), 0);
	if (value(&x, "perf.many.e4") == -1)
		assert_non_null(strstr(meta(&x, "perf.not_counted"), "many.e4"));
	scene_close(&x);
	worker_end(&w);
}

static uint32_t refused(const struct scene *x, const char *name)
{
	uint32_t state = STATE_ABSENT;

	for (uint32_t i = 1; i < x->s.nslots; i++)
		for (uint32_t k = 0; k < x->s.nevents; k++)
			if (x->s.slot[i].series && x->s.event[k].kind == EVENT_STATE &&
			    x->s.event[k].id == x->s.slot[i].series &&
			    !strcmp(x->s.slot[i].metric->name, name))
				state = x->s.event[k].state;
	return state;
}

static void refusals_say_which_and_why(void **state)
{
	const pid_t self = getpid();
	struct scene x;

	(void)state;
	scene_open(
		&x,
		&(struct perf_options){ .groups = "software,fp_precision,energy", .cpu = "zen3" },
		&self, false);
	if (!x.bad) {
		assert_int_equal(refused(&x, "perf.fp_precision.running_seconds"),
				 STATE_UNSUPPORTED);
		assert_int_equal(refused(&x, "perf.energy.running_seconds"), STATE_UNSUPPORTED);
		assert_int_equal(refused(&x, "perf.software.running_seconds"), STATE_ABSENT);
		if (!perf_may_count_kernel()) {
			assert_int_equal(refused(&x, "perf.software.context_switches"),
					 STATE_FORBIDDEN);
			assert_int_equal(value(&x, "perf.software.context_switches"), -1);
		}
	}
	scene_close(&x);
	scene_open(&x, &(struct perf_options){ .groups = "off" }, &self, false);
	assert_int_equal(x.bad, -EOPNOTSUPP);
	scene_close(&x);
	scene_open(&x, &(struct perf_options){ .groups = "software", .file = "no.events" }, &self,
		   false);
	assert_int_equal(x.bad, -ENOENT);
	scene_close(&x);
}

/* Of one kind of cores there is the event, of the other one there is not. */
static void a_kind_of_cores_gets_its_own_code(void **state)
{
	struct perf_event event = { .id = "a",
				    .name = "A",
				    .pmu = "software",
				    .config = { 4095 },
				    .of_kind = { { "cpu_atom", PERF_COUNT_SW_TASK_CLOCK } } };
	struct perf_group group = { .name = "g", .event = &event, .nevents = 1 };
	struct perf_set set = { .group = &group, .n = 1 }, rest;
	struct perf_seat seat = { .cpu = -1, .kind = "cpu_atom" };
	struct perf_where where = { .seat = &seat, .n = 1, .user_only = true };
	struct perf_count count;
	int bad = perf_count_open(&count, &set, &rest, &where);

	(void)state;
	if (bad == -EACCES || bad == -EPERM || bad == -ENOSYS)
		skip();
	assert_int_equal(bad, 0);
	perf_count_close(&count);
	seat.kind = "cpu_core";
	assert_int_equal(perf_count_open(&count, &set, &rest, &where), -ENOENT);
	perf_count_close(&count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_runs_already_is_counted_with_all_it_starts),
		cmocka_unit_test(a_launcher_is_not_counted_but_what_it_executes),
		cmocka_unit_test(launchers_that_join_are_counted_too),
		cmocka_unit_test(tasks_that_are_not_counted_are_told),
		cmocka_unit_test(what_does_not_fit_is_absent),
		cmocka_unit_test(refusals_say_which_and_why),
		cmocka_unit_test(a_kind_of_cores_gets_its_own_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
