/* SPDX-License-Identifier: Apache-2.0 */
#include "top/watch.h"

#include "base/clock.h"
#include "base/text/json.h"
#include "top/cells.h"
#include "top/terminal.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { ESCAPE_MS = 100, REST = 4, ROWS_MOST = 500, PLAY_MS = 200, PAUSE_S = 60 };

/* What signal handlers may write; the one thing that is not handed in. */
static volatile sig_atomic_t ended, resized, stopped;

static void on_end(int signal)
{
	ended = signal;
}

static void on_resize(int signal)
{
	(void)signal;
	resized = 1;
}

static void on_stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* They come while it waits, or writes to a terminal that does not take it. */
static void take_signals(sigset_t *waiting)
{
	static const struct {
		int signal;
		void (*handler)(int);
	} taken[] = { { SIGINT, on_end },  { SIGTERM, on_end },     { SIGHUP, on_end },
		      { SIGQUIT, on_end }, { SIGWINCH, on_resize }, { SIGTSTP, on_stop } };
	sigset_t set;

	ended = resized = stopped = 0;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
		struct sigaction act = { .sa_handler = taken[i].handler };

		sigaction(taken[i].signal, &act, NULL);
		sigaddset(&set, taken[i].signal);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, NULL, waiting);
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		sigdelset(waiting, taken[i].signal);
}

struct loop {
	const struct watch *w;
	struct cells cells;
	struct keys keys;
	struct bytes out;
	sigset_t waiting;
	int64_t look_ns; /* when to look again */
	bool quit, gone; /* gone: the terminal is */
	struct err *e;
};

static int fit(struct loop *l)
{
	unsigned rows, columns;

	terminal_size(l->w->terminal, &rows, &columns);
	rows = rows > ROWS_MOST ? ROWS_MOST : rows;
	l->cells.colour = l->w->terminal->colour;
	l->cells.utf8 = l->w->terminal->utf8;
	return cells_resize(&l->cells, rows ? rows : 24, columns ? columns : 80);
}

static void paint(struct loop *l)
{
	sigset_t before;

	bytes_reset(&l->out);
	view_draw(l->w->view, &l->cells, true);
	cells_paint(&l->cells, &l->out);
	sigprocmask(SIG_SETMASK, &l->waiting, &before);
	errno = 0;
	if (!l->out.failed && !terminal_write(l->w->terminal, &l->out))
		l->gone = errno == EIO;
	if (l->out.failed || errno == EINTR)
		cells_forget(&l->cells);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* An instant that is shown does not change. */
static int64_t every_ns(const struct watch *w)
{
	if (!w->replay)
		return w->every_ns;
	return w->replay->plays ? PLAY_MS * NS_PER_MS : PAUSE_S * NS_PER_S;
}

static int look_now(const struct watch *w, struct err *e)
{
	if (!w->replay)
		return now_look(w->now, e);
	replay_tick(w->replay, clock_mono_ns());
	return now_replay(w->now, w->replay->at_ns, e);
}

/* A file system that is slow keeps it from taking keys: it is left alone for as long as it takes,
 * and more. */
static int look(struct loop *l)
{
	int64_t begin = clock_mono_ns(), took, every;
	int rc = look_now(l->w, l->e);

	if (rc)
		return rc;
	view_look(l->w->view, l->cells.rows);
	took = clock_mono_ns() - begin;
	every = every_ns(l->w);
	l->look_ns = begin + (REST * took > every ? REST * took : every);
	paint(l);
	return 0;
}

/* The keeper stops as well, once this has. */
static void suspend(struct loop *l)
{
	stopped = 0;
	terminal_leave(l->w->terminal);
	raise(SIGSTOP);
	terminal_enter(l->w->terminal);
	resized = 1;
}

/* In a search, and over the help, keys are the view's. */
static bool replay_takes(const struct loop *l, int key)
{
	const struct view *v = l->w->view;

	return l->w->replay && !v->searching && !v->help &&
	       replay_key(l->w->replay, key, clock_mono_ns());
}

static void act(struct loop *l, int key)
{
	enum view_answer answer = VIEW_SAME;

	if (key && replay_takes(l, key))
		l->look_ns = 0;
	else if (key)
		answer = view_key(l->w->view, key);
	if (answer == VIEW_CHANGED)
		paint(l);
	l->quit |= answer == VIEW_QUIT;
}

static void read_keys(struct loop *l)
{
	char bytes[64];
	ssize_t n = read(l->w->terminal->in, bytes, sizeof bytes);

	l->gone |= n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
	for (ssize_t i = 0; i < n && !l->quit; i++)
		act(l, keys_take(&l->keys, bytes[i]));
}

static void wait_and_act(struct loop *l)
{
	int64_t left = l->look_ns - clock_mono_ns();
	struct pollfd in = { .fd = l->w->terminal->in, .events = POLLIN };
	bool escape = keys_waits(&l->keys);
	struct timespec t;
	int n;

	left = left < 0 ? 0 : left;
	if (escape && left > ESCAPE_MS * NS_PER_MS)
		left = ESCAPE_MS * NS_PER_MS;
	t = (struct timespec){ left / NS_PER_S, left % NS_PER_S };
	n = ppoll(&in, 1, &t, &l->waiting);
	if (n > 0 && in.revents & (POLLIN | POLLHUP | POLLERR))
		read_keys(l);
	else if (n == 0 && escape)
		act(l, keys_wait_over(&l->keys));
}

static int loop(struct loop *l)
{
	int rc = fit(l);

	if (!rc)
		rc = look(l);
	while (!rc && !ended && !l->quit && !l->gone) {
		wait_and_act(l);
		if (stopped)
			suspend(l);
		if (resized) {
			resized = 0;
			rc = fit(l);
			if (!rc)
				paint(l);
		}
		if (!rc && !ended && !l->quit && clock_mono_ns() >= l->look_ns)
			rc = look(l);
	}
	return rc;
}

static int watch(const void *ctx, struct err *e)
{
	struct loop l = { .w = ctx, .e = e };
	int rc;

	take_signals(&l.waiting);
	terminal_enter(l.w->terminal);
	rc = loop(&l);
	terminal_leave(l.w->terminal);
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory");
	cells_free(&l.cells);
	bytes_free(&l.out);
	if (rc)
		return rc;
	return ended == SIGINT ? 0 : l.gone ? SIGHUP : ended;
}

int watch_run(const struct watch *w, struct err *e)
{
	return keeper_run(w->terminal, watch, w, e);
}

static void put_figures(struct json *j, const double *figure, const enum now_figure *which,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double v = figure[which[i]];
		bool whole = now_figures[which[i]].unit == UNIT_COUNT ||
			     now_figures[which[i]].unit == UNIT_BYTES;

		json_key(j, now_figures[which[i]].name);
		if (whole && fabs(v) < 9e15 && v == floor(v))
			json_int(j, (int64_t)v);
		else
			json_real(j, v);
	}
}

