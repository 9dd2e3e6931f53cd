/* SPDX-License-Identifier: Apache-2.0 */
/* hidden.c - processes that crashed, failed or were killed, though the job ended with 0: which,
 * how, how often, and what standard error says. Attempts that were repeated until one went well,
 * what was asked to end, and who wrote to a reader that had enough, failed in no such way. And of a
 * job that failed: which process did before it. */
#include "base/text/decimal.h"
#include "core/phase/event.h"
#include "report/summary/ending.h"
#include "report/summary/parts.h"
#include "report/summary/reason.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the job's CPU time: less, and it may have been a mere question, as a test or a trial is. */
static const double crashed_least = 0.01, failed_least = 0.1, killed_least = 0.01;
static const double waited_least = 0.1; /* of its time: what timeout ended may have waited */

enum { LINE_MOST = 100, REPEATED = 5, ANCESTORS = 3, TIMED_OUT = 124 };

struct failure {
	bool any, crashed, much;
	bool answered; /* its exit code is an answer, or that of a child that it hands on */
	bool by_child; /* its child failed so: it only hands that on */
	double code, cpu_s;
};

static bool is_process(const struct run_instance *in)
{
	return in->domain && !strcmp(in->domain, "process");
}

static const char *name_of(const struct run *r, uint32_t i)
{
	return r->instances[i].name ? r->instances[i].name : "";
}

static double end_of(const struct run *r, uint32_t i)
{
	return run_seconds(r, r->instances[i].node, r->instances[i].end_ns);
}

/* 0: not known. */
static double cpu_of(const struct run *r, const struct series_index *x, uint32_t i)
{
	double v;

	if (!run_final_value(r, i, "process.cpu_seconds", &v))
		v = series_index_last(x, i, run_find_metric(r, "process.cpu_seconds"));
	return isnan(v) ? 0 : v;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	size_t length = strcspn(name, " ");

	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == length && !strncmp(names[i], name, length))
			return true;
	return false;
}

static bool answers(const struct run *r, uint32_t i, double code)
{
	const char *name = name_of(r, i), *line = run_label(r, i, "command_line"), *why;

	return reason_is_answer(line && !strcmp(name, "git") ? line : name, code, &why);
}

/* A part of a script in parentheses or of a pipe; a shell with a script of its own has that in its
 * name. */
static bool is_subshell(const char *name)
{
	static const char *const names[] = { "sh", "bash", "dash", "ksh", "zsh" };

	return !strchr(name, ' ') && is_one_of(name, names, sizeof names / sizeof names[0]);
}

/* What scripts try, and go on when it is not so. */
static bool tries(const struct run *r, uint32_t i)
{
	static const char *const names[] = {
		"ls",    "rm",   "rmdir", "mkdir", "cp",     "mv",       "ln",   "cat",   "stat",
		"touch", "kill", "pkill", "chmod", "curl",   "wget",     "ping", "nc",    "id",
		"lsof",  "ps",   "type",  "mount", "umount", "modprobe", "ldd",  "nproc", "find"
	};
	const char *name = name_of(r, i);

	return answers(r, i, 1) || is_one_of(name, names, sizeof names / sizeof names[0]) ||
	       is_subshell(name);
}

static double signal_of(const struct run *r, uint32_t i)
{
	return summary_label_number(r, i, "signal");
}

/* By what a shell, Java and others that catch the signal report of it: a script ends a server so
 * when it is done, and who reads a pipe those that write to it. */
static bool was_asked_to_end(double code)
{
	int signal = ending_signal(NAN, code);

	return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGPIPE;
}

/* ---- which ---- */

static struct failure failure_of(const struct summary *s, const struct run *r,
				 const struct series_index *x, uint32_t i)
{
	const struct run_instance *in = &r->instances[i];
	struct failure f = { .code = NAN };

	/* The command itself is none of them: how it ended is what the job did. */
	if (!is_process(in) || !in->parent || in->end_ns == INT64_MAX)
		return f;
	f.crashed = ending_is_crash(signal_of(r, i)) && signal_of(r, i) != SIGKILL;
	f.code = summary_label_number(r, i, "exit_code");
	f.answered = answers(r, i, f.code);
	f.any = f.crashed || (f.code > 0 && !f.answered && !was_asked_to_end(f.code));
	if (f.any)
		f.cpu_s = cpu_of(r, x, i);
	f.much = f.any && f.cpu_s >= (f.crashed ? crashed_least : failed_least) * s->cpu_s;
	return f;
}

