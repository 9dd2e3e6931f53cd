/* SPDX-License-Identifier: Apache-2.0 */
/* The time of threads: on a CPU, ready, and waiting by what and where; parts add up in every table.
 */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "core/stacks/waiting.h"
#include "made_stacks.h"
#include "recording/join.h"
#include "report/summary/waittime.h"
#include "unit/recording_truth.h"

static char *directory(int *fd)
{
	static char name[64];

	snprintf(name, sizeof name, "sonde_waiting_XXXXXX");
	assert_non_null(mkdtemp(name));
	*fd = open(name, O_RDONLY | O_DIRECTORY);
	return name;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/* Ids of what stacks are made of. */
struct program {
	uint32_t on_cpu, ready, unseen, forbidden;
	uint32_t lock, lock_at, bare, cut, unknown_kind;
};

static uint32_t named(struct made_stacks *m, uint32_t module, uint32_t parent, const char *name)
{
	return made_stack(m, parent, made_frame(m, module, name, "", 0));
}

static struct program program_make(struct made_stacks *m)
{
	struct program p;
	uint32_t wait = made_module(m, WAIT_MODULE), app = made_module(m, "/opt/x/app");
	uint32_t libc = made_module(m, "/lib/libc.so.6"), lib = made_module(m, "/opt/lib/libio.so");
	uint32_t main_n = made_stack(m, 0, made_frame(m, app, "main", "main.c", 5));
	uint32_t work_n = made_stack(m, main_n, made_frame(m, app, "work", "work.c", 12));
	uint32_t lib_n = made_stack(m, work_n, made_frame(m, lib, "io_get", "io.c", 3));
	uint32_t lock_n = made_stack(m, lib_n, made_frame(m, libc, "pthread_mutex_lock", "", 0));
	uint32_t wait_n = named(m, lib, named(m, app, 0, "_start"), "io_wait");
	uint32_t read_n = made_stack(m, wait_n, made_frame(m, libc, "read", "", 0));

	p.on_cpu = named(m, wait, 0, WAIT_ON_CPU);
	p.ready = named(m, wait, 0, WAIT_WAS_READY);
	p.unseen = named(m, wait, 0, WAIT_UNSEEN);
	p.forbidden = named(m, wait, 0, WAIT_REFUSED);
	p.lock = named(m, wait, lock_n, "mutex");
	p.lock_at = named(m, wait, p.lock, "at 0x10");
	p.bare = named(m, wait, read_n, "pipe_read");
	p.cut = lock_n; /* there was no room to say for what */
	/* Of a program that has the C library in itself. */
	p.unknown_kind = named(m, wait, named(m, app, main_n, "__syscall_cancel_arch"),
			       "kind of later versions");
	return p;
}

static void put(struct made_stacks *m, uint32_t instance, const char *command,
		const struct event_item *item, uint32_t n)
{
	made_check(sample_samples(&m->s,
				  &(struct samples_head){ .instance = instance,
							  .kind = SAMPLE_WAITS,
							  .command = command,
							  .unit = 1000,
							  .t0_ns = m->now_ns - MADE_SECOND_NS,
							  .t1_ns = m->now_ns },
				  item, n));
}

static void made_run(int fd)
{
	struct made_stacks m;
	struct program p;

	made_stacks_open(&m, fd, "a");
	p = program_make(&m);
	put(&m, 0, "app",
	    (struct event_item[]){ { 7, p.on_cpu, 500000 },
				   { 7, p.ready, 100000 },
				   { 7, p.lock_at, 400000 },
				   { 8, p.lock, 250000 },
				   { 8, p.unseen, 30000 },
				   { 8, p.cut, 20000 },
				   { 8, p.unknown_kind, 700000 } },
	    7);
	put(&m, 0, "gen",
	    (struct event_item[]){ { 9, p.bare, 900000 }, { 9, p.forbidden, 100000 } }, 2);
	made_samples(&m, 0, "app", (struct event_item){ 7, p.cut, 300 }); /* CPU time: no wait */
	made_write(&m);
	made_stacks_close(&m);
}

static const struct waiting_row *row_of(const struct waiting *w, enum waiting_by by,
					const char *name)
{
	for (uint32_t i = 0; i < w->rows[by].n; i++)
		if (!strcmp(w->rows[by].row[i].name, name))
			return &w->rows[by].row[i];
	fail_msg("no row %s by %s", name, waiting_by_names[by]);
	return NULL;
}

static void check_sums(const struct waiting *w)
{
	double known = waiting_waited(&w->time) - w->time.unseen - w->time.forbidden;

	for (int by = 0; by < WAITING_BY_PHASE; by++) {
		bool of_waits = by <= WAITING_BY_CLASS;
		double sum = 0;

		for (uint32_t i = 0; i < w->rows[by].n; i++)
			sum += waiting_wall(&w->rows[by].row[i].time);
		assert_true(near(sum, of_waits ? known : waiting_wall(&w->time)));
	}
}

static void check_rows(const struct waiting *w)
{
	const struct waiting_row *row = row_of(w, WAITING_BY_OBJECT, "waits for a mutex: at 0x10");
	double seconds;

	assert_true(near(row->time.by[WAIT_MUTEX], 0.4));
	assert_string_equal(row->object, "at 0x10");
	row = row_of(w, WAITING_BY_OBJECT, "waits for a mutex");
	assert_true(near(waiting_waited(&row->time), 0.25));
	assert_true(near(waiting_waited(&row_of(w, WAITING_BY_CLASS, "waits for a mutex")->time),
			 0.65));
	assert_true(near(waiting_waited(&row_of(w, WAITING_BY_CLASS, "sleeps")->time), 0.72));
	row = row_of(w, WAITING_BY_FUNCTION, "work"); /* not the library's, nor libc's */
	assert_true(near(waiting_waited(&row->time), 0.67) && row->line == 12);
	assert_string_equal(row->file, "work.c");
	/* A library's, where the program has but its beginning. */
	assert_true(near(waiting_waited(&row_of(w, WAITING_BY_FUNCTION, "io_wait")->time), 0.9));
	row = row_of(w, WAITING_BY_PLACE,
		     "waits for a mutex: at 0x10"); /* without those of no object */
	assert_true(near(waiting_waited(&row->time), 0.4) && row->line == 12);
	assert_string_equal(row->shown, "work");
	assert_int_equal(w->rows[WAITING_BY_PLACE].n, 5);
	row = row_of(w, WAITING_BY_THREAD, "gen");
	assert_int_equal(row->tid, 9);
	assert_int_equal(waiting_most(&row->time, &seconds), WAIT_PIPE_READ);
	assert_true(near(seconds, 0.9) && near(row->time.forbidden, 0.1));
	assert_string_equal(w->rows[WAITING_BY_COMMAND].row[0].name, "app"); /* most first */
}

/* What each thread waited where: all of the waits that are known, thread by thread, most first. */
static void check_spots(const struct waiting *w)
{
	const struct waiting_row *app = NULL;
	double sum = 0;

	for (uint32_t i = 0; i < w->nspots; i++) {
		const struct waiting_spot *s = &w->spots[i];

		sum += s->seconds;
		if (i && w->spots[i - 1].thread == s->thread)
			assert_true(w->spots[i - 1].seconds >= s->seconds);
		else if (i)
			assert_true(w->spots[i - 1].thread < s->thread);
		if (s->thread->tid != 7)
			continue;
		app = s->thread;
		assert_true(near(s->seconds, 0.4));
		assert_string_equal(s->place->object, "at 0x10");
		assert_int_equal(s->place->kind, WAIT_MUTEX);
	}
	assert_non_null(app);
	assert_true(near(sum, waiting_waited(&w->time) - w->time.unseen - w->time.forbidden));
	assert_int_equal(w->nspots, 5);
}

/* The parts of all, by the places that their stacks say. */
static void check_parts(struct waiting *w)
{
	struct run *r = w->stacks->run;
	struct run_samples x;
	double sum[WAITING_PARTS] = { 0 };
	uint32_t function;

	assert_int_equal(r->rewind_samples(r), 0);
	while (r->next_samples(r, &x, NULL) > 0)
		for (uint32_t i = 0; x.kind == SAMPLE_WAITS && i < x.n; i++)
			sum[waiting_part_of(w, x.items[i].node, &function)] +=
				(double)x.items[i].weight * (double)x.unit / 1e9;
	for (int i = 0; i < WAITING_PARTS; i++)
		assert_true(near(sum[i], waiting_part(&w->time, (enum waiting_part)i)));
	assert_true(sum[WAITING_ON_CPU] > 0 && sum[WAITING_FIRST_KIND + WAIT_MUTEX] > 0);
}

static void test_parts_add_up_in_every_table(void **state)
{
	struct classes c = { 0 };
	struct err e = { "" };
	struct waiting *w;
	struct run *r;
	int fd;
	char *dir = directory(&fd);

	(void)state;
	made_run(fd);
	assert_int_equal(run_open(&r, dir, &e), 0);
	assert_int_equal(waiting_open(&w, r, &c, NULL, &e), 0);
	assert_non_null(w);
	assert_true(near(waiting_wall(&w->time), 3));
	assert_true(near(w->time.on_cpu, 0.5) && near(w->time.ready, 0.1));
	assert_true(near(w->time.unseen, 0.03) && near(w->time.forbidden, 0.1));
	check_sums(w);
	check_rows(w);
	check_parts(w);
	check_spots(w);
	waiting_close(w);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

/* One thread waits in Python's own library, called by a script; one has no script. */
static void python_run(int fd)
{
	struct made_stacks m;
	uint32_t wait, app, python, main_n, script_n, library_n;

	made_stacks_open(&m, fd, "a");
	wait = made_module(&m, WAIT_MODULE);
	app = made_module(&m, "/usr/bin/python3.11");
	python = made_module(&m, PYTHON_MODULE);
	main_n = made_stack(&m, 0, made_frame(&m, app, "Py_RunMain", "", 0));
	script_n = made_stack(&m, main_n, made_frame(&m, python, "load", "train.py", 9));
	library_n = made_stack(
		&m, script_n,
		made_frame(&m, python, "Queue.get", "/usr/lib/python3.11/queue.py", 171));
	library_n = made_stack(&m, library_n, made_frame(&m, app, "sem_take", "", 0));
	put(&m, 0, "app",
	    (struct event_item[]){ { 7, named(&m, wait, library_n, "semaphore"), 600000 },
				   { 8, named(&m, wait, main_n, "timer"), 400000 } },
	    2);
	made_write(&m);
	made_stacks_close(&m);
}

static void test_a_script_comes_before_python(void **state)
{
	struct classes c = { 0 };
	struct err e = { "" };
	struct waiting *w;
	struct run *r;
	const struct waiting_row *row;
	int fd;
	char *dir = directory(&fd);

	(void)state;
	python_run(fd);
	assert_int_equal(run_open(&r, dir, &e), 0);
	assert_int_equal(waiting_open(&w, r, &c, NULL, &e), 0);
	row = row_of(w, WAITING_BY_FUNCTION, "load");
	assert_true(near(waiting_waited(&row->time), 0.6) && row->line == 9);
	assert_true(near(waiting_waited(&row_of(w, WAITING_BY_FUNCTION, "Py_RunMain")->time), 0.4));
	waiting_close(w);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

static void test_words_name_the_most(void **state)
{
	struct bytes words = { 0 };
	struct waittime *t;
	struct err e = { "" };
	struct run *r;
	int fd;
	char *dir = directory(&fd);

	(void)state;
	made_run(fd);
	assert_int_equal(run_open(&r, dir, &e), 0);
	assert_int_equal(waittime_make(&t, r, true, &e), 0);
	waittime_words(t->waiting, 2, &words);
	bytes_u8(&words, 0);
	assert_string_equal((const char *)words.data,
			    "waiting 80 % of the threads' time: waits for data from a pipe 30 %, "
			    "sleeps 24 %; in io_wait 30 %, main (main.c:5) 23 %");
	assert_true(near(waiting_wall(&t->waiting->rows[WAITING_BY_PHASE].row[0].time), 3));
	bytes_free(&words);
	waittime_free(t);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

static void test_without_waits_there_are_none(void **state)
{
	struct made_stacks m;
	struct waittime *t;
	struct err e = { "" };
	struct run *r;
	int fd;
	char *dir = directory(&fd);

	(void)state;
	made_stacks_open(&m, fd, "a");
	made_write(&m);
	made_stacks_close(&m);
	assert_int_equal(run_open(&r, dir, &e), 0);
	assert_int_equal(waittime_make(&t, r, false, &e), 0);
	assert_null(t);
	run_close(r);
	close(fd);
	directory_remove(dir);
	dir = directory(&fd);
	made_stacks_open(&m, fd, "a");
	sample_meta_text(&m.s, "source.waits", "unsupported: the helper is not installed");
	made_write(&m);
	made_stacks_close(&m);
	assert_int_equal(run_open(&r, dir, &e), 0);
	assert_int_equal(waittime_make(&t, r, false, &e), 0);
	assert_true(t && !t->waiting);
	assert_string_equal(t->refused, "unsupported: the helper is not installed");
	waittime_free(t);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_add_up_in_every_table),
		cmocka_unit_test(test_a_script_comes_before_python),
		cmocka_unit_test(test_words_name_the_most),
		cmocka_unit_test(test_without_waits_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
