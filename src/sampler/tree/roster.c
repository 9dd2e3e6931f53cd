/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/roster.h"

#include "base/clock.h"
#include "base/files.h"
#include "job/said.h"
#include "job/share.h"
#include "sampler/tree/series.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SEATS_MAX = TREE_TASKS_MAX + 64, /* who has not registered yet, too */
	LISTENER = SEATS_MAX,            /* beside the numbers of seats */
	PAUSE,                           /* its end */
	ACCEPTS = 256,                   /* at once */
	FOREIGN_MANY = 16,               /* of them are a flood, and the listener rests */
	PAUSE_MS = 50,
	GRACE_MS = 2000,        /* for tasks that are still to come */
	GRACE_UNKNOWN_MS = 500, /* for those that may */
	NOBODY_MS = 20000,      /* without anybody the recorder ends */
	REFUSE_MS = 2000,       /* after the last that was refused */
	REFUSE_MOST_MS = 20000,
	ERROR_TEXTS = 16, /* of the first tasks that fail: an end of all has no room for more */
	CPUS = 8192,
	EVENTS = 32,
};

enum seat_state {
	SEAT_EMPTY,
	SEAT_SILENT,  /* connected, not registered */
	SEAT_RUNNING, /* its task is recorded */
	SEAT_INSIDE,  /* so it is, as a part of another's */
	SEAT_ENDED,   /* its launcher waits for the last word */
};

struct seat {
	enum seat_state state;
	int fd;
	uint32_t task;
	bool own_step;
	uint32_t marks; /* its file of marks; 0: none */
	uint32_t spans; /* its folder of spans; 0: none */
	int64_t cpu_ns; /* its launcher's own, as it told last */
	struct task_record record;
};

struct roster {
	struct roster_options o;
	int waiting; /* epoll */
	int pause;   /* timerfd: while it runs nobody is let in */
	int table;   /* memfd: a row for each task; what launchers find there outlives this */
	int64_t *rows;
	struct seat seat[SEATS_MAX];
	uint32_t running, running_here, came_here, gone; /* here: of this recorder's step */
	int64_t expected;                                /* of its step; -1: not known */
	bool speaks; /* rank 0 is here, or ranks are not known */
	int64_t last_ns, gone_samples;
	struct roster_result result;
	char said[MESSAGE_TEXT]; /* for the first that comes */
	uint64_t foreign;        /* connections of other users, all refused */
	uint32_t error_texts;    /* that were kept */
	bool refusing;
	bool held; /* all are gone, what one left behind is not: a sample will say when */
	unsigned char allowed[CPUS / 8];
};

int roster_open(struct roster **out, const struct roster_options *o, struct err *e)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = LISTENER },
			   rest = { .events = EPOLLIN, .data.u32 = PAUSE };
	struct roster *r = calloc(1, sizeof *r);

	*out = NULL;
	if (!r)
		return err_set(e, -ENOMEM, "out of memory");
	r->o = *o;
	r->expected = -1;
	r->last_ns = clock_mono_ns();
	r->rows = calloc(TREE_TASKS_MAX, RECORDED_NUMBER_OF * sizeof *r->rows);
	r->waiting = epoll_create1(EPOLL_CLOEXEC);
	r->pause = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	r->table = unnamed_memory("sonde-recorded");
	if (!r->rows || r->waiting < 0 || r->pause < 0 || r->table < 0 ||
	    epoll_ctl(r->waiting, EPOLL_CTL_ADD, r->pause, &rest) ||
	    epoll_ctl(r->waiting, EPOLL_CTL_ADD, o->listener, &ev)) {
		int bad = err_set(e, -errno, "cannot wait for the job's launchers: %s",
				  strerror(errno));

		roster_close(r);
		return bad;
	}
	*out = r;
	return 0;
}

static void leave_seat(struct seat *s)
{
	if (s->state != SEAT_EMPTY)
		close(s->fd);
	*s = (struct seat){ .fd = -1 };
}

