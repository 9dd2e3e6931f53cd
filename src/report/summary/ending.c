/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/ending.h"

#include "base/text/decimal.h"
#include "core/metric.h"
#include "core/stacks/waitkind.h"
#include "report/summary/parts.h"
#include "report/summary/reason.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* ---- which process ended first by a signal, or failed; limits (ulimit) that were near ---- */

/* Limits that a process has, what comes near them, and where the story keeps both. */
static const struct {
	const char *limit, *label, *metric;
	bool of_job; /* the metric is one of the job: of all processes together */
} limits[STORY_LIMITS] = {
	[LIMIT_ADDRESS_SPACE] = { "job.limit.address_space_bytes", "limit.address_space_bytes",
				  "process.virtual_bytes", false },
	[LIMIT_CPU] = { "job.limit.cpu_seconds", "limit.cpu_seconds", "process.cpu_seconds",
			false },
	[LIMIT_FILES] = { "job.limit.open_files_count", "limit.open_files_count",
			  "process.open_files_count", false },
	[LIMIT_PROCESSES] = { "job.limit.processes_count", "limit.processes_count",
			      "job.threads_count", true },
	[LIMIT_FILE_SIZE] = { "job.limit.file_bytes", "limit.file_bytes", "process.written_bytes",
			      false },
	[LIMIT_STACK] = { "job.limit.stack_bytes", "limit.stack_bytes", NULL, false },
};

static double label_number(const struct run *r, uint32_t instance, const char *key)
{
	const char *text = run_label(r, instance, key);

	return text && *text ? decimal_parse(text, NULL) : NAN;
}

static bool is_process(const struct run_instance *in)
{
	return in->domain && !strcmp(in->domain, "process");
}

bool ending_is_crash(double signal)
{
	static const int crashes[] = { SIGSEGV, SIGABRT, SIGBUS,  SIGFPE,  SIGILL,
				       SIGSYS,  SIGXCPU, SIGXFSZ, SIGKILL, SIGTRAP };

	for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
		if (signal == crashes[i])
			return true;
	return false;
}

static double meta_number(const struct run *r, const char *key)
{
	const struct run_meta *m = run_find_meta(r, 0, key);

	return m && m->type == META_INT ? (double)m->value : NAN;
}

void summary_ending_ask(struct series_index *x)
{
	for (size_t k = 0; k < STORY_LIMITS; k++)
		if (limits[k].metric)
			series_index_ask(x, limits[k].metric, SERIES_MAX);
	series_index_ask(x, "filesystem.available_bytes", SERIES_LAST | SERIES_MIN | SERIES_MAX);
	series_index_ask(x, "filesystem.used_bytes", SERIES_LAST);
	series_index_ask(x, "filesystem.inodes_count", SERIES_LAST);
	series_index_ask(x, "filesystem.inodes_used_count", SERIES_LAST | SERIES_MIN);
}

static double of_process(const struct run *r, const struct series_index *x, uint32_t i,
			 const char *name, uint32_t metric)
{
	double final = NAN, most = series_index_max(x, i, metric);

	if (!name)
		return NAN;
	return run_final_value(r, i, name, &final) ? fmax(most, final) : most;
}

/* Its own, where that is not the job's; INFINITY: it has none. */
static double limit_of(const struct run *r, uint32_t i, size_t k, double of_job)
{
	const char *text = run_label(r, i, limits[k].label);

	if (!text || !*text)
		return of_job;
	return strcmp(text, "unlimited") == 0 ? INFINITY : decimal_parse(text, NULL);
}

/* A process may have set itself, and what it starts, a limit of its own. */
static void find_limit(struct story *y, const struct run *r, const struct series_index *x, size_t k)
{
	double limit = meta_number(r, limits[k].limit);
	uint32_t metric = limits[k].metric ? run_find_metric(r, limits[k].metric) : 0;
	struct story_limit *l = &y->limit[k];
	bool any = false;

	if (limits[k].of_job)
		l->reached = series_index_max(x, 0, metric);
	for (uint32_t i = 1; i < r->ninstances; i++) {
		double had, most;

		if (!is_process(&r->instances[i]))
			continue;
		any = true;
		most = limit_of(r, i, k, limit);
		had = limits[k].of_job ? l->reached : of_process(r, x, i, limits[k].metric, metric);
		if (!isfinite(most) || (!limits[k].metric ? !(most < l->limit || isnan(l->limit))
							  : !(had / most > l->reached / l->limit ||
							      isnan(l->reached / l->limit))))
			continue;
		l->limit = most;
		l->reached = had;
		snprintf(l->process, sizeof l->process, "%s (pid %.0f)",
			 r->instances[i].name ? r->instances[i].name : "",
			 label_number(r, i, "pid"));
	}
	if (!any)
		l->limit = limit;
}

