/* SPDX-License-Identifier: Apache-2.0 */
/* top.c - what the nodes of a job do now, or did, on a terminal. */
#include "base/clock.h"
#include "base/process.h"
#include "console/command.h"
#include "recording/join.h"
#include "session/attached.h"
#include "top/watch.h"
#include "waits/look.h"
#include "waits/say.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct watched {
	char directory[PATH_MAX]; /* of the recording */
	pid_t recorder;
};

enum { BEGIN_MS = 15000, END_MS = 3000, STEP_MS = 10, GONE_MS = 500 };

static void directory_remove(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (!strncmp(entry->d_name, "node-", 5))
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

/* ---- the recorder ---- */

/* From then on the terminal is another's. */
static void tell_begun(const void *context, const char *name)
{
	const int *begun = context;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)name;
	if (null >= 0)
		dup2(null, STDERR_FILENO);
	(void)!write(*begun, "", 1);
}

/* What `attach` takes without options; perf events are left to what may be asked for. */
static bool options_fill(struct recording_options *o, const char *directory, int64_t interval_ns)
{
	static const struct option rows[] = { RECORDING_OPTIONS };
	struct args none = { 0 };

	*o = (struct recording_options){ 0 };
	if (args_parse(rows, sizeof rows / sizeof rows[0], o, &none, NULL))
		return false;
	o->output = directory;
	o->interval_ns = interval_ns;
	o->perf = "off";
	o->sync_ns = 0;
	o->quiet = true;
	return true;
}

/* Until they have ended, or whoever watches has. */
static int record(const char *directory, struct attached *x, int64_t interval_ns, int begun)
{
	struct recording_options o;
	struct recording_plan *plan = calloc(1, sizeof *plan);
	struct recorder_options r;
	int rc = -ENOMEM;

	if (plan && options_fill(&o, directory, interval_ns) && recording_plan(plan, &o)) {
		r = attached_recorder(plan, x);
		r.opened = tell_begun;
		r.opened_context = &begun;
		rc = recorder_run(&r);
		identity_free(&plan->identity);
	}
	free(plan);
	return rc;
}

/* In a session of its own, so that neither Ctrl-C nor Ctrl-Z reaches it; it ends with whoever
 * watches, and leaves nothing behind. */
static _Noreturn void be_recorder(const struct watched *w, struct attached *x, int64_t interval_ns,
				  int begun)
{
	setsid();
	descriptors_close(3, begun);
	descriptors_null(STDERR_FILENO);
	prctl(PR_SET_NAME, "sonde-recorder");
	if (!record(w->directory, x, interval_ns, begun))
		while (!attached_signalled()) /* their end is shown as long as somebody looks */
			poll(NULL, 0, GONE_MS);
	directory_remove(w->directory);
	_exit(0);
}

/* ---- the calls ---- */

static bool directory_make(char *path, size_t size)
{
	const char *where = getenv("TMPDIR");

	return (size_t)snprintf(path, size, "%s/sonde-top.XXXXXX",
				where && where[0] == '/' ? where : "/tmp") < size &&
	       mkdtemp(path);
}

static bool wait_begun(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;

	return poll(&p, 1, BEGIN_MS) > 0 && read(fd, &byte, 1) == 1;
}

static void watched_end(struct watched *w)
{
	bool gone = w->recorder <= 0;

	if (!gone)
		kill(w->recorder, SIGTERM);
	for (int ms = 0; !gone && ms < END_MS; ms += STEP_MS) {
		gone = waitpid(w->recorder, NULL, WNOHANG) != 0;
		if (!gone)
			usleep(STEP_MS * 1000);
	}
	if (!gone)
		child_end(w->recorder);
	directory_remove(w->directory);
}

static int begin(struct watched *w, struct attached *x, int64_t interval_ns)
{
	pid_t self = getpid();
	int ends[2];
	bool begun;

	if (!directory_make(w->directory, sizeof w->directory) || pipe2(ends, O_CLOEXEC)) {
		say("top: cannot make a directory for the recording: %s", strerror(errno));
		return EXIT_FAILED;
	}
	w->recorder = fork();
	if (!w->recorder) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() == self)
			be_recorder(w, x, interval_ns, ends[1]);
		_exit(0);
	}
	if (w->recorder < 0)
		say("top: cannot fork: %s", strerror(errno));
	close(ends[1]);
	begun = w->recorder > 0 && wait_begun(ends[0]);
	close(ends[0]);
	if (!begun)
		watched_end(w);
	return begun ? EXIT_OK : EXIT_FAILED;
}