/* Only other ends have labels. */
static bool ended_well(const struct run *r, uint32_t i)
{
	return r->instances[i].end_ns != INT64_MAX &&
	       !(summary_label_number(r, i, "exit_code") > 0) && !(signal_of(r, i) > 0);
}

struct attempt {
	const char *line;
	int64_t begin_ns;
	uint32_t it;
};

static int by_line_and_begin(const void *a, const void *b)
{
	const struct attempt *x = a, *y = b;
	int order = strcmp(x->line, y->line);

	return order ? order : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Of one command line, one after the other: only the last went well, and that was the end of it. A
 * loop over many things goes on after one that went well. */
static void forgive_attempts(struct failure *f, const struct run *r, const struct attempt *a,
			     uint32_t n)
{
	if (!ended_well(r, a[n - 1].it))
		return;
	for (uint32_t i = 0; i + 1 < n; i++)
		if (!f[a[i].it].any || f[a[i].it].crashed ||
		    r->instances[a[i].it].end_ns > a[i + 1].begin_ns)
			return;
	for (uint32_t i = 0; i + 1 < n; i++)
		f[a[i].it].any = f[a[i].it].much = false;
}

/* 0 or -ENOMEM. */
static int forgive_repeated(struct failure *f, const struct run *r)
{
	struct attempt *a = malloc((r->ninstances + 1u) * sizeof *a);
	uint32_t n = 0;

	if (!a)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const char *line = run_label(r, i, "command_line");

		if (is_process(&r->instances[i]))
			a[n++] = (struct attempt){ line ? line : name_of(r, i),
						   r->instances[i].birth_ns, i };
	}
	qsort(a, n, sizeof *a, by_line_and_begin);
	for (uint32_t i = 0, same; i < n; i += same) {
		for (same = 1; i + same < n && !strcmp(a[i].line, a[i + same].line); same++)
			;
		forgive_attempts(f, r, a + i, same);
	}
	free(a);
	return 0;
}

/* As a pipe begins, its parts began together; the one that reads ended well right before. */
static bool reader_left(const struct run *r, uint32_t it)
{
	static const double together_s = 0.1, right_before_s = 0.3;
	const struct run_instance *in = &r->instances[it];

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *x = &r->instances[i];

		if (i != it && is_process(x) && x->node == in->node && x->parent == in->parent &&
		    fabs((double)(x->birth_ns - in->birth_ns)) <= together_s * 1e9 &&
		    ended_well(r, i) && x->end_ns <= in->end_ns &&
		    (double)(in->end_ns - x->end_ns) <= right_before_s * 1e9)
			return true;
	}
	return false;
}

/* Of those that did much of the work, which are few. */
static void forgive_writers(struct failure *f, const struct run *r)
{
	for (uint32_t i = 1; i < r->ninstances; i++)
		if (f[i].much && !f[i].crashed && reader_left(r, i))
			f[i].any = f[i].much = false;
}

/* Does its parent end right then with the same code, or as xargs does? */
static bool is_handed_on(const struct failure *f, const struct run *r, uint32_t i)
{
	enum { OF_XARGS = 123 };
	static const double right_then_s = 0.3;
	const struct run_instance *in = &r->instances[i], *parent = &r->instances[in->parent];
	const char *name = name_of(r, in->parent);

	if (f[in->parent].code == OF_XARGS && !strncmp(name, "xargs", 5))
		return true;
	return reason_hands_on(name, f[i].code) && f[in->parent].code == f[i].code &&
	       (double)(parent->end_ns - in->end_ns) <= right_then_s * 1e9;
}

/* xargs says so of any child that failed. */
static bool has_failed_child(const struct failure *f, const struct run *r, uint32_t parent)
{
	for (uint32_t i = 1; i < r->ninstances; i++)
		if (r->instances[i].parent == parent && f[i].any)
			return true;
	return false;
}

