/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes spans through libsonde.
 *
 *     spanner many SPANS THREADS [DIRECTORY]
 *                                  each thread so many in pairs, with a rest after each thousand
 *     spanner fast SPANS           without a rest
 *     spanner short THREADS        threads one after the other, of three spans each
 *     spanner signals THREADS      the same, of which handlers of signals make spans, too
 *     spanner kill SPANS           that many, two open ones, and the end by SIGKILL
 *     spanner fork                 of parent, child and grandchild; and an executed program's
 *     spanner crowd PROCESSES      at a time, of ten spans each
 *     spanner calls SPANS          between two getppid()
 *     spanner deep                 100 within each other
 *     spanner count                counters
 *     spanner handed SPANS THREADS so many with handles, of which each ends in the next thread, and
 *                                  one within each; and a counter's values
 *     spanner crossed              two that cross, in a thread and with handles; and wrong ends
 *     spanner named NAMES          spans of so many names, every other one long; and of two of a
 *                                  million bytes that are the same but for the last
 *     spanner values N MS          N values of a counter, MS apart, and of one of the same name
 *                                  in a child
 *     spanner args SPANS           that many with arguments, and some of each kind; two arrows, and
 * a span that ends in a child spanner unfinished           one with a handle, one in a thread, and
 * SIGKILL spanner alone DIRECTORY      100 in a recording of its own, which stops, and 100 in
 * another spanner forks DIRECTORY      100 children, while recordings of its own start and stop
 *     spanner orphan DIRECTORY     100 in a recording of its own, and SIGKILL a second later
 */
#include <pthread.h>
#include <signal.h>
#include <sonde_span.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void rest(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void make(const char *text, long n, bool rests)
{
	uint32_t outer = sonde_name(text), inner = sonde_name("inner");

	for (long i = 0; i < n; i += 2) {
		sonde_begin(outer);
		sonde_begin(inner);
		sonde_end();
		sonde_end();
		if (rests && i % 1000 == 998)
			rest(2);
	}
}

static void *thread(void *spans)
{
	make("outer", *(const long *)spans, true);
	return NULL;
}