static double last_of(const struct run *r, const struct series_index *x, uint32_t i,
		      const char *metric)
{
	return series_index_last(x, i, run_find_metric(r, metric));
}

static void take_disk(struct story *y, const struct run *r, const struct series_index *x,
		      uint32_t i, const char *path)
{
	double left = last_of(r, x, i, "filesystem.available_bytes");
	double all = left + last_of(r, x, i, "filesystem.used_bytes");
	double inodes = last_of(r, x, i, "filesystem.inodes_count");
	double used = last_of(r, x, i, "filesystem.inodes_used_count");
	bool none = inodes > 0 && used >= inodes;
	double ratio = none ? 0 : left / all;
	uint32_t available = run_find_metric(r, "filesystem.available_bytes");
	uint32_t files = run_find_metric(r, "filesystem.inodes_used_count");
	double low = none ? 0 : fmin(left, series_index_min(x, i, available));

	if (!(all > 0) || low * low / all >= y->disk_low_bytes * y->disk_low_bytes / y->disk_bytes)
		return;
	y->disk_low_bytes = low;
	y->disk_free_bytes = left;
	y->disk_bytes = all;
	y->disk_free_ratio = ratio;
	y->disk_no_inodes = none ? inodes : NAN;
	y->disk_room_bytes = fmax(label_number(r, i, "available_at_start_bytes"),
				  series_index_max(x, i, available));
	y->disk_room_inodes = fmax(label_number(r, i, "inodes_free_at_start"),
				   inodes - series_index_min(x, i, files));
	snprintf(y->disk_path, sizeof y->disk_path, "%s", path);
}

/* The file system that was the fullest, by space and by its share, of those where the
 * job's own directories are, where it wrote, and one that filled up meanwhile. An image that is
 * read only is full by nature. */
static void find_disk(struct story *y, const struct run *r, const struct series_index *x)
{
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		const char *path = run_label(r, i, "work");

		if (!path)
			path = run_label(r, i, "temporary");
		if (!path)
			path = run_label(r, i, "written");
		if (!path)
			path = run_label(r, i, "filled");
		if (path && in->domain && !strcmp(in->domain, "filesystem") &&
		    !run_label(r, i, "read_only"))
			take_disk(y, r, x, i, path);
	}
}

void summary_ending_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	if (s->signal > 0 || s->exit_code > 0)
		ending_find_first(s, r);
	s->core_dumped = run_find_meta(r, 0, "job.core_dumped") != NULL;
	for (size_t k = 0; k < STORY_LIMITS; k++)
		find_limit(&s->story, r, x, k);
	find_disk(&s->story, r, x);
}

/* ---- in words ---- */

enum { TIMED_OUT = 124, NOT_EXECUTABLE = 126, NOT_FOUND = 127, SIGNALS_FROM = 128 };

static const struct {
	int signal;
	bool from_outside;
	const char *why;
} signals[] = {
	{ SIGSEGV, false, "invalid memory access (segmentation fault)" },
	{ SIGBUS, false,
	  "it accessed a mapping with nothing behind it, such as that of a truncated file or a "
	  "full /dev/shm (bus error)" },
	{ SIGABRT, false,
	  "it called abort, as after a failed assertion, an uncaught C++ exception or a failed "
	  "allocation" },
	{ SIGFPE, false, "arithmetic error, such as a division by zero" },
	{ SIGILL, false, "it ran an instruction that this processor lacks (illegal instruction)" },
	{ SIGSYS, false, "it made a forbidden system call (seccomp)" },
	{ SIGTRAP, false, "breakpoint or failed check" },
	{ SIGXCPU, false, "as at a limit of CPU time (ulimit -t)" },
	{ SIGXFSZ, false, "as at a limit of the size of files (ulimit -f)" },
	{ SIGPIPE, false, "it wrote to a pipe or socket whose reader has exited (broken pipe)" },
	{ SIGALRM, true, "a timer ended it" },
	{ SIGKILL, true, "by a user, the batch system or the kernel" },
	{ SIGTERM, true, "it was asked to terminate" },
	{ SIGINT, true, "interrupted, as by Ctrl-C" },
	{ SIGQUIT, true, "interrupted, as by Ctrl-\\" },
	{ SIGHUP, true, "its terminal or session was closed" },
};