static void forgive_answers(struct failure *f, const struct run *r)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t i = 1; i < r->ninstances; i++) {
			uint32_t parent = r->instances[i].parent;

			if (!f[i].answered || !parent || !f[parent].any || f[parent].crashed ||
			    !is_handed_on(f, r, i) || has_failed_child(f, r, parent))
				continue;
			f[parent].any = f[parent].much = false;
			f[parent].answered = changed = true;
		}
	}
}

/* Who waits for a child reports its end: as its own code, or by 128 and the signal. */
static void mark_parents(struct failure *f, const struct run *r)
{
	for (uint32_t i = 1; i < r->ninstances; i++) {
		uint32_t parent = r->instances[i].parent;

		if (parent && f[parent].any)
			f[parent].by_child |= f[i].crashed ? f[parent].code == 128 + signal_of(r, i)
							   : f[parent].code == f[i].code;
	}
}

static bool is_like(const struct run *r, const struct failure *f, uint32_t a, uint32_t b)
{
	return f[a].crashed == f[b].crashed && !strcmp(name_of(r, a), name_of(r, b)) &&
	       (f[a].crashed ? signal_of(r, a) == signal_of(r, b) : f[a].code == f[b].code);
}

static double count_like(const struct run *r, const struct failure *f, uint32_t it)
{
	double n = 0;

	for (uint32_t i = 1; i < r->ninstances; i++)
		n += f[i].any && is_like(r, f, it, i);
	return n;
}

/* Of the processes of its name nearly all failed like it, and that were several. */
static bool fails_each_time(const struct summary *s, const struct run *r, uint32_t it, double alike)
{
	if (alike < REPEATED || tries(r, it))
		return false;
	for (uint32_t i = 0; i < s->ncommands; i++)
		if (!strcmp(s->commands[i].name, name_of(r, it)))
			return alike >= 0.9 * s->commands[i].processes;
	return false;
}

/* ---- in words ---- */

/* Its first line, without the directories of the program; "" where that is no more than its name.
 */
static void put_command_line(char out[STORY_TEXT], const struct run *r, uint32_t i)
{
	const char *line = run_label(r, i, "command_line"), *begin = line;
	size_t n;

	*out = '\0';
	for (const char *at = line; at && *at && *at != ' '; at++)
		if (*at == '/')
			begin = at + 1;
	if (!line || !strcmp(begin, name_of(r, i)))
		return;
	n = strcspn(begin, "\n");
	snprintf(out, STORY_TEXT, "`%.*s%s`", (int)(n < LINE_MOST ? n : LINE_MOST), begin,
		 n > LINE_MOST || begin[n] ? "..." : "");
}

static void put_name(char out[STORY_TEXT], const struct run *r, uint32_t i)
{
	const char *pid = run_label(r, i, "pid");

	snprintf(out, STORY_TEXT, "%.100s (pid %s)", name_of(r, i), pid ? pid : "?");
}

static void tell(struct story *y, const struct run *r, const struct failure *f, uint32_t i)
{
	const char *name = f[i].crashed ? sigabbrev_np((int)signal_of(r, i)) : NULL;

	y->hidden_instance = i;
	y->hidden_s = end_of(r, i);
	y->hidden_alike = count_like(r, f, i);
	put_name(y->hidden_process, r, i);
	put_command_line(y->hidden_line, r, i);
	if (f[i].crashed)
		snprintf(y->hidden_end, sizeof y->hidden_end, "was killed by SIG%s",
			 name ? name : "?");
	else
		snprintf(y->hidden_end, sizeof y->hidden_end, "ended with exit code %.0f",
			 f[i].code);
}

/* Of two the one to name. */
static bool is_worse(const struct failure *a, const struct failure *b)
{
	if (a->much != b->much)
		return a->much;
	if (!a->much && a->crashed != b->crashed)
		return a->crashed;
	return a->cpu_s > b->cpu_s;
}

static void find_failures(struct summary *s, const struct run *r, const struct failure *f)
{
	struct story *y = &s->story;
	double all = 0;
	uint32_t worst = 0;

	y->hidden_short = y->hidden_crashes = 0;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		bool is_short =
			f[i].any && !f[i].much && !f[i].by_child && (f[i].crashed || !tries(r, i));

		y->hidden_failures += f[i].much;
		all += f[i].much ? f[i].cpu_s : 0;
		y->hidden_short += is_short;
		y->hidden_crashes += is_short && f[i].crashed;
		if ((f[i].much || is_short) && (!worst || is_worse(&f[i], &f[worst])))
			worst = i;
	}
	y->hidden_work_ratio = y->hidden_failures > 0 ? fmin(1, all / s->cpu_s) : NAN;
	if (!worst)
		return;
	tell(y, r, f, worst);
	y->hidden_each_time = fails_each_time(s, r, worst, y->hidden_alike);
}

