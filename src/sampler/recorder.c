/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/recorder.h"

#include "base/clock.h"
#include "base/reserve.h"
#include "job/leftover.h"
#include "job/marklog.h"
#include "job/said.h"
#include "job/share.h"
#include "sampler/recorder_state.h"
#include "sampler/tree/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	WAKES = 8,             /* that are taken at once */
	SETTLED = 3,           /* samples after which all that follow are alike */
	FOLLOW_NS = 900000000, /* a little less than a second: samples may be a second apart */
	FOLLOW_LATE_NS = 1100000000, /* and when they are rarer, it is done between them */
	FILES_KEPT = 12,             /* descriptors that sources may not take */
	LAST_TURNS = 4,              /* at what spans processes have left, */
	LAST_TURNS_MOST = 64,        /* and where more processes left some than are read at once */
	REST_MS = 20, /* records are taken in batches: a wake-up costs more than many of them */
};

static void say(struct recorder *r, const char *sentence)
{
	if (r->roster)
		roster_say(r->roster, sentence);
	else
		r->o->say(r->o->say_ctx, sentence);
}

static void say_once(struct recorder *r, const char *sentence)
{
	if (!r->said)
		say(r, sentence);
	r->said = true;
}

static void take(struct recorder *r, bool last)
{
	const char *complaint = tree_complaint(r->sampler.tree);

	sampler_take(&r->sampler, &r->figures, last);
	if (!last)
		asked_step(&r->asked, r->directory, r->sampler.tree, r->sampler.sample.mono_ns);
	if (complaint[0] && !r->complained)
		say(r, complaint);
	r->complained |= complaint[0] != '\0';
	if (r->roster) {
		roster_note(r->roster, &r->sampler);
		roster_leave(r->roster, r->sampler.tree, last, r->sampler.sample.mono_ns);
	}
	if (last)
		machine_take(r);
	if (last)
		metas_end(r);
	if (last || !r->samples)
		metas_mechanisms(r);
}

static void write_down(struct recorder *r)
{
	struct err e;

	if (writer_sample(r->writer, &r->sampler.sample, &e))
		say_once(r, e.text);
	recorder_take_figures(r);
	r->samples++;
}

/* From a deadline on, by the interval that the budget allows. */
static int set_clock(struct recorder *r, int64_t from_ns)
{
	int64_t i = r->sampler.cadence.interval_ns;
	struct itimerspec t = { .it_interval = { i / NS_PER_S, i % NS_PER_S } };

	r->interval_ns = i;
	r->deadline_ns = from_ns + i;
	t.it_value = (struct timespec){ r->deadline_ns / NS_PER_S, r->deadline_ns % NS_PER_S };
	return timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &t, NULL) ? -errno : 0;
}

/* What woke the recorder: one of the rings has its index added. */
enum wake { WAKE_TIMER, WAKE_LAUNCHER, WAKE_ROSTER, WAKE_MARKS, WAKE_SPANS, WAKE_RING };