/* How a shell and others speak by exit codes. */
static const struct {
	int code;
	const char *why;
} codes[] = {
	{ TIMED_OUT, "what timeout reports when the time was up" },
	{ NOT_EXECUTABLE,
	  "a command was found but could not be executed (permission, format, or too "
	  "many arguments)" },
	{ NOT_FOUND, "command not found, or a shared library or interpreter that it needs" },
};

static const char by_timeout[] = "timeout killed it when the time was up";

bool ending_is_by_timeout(const struct summary *s)
{
	bool ran = false;

	for (uint32_t i = 0; i < s->ncommands; i++)
		ran |= !strncmp(s->commands[i].name, "timeout", 7) &&
		       (!s->commands[i].name[7] || s->commands[i].name[7] == ' ');
	return ran && s->exit_code == TIMED_OUT;
}

int ending_signal(double signal, double exit_code)
{
	enum { SIGNALS = 64 };

	if (signal > 0)
		return (int)signal;
	return exit_code > SIGNALS_FROM && exit_code <= SIGNALS_FROM + SIGNALS
		       ? (int)exit_code - SIGNALS_FROM
		       : 0;
}

static void name_signal(int signal, char *out, size_t size)
{
	const char *name = signal > 0 && signal < 128 ? sigabbrev_np(signal) : NULL;

	if (name)
		snprintf(out, size, "SIG%s", name);
	else
		snprintf(out, size, "signal %d", signal);
}

static const char *why_of_signal(int signal)
{
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		if (signals[i].signal == signal)
			return signals[i].why;
	return NULL;
}

static void explain(char *out, size_t size, const char *before, const char *why)
{
	size_t n = strlen(out);

	if (why && *why)
		snprintf(out + n, size - n, "%s%s", before, why);
}

/* What an exit code or a signal means: ": command not found, ..."; "": nothing of itself. */
struct meaning {
	char text[STORY_CRASH + 16];
};

static void explain_code(struct meaning *m, const struct summary *s, int code)
{
	const struct story *y = &s->story;
	int signal = ending_signal(NAN, code);
	char name[24];

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (codes[i].code == code)
			explain(m->text, sizeof m->text, ": ",
				ending_is_by_timeout(s) ? by_timeout : codes[i].why);
	if (!signal)
		return;
	name_signal(signal, name, sizeof name);
	snprintf(m->text, sizeof m->text,
		 y->died_signal == signal ? ": a command that the shell ran was killed by %s"
					  : ": what shells report if a command was killed by %s",
		 name);
	if (!*y->died_crash)
		explain(m->text, sizeof m->text, ", ", why_of_signal(signal));
}

static bool is_ended_by_others(int signal, double exit_code)
{
	if (exit_code == TIMED_OUT)
		return true;
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		if (signals[i].signal == signal)
			return signals[i].from_outside;
	return false;
}

/* Is the line that was printed the reason of an end by this signal, 0: by none? */
static bool is_reason(const struct summary_reason *x, int signal)
{
	return x->is_error || (x->is_crash && !signal);
}

/* Full stop, the error and what to do. What a program says of its abort, or a shell of what it
 * could not run, says more than the signal or the code. */
static void add_reason(char *out, size_t size, const struct summary_reason *x, int signal,
		       double exit_code, bool advise)
{
	bool others = is_ended_by_others(signal, exit_code);

	if (is_reason(x, signal) && !others) {
		if (!signal || signal == SIGABRT)
			*out = '\0';
		explain(out, size, ". ", x->line);
		explain(out, size, "", out[strlen(out) - 1] == '.' ? NULL : ".");
		explain(out, size, " ", advise ? x->advice : NULL);
	} else if (*x->line && !x->is_crash && !others && !*out && !x->of_output) {
		explain(out, size, ". Its last line: \"", x->line);
		explain(out, size, "", "\".");
	} else {
		explain(out, size, "", ".");
	}
}

/* Killed by the job itself, as helpers are that are needed no more: it failed by an error of its
 * own, which it printed, and which is not about that. */
static bool was_put_away(const struct summary *s)
{
	return s->story.died_signal == SIGKILL && s->reason.is_error &&
	       !reason_is_of_a_death(&s->reason);
}

