/* SPDX-License-Identifier: Apache-2.0 */
/* failure.c - who failed first and why: killed for want of memory, ended by others, or by itself.
 */
#include "base/text/decimal.h"
#include "core/phase/mark.h"
#include "report/summary/ending.h"
#include "report/summary/parts.h"
#include "report/summary/reason.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* ---- killed for want of memory: when, and how it grew before ---- */

enum { WINDOWS_BEFORE = 10 };

/* The window of the first kill; nwindows: none. */
static uint32_t kill_window(const struct timeline *t)
{
	const struct timeline_row *kills = timeline_find(t, summary_kills_metric);
	uint32_t i = 0;

	if (!kills)
		return t->nwindows;
	while (i < t->nwindows && !(kills->value[i] > 0))
		i++;
	return i;
}

/* From the least of the windows before it: there it began to grow. */
static void tell_growth(struct story *y, const struct timeline *t, uint32_t killed)
{
	const struct timeline_row *memory = timeline_find(t, summary_memory_metric);
	uint32_t begin = killed > WINDOWS_BEFORE ? killed - WINDOWS_BEFORE : 0;
	uint32_t least = t->nwindows, most = t->nwindows;

	for (uint32_t i = begin; memory && i <= killed; i++) {
		if (isnan(memory->value[i]))
			continue;
		if (most == t->nwindows || memory->value[i] >= memory->value[most])
			most = i;
	}
	for (uint32_t i = begin; most < t->nwindows && i < most; i++)
		if (!isnan(memory->value[i]) &&
		    (least == t->nwindows || memory->value[i] < memory->value[least]))
			least = i;
	if (least >= most)
		return;
	y->oom_from_s = t->from_s + least * t->width_s;
	y->oom_from_bytes = memory->value[least];
	y->oom_bytes_per_s =
		(memory->value[most] - memory->value[least]) / ((most - least) * t->width_s);
}

void summary_failure_ask(struct series_index *x)
{
	series_index_ask(x, "process.resident_bytes", SERIES_MAX);
}

static double peak_of(const struct run *r, const struct series_index *x, uint32_t i, uint32_t rss)
{
	double peak;

	return run_final_value(r, i, "process.peak_resident_bytes", &peak)
		       ? peak
		       : series_index_max(x, i, rss);
}

/* The host where the kernel killed most; NULL: where is not known. */
static const struct summary_host *host_of_kills(const struct summary *s)
{
	const struct summary_host *found = NULL;

	for (uint32_t i = 0; i < s->nhosts; i++)
		if (s->hosts[i].oom_kills > (found ? found->oom_kills : 0))
			found = &s->hosts[i];
	return found;
}

/* The kernel takes the largest; it ended when the count rose. */
static void tell_victim(struct story *y, const struct run *r, const struct series_index *x,
			const char *host, double slack_s)
{
	uint32_t rss = run_find_metric(r, "process.resident_bytes"), victim = 0;
	double most = 0;
	const char *pid;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double end, peak;

		if (!in->domain || strcmp(in->domain, "process") != 0 || in->end_ns == INT64_MAX)
			continue;
		if (host && strcmp(r->nodes[in->node].host, host) != 0)
			continue;
		end = run_seconds(r, in->node, in->end_ns);
		peak = peak_of(r, x, i, rss);
		if (fabs(end - y->oom_s) > slack_s || !(peak > most))
			continue;
		most = peak;
		victim = i;
	}
	if (!victim)
		return;
	pid = run_label(r, victim, "pid");
	y->oom_pid = pid && *pid ? decimal_parse(pid, NULL) : NAN;
	y->oom_s = run_seconds(r, r->instances[victim].node, r->instances[victim].end_ns);
	y->oom_held_bytes = most;
	snprintf(y->oom_process, sizeof y->oom_process, "%s",
		 r->instances[victim].name ? r->instances[victim].name : "");
	snprintf(y->oom_host, sizeof y->oom_host, "%s", r->nodes[r->instances[victim].node].host);
}