void roster_close(struct roster *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < SEATS_MAX; i++)
		leave_seat(&r->seat[i]);
	if (r->waiting >= 0)
		close(r->waiting);
	if (r->pause >= 0)
		close(r->pause);
	if (r->table >= 0)
		close(r->table);
	free(r->rows);
	free(r);
}

int roster_fd(const struct roster *r)
{
	return r->waiting;
}

static void send_note(struct seat *s, struct note *n, int passed)
{
	n->version = MESSAGE_VERSION;
	n->pid = getpid();
	packet_send(s->fd, n, sizeof *n, passed);
}

/* ---- who comes ---- */

static void shut(struct roster *r)
{
	if (r->o.listener >= 0)
		close(r->o.listener);
	r->o.listener = -1;
}

/* False: it is another user's, and not even listened to. */
static bool accept_one(struct roster *r, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };
	bool ours = election_peer(fd) > 0;

	for (uint32_t i = 0; ours && i < SEATS_MAX; i++) {
		ev.data.u32 = i;
		if (r->seat[i].state != SEAT_EMPTY)
			continue;
		if (epoll_ctl(r->waiting, EPOLL_CTL_ADD, fd, &ev))
			break;
		r->seat[i] = (struct seat){ .state = SEAT_SILENT, .fd = fd };
		return true;
	}
	close(fd);
	return ours;
}

static void listen_to(struct roster *r, bool all)
{
	struct epoll_event ev = { .events = all ? EPOLLIN : 0, .data.u32 = LISTENER };

	if (r->o.listener >= 0)
		epoll_ctl(r->waiting, EPOLL_CTL_MOD, r->o.listener, &ev);
}

/* Who connects without end can neither keep the recorder from its samples nor cost a core. */
static void rest(struct roster *r)
{
	const struct itimerspec t = { .it_value.tv_nsec = PAUSE_MS * NS_PER_MS };

	if (!timerfd_settime(r->pause, 0, &t, NULL))
		listen_to(r, false);
}

static void rested(struct roster *r)
{
	uint64_t times;

	if (read(r->pause, &times, sizeof times) == sizeof times)
		listen_to(r, true);
}

/* Those that are there, up to a bound. Without room for another descriptor this recorder is full:
 * who comes now elects another. */
static void accept_some(struct roster *r)
{
	uint32_t foreign = 0;

	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(r->o.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE)
				shut(r);
			break;
		}
		foreign += !accept_one(r, fd);
	}
	r->foreign += foreign;
	if (foreign >= FOREIGN_MANY)
		rest(r);
}

/* CPUs that any of the tasks may use. */
static void add_allowed(struct roster *r, pid_t pid)
{
	cpu_set_t *set = CPU_ALLOC(CPUS);
	const unsigned char *bytes = (const unsigned char *)set;
	int64_t n = 0;

	if (set && !sched_getaffinity(pid, CPU_ALLOC_SIZE(CPUS), set))
		for (size_t i = 0; i < sizeof r->allowed; i++)
			r->allowed[i] |= bytes[i];
	for (size_t i = 0; i < sizeof r->allowed; i++)
		n += __builtin_popcount(r->allowed[i]);
	CPU_FREE(set);
	r->result.cores_allowed = n;
}