/* ". First to die: solver (pid 12), 3.1 s after the start, by SIGSEGV, with a core dump." */
static void add_first(struct summary_ending *e, const struct story *y)
{
	char how[48], after[24];

	if (isnan(y->died_pid))
		return;
	if (y->died_signal > 0) {
		snprintf(how, sizeof how, "by ");
		name_signal((int)y->died_signal, how + 3, sizeof how - 3);
	} else {
		snprintf(how, sizeof how, "with exit code %d", (int)y->died_code);
	}
	unit_format(UNIT_SECONDS, y->died_s, after, sizeof after);
	snprintf(e->first, sizeof e->first, ". %s: %.60s (pid %d), %s after the start, %s%s%s%s.",
		 y->died_signal > 0 ? "First to die"
		 : y->died_first    ? "First to fail"
				    : "Failed",
		 y->died_process, (int)y->died_pid, after, how,
		 y->died_core > 0 ? ", with a core dump" : "", *y->died_crash ? ": " : "",
		 y->died_crash);
}

static void head_failed(struct ending_heading *h, int code)
{
	char name[24] = "";

	h->severity = SEVERITY_BAD;
	if (ending_signal(NAN, code))
		name_signal(ending_signal(NAN, code), name, sizeof name);
	snprintf(h->words, sizeof h->words, "Failed (exit code %d%s%s%s)", code,
		 *name ? ", as after " : "", name,
		 code == NOT_FOUND        ? ", command not found"
		 : code == NOT_EXECUTABLE ? ", could not be run"
					  : "");
}

static void head_killed(struct ending_heading *h, int signal, bool core_dumped)
{
	char name[24];

	h->severity = SEVERITY_BAD;
	name_signal(signal, name, sizeof name);
	snprintf(h->words, sizeof h->words, "Killed by %s", name);
	if (strncmp(name, "SIG", 3) == 0)
		snprintf(h->words + strlen(h->words), sizeof h->words - strlen(h->words),
			 " (signal %d%s)", signal, core_dumped ? ", core dumped" : "");
}

static bool ended_as(const struct summary *s, const char *state)
{
	return !strcmp(s->story.scheduler_state, state);
}

/* The batch system ended it, and said why. */
static bool head_ended(struct ending_heading *h, const struct summary *s)
{
	const char *why = ended_as(s, "TIMEOUT")     ? "Ended at the time limit"
			  : ended_as(s, "CANCELLED") ? "Cancelled"
			  : ended_as(s, "PREEMPTED") ? "Preempted"
			  : ended_as(s, "NODE_FAIL") ? "Ended: node lost"
						     : NULL;

	if (!why || !(s->signal > 0 || s->exit_code > 0 || isnan(s->exit_code)))
		return false;
	h->severity = SEVERITY_BAD;
	snprintf(h->words, sizeof h->words, "%s", why);
	return true;
}

/* Tasks of which nothing is recorded, or not the end, may have failed. */
static bool is_whole(const struct summary *s)
{
	return s->complete && !(s->of_step && s->missing.n);
}

struct ending_heading ending_heading_of(const struct summary *s)
{
	struct ending_heading h = { .severity = SEVERITY_CANNOT_TELL,
				    .joint = "",
				    .time = "after" };

	if (story_has_first_failure(&s->story)) {
		h.severity = SEVERITY_BAD, h.joint = ";", h.time = "all ended after";
		snprintf(h.words, sizeof h.words, "First to fail: %s, %s", s->story.death_task,
			 s->story.death_end);
	} else if (head_ended(&h, s)) {
		;
	} else if (s->signal > 0) {
		head_killed(&h, (int)s->signal, s->core_dumped);
	} else if (s->story.answer) {
		h.severity = SEVERITY_NOTE;
		snprintf(h.words, sizeof h.words, "Ended (exit code %.0f: %s)", s->exit_code,
			 s->story.answer);
	} else if (s->exit_code > 0) {
		head_failed(&h, (int)s->exit_code);
	} else if (story_was_killed(&s->story)) {
		head_killed(&h, SIGKILL, false);
	} else if (s->exit_code >= 0 && !is_whole(s)) {
		h.severity = SEVERITY_NOTE;
		snprintf(h.words, sizeof h.words, "Succeeded as far as recorded (exit code 0)");
	} else if (s->exit_code >= 0) {
		h.severity = SEVERITY_GOOD;
		snprintf(h.words, sizeof h.words, "Succeeded (exit code 0)");
	} else if (s->running) {
		h.severity = SEVERITY_NOTE, h.time = "for";
		snprintf(h.words, sizeof h.words, "Running");
	} else {
		h.joint = ",", h.time = "recorded for";
		snprintf(h.words, sizeof h.words, "Exit code not recorded");
	}
	return h;
}