static void find_oom(struct summary *s, const struct run *r, const struct series_index *x)
{
	const struct timeline *t = &s->timeline;
	const struct summary_host *host = host_of_kills(s);
	uint32_t killed = kill_window(t);

	if (host) {
		snprintf(s->story.oom_host, sizeof s->story.oom_host, "%s", host->host);
		s->story.oom_limit_bytes = host->limit_bytes;
	}
	if (killed >= t->nwindows)
		return;
	s->story.oom_s = t->from_s + (killed + 0.5) * t->width_s;
	tell_growth(&s->story, t, killed);
	tell_victim(&s->story, r, x, host ? host->host : NULL, 1.5 * t->width_s);
}

/* ---- ended by others ---- */

/*
 * Why others ended the job: what the batch system said when it did, and which
 * nodes were lost.
 *
 * Without its word a node is lost that stopped recording seconds before the others ended.
 */

static const double silent_s = 3;

static const char *said(const struct run *r, const char *key)
{
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const char *text = run_find_text(r, i, key);

		if (text)
			return text;
	}
	return "";
}

static bool ended_as(const struct summary *s, const char *state)
{
	return !strcmp(s->story.scheduler_state, state);
}

static bool was_ended(const struct summary *s)
{
	static const char *const states[] = { "TIMEOUT",   "CANCELLED", "NODE_FAIL",
					      "PREEMPTED", "DEADLINE",  "REVOKED" };

	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (!strcmp(s->story.scheduler_state, states[i]))
			return true;
	return false;
}

/* Seconds since the run began. */
static double last_of(const struct run *r, uint32_t node)
{
	return (double)(run_utc_ns(r, node, r->nodes[node].last_ns) - r->t0_utc_ns) / 1e9;
}

/* When the last of the recordings that were closed ended; NAN: none was. */
static double end_of_others(const struct summary *s, const struct run *r)
{
	double end = NAN;

	for (uint32_t i = 0; i < s->nnodes; i++)
		if (s->nodes[i].complete)
			end = fmax(end, last_of(r, s->nodes[i].node));
	return end;
}

static void add(struct story *y, const char *host)
{
	y->nodes_lost++;
	size_t n = strlen(y->lost_nodes);

	if (n + strlen(host) + 3 < sizeof y->lost_nodes)
		snprintf(y->lost_nodes + n, sizeof y->lost_nodes - n, "%s%s", n ? ", " : "", host);
}