static bool has_left(const struct seat *s)
{
	char c;

	return !recv(s->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
}

static void refuse(struct roster *r, struct seat *s, const char *why, bool alone)
{
	struct note n = { .kind = MESSAGE_REFUSED, .alone = alone };

	snprintf(n.text, sizeof n.text, "%s", why);
	r->last_ns = clock_mono_ns();
	send_note(s, &n, -1);
	leave_seat(s);
}

static void welcome(struct roster *r, struct seat *s)
{
	struct note n = { .kind = MESSAGE_READY, .slot = s->task, .status = *r->o.moved };

	if (r->said[0])
		roster_say(r, r->said); /* before its task starts */
	snprintf(n.text, sizeof n.text, "%s", r->o.run_id);
	send_note(s, &n, r->table);
}

static void done(struct roster *r, struct seat *s, bool speaks)
{
	const struct roster_result *x = &r->result;
	struct note n = { .kind = MESSAGE_DONE,
			  .speaks = speaks && r->speaks,
			  .tasks = x->tasks,
			  .failed = x->failed,
			  .status = x->status,
			  .wall_ns =
				  x->ended_ns > x->started_ns ? x->ended_ns - x->started_ns : 0 };

	send_note(s, &n, -1);
	leave_seat(s);
}

/* Who has ended and was thought to be the last. */
static void let_wait_no_longer(struct roster *r)
{
	for (uint32_t i = 0; i < SEATS_MAX; i++)
		if (r->seat[i].state == SEAT_ENDED)
			done(r, &r->seat[i], false);
}

static void sit_down(struct roster *r, struct seat *s, const struct registration *g)
{
	s->state = SEAT_RUNNING;
	s->own_step = strcmp(g->step, r->o.step) == 0;
	s->record.rank = g->rank;
	memcpy(s->record.step, g->step, sizeof s->record.step);
	r->running++;
	r->result.tasks++;
	r->speaks |= g->rank <= 0;
	if (s->own_step) {
		r->running_here++;
		r->came_here++;
		r->expected = g->expected > r->expected ? g->expected : r->expected;
	}
	if (g->lost_ns > r->result.lost_ns)
		r->result.lost_ns = g->lost_ns;
	let_wait_no_longer(r);
}

static void take_registration(struct roster *r, struct seat *s, struct sampler *to,
			      const struct registration *g)
{
	pid_t pid = election_peer(s->fd);
	bool goes_on = g->recorded[RECORDED_AT] != 0;
	int bad;

	if (s->state != SEAT_SILENT || pid <= 0 || has_left(s)) {
		leave_seat(s);
		return;
	}
	if (r->refusing || !to) {
		refuse(r, s, r->said, false);
		r->said[0] = '\0';
		return;
	}
	if (strcmp(g->key, r->o.key) != 0) {
		refuse(r, s, "", true);
		return;
	}
	bad = tree_task_add(to->tree, pid, goes_on ? g->recorded : NULL, &s->task);
	if (bad && bad != -EALREADY) {
		refuse(r, s, "", true);
		return;
	}
	add_allowed(r, pid);
	if (bad) {
		s->state = SEAT_INSIDE;
	} else {
		sampler_joined(to, pid, goes_on);
		sit_down(r, s, g);
		s->record.goes_on = goes_on;
		if (goes_on)
			task_record_begin(&to->sample, &s->record, clock_mono_ns());
	}
	welcome(r, s);
}

/* The file of its marks came along with its registration, which names the folder of its spans. */
static void take_marks(struct seat *s, struct sampler *to, int fd, const char *spans)
{
	if (to && s->state >= SEAT_RUNNING) {
		s->marks = marks_add(to->marks, fd);
		marks_about(to->marks, s->marks, s->record.instance);
		s->spans = span_files_add(to->spans, spans);
		span_files_about(to->spans, s->spans, s->record.instance);
	} else if (fd >= 0) {
		close(fd);
	}
}

/* ---- who speaks ---- */

static void take_status(struct roster *r, int status)
{
	struct roster_result *x = &r->result;
	bool failed = !WIFEXITED(status) || WEXITSTATUS(status);

	x->ended++;
	x->failed += failed;
	if (!failed || WIFSIGNALED(x->status))
		return;
	if (WIFSIGNALED(status) || WEXITSTATUS(status) > WEXITSTATUS(x->status))
		x->status = status;
}

static void stands_up(struct roster *r, struct seat *s, struct sampler *to)
{
	tree_task_over(to->tree, s->task);
	r->running--;
	r->running_here -= s->own_step;
	r->last_ns = clock_mono_ns();
}

static void take_message(struct roster *r, struct seat *s, struct sampler *to,
			 const struct message *m)
{
	struct roster_result *x = &r->result;

	if (s->state == SEAT_INSIDE && m->kind == MESSAGE_ENDED) {
		done(r, s, false);
		return;
	}
	if (s->state != SEAT_RUNNING)
		return;
	tree_reaped(to->tree, s->task, m);
	x->launchers_cpu_ns += m->own_cpu_ns - s->cpu_ns;
	s->cpu_ns = m->own_cpu_ns;
	task_record_started(&to->sample, &s->record, m);
	marks_about(to->marks, s->marks, s->record.instance);
	span_files_about(to->spans, s->spans, s->record.instance);
	if (m->kind == MESSAGE_STARTED && (!x->started_ns || m->at_ns < x->started_ns))
		x->started_ns = m->at_ns;
	if (m->kind != MESSAGE_ENDED)
		return;
	if (m->at_ns > x->ended_ns)
		x->ended_ns = m->at_ns;
	take_status(r, m->status);
	task_record_end(&to->sample, &s->record, m);
	stands_up(r, s, to);
	s->state = SEAT_ENDED;
	if (r->running_here || !s->own_step)
		done(r, s, false);
}

static void take_gone(struct roster *r, struct seat *s, struct sampler *to)
{
	if (to && s->state == SEAT_RUNNING) {
		task_record_lost(&to->sample, &s->record, tree_task_cpu_ns(to->tree, s->task),
				 clock_mono_ns());
		stands_up(r, s, to);
		r->gone++;
		r->gone_samples = -1;
	}
	leave_seat(s);
}

static bool is_of_launcher(enum message_kind kind)
{
	return kind >= MESSAGE_STARTED && kind <= MESSAGE_ENDED;
}

static void take_all(struct roster *r, struct seat *s, struct sampler *to)
{
	while (s->state != SEAT_EMPTY) {
		union packet p;
		enum message_kind kind;
		int passed, got = packet_receive(s->fd, &p, &passed);

		if (got == -EAGAIN)
			return;
		kind = got == 1 ? p.message.kind : MESSAGE_LEAVING;
		if (passed >= 0 && kind != MESSAGE_REGISTER)
			close(passed);
		if (kind == MESSAGE_REGISTER) {
			take_registration(r, s, to, &p.registration);
			take_marks(s, to, passed, p.registration.spans);
		} else if (to && s->state != SEAT_SILENT && is_of_launcher(kind)) {
			take_message(r, s, to, &p.message);
		} else if (to && kind == MESSAGE_PRINTED && s->state == SEAT_RUNNING) {
			if (r->error_texts++ < ERROR_TEXTS)
				error_text_say(&to->sample, s->record.instance, r->o.secrets,
					       &p.printed);
		} else {
			take_gone(r, s, to);
		}
	}
}

void roster_act(struct roster *r, struct sampler *to)
{
	int64_t cores = r->result.cores_allowed;
	struct epoll_event ev[EVENTS];
	int n;

	do {
		n = epoll_wait(r->waiting, ev, EVENTS, 0);
		for (int i = 0; i < n; i++) {
			if (ev[i].data.u32 == LISTENER)
				accept_some(r);
			else if (ev[i].data.u32 == PAUSE)
				rested(r);
			else if (ev[i].data.u32 < SEATS_MAX)
				take_all(r, &r->seat[ev[i].data.u32], to);
		}
	} while (n == EVENTS);
	if (to && r->result.cores_allowed != cores)
		sample_meta_int(&to->sample, "node.cores_allowed", r->result.cores_allowed);
}

/* ---- the end ---- */

/* Of tasks in a row each brings a recorder; several at a time may be a part of more. */
static int64_t grace_ns(const struct roster *r)
{
	if (r->expected >= 0)
		return r->came_here < r->expected ? GRACE_MS * NS_PER_MS : 0;
	return r->came_here > 1 ? GRACE_UNKNOWN_MS * NS_PER_MS : 0;
}

static int64_t end_ns(const struct roster *r)
{
	if (r->running_here)
		return INT64_MAX;
	return r->last_ns + (r->came_here ? grace_ns(r) : NOBODY_MS * NS_PER_MS);
}

int roster_timeout_ms(const struct roster *r)
{
	int64_t at = end_ns(r), now = clock_mono_ns();

	if (at == INT64_MAX)
		return -1;
	if (at <= now)
		return r->held ? -1 : 0;
	return (int)((at - now) / NS_PER_MS) + 1;
}

/* What a launcher that was killed has left behind is the job's until it ends. */
static bool left_behind(struct roster *r, const struct tree *t, int64_t samples)
{
	struct tree_totals totals;

	if (!r->gone || r->running)
		return false;
	if (r->gone_samples < 0)
		r->gone_samples = samples;
	tree_totals(t, &totals);
	if (samples > r->gone_samples && !totals.live)
		return false;
	let_wait_no_longer(r);
	return true;
}

bool roster_over(struct roster *r, const struct tree *t, int64_t samples)
{
	bool due = clock_mono_ns() >= end_ns(r);

	r->held = due && left_behind(r, t, samples);
	return due && !r->held;
}

bool roster_shut(struct roster *r, struct sampler *to)
{
	roster_act(r, to);
	if (r->running_here)
		return false;
	shut(r);
	return true;
}

void roster_leave(const struct roster *r, const struct tree *t, bool last, int64_t at_ns)
{
	uint32_t n = tree_recorded(t, last, at_ns, r->rows, TREE_TASKS_MAX);
	size_t size = n * RECORDED_NUMBER_OF * sizeof *r->rows;

	if (n)
		(void)!pwrite(r->table, r->rows, size, 0);
}

void roster_note(struct roster *r, struct sampler *to)
{
	for (uint32_t i = 0; i < SEATS_MAX && r->running; i++)
		if (r->seat[i].state == SEAT_RUNNING)
			task_record_used(&to->sample, &r->seat[i].record,
					 tree_task_cpu_ns(to->tree, r->seat[i].task));
}

void roster_say(struct roster *r, const char *sentence)
{
	struct note n = { .kind = MESSAGE_SAY };

	snprintf(n.text, sizeof n.text, "%s", sentence);
	for (uint32_t i = 0; i < SEATS_MAX; i++)
		if (r->seat[i].state >= SEAT_RUNNING) {
			send_note(&r->seat[i], &n, -1);
			r->said[0] = '\0';
			return;
		}
	memcpy(r->said, n.text, sizeof r->said);
}

void roster_refuse(struct roster *r, const char *sentence)
{
	int64_t begin = clock_mono_ns();
	struct epoll_event ev;

	r->refusing = true;
	snprintf(r->said, sizeof r->said, "%s", sentence);
	r->last_ns = begin;
	while (clock_mono_ns() < r->last_ns + REFUSE_MS * NS_PER_MS &&
	       clock_mono_ns() < begin + REFUSE_MOST_MS * NS_PER_MS) {
		epoll_wait(r->waiting, &ev, 1, 100);
		roster_act(r, NULL);
	}
}

struct roster_result roster_result(const struct roster *r)
{
	struct roster_result x = r->result;

	x.foreign = r->foreign;
	return x;
}

void roster_end(struct roster *r)
{
	struct note leaving = { .kind = MESSAGE_LEAVING };

	for (uint32_t i = 0; i < SEATS_MAX; i++) {
		struct seat *s = &r->seat[i];

		if (s->state == SEAT_ENDED)
			done(r, s, true);
		else if (s->state == SEAT_RUNNING || s->state == SEAT_INSIDE)
			send_note(s, &leaving, -1);
		leave_seat(s);
	}
}