/* What the job waited for is explained where the error is not. */
static void make_waited(struct summary *s)
{
	struct summary_ending *e = &s->ending;

	if (s->reason.is_error && *s->reason.advice) {
		snprintf(e->waited, sizeof e->waited, "%s", e->advised);
		return;
	}
	snprintf(e->waited, sizeof e->waited, "%s", e->why);
	if (!s->reason.is_error)
		explain(e->waited, sizeof e->waited, " ", stall_advice(s->story.silent_in));
}

/* Of the first of several: what it printed, else its log's end. */
static void make_death(struct summary *s)
{
	const struct story *y = &s->story;
	struct summary_ending *e = &s->ending;
	int signal = ending_signal(y->death_signal, y->death_exit_code);

	explain(e->death, sizeof e->death, ". In the kernel's log: ", y->death_crash);
	explain(e->death_advised, sizeof e->death_advised, "", e->death);
	if (!is_reason(&s->reason, signal) && strlen(y->death_log) > 1) {
		explain(e->death, sizeof e->death, "", y->death_log);
		explain(e->death_advised, sizeof e->death_advised, "", y->death_log);
		return;
	}
	add_reason(e->death, sizeof e->death, &s->reason, signal, y->death_exit_code, false);
	add_reason(e->death_advised, sizeof e->death_advised, &s->reason, signal,
		   y->death_exit_code, true);
}

static void make_why(struct summary *s, const struct meaning *m)
{
	struct summary_ending *e = &s->ending;
	int signal = ending_signal(s->signal, s->exit_code);

	explain(e->why, sizeof e->why, "", m->text);
	explain(e->advised, sizeof e->advised, "", m->text);
	add_reason(e->why, sizeof e->why, &s->reason, signal, s->exit_code, false);
	add_reason(e->advised, sizeof e->advised, &s->reason, signal, s->exit_code, true);
	if (!was_put_away(s))
		add_first(e, &s->story);
	explain(e->why, sizeof e->why, "", *e->first ? e->first + 1 : NULL);
	explain(e->advised, sizeof e->advised, "", *e->first ? e->first + 1 : NULL);
}

void ending_make(struct summary *s)
{
	struct summary_ending *e = &s->ending;
	struct story *y = &s->story;
	struct meaning m = { "" };
	const char *why;

	if (s->exit_code > 0 && reason_is_answer(s->command, s->exit_code, &why) && why)
		y->answer = why;
	if (y->answer)
		y->answered = 1;
	*e = (struct summary_ending){ 0 };
	if (s->signal > 0) {
		snprintf(e->words, sizeof e->words, "Killed by ");
		name_signal((int)s->signal, e->words + 10, sizeof e->words - 10);
		explain(m.text, sizeof m.text, ": ",
			*y->crash ? y->crash : why_of_signal((int)s->signal));
	} else if (story_was_killed(&s->story) && !(s->exit_code > 0)) {
		snprintf(e->words, sizeof e->words, "Killed by SIGKILL");
	} else if (s->exit_code >= 0) {
		snprintf(e->words, sizeof e->words, "%sxit code %.0f",
			 s->exit_code > 0 && !(y->answered > 0) ? "Failed: e" : "E", s->exit_code);
		explain_code(&m, s, (int)s->exit_code);
		explain(m.text, sizeof m.text, ": ", y->answer);
	} else {
		snprintf(e->words, sizeof e->words, "%s",
			 s->running ? "Running" : "End not recorded");
	}
	make_why(s, &m);
	make_waited(s);
	make_death(s);
}

bool ending_has_own_cause(const struct summary *s)
{
	const struct story *y = &s->story;
	int signal = ending_signal(y->death_signal, y->death_exit_code);

	if (!story_has_first_failure(y))
		return false;
	return y->death_exit_code != TIMED_OUT && signal != SIGUSR1 && signal != SIGUSR2 &&
	       signal != SIGTERM && signal != SIGHUP && signal != SIGINT && signal != SIGQUIT &&
	       signal != SIGALRM;
}

bool ending_is_from_outside(const struct summary *s)
{
	return is_ended_by_others(ending_signal(s->signal, s->exit_code), s->exit_code);
}