/* "n3", of "n2, n3"? */
static bool names(const char *list, const char *host)
{
	size_t n = strlen(host);

	for (const char *p = list; n && (p = strstr(p, host)); p += n)
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

/* What is missing of its recording may be what was cut off. */
static bool is_damaged(const struct run *r, const char *host)
{
	size_t n = strlen(host);

	for (uint32_t i = 0; i < r->ndamages; i++) {
		const char *slash = strrchr(r->damages[i].file, '/');
		const char *name = slash ? slash + 1 : r->damages[i].file;

		if (!strncmp(name, "node-", 5) && !strncmp(name + 5, host, n) && name[5 + n] == '.')
			return true;
	}
	return false;
}

static void find_silent(struct summary *s, const struct run *r)
{
	double end = end_of_others(s, r);

	for (uint32_t i = 0; i < s->nnodes; i++) {
		const struct summary_node *n = &s->nodes[i];

		if (n->lost && n->samples && !is_damaged(r, n->host) &&
		    end - last_of(r, n->node) >= silent_s && !names(s->story.lost_nodes, n->host))
			add(&s->story, n->host);
	}
}

/* "n2, n3" */
static void take_list(struct story *y, const char *list)
{
	snprintf(y->lost_nodes, sizeof y->lost_nodes, "%s", list);
	for (const char *p = y->lost_nodes; *p; p++)
		y->nodes_lost += *p == ',' || p == y->lost_nodes;
}

static void find_lost(struct summary *s, const struct run *r)
{
	const char *why = said(r, "job.nodes_down_reason");
	struct story *y = &s->story;

	y->lost_s = y->timed_out = y->cancelled = NAN;
	y->nodes_lost = 0;
	snprintf(y->scheduler_state, sizeof y->scheduler_state, "%s",
		 said(r, "job.scheduler_state"));
	if (was_ended(s)) {
		y->timed_out = ended_as(s, "TIMEOUT");
		y->cancelled = ended_as(s, "CANCELLED") || ended_as(s, "PREEMPTED");
	}
	take_list(y, said(r, "job.nodes_down"));
	if (y->nodes_lost < 1 && s->nhosts > 1 && !s->running)
		find_silent(s, r);
	if (why[0])
		snprintf(y->lost_why, sizeof y->lost_why, " (%.*s),", STORY_TEXT, why);
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (names(y->lost_nodes, s->nodes[i].host))
			y->lost_s = fmax(y->lost_s, last_of(r, s->nodes[i].node));
}

/* ---- who failed first ---- */

/*
 * Who failed first: a task, or where none are told the command of a node; and how
 * near that node was to its limit of memory.
 *
 * Launchers end the other tasks as soon as one has failed. What ended at the same time as the
 * first, as far as clocks can tell, is set apart by how it ended: SIGTERM and SIGKILL are sent.
 */

struct death {
	double at_s, rank, exit_code, signal;
	uint32_t node, instance; /* instance 0: no task */
	const char *step;
};

static const double same_host_s = 0.05, most_apart_s = 2, at_once_s = 0.1;

static bool failed(double exit_code, double signal)
{
	return signal > 0 || exit_code > 0;
}

/* How likely others sent it: the less, the more it is a cause. */
static int sent(const struct death *d)
{
	switch (ending_signal(d->signal, d->exit_code)) {
	case SIGTERM:
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGUSR1:
	case SIGUSR2:
	case SIGPIPE:
		return 2;
	case SIGKILL:
		return 1;
	default:
		return 0;
	}
}

static bool is_before(const struct summary *s, const struct run *r, const struct death *a,
		      const struct death *b)
{
	double apart = same_host_s;

	if (strcmp(r->nodes[a->node].host, r->nodes[b->node].host) != 0)
		apart = fmin(fmax(apart, s->clock_error_s), most_apart_s);
	if (fabs(a->at_s - b->at_s) <= apart && sent(a) != sent(b))
		return sent(a) < sent(b);
	return a->at_s < b->at_s;
}

static bool of_task(const struct run *r, const struct summary_task *t, struct death *out)
{
	*out = (struct death){ .at_s = t->start_s + t->wall_s,
			       .rank = t->rank,
			       .exit_code = t->exit_code,
			       .signal = t->signal,
			       .node = r->instances[t->instance].node,
			       .instance = t->instance,
			       .step = t->step };
	return failed(t->exit_code, t->signal) && isfinite(out->at_s);
}

static bool of_node(const struct summary_node *n, struct death *out)
{
	*out = (struct death){ .at_s = n->end_s,
			       .rank = NAN,
			       .exit_code = n->exit_code,
			       .signal = n->signal,
			       .node = n->node };
	return failed(n->exit_code, n->signal) && isfinite(out->at_s);
}

/* Something of the job began when this had ended. */
static bool was_followed(const struct summary *s, const struct run *r, const struct death *d)
{
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (run_seconds(r, s->nodes[i].node, r->nodes[s->nodes[i].node].first_ns) >=
		    d->at_s)
			return true;
	for (uint32_t i = 0; i < s->ntasks; i++)
		if (s->tasks[i].start_s >= d->at_s)
			return true;
	return false;
}

/* The batch system ended the job, and this was ended with it. */
static bool ended_with_job(const struct summary *s, const struct run *r, const struct death *d)
{
	return was_ended(s) &&
	       (sent(d) || (s->wall_s - d->at_s <= most_apart_s && !was_followed(s, r, d)));
}

/* All at once by the same signal, which others sent: none of them failed first. */
static bool ended_together(const struct death *first, const struct death *last, bool alike)
{
	return alike && sent(first) && fabs(last->at_s - first->at_s) <= at_once_s;
}

/* Of all that failed, the number; the first in *first. */
static uint32_t find(const struct summary *s, const struct run *r, struct death *first,
		     bool *together)
{
	uint32_t n = 0, of = s->ntasks ? s->ntasks : s->nnodes;
	struct death earliest = { 0 }, latest = { 0 };
	bool alike = true, with_job = true;

	for (uint32_t i = 0; i < of; i++) {
		struct death d;

		if (!(s->ntasks ? of_task(r, &s->tasks[i], &d) : of_node(&s->nodes[i], &d)))
			continue;
		if (!n || is_before(s, r, &d, first))
			*first = d;
		if (!n || d.at_s < earliest.at_s)
			earliest = d;
		if (!n || d.at_s > latest.at_s)
			latest = d;
		with_job = with_job && ended_with_job(s, r, &d);
		alike = alike && ending_signal(d.signal, d.exit_code) ==
					 ending_signal(first->signal, first->exit_code);
		n++;
	}
	*together =
		(n > 1 && n == of && ended_together(&earliest, &latest, alike)) || (n && with_job);
	return n;
}

/* A sonde that vanishes while its task runs was killed by SIGKILL, and its task with it when
 * nothing of the task went on. */
static bool is_unreported(const struct summary *s, const struct run *r,
			  const struct summary_task *t, double *at_s)
{
	const struct run_node *n = &r->nodes[r->instances[t->instance].node];
	double wait_s = most_apart_s + 2 * fmax(s->interval_s, 0);

	*at_s = t->start_s + t->wall_s;
	return isnan(t->exit_code) && isnan(t->signal) && n->complete && isfinite(*at_s) &&
	       run_seconds(r, r->instances[t->instance].node, n->last_ns) - *at_s <= wait_s;
}

/* All within seconds: each node ends its tasks when it is told to. */
static void find_unreported(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	double last_s = NAN, at_s;

	for (uint32_t i = 0; i < s->ntasks && !s->running; i++) {
		if (!is_unreported(s, r, &s->tasks[i], &at_s))
			continue;
		y->unreported++;
		y->unreported_s = fmin(y->unreported_s, at_s);
		last_s = fmax(last_s, at_s);
	}
	if (last_s - y->unreported_s > most_apart_s)
		y->unreported = 0, y->unreported_s = NAN;
}

/* The command of the recording that ended as the job did: of the first to fail, of what was killed,
 * or of what failed. */
static void choose_command(struct summary *s, const struct run *r, uint32_t died_on)
{
	const char *found = NULL;

	if (story_has_first_failure(&s->story))
		found = run_find_text(r, died_on, "job.command");
	for (uint32_t i = 0; i < s->nnodes && !found; i++) {
		const struct summary_node *n = &s->nodes[i];

		if (isnan(s->signal) ? n->exit_code == s->exit_code : n->signal == s->signal)
			found = run_find_text(r, n->node, "job.command");
	}
	if (found)
		s->command = found;
}

static void name_task(struct story *y, const struct death *d)
{
	char *out = y->death_task;
	size_t size = sizeof y->death_task;

	if (isnan(d->rank) && !d->step)
		snprintf(out, size, "what ran on %.100s", y->death_host);
	else if (isnan(d->rank))
		snprintf(out, size, "a task of step %.32s on %.100s", d->step, y->death_host);
	else if (d->step)
		snprintf(out, size, "rank %.0f of step %.32s on %.100s", d->rank, d->step,
			 y->death_host);
	else
		snprintf(out, size, "rank %.0f on %.100s", d->rank, y->death_host);
}

static void name_end(struct story *y, const struct death *d)
{
	int number = ending_signal(d->signal, d->exit_code);
	const char *name = number ? sigabbrev_np(number) : NULL;
	char word[32];

	if (name)
		snprintf(word, sizeof word, "SIG%s", name);
	else
		snprintf(word, sizeof word, "signal %d", number);
	if (d->signal > 0)
		snprintf(y->death_end, sizeof y->death_end, "killed by %s", word);
	else if (number)
		snprintf(y->death_end, sizeof y->death_end, "exit code %.0f (%s in what it ran)",
			 d->exit_code, word);
	else
		snprintf(y->death_end, sizeof y->death_end, "exit code %.0f", d->exit_code);
}

/* Of a log that is the task's own, and only of one that ended with it. */
static void tell_log(struct story *y, const struct run *r, const struct death *d)
{
	char last[STORY_TEXT + 1];

	snprintf(y->death_log, sizeof y->death_log, ".");
	for (uint32_t i = 1; i < r->nmarks; i++) {
		const struct run_mark *m = &r->marks[i];

		if (m->node != d->node || !m->name || strcmp(m->name, "sonde.log_end") != 0)
			continue;
		if (d->instance && m->instance != d->instance)
			continue;
		if (mark_text_find(m->message ? m->message : "", "last", last, sizeof last))
			snprintf(y->death_log, sizeof y->death_log, ". Its log ends: \"%s\"", last);
	}
}

static void find_first_failure(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	struct death d = { 0 };
	bool together;

	y->failed = find(s, r, &d, &together);
	y->ended_together = together;
	y->could_fail = s->ntasks ? s->ntasks : s->nnodes;
	find_unreported(s, r);
	choose_command(s, r, d.node);
	if (y->failed < 1)
		return;
	y->death_s = d.at_s;
	y->death_rank = d.rank;
	y->death_signal = d.signal;
	y->death_exit_code = d.exit_code;
	snprintf(y->death_host, sizeof y->death_host, "%s", r->nodes[d.node].host);
	name_task(y, &d);
	name_end(y, &d);
	tell_log(y, r, &d);
	reason_take(&s->reason, r, d.node, d.instance);
	for (uint32_t i = 0; i < s->nhosts; i++) {
		const struct summary_host *h = &s->hosts[i];

		if (strcmp(h->host, y->death_host) != 0)
			continue;
		y->death_memory_bytes = fmax(h->peak_memory_bytes, h->held_bytes);
		y->death_limit_bytes = h->limit_bytes;
	}
}

/* ---- memory that was touched first right before the end, as when a stack fills ---- */

enum { PAGE_BYTES = 4096 };

/* All at once, after at least a second with hardly any. */
static void find_burst(struct summary *s)
{
	static const double few = 0.02, quiet = 0.1, quiet_s = 1;
	const struct timeline *t = &s->timeline;
	const struct timeline_row *faults = timeline_find(t, "job.minor_faults_per_second");
	double pages = 0, before = 0, before_s;
	uint32_t begin = t->nwindows, i;

	if (!faults || !begin || !(faults->value[begin - 1] > 0))
		return;
	while (begin && !(faults->value[begin - 1] < few * faults->value[t->nwindows - 1]))
		pages += faults->value[--begin] * t->width_s;
	before_s = fmax(quiet_s, (t->nwindows - begin) * t->width_s);
	for (i = begin; i && (begin - i) * t->width_s < before_s; i--)
		before += faults->value[i - 1] * t->width_s;
	before *= (t->nwindows - begin) / fmax(1, begin - i);
	if ((begin - i) * t->width_s >= before_s && before <= quiet * pages)
		s->story.last_touched_bytes = (pages - before) * PAGE_BYTES;
}

void summary_failure_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	find_oom(s, r, x);
	find_lost(s, r);
	find_first_failure(s, r);
	find_burst(s);
}