static int wait_for(struct recorder *r, int fd, uint32_t wake)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = wake };

	return epoll_ctl(r->waiting, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static void wait_for_rings(struct recorder *r, bool wanted)
{
	size_t n;
	const int *rings = tree_fds(r->sampler.tree, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (!wanted)
			epoll_ctl(r->waiting, EPOLL_CTL_DEL, rings[i], NULL);
		else if (!r->silent[i])
			wait_for(r, rings[i], WAKE_RING + i);
	}
}

/* The tree may have changed over to something else that reports starts. */
static void take_rings(struct recorder *r)
{
	size_t n;
	const int *rings = tree_fds(r->sampler.tree, &n);

	if (rings == r->rings)
		return;
	r->rings = rings;
	memset(r->silent, 0, sizeof r->silent);
	if (!r->rest_ns)
		wait_for_rings(r, true);
}

/* While there are records, look for them now and then; else wait for them. */
static void rest_if_busy(struct recorder *r)
{
	uint64_t records = tree_records(r->sampler.tree);
	bool rested = r->rest_ns;

	r->rest_ns = records == r->records ? 0 : clock_mono_ns() + REST_MS * NS_PER_MS;
	r->records = records;
	if (rested != (r->rest_ns != 0))
		wait_for_rings(r, rested);
}

/* Whoever writes many marks is not listened to all the time. */
static void rest_from_marks(struct recorder *r, bool rest)
{
	struct epoll_event e = { .events = rest ? 0 : EPOLLIN, .data.u32 = WAKE_MARKS };

	r->marks_rest_ns = rest ? clock_mono_ns() + REST_MS * NS_PER_MS : 0;
	epoll_ctl(r->waiting, EPOLL_CTL_MOD, marks_fd(r->sampler.marks), &e);
}

/* The tree knows of an end from the kernel's events, or else not before the next sample. */
static bool lives(const struct members *m, pid_t pid)
{
	struct proc_stat st;

	return members_stat(m, pid, &st) && !proc_stat_ended(&st);
}

/* Members of the batch job that came since, and Sonde's own that were taken for some: looked for
 * once a second. */
static void follow(struct recorder *r)
{
	struct tree *t = r->sampler.tree;
	int64_t now = clock_mono_ns();
	size_t n, alone = 0;

	if (!r->o->members || now - r->followed_ns < FOLLOW_NS)
		return;
	r->followed_ns = now;
	tree_catch_up(t);
	n = members_next(r->o->members, r->pids, MEMBERS_AT_ONCE);
	for (size_t i = 0; i < n; i++)
		if (tree_adopt(t, r->pids[i]))
			r->pids[alone++] = r->pids[i];
	sampler_adopted(&r->sampler, r->pids, alone);
	n = tree_named(t, "sonde", r->pids, MEMBERS_AT_ONCE);
	for (size_t i = 0; i < n; i++)
		if (members_is_own(r->o->members, r->pids[i]))
			tree_disown(t, r->pids[i]);
	n = tree_pids(t, r->pids, MEMBERS_AT_ONCE);
	for (size_t i = 0; i < n && r->alive_ns != now; i++)
		if (!members_waits(r->o->members, r->pids[i]) && lives(r->o->members, r->pids[i]))
			r->alive_ns = now;
	r->seen |= r->alive_ns == now;
	if (r->o->saw)
		*r->o->saw = r->seen;
	r->told |= r->o->leave && r->o->leave(r->o->leave_ctx);
}

/* The timer has expired n times since it was looked at: one sample, the others are lost. */
static void tick(struct recorder *r)
{
	/* By the interval that was asked for: those of the first seconds are a gift. */
	int64_t asked_ns = r->interval_ns > r->o->interval_ns ? r->interval_ns : r->o->interval_ns;
	uint64_t n = 0;

	if (read(r->timer, &n, sizeof n) != (ssize_t)sizeof n || !n)
		return;
	r->figures.skipped += (int64_t)(n - 1) * r->interval_ns / asked_ns;
	r->deadline_ns += (int64_t)n * r->interval_ns;
	/* deadline_ns is the next one: this sample was due an interval earlier */
	if (clock_mono_ns() - (r->deadline_ns - r->interval_ns) > asked_ns / 10)
		r->figures.late++;
	follow(r);
	r->told |= r->o->ipc && ipc_over(r->o->ipc);
	take(r, false);
	write_down(r);
	take_rings(r);
	if (r->samples == SETTLED)
		code_let_go();
	rest_if_busy(r);
	if (r->sampler.cadence.interval_ns != r->interval_ns)
		set_clock(r, r->deadline_ns - r->interval_ns);
}

static void listen_to_launcher(struct recorder *r)
{
	union packet p;
	const struct message *m = &p.message;
	int got;

	while ((got = message_receive(r->o->launcher, &p)) == 1) {
		if (m->kind == MESSAGE_PRINTED)
			metas_printed(r, &p.printed);
		else
			r->launcher_cpu_ns = m->own_cpu_ns;
		if (m->kind == MESSAGE_STARTED)
			r->started_ns = m->at_ns;
		if (m->kind == MESSAGE_EXITED || m->kind == MESSAGE_ENDED)
			tree_reaped(r->sampler.tree, 0, m);
		if (m->kind == MESSAGE_ENDED) {
			r->ended = true;
			r->status = m->status;
			r->ended_ns = m->at_ns;
		}
	}
	r->launcher_gone = got != -EAGAIN;
	if (r->launcher_gone) {
		epoll_ctl(r->waiting, EPOLL_CTL_DEL, r->o->launcher, NULL);
		tree_task_over(r->sampler.tree, 0);
	}
	r->samples_with_launcher = r->samples;
}

static bool job_is_over(struct recorder *r)
{
	struct tree_totals t;

	if (r->roster)
		return roster_over(r->roster, r->sampler.tree, r->samples) &&
		       roster_shut(r->roster, &r->sampler);
	if (r->ended || r->told || (r->o->stop && *r->o->stop))
		return true;
	if (r->end_ns && clock_mono_ns() >= r->end_ns)
		return true;
	if (r->o->launcher >= 0 && !r->launcher_gone)
		return false;
	/* As of the last look: between looks nothing is known, and a sample may take long. */
	if (r->o->members)
		return r->followed_ns - r->alive_ns >= (r->seen ? r->o->grace_ns : r->o->await_ns);
	/* Attached, or the launcher was killed: until nothing of the job is left in a later sample.
	 */
	if (r->samples == r->samples_with_launcher)
		return false;
	tree_totals(r->sampler.tree, &t);
	return !t.live;
}

/* Until the recording's end, or until then when that is sooner. */
static int until_ms(const struct recorder *r, int64_t then_ns)
{
	int64_t at = r->end_ns && (!then_ns || r->end_ns < then_ns) ? r->end_ns : then_ns;
	int64_t left;

	if (!at)
		return -1;
	left = (at - clock_mono_ns() + NS_PER_MS - 1) / NS_PER_MS;
	return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static int sooner(int a_ms, int b_ms)
{
	return b_ms >= 0 && (a_ms < 0 || b_ms < a_ms) ? b_ms : a_ms;
}

static int patience_ms(const struct recorder *r)
{
	int ms = until_ms(r, r->rest_ns);

	if (r->marks_rest_ns)
		ms = sooner(ms, until_ms(r, r->marks_rest_ns));
	if (span_files_due_ns(r->sampler.spans))
		ms = sooner(ms, until_ms(r, span_files_due_ns(r->sampler.spans)));
	if (r->roster)
		ms = sooner(ms, roster_timeout_ms(r->roster));
	return r->o->members ? sooner(ms, until_ms(r, r->followed_ns + FOLLOW_LATE_NS)) : ms;
}

static void ring_woke(struct recorder *r, uint32_t i, uint32_t events)
{
	size_t n;
	const int *rings = tree_fds(r->sampler.tree, &n);

	if (!(events & EPOLLHUP) || i >= n)
		return;
	r->silent[i] = true;
	epoll_ctl(r->waiting, EPOLL_CTL_DEL, rings[i], NULL);
}

/* What was taken is on its way before the next sample: there may be much of it. */
static void take_spans(struct recorder *r)
{
	struct err e;

	span_files_act(r->sampler.spans, r->sampler.tree, &r->sampler.sample);
	if (r->sampler.sample.nevents && writer_events(r->writer, &r->sampler.sample, &e))
		say_once(r, e.text);
}

/* Of processes that ended with more than a sample has room for. */
static void take_spans_left(struct recorder *r)
{
	int i = 0;

	while (r->sampler.spans &&
	       (i < LAST_TURNS || (i < LAST_TURNS_MOST && span_files_wait(r->sampler.spans)))) {
		take_spans(r);
		i++;
	}
}

static bool spans_are_due(const struct recorder *r)
{
	int64_t due_ns = span_files_due_ns(r->sampler.spans);

	return due_ns && clock_mono_ns() >= due_ns;
}

static void wait_and_act(struct recorder *r)
{
	struct epoll_event w[WAKES];
	int n = epoll_wait(r->waiting, w, WAKES, patience_ms(r));
	bool look = r->rest_ns && clock_mono_ns() >= r->rest_ns, due = false;
	bool spans = spans_are_due(r);

	for (int i = 0; i < n; i++) {
		uint32_t wake = w[i].data.u32;

		due |= wake == WAKE_TIMER;
		if (wake == WAKE_LAUNCHER)
			listen_to_launcher(r);
		if (wake == WAKE_ROSTER)
			roster_act(r->roster, &r->sampler);
		if (wake == WAKE_MARKS) {
			marks_act(r->sampler.marks, &r->sampler.sample);
			rest_from_marks(r, true);
		}
		spans |= wake == WAKE_SPANS;
		if (wake < WAKE_RING)
			continue;
		look |= (w[i].events & EPOLLIN) != 0;
		ring_woke(r, wake - WAKE_RING, w[i].events);
	}
	if (r->marks_rest_ns && clock_mono_ns() >= r->marks_rest_ns)
		rest_from_marks(r, false);
	if (look) {
		tree_drain(r->sampler.tree);
		rest_if_busy(r);
	}
	if (spans)
		take_spans(r);
	if (due && !r->ended)
		tick(r);
	else
		follow(r);
}

static int start_waiting(struct recorder *r, struct err *e)
{
	int bad = 0;

	r->waiting = epoll_create1(EPOLL_CLOEXEC);
	if (r->waiting < 0)
		return err_set(e, -errno, "cannot wait for several things: %s", strerror(errno));
	bad = wait_for(r, r->timer, WAKE_TIMER);
	if (!bad && r->o->launcher >= 0)
		bad = wait_for(r, r->o->launcher, WAKE_LAUNCHER);
	if (!bad && r->roster)
		bad = wait_for(r, roster_fd(r->roster), WAKE_ROSTER);
	if (!bad && marks_fd(r->sampler.marks) >= 0)
		bad = wait_for(r, marks_fd(r->sampler.marks), WAKE_MARKS);
	if (!bad && span_files_fd(r->sampler.spans) >= 0)
		bad = wait_for(r, span_files_fd(r->sampler.spans), WAKE_SPANS);
	take_rings(r);
	return bad ? err_set(e, bad, "cannot wait for the timer: %s", strerror(-bad)) : 0;
}

static int start_clock(struct recorder *r, struct err *e)
{
	int bad;

	prctl(PR_SET_TIMERSLACK, 1UL);
	recorder_short_turns();
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->timer < 0)
		return err_set(e, -errno, "cannot make a timer: %s", strerror(errno));
	r->begin_ns = r->alive_ns = clock_mono_ns();
	if (r->o->duration_ns)
		r->end_ns = r->begin_ns + r->o->duration_ns;
	bad = set_clock(r, r->begin_ns);
	return bad ? err_set(e, bad, "cannot set the timer: %s", strerror(-bad)) : 0;
}

/* Does another one record the whole job, beside it, into the same directory? */
static int check_claim(const struct recorder *r, struct err *e)
{
	const struct recorder_options *o = r->o;
	pid_t holder = recorder_is_launched(o) ? claim_holder(&o->identity->job, r->path) : 0;

	return holder ? err_set(e, -EEXIST,
				"process %d on this node records all of this job into %s already; "
				"name another directory with -o",
				(int)holder, r->path)
		      : 0;
}

static int open_directory(struct recorder *r, struct err *e)
{
	const struct recorder_options *o = r->o;
	struct directory_wish w = { o->directory, o->identity, o->force,
				    o->elsewhere, o->anyway,   o->instead };
	struct err said = { "" };
	int fd = directory_open_beside(&w, &r->made, o->moved, &said, e);

	r->path = w.path;
	if (said.text[0])
		say(r, said.text);
	return fd;
}

/* Behind the first sample, of a job that goes on. */
static void write_machine(struct recorder *r)
{
	struct err e;

	machine_take(r);
	if (writer_events(r->writer, &r->sampler.sample, &e))
		say_once(r, e.text);
}

/* Up to the first sample, for which the job waits; its files it need not wait for. */
static int begin(struct recorder *r, struct err *e)
{
	const struct writer_options w = { .sync_ns = r->o->sync_ns };
	const struct message ready = { .kind = MESSAGE_READY, .pid = getpid() };
	struct writer_figures figures;
	int bad;

	r->directory = open_directory(r, e);
	if (r->directory < 0)
		return r->directory;
	bad = check_claim(r, e);
	if (bad)
		return bad;
	r->pids = r->o->members ? calloc(MEMBERS_AT_ONCE, sizeof *r->pids) : NULL;
	if (r->o->members && !r->pids)
		return err_set(e, -ENOMEM, "out of memory");
	recorder_await_launcher(r);
	recorder_keep_files(r, FILES_KEPT);
	bad = sampler_open(&r->sampler, &r->o->sampler, e);
	recorder_keep_files(r, 0);
	if (bad)
		return bad;
	if (!r->o->sampler.procfs) /* else pids are another machine's */
		crash_log_open(&r->crash_log, e);
	tree_limits(r->sampler.tree, r->limits);
	if (r->o->marks)
		marks_add(r->sampler.marks, open(r->o->marks, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
	span_files_add(r->sampler.spans, r->o->spans);
	bad = start_clock(r, e);
	if (!bad)
		bad = start_waiting(r, e);
	if (bad)
		return bad;
	if (r->o->identity->job.why.text[0])
		say(r, r->o->identity->job.why.text);
	take(r, false);
	if (r->o->launcher >= 0)
		message_send(r->o->launcher, &ready);
	machine_start(r);
	bad = writer_open(&r->writer, r->directory, r->o->identity->host, &w, e);
	if (bad)
		return bad;
	sampler_open_rest(&r->sampler);
	metas_begin(r);
	write_down(r);
	directory_settled(r->directory, r->o->identity);
	if (r->o->opened) {
		writer_figures(r->writer, &figures);
		r->o->opened(r->o->opened_context, figures.name);
	}
	if (r->o->beside)
		listen_to_launcher(r);
	if (r->o->beside && !r->ended)
		r->o->beside(r->o->beside_context);
	if (!r->ended)
		write_machine(r);
	return 0;
}

static void finish(struct recorder *r)
{
	if (r->writer)
		writer_abandon(r->writer);
	asked_stop(&r->asked);
	machine_take(r);
	sampler_close(&r->sampler);
	file_close(&r->timer);
	file_close(&r->crash_log);
	file_close(&r->waiting);
	file_close(&r->directory);
	if (r->o->marks && r->launcher_gone)
		mark_file_unlink(r->o->marks);
	if (r->o->spans && r->o->spans[0] && r->launcher_gone)
		leftover_remove(r->o->spans);
	if (r->roster)
		roster_end(r->roster);
	roster_close(r->roster);
	free(r->pids);
}

static int open_roster(struct recorder *r, struct err *e)
{
	const struct roster_options o = { .listener = r->o->listener,
					  .key = r->o->key,
					  .step = r->o->step,
					  .run_id = r->o->run_id,
					  .moved = r->o->moved,
					  .secrets = r->o->sampler.tree.secrets };

	return r->o->listener < 0 ? 0 : roster_open(&r->roster, &o, e);
}

static int run(struct recorder *r)
{
	const struct recorder_options *o = r->o;
	struct err e = { "" };
	int bad;

	recorder_lift_limits(r);
	recorder_take_tables_from_kernel();
	bad = open_roster(r, &e);
	if (!bad)
		bad = begin(r, &e);
	if (bad) {
		recorder_await_launcher(r);
		if (r->roster)
			roster_refuse(r->roster, e.text);
		else
			say_once(r, e.text);
		if (r->directory > 0)
			directory_settled(r->directory, o->identity);
		finish(r);
		if (r->made && bad != -EEXIST) /* then it is another's, who may begin in it now */
			rmdir(r->path);        /* when nothing is in it */
		return bad;
	}
	while (!job_is_over(r))
		wait_and_act(r);
	take_spans_left(r);
	take(r, true);
	write_down(r);
	bad = recorder_close(r, &e);
	if (bad)
		say_once(r, e.text);
	finish(r);
	return bad;
}

int recorder_run(const struct recorder_options *o)
{
	/* Most of it is for what few jobs do: pages that stay untouched. */
	struct recorder *r = reserve(sizeof *r);
	int bad;

	if (recorder_is_launched(o))
		recorder_ignore_signals();
	if (!r) {
		o->say(o->say_ctx, "out of memory");
		return -ENOMEM;
	}
	r->o = o;
	bad = run(r);
	reserve_free(r, sizeof *r);
	return bad;
}