/* Record those of a list, as "1234,1235", until watched_end or the end of this process. 0; else an
 * exit code, and then it has said why. */
static int watched_begin(struct watched *w, const char *pids, int64_t interval_ns)
{
	struct attached *x = calloc(1, sizeof *x);
	int code = EXIT_FAILED;

	if (!x) {
		say("top: out of memory");
	} else if (!attached_pids(x, pids)) {
		say("top: -p %s is not a list of at most %d process ids, as 1234,1235", pids,
		    ATTACHED_PIDS);
		code = EXIT_USAGE;
	} else {
		snprintf(x->command, sizeof x->command, "top -p %s", pids);
		code = begin(w, x, interval_ns);
	}
	free(x);
	return code;
}

enum { ONCE_ROWS = 24, ONCE_COLUMNS = 80, LOOK_MS = 50, PATIENCE_S = 10 };

struct top_options {
	const char *pids, *node;
	int64_t interval_ns, at_ns;
	bool once, json;
};

static const struct option options[] = {
	{ .name = "pid",
	  .letter = 'p',
	  .type = ARG_TEXT,
	  .value = "PID[,PID...]",
	  .help = "Show these processes and what they start. Nothing is kept: the temporary "
		  "recording is removed at the end.",
	  OPTION_OFFSET(struct top_options, pids) },
	{ .name = "interval",
	  .letter = 'i',
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "1s",
	  .min = 100000000,
	  .max = INT64_C(3600000000000),
	  .help = "Time between updates, and between samples with --pid.",
	  OPTION_OFFSET(struct top_options, interval_ns) },
	{ .name = "at",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .min = 1,
	  .max = INT64_C(3600000000000) * 24 * 3660,
	  .help = "Show an ended recording as it was at this time after its start.",
	  OPTION_OFFSET(struct top_options, at_ns) },
	{ .name = "node",
	  .type = ARG_TEXT,
	  .value = "NAME",
	  .help = "Start with the processes and GPUs of this node.",
	  OPTION_OFFSET(struct top_options, node) },
	{ .name = "once",
	  .help = "Print one screen as plain text after two samples, then exit. Also used when "
		  "standard input or output is not a terminal.",
	  OPTION_OFFSET(struct top_options, once) },
	{ .name = "json",
	  .help = "Print all figures of all nodes, processes and GPUs once as JSON, schema "
		  "sonde/top/1.",
	  OPTION_OFFSET(struct top_options, json) },
};

static const struct example examples[] = {
	{ "top", "follow the newest recording here" },
	{ "top sonde_1234", "all nodes of a job, from a login node that sees its recordings" },
	{ "top --once --at 90s sonde_1234", "an ended recording as it was after 90 seconds" },
	{ "top -p 1234", "a process and what it starts, without a recording" },
	{ "top --once --node node17 sonde_1234", "one node, for a log" },
};

/* ---- once ---- */

/* Does every node that runs have rates, or none any more? */
static bool has_rates(const struct now *now)
{
	for (uint32_t i = 0; i < now->n; i++) {
		const struct now_node *n = &now->node[i];

		if (n->state == NOW_WAITING ||
		    (n->state == NOW_RUNNING && isnan(n->figure[NOW_CPU])))
			return false;
	}
	return now->n > 0;
}

/* Rates take two samples; those of slow jobs are not waited for. */
static int look_twice(struct now *now, struct err *e)
{
	int64_t end_ns = clock_mono_ns() + PATIENCE_S * NS_PER_S;
	int rc = now_look(now, e);

	while (!rc && !has_rates(now) && clock_mono_ns() < end_ns) {
		usleep(LOOK_MS * 1000);
		rc = now_look(now, e);
	}
	return rc;
}