static void many(long spans, int threads)
{
	pthread_t id[64];

	for (int i = 0; i < threads; i++)
		pthread_create(&id[i], NULL, thread, &spans);
	for (int i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
}

static void *three(void *unused)
{
	for (int i = 0; i < 3; i++) {
		SONDE_SPAN("short");
	}
	return unused;
}

static void short_threads(int n)
{
	pthread_t id;

	for (int i = 0; i < n; i++) {
		pthread_create(&id, NULL, three, NULL);
		pthread_join(id, NULL);
	}
}

static void handler(int signal)
{
	(void)signal;
	sonde_begin(1);
	sonde_end();
}

/* They come while a thread gets its ring. */
static void signalled(int threads)
{
	const struct itimerval often = { { 0, 300 }, { 0, 300 } };

	sonde_name("handler");
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	short_threads(threads);
}

static void end_here(long spans)
{
	make("outer", spans, false);
	sonde_begin(sonde_name("open"));
	sonde_begin(sonde_name("within"));
	raise(SIGKILL);
}

static void forks(void)
{
	make("parent", 10, false);
	sonde_begin(sonde_name("parent around"));
	if (!fork()) {
		sonde_end(); /* of none */
		make("child", 20, false);
		if (!fork()) {
			make("grandchild", 30, false);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	if (!vfork()) {
		execl("/proc/self/exe", "spanner", "many", "40", "1", (char *)NULL);
		_exit(127);
	}
	while (wait(NULL) > 0)
		;
	sonde_end();
}

static void crowd(long processes)
{
	for (long i = 0; i < processes; i++) {
		if (!fork()) {
			make("outer", 10, false);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void deep(void)
{
	for (int i = 0; i < 100; i++)
		sonde_begin(sonde_name("deep"));
	for (int i = 0; i < 100; i++)
		sonde_end();
}

static void count(void)
{
	sonde_counter(sonde_name("images done"), 1);
	rest(300);
	sonde_counter(sonde_name("images done"), 41.5);
	sonde_counter(sonde_name("nothing"), 0.0 / (double)getppid() - (double)__builtin_inf());
	rest(300);
}

static uint64_t handles[64][4096];

static void *hand_out(void *at)
{
	uint32_t outer = sonde_name("handed"), inner = sonde_name("part");
	uint64_t *handle = at;

	sonde_thread_name("a hand");
	for (int i = 0; handle[i]; i++) {
		handle[i] = sonde_span_begin(outer, 0);
		sonde_span_end(sonde_span_begin(inner, handle[i]));
		sonde_counter(inner, i);
	}
	return NULL;
}

static void *take_in(void *at)
{
	for (const uint64_t *handle = at; *handle; handle++)
		sonde_span_end(*handle);
	return NULL;
}

static void with_threads(int n, void *(*run)(void *), int behind)
{
	pthread_t id[64];

	for (int i = 0; i < n; i++)
		pthread_create(&id[i], NULL, run, handles[(i + behind) % n]);
	for (int i = 0; i < n; i++)
		pthread_join(id[i], NULL);
}

static void handed(int spans, int threads)
{
	for (int i = 0; i < threads; i++)
		memset(handles[i], 0xff, (size_t)spans * sizeof **handles);
	with_threads(threads, hand_out, 0);
	rest(200); /* what was made so far is taken */
	with_threads(threads, take_in, 1);
}

static void crossed(void)
{
	uint64_t a = sonde_begin(sonde_name("a")), b = sonde_begin(sonde_name("b")), p, q, r;

	rest(20);
	sonde_span_end(a); /* wrong */
	rest(20);
	sonde_span_end(b);
	sonde_span_end(b); /* wrong */
	sonde_end();       /* wrong */
	p = sonde_span_begin(sonde_name("p"), 0);
	q = sonde_span_begin(sonde_name("q"), 0);
	r = sonde_span_begin(sonde_name("r"), p);
	rest(20);
	sonde_span_end(p);
	rest(20);
	sonde_span_end(q);
	sonde_span_end(r);
	sonde_span_end(p); /* wrong */
	sonde_span_end(0);
}

static void named(int n)
{
	enum { LONG = 1000000 };
	char name[128], *text = malloc(LONG + 1);

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "name %d %0*d", i, i % 2 ? 1 : 100, 0);
		sonde_begin(sonde_name(name));
		sonde_end();
		if (i % 10000 == 9999)
			rest(100);
	}
	memset(text, 'x', LONG + 1);
	for (int i = 0; i < 2; i++) {
		text[LONG - 1] = (char)('0' + i);
		text[LONG] = '\0';
		sonde_begin(sonde_name(text));
		sonde_end();
	}
	free(text);
}

static void values(int n, int ms)
{
	uint32_t name = sonde_name("loss");

	for (int i = 0; i < n; i++) {
		int far = i < n - i ? i : n - i; /* the extremes are in the middle */

		sonde_counter(name, i % 2 ? far : -far);
		if (ms)
			rest(ms);
	}
	if (!fork()) {
		sonde_counter(name, 1e6);
		_exit(0);
	}
	wait(NULL);
}

static void unfinished(void)
{
	sonde_span_begin(sonde_name("handled"), 0);
	sonde_begin(sonde_name("nested"));
	rest(100);
	raise(SIGKILL);
}

static void alone(const char *directory, bool killed)
{
	struct sonde_error e;
	char again[4096];

	if (!sonde_spans_start(directory, &e) || sonde_spans_start(directory, &e))
		exit(1);
	make("alone", 100, false);
	sonde_mark(sonde_name("made"));
	if (killed) {
		rest(1000);
		raise(SIGKILL);
	}
	sonde_spans_stop();
	sonde_spans_stop();
	snprintf(again, sizeof again, "%s.2", directory);
	make("nobody", 100, false);
	if (!sonde_spans_start(again, &e))
		exit(1);
	make("again", 100, false);
}

static void *start_and_stop(void *directory)
{
	char path[4096];

	for (int i = 0; __atomic_load_n((char *)directory, __ATOMIC_RELAXED); i++) {
		snprintf(path, sizeof path, "%s.%d", (const char *)directory, i);
		sonde_spans_start(path, NULL);
		sonde_spans_stop();
	}
	return NULL;
}

/* Each ends by exit(), which stops a recording that there may be. */
static void forks_beside_recordings(char *directory)
{
	pthread_t id;

	pthread_create(&id, NULL, start_and_stop, directory);
	for (int i = 0; i < 100; i++) {
		if (!fork())
			exit(0);
		wait(NULL);
	}
	__atomic_store_n(directory, '\0', __ATOMIC_RELAXED);
	pthread_join(id, NULL);
}

static void args_many(long n)
{
	const struct sonde_arg number = sonde_arg_integer(sonde_name("i"), 7);

	for (long i = 0; i < n; i++)
		sonde_span_end_with(sonde_begin(sonde_name("counted")), &number, 1);
}

/* The child ends what its parent began, and an arrow leads to it. */
static void args_passed(void)
{
	uint64_t flow = sonde_flow(), handed = sonde_span_begin(sonde_name("handed over"), 0);
	struct sonde_arg out = sonde_arg_flow_out(flow), in = sonde_arg_flow_in(flow);
	struct sonde_passed passed;
	uint64_t receive;

	sonde_span_end_with(sonde_begin(sonde_name("send")), &out, 1);
	if (!sonde_span_pass(handed, &passed))
		puts("it cannot be passed");
	sonde_span_end(handed); /* counts as a wrong end */
	if (!fork()) {
		const struct sonde_arg by = sonde_arg_text(sonde_name("by"), "child");

		receive = sonde_begin(sonde_name("receive"));
		rest(20);
		sonde_span_end_with(receive, &in, 1);
		sonde_span_end_with(sonde_span_take(&passed), &by, 1);
		passed.machine++;
		if (sonde_span_take(&passed))
			puts("it is of another machine");
		_exit(0);
	}
	wait(NULL);
}

static void args(long n)
{
	char text[1000];
	struct sonde_arg some[] = { sonde_arg_integer(sonde_name("bytes"), INT64_MIN),
				    sonde_arg_number(sonde_name("share"), 0.1),
				    sonde_arg_text(sonde_name("file"), "a \"b\"\n\\c"),
				    sonde_arg_category(sonde_name("input and output")),
				    sonde_arg_text(sonde_name("of nothing"), "") };
	struct sonde_arg loss = sonde_arg_number(sonde_name("loss"), 0.31), lots[20];

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	args_many(n);
	sonde_span_end_with(sonde_begin(sonde_name("load")), some, 5);
	sonde_span_end_with(sonde_span_begin(sonde_name("request"), 0), some, 1);
	sonde_mark_with(sonde_name("epoch"), &loss, 1);
	for (int i = 0; i < 20; i++)
		lots[i] = sonde_arg_integer(sonde_name("n"), i);
	sonde_span_end_with(sonde_begin(sonde_name("lots")), lots, 20);
	for (int i = 0; i < 5; i++)
		lots[i] = sonde_arg_text(sonde_name("t"), text);
	sonde_span_end_with(sonde_begin(sonde_name("long")), lots, 5);
	lots[0].kind = 99;
	sonde_span_end_with(sonde_begin(sonde_name("strange")), lots, 1);
	args_passed();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	if (!strcmp(what, "many") && argc > 4 && !sonde_spans_start(argv[4], NULL))
		return 1;
	if (!strcmp(what, "many"))
		many(n, argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1);
	else if (!strcmp(what, "fast"))
		make("fast", n, false);
	else if (!strcmp(what, "short"))
		short_threads((int)n);
	else if (!strcmp(what, "signals"))
		signalled((int)n);
	else if (!strcmp(what, "kill"))
		end_here(n);
	else if (!strcmp(what, "fork"))
		forks();
	else if (!strcmp(what, "crowd"))
		crowd(n);
	else if (!strcmp(what, "deep"))
		deep();
	else if (!strcmp(what, "count"))
		count();
	else if (!strcmp(what, "handed"))
		handed((int)n, (int)strtol(argv[3], NULL, 10));
	else if (!strcmp(what, "crossed"))
		crossed();
	else if (!strcmp(what, "named"))
		named((int)n);
	else if (!strcmp(what, "values"))
		values((int)n, (int)strtol(argv[3], NULL, 10));
	else if (!strcmp(what, "args"))
		args(n);
	else if (!strcmp(what, "unfinished"))
		unfinished();
	else if (!strcmp(what, "alone") || !strcmp(what, "orphan"))
		alone(argv[2], what[0] == 'o');
	else if (!strcmp(what, "forks"))
		forks_beside_recordings(argv[2]);
	if (!strcmp(what, "calls")) {
		make("warm", 10, false);
		getppid();
		make("warm", n, false);
		sonde_mark(1);
		sonde_counter(2, (double)n);
		getppid();
	}
	printf("%llu\n", (unsigned long long)sonde_spans_lost());
	return 0;
}