/* ---- who was killed, and by whom, as far as that can be known ---- */

/* The kernel tells who sent a signal to nobody but the one that gets it, and of SIGKILL not even to
 * that: what is left is who was there to send it. */
static uint32_t timeout_above(const struct run *r, uint32_t i)
{
	for (int k = 0; k < ANCESTORS && (i = r->instances[i].parent); k++) {
		double code = summary_label_number(r, i, "exit_code");

		if (!strncmp(name_of(r, i), "timeout", 7) &&
		    (code == TIMED_OUT || code == 128 + SIGKILL || signal_of(r, i) == SIGKILL))
			return i;
	}
	return 0;
}

static uint32_t killer_beside(const struct run *r, uint32_t victim)
{
	static const char *const killers[] = { "kill", "pkill", "killall", "skill" };
	static const double before_s = 1, after_s = 0.3;
	double end = end_of(r, victim);

	for (uint32_t i = 1; i < r->ninstances; i++)
		if (is_process(&r->instances[i]) && i != victim &&
		    r->instances[i].end_ns != INT64_MAX &&
		    r->instances[i].node == r->instances[victim].node &&
		    is_one_of(name_of(r, i), killers, sizeof killers / sizeof killers[0]) &&
		    end_of(r, i) >= end - before_s && end_of(r, i) <= end + after_s)
			return i;
	return 0;
}

static void tell_killed(struct story *y, const struct run *r, uint32_t i, uint32_t timeout,
			uint32_t killer)
{
	char line[STORY_TEXT];

	put_name(y->killed_process, r, i);
	y->killed_signal = signal_of(r, i);
	y->killed_s = end_of(r, i);
	put_command_line(line, r, timeout ? timeout : killer ? killer : i);
	if (timeout)
		snprintf(y->killed_by, sizeof y->killed_by, "when the time of %s was up",
			 *line ? line : "timeout");
	else if (killer)
		snprintf(y->killed_by, sizeof y->killed_by, "most likely by %s",
			 *line ? line : name_of(r, killer));
	else
		snprintf(y->killed_by, sizeof y->killed_by,
			 "who sent it is not known: only tracing with privileges tells");
}

/* A script ends what it started by SIGTERM, which is no failure; but what timeout ended is not
 * done. Where the job ends with it, that was meant to be its end. */
static bool goes_on(const struct summary *s, double end_s)
{
	return s->wall_s - end_s >= fmax(1, 0.05 * s->wall_s);
}

static void find_killed(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct story *y = &s->story;
	double most = 0;

	y->killed = 0;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double signal = is_process(in) ? signal_of(r, i) : NAN, part, lasted_s;
		uint32_t timeout = timeout_above(r, i);

		if (!in->parent || in->end_ns == INT64_MAX ||
		    (signal != SIGKILL && signal != SIGTERM) || !goes_on(s, end_of(r, i)))
			continue;
		lasted_s = timeout ? 1e-9 * (double)(in->end_ns - in->birth_ns) : 0;
		part = fmax(cpu_of(r, x, i) / s->cpu_s / killed_least,
			    lasted_s / s->wall_s / waited_least);
		if ((signal == SIGTERM && !timeout) || !(part >= 1))
			continue;
		y->killed++;
		if (part <= most)
			continue;
		most = part;
		tell_killed(y, r, i, timeout, timeout ? 0 : killer_beside(r, i));
	}
}

/* ---- all of it ---- */

/* The job's own words, of what is its standard error. */
static void take_text(struct summary *s, const struct run *r)
{
	for (uint32_t i = 1; i < r->nnodes && !s->hidden_said.text; i++)
		s->hidden_said.text = run_find_text(r, i, META_ERROR_TEXT "_hidden");
}