static const enum now_figure of_nodes[] = {
	NOW_CPU,
	NOW_CPU_RATIO,
	NOW_CORES,
	NOW_CPU_TIME,
	NOW_MEMORY,
	NOW_MEMORY_RATIO,
	NOW_MEMORY_LIMIT,
	NOW_READ,
	NOW_WRITTEN,
	NOW_PROCESSES,
	NOW_THREADS,
	NOW_GPU,
	NOW_GPU_MEMORY,
	NOW_GPU_MEMORY_RATIO,
	NOW_GPU_MEMORY_TOTAL,
	NOW_POWER,
	NOW_NODE_CPU,
	NOW_OTHERS_CPU,
	NOW_NODE_CORES,
	NOW_NODE_MEMORY,
	NOW_OTHERS_MEMORY,
	NOW_NODE_MEMORY_TOTAL,
	NOW_LOAD,
};
static const enum now_figure of_processes[] = { NOW_CPU,  NOW_CPU_TIME, NOW_MEMORY,
						NOW_READ, NOW_WRITTEN,  NOW_THREADS };
static const enum now_figure of_gpus[] = {
	NOW_GPU,   NOW_GPU_MEMORY, NOW_GPU_MEMORY_RATIO, NOW_GPU_MEMORY_TOTAL,
	NOW_POWER, NOW_TEMPERATURE
};

#define PUT_FIGURES(j, figure, which)                                                              \
	put_figures(j, figure, which, sizeof(which) / sizeof((which)[0]))

static int put_things(struct json *j, const struct now_node *n, const char *domain, bool processes)
{
	struct now_things t = { 0 };
	int rc = now_things(n, domain, &t);

	json_array(j);
	for (uint32_t i = 0; i < t.n; i++) {
		json_object(j);
		json_key(j, "name");
		json_text(j, t.thing[i].name);
		if (processes) {
			json_key(j, "pid");
			if (t.thing[i].pid)
				json_int(j, t.thing[i].pid);
			else
				json_null(j);
			json_put_text(j, "command_line", t.thing[i].command_line);
			PUT_FIGURES(j, t.thing[i].figure, of_processes);
		} else {
			PUT_FIGURES(j, t.thing[i].figure, of_gpus);
		}
		json_object_end(j);
	}
	json_array_end(j);
	now_things_free(&t);
	return rc;
}

static int put_node(struct json *j, const struct now_node *n)
{
	int rc;

	json_object(j);
	json_key(j, "node");
	json_text(j, n->name);
	json_key(j, "host");
	json_text(j, n->from->host);
	json_key(j, "state");
	json_text(j, now_state_name(n->state));
	json_key(j, "error");
	json_text(j, n->from->error);
	json_key(j, "damages");
	json_int(j, (int64_t)n->from->damages);
	json_key(j, "age_seconds");
	json_real(j, n->age_s);
	json_key(j, "elapsed_seconds");
	json_real(j, n->elapsed_s);
	PUT_FIGURES(j, n->figure, of_nodes);
	json_key(j, "memory_kind");
	json_text(j, isnan(n->figure[NOW_MEMORY]) ? NULL : n->pss ? "pss" : "rss");
	json_key(j, "gpus");
	rc = put_things(j, n, "gpu", false);
	json_key(j, "processes");
	if (!rc)
		rc = put_things(j, n, "process", true);
	json_object_end(j);
	return rc;
}

int top_document_put(struct bytes *out, const struct now *now, const char *title, int64_t utc_ns)
{
	struct json j = { .out = out, .indent = true };
	int rc = 0;

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/top/1");
	json_key(&j, "title");
	json_text(&j, title);
	json_key(&j, "time");
	json_time(&j, utc_ns);
	json_key(&j, "elapsed_seconds");
	json_real(&j, now->elapsed_s);
	PUT_FIGURES(&j, now->figure, of_nodes);
	json_key(&j, "nodes");
	json_array(&j);
	for (uint32_t i = 0; !rc && i < now->n; i++)
		rc = put_node(&j, &now->node[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(out, '\n');
	return rc || out->failed ? -ENOMEM : 0;
}