static unsigned environment_size(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);
	long v = text ? strtol(text, NULL, 10) : 0;

	return v > 0 && v < CELLS_COLUMNS_MAX ? (unsigned)v : otherwise;
}

static int no_such_node(const struct view *v, const char *name)
{
	say("top: %s has no node %s; without --node, --once lists them", v->title, name);
	return EXIT_FAILED;
}

/* Room for every row, but when the size is given. */
static int print_screen(struct view *v, const struct terminal *t)
{
	unsigned rows = v->screen >= VIEW_PROCESSES ? v->processes.n + v->gpus.n : v->nodes.n;
	struct cells c = { .utf8 = t->utf8 };
	struct bytes b = { 0 };

	rows = rows + 6 > ONCE_ROWS ? rows + 6 : ONCE_ROWS;
	if (cells_resize(&c, environment_size("LINES", rows),
			 environment_size("COLUMNS", ONCE_COLUMNS))) {
		say("top: out of memory");
		return EXIT_FAILED;
	}
	view_draw(v, &c, false);
	cells_lines(&c, &b);
	cells_free(&c);
	return print_bytes(&b);
}

static int print_json(const struct now *now, const char *title, int64_t utc_ns)
{
	struct bytes b = { 0 };

	b.failed = top_document_put(&b, now, title, utc_ns) != 0;
	return print_bytes(&b);
}

static int look_once(struct now *now, const struct replay *r, struct err *e)
{
	return r ? now_replay(now, r->at_ns, e) : look_twice(now, e);
}

static int once(const struct top_options *o, struct now *now, struct view *v,
		const struct terminal *t)
{
	struct err e = { "" };

	if (look_once(now, v->replay, &e)) {
		say("top: %s", e.text);
		return EXIT_FAILED;
	}
	if (o->json)
		return print_json(now, v->title, v->replay ? v->replay->at_ns : clock_utc_ns());
	view_look(v, UINT32_MAX);
	if (o->node && !view_open_node(v, o->node))
		return no_such_node(v, o->node);
	return print_screen(v, t);
}

/* ---- on a terminal ---- */

/* As `sonde stacks --only` has it. */
static void put_stacks(struct bytes *out, int64_t pid)
{
	const pid_t one = (pid_t)pid;
	struct look_state l;
	struct waits w;
	struct err e = { "" };
	int rc = look_begin(&l, &w, &one, 1, &e);

	while (!rc)
		rc = look_go_on(&l, NS_PER_S, &e);
	look_end(&l);
	if (rc < 0)
		bytes_printf(out, "%s\n", e.text);
	else if (!w.n)
		bytes_puts(out, "it has ended\n");
	else
		say_waits(out, &w);
	waits_free(&w);
}

static int told_by_signal(int signal)
{
	if (signal != SIGTERM && signal != SIGHUP && signal != SIGQUIT)
		say("top: the display process was ended by signal %d; the terminal has been "
		    "restored",
		    signal);
	return 128 + signal;
}

static int on_terminal(const struct top_options *o, struct now *now, struct view *v,
		       const struct terminal *t, struct replay *replay)
{
	const struct watch w = { t, now, v, o->interval_ns, replay };
	struct err e = { "" };
	int rc = replay ? now_replay(now, replay->at_ns, &e) : now_look(now, &e);

	if (!rc && o->node) {
		view_look(v, UINT32_MAX);
		if (!view_open_node(v, o->node))
			return no_such_node(v, o->node);
	}
	if (!rc)
		rc = watch_run(&w, &e);
	if (rc < 0)
		say("top: %s", e.text);
	return rc < 0 ? EXIT_FAILED : rc ? told_by_signal(rc) : EXIT_OK;
}

/* An ended recording is replayed, on a terminal or at a time. EXIT_OK, and whether it is in r. */
static int replay_find(const struct top_options *o, struct now *now, bool once, const char *title,
		       struct replay *r, bool *replays)
{
	struct now_span span;
	struct err e = { "" };

	*replays = false;
	if (once && !o->at_ns)
		return EXIT_OK;
	if (now_look(now, &e)) {
		say("top: %s", e.text);
		return EXIT_FAILED;
	}
	*replays = now_span(now, &span);
	if (*replays)
		replay_init(r, &span, o->at_ns);
	if (*replays || !o->at_ns)
		return EXIT_OK;
	say("top: %s has not ended or has no samples; --at needs an ended recording", title);
	return EXIT_FAILED;
}