int summary_hidden_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct failure *f;
	int rc;

	if (!(s->cpu_s > 0) || s->exit_code != 0)
		return 0;
	f = calloc(r->ninstances + 1u, sizeof *f);
	if (!f)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->ninstances; i++)
		f[i] = failure_of(s, r, x, i);
	rc = forgive_repeated(f, r);
	forgive_writers(f, r);
	forgive_answers(f, r);
	mark_parents(f, r);
	find_failures(s, r, f);
	find_killed(s, r, x);
	take_text(s, r);
	free(f);
	return rc;
}

void summary_hidden_say(struct summary *s)
{
	const struct story *y = &s->story;
	char *out = s->hidden_more;
	size_t size = sizeof s->hidden_more;

	*out = '\0';
	if (*y->hidden_line)
		decimal_append(out, size, ": %s", y->hidden_line);
	if (y->hidden_alike >= 2)
		decimal_append(out, size, ", one of %.0f that were seen to end so",
			       y->hidden_alike);
	if (*y->hidden_crash)
		decimal_append(out, size, ". In the kernel's log: %s", y->hidden_crash);
	if (s->hidden_said.is_error)
		decimal_append(out, size, ". Standard error says: %s", s->hidden_said.line);
	if (*out)
		decimal_append(out, size, ".");
}

/* ---- of a job that failed or fell silent: who failed before ---- */

enum { CHAIN_S = 1 }; /* who failed so shortly before the job may be why it did */

static void take_died(struct story *y, const struct run *r, uint32_t i, double end_s)
{
	const struct run_instance *in = &r->instances[i];

	y->died_instance = i;
	y->died_s = end_s;
	y->died_pid = summary_label_number(r, i, "pid");
	y->died_signal = summary_label_number(r, i, "signal");
	y->died_code = summary_label_number(r, i, "exit_code");
	y->died_core = summary_label_number(r, i, "core_dumped");
	snprintf(y->died_process, sizeof y->died_process, "%s", in->name ? in->name : "");
}

/* A moment before the job it failed as that did, or after most of it; or before it fell silent. */
static bool may_be_why(const struct summary *s, double code, double lived_s, double end_s)
{
	double before_s = s->wall_s - end_s, from_s = before_s - s->story.silent_s;
	bool alike = code == s->exit_code || lived_s >= s->wall_s / 2;

	return (alike && before_s <= CHAIN_S) || (from_s <= 2 * CHAIN_S && from_s >= -CHAIN_S);
}

/* Of its node: no process failed before it, and the ends of all of them are known. */
static bool is_first(const struct story *y, const struct run *r, uint32_t node)
{
	const struct run_meta *unknown = run_find_meta(r, node, "job.unknown_ends");

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double code = summary_label_number(r, i, "exit_code");

		if (is_process(in) && in->node == node && in->end_ns != INT64_MAX && code > 0 &&
		    !answers(r, i, code) && run_seconds(r, node, in->end_ns) < y->died_s)
			return false;
	}
	return unknown && unknown->type == META_INT && !unknown->value;
}

/* The job ended with an answer of what it ran last. */
static void take_answer(struct summary *s, const struct run *r, uint32_t i, double code,
			double end_s)
{
	const char *why;

	if (code == s->exit_code && s->wall_s - end_s <= CHAIN_S &&
	    reason_hands_on(s->command, code) && reason_is_answer(name_of(r, i), code, &why) && why)
		s->story.answer = why;
}

/* The first that crashed; else that failed and may be why. Not the command, whose end is said. */
void ending_find_first(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	uint32_t node = 0;
	bool crashed = false;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double code, end_s, lived_s;
		bool crash;

		if (!is_process(in) || in->end_ns == INT64_MAX || !in->parent)
			continue;
		code = summary_label_number(r, i, "exit_code");
		lived_s = end_s = run_seconds(r, in->node, in->end_ns);
		lived_s -= run_seconds(r, in->node, in->birth_ns);
		crash = ending_is_crash(summary_label_number(r, i, "signal"));
		take_answer(s, r, i, code, end_s);
		if (!crash && (crashed || !(code > 0) || answers(r, i, code) ||
			       !may_be_why(s, code, lived_s, end_s)))
			continue;
		if (crash == crashed && end_s >= y->died_s) /* NAN: none yet */
			continue;
		take_died(y, r, i, end_s);
		node = in->node;
		crashed |= crash;
	}
	y->died_first = is_first(y, r, node);
}