static int show_on(const struct top_options *o, struct now *now, const char *title,
		   const struct terminal *t, bool is_terminal)
{
	bool is_once = o->once || o->json || !is_terminal || !t->moves, replays;
	struct replay r;
	struct view v;
	int code = replay_find(o, now, is_once, title, &r, &replays);

	if (code != EXIT_OK)
		return code;
	view_init(&v, now, title);
	v.replay = replays ? &r : NULL;
	v.stacks = put_stacks;
	code = is_once ? once(o, now, &v, t) : on_terminal(o, now, &v, t, replays ? &r : NULL);
	view_free(&v);
	return code;
}

static int show(const struct top_options *o, const char *path, const char *title)
{
	struct terminal t;
	struct now now;
	struct err e = { "" };
	bool is_terminal = terminal_find(&t, STDIN_FILENO, STDOUT_FILENO);
	int code;

	if (now_open(&now, path, &e)) {
		say("top: %s", e.text);
		return EXIT_FAILED;
	}
	if (is_terminal && !t.moves && !o->once && !o->json)
		say("top: TERM=dumb: printing one screen, as with --once");
	code = show_on(o, &now, title, &t, is_terminal);
	now_close(&now);
	return code;
}

static int watch_pids(const struct top_options *o)
{
	struct watched *w = calloc(1, sizeof *w);
	char title[80];
	int code;

	if (!w) {
		say("top: out of memory");
		return EXIT_FAILED;
	}
	code = watched_begin(w, o->pids, o->interval_ns);
	if (code == EXIT_OK) {
		snprintf(title, sizeof title, "process %.60s", o->pids);
		code = show(o, w->directory, title);
		watched_end(w);
	}
	free(w);
	return code;
}

static int top(const void *given, int n, char **operands)
{
	const struct top_options *o = given;
	char newest[PATH_MAX];
	const char *path, *slash;
	struct err e = { "" };

	if (n > 1 || (n && o->pids)) {
		say("top: unexpected argument '%s'; give one recording, or --pid", operands[n - 1]);
		return EXIT_USAGE;
	}
	if (o->pids)
		return watch_pids(o);
	if (!n && run_newest(".", newest, sizeof newest, &e)) {
		say("top: %s", e.text);
		return EXIT_FAILED;
	}
	path = n ? operands[0] : newest;
	slash = strrchr(path, '/');
	return show(o, path, slash && slash[1] ? slash + 1 : path);
}

const struct command command_top = {
	.name = "top",
	.operands = "[DIR | -p PID]",
	.what = "Show live what the nodes of a job do, or replay it",
	.description =
		"Follows the recordings in DIR (default: the newest here) while they grow. It "
		"shows CPU, memory, GPUs and I/O of each node as a table or a heat map, and the "
		"processes and GPUs of each node. It needs no connection to the nodes, only "
		"access to their recordings, for example on a login node.\n\n"
		"Keys: arrows, Enter and Esc move through nodes, processes and GPUs; m switches "
		"between table and map, g between processes and GPUs; t shows the process tree; / "
		"searches; a capital letter sorts by its column, < and > by the next one; h shows "
		"help; q quits. F1, F3, F5, F6 and F10 are help, search, tree, sort and quit. A "
		"node is late when no sample has arrived for three intervals (at least five "
		"seconds), and silent after ten (at least a minute). Unknown values are shown as "
		"a dash, not as 0.\n\n"
		"A recording that has ended is replayed from its start: Left and Right step by one "
		"sample, Page Up and Down by 1/20 of the run, Home and End go to its first and "
		"last sample, Space plays and pauses, + and - change the speed from x1 to x64.\n\n"
		"It needs a VT100-compatible terminal with at least 40 columns and 8 lines. "
		"NO_COLOR or TERM=vt100 turns colour off. With --once, COLUMNS and LINES set the "
		"size.",
	COMMAND_OPTIONS(options),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct top_options),
	.exec = top,
};
