/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_metas.c - what surrounds the loop: the metadata of a recording (the job, its node, its
 * end, what watching it cost), the recording's end, and the recorder's process. */
#include "base/clock.h"
#include "base/process.h"
#include "base/reserve.h"
#include "job/said.h"
#include "job/scheduler/ask.h"
#include "job/scheduler/scheduler.h"
#include "job/secret/secret.h"
#include "job/words.h"
#include "sampler/fixes.h"
#include "sampler/recorder_state.h"
#include "source/platform/platform.h"
#include "source/procfile.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ASKING_NODES = 2 };
/* The launcher waits so long for a recorder that sleeps, when it has its own. */
#define PATIENCE_NS       (3 * NS_PER_S)
#define SHORT_PATIENCE_NS (700 * NS_PER_MS)

/* So that a reader on this machine sees whether it still writes (report/judging/condition.c). */
static void say_process(struct sample *s)
{
	struct stat pids;

	sample_meta_int(s, "monitor.pid", getpid());
	if (!stat("/proc/self/ns/pid", &pids))
		sample_meta_int(s, "monitor.pid_namespace", (int64_t)pids.st_ino);
}

static void say_command(struct recorder *r)
{
	struct bytes words = { 0 };

	if (r->o->words)
		words_join(r->o->sampler.tree.secrets, &words, r->o->words);
	bytes_u8(&words, '\0');
	sample_meta_text(&r->sampler.sample, "job.command",
			 r->o->words && !words.failed ? (const char *)words.data : r->o->command);
	bytes_free(&words);
}

static void say_begin(struct recorder *r)
{
	struct sample *s = &r->sampler.sample;
	const struct identity *id = r->o->identity;

	sample_meta_text(s, "sonde.version", SONDE_VERSION);
	sample_meta_text(s, "run.id", r->o->run_id);
	sample_meta_int(s, "run.interval_ns", r->o->interval_ns);
	if (r->o->sampler.watch_hang_ns)
		sample_meta_int(s, "run.watch_hang_ns", r->o->sampler.watch_hang_ns);
	if (r->o->annotations)
		sample_meta_text(s, "run.annotations", r->o->annotations);
	say_process(s);
	sample_meta_real(s, "monitor.max_overhead", r->o->sampler.max_overhead);
	say_command(r);
	batch_job_say(&id->job, r->o->sampler.tree.secrets, s);
	if (id->launch[0])
		sample_meta_text(s, "job.launch", id->launch);
	if (r->o->members)
		sample_meta_text(s, "job.members", r->o->members->how);
	sample_meta_text(s, "node.host", id->host);
	sample_meta_int(s, "node.cores_present", id->cores_present);
	if (id->cores_allowed)
		sample_meta_int(s, "node.cores_allowed", id->cores_allowed);
	sample_meta_int(s, "node.memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
}

/* What a shell's ulimit shows; the recorder has them from the launcher, as the job has. */
static void say_limits(struct recorder *r)
{
	struct limits l;

	limits_take(r->limits, &l);
	for (size_t i = 0; i < LIMIT_ROWS; i++) {
		const char *key = limit_rows[i].key;

		if (l.value[i] == LIMIT_NONE)
			sample_meta_text(&r->sampler.sample, key, "unlimited");
		else
			sample_meta_int(&r->sampler.sample, key, l.value[i]);
	}
}

static void say_masked(struct recorder *r, const char *key, const char *text)
{
	struct bytes masked = { 0 };

	secret_text(r->o->sampler.tree.secrets, &masked, text);
	bytes_u8(&masked, '\0');
	if (!masked.failed)
		sample_meta_text(&r->sampler.sample, key, (const char *)masked.data);
	bytes_free(&masked);
}

void metas_begin(struct recorder *r)
{
	char directory[PATH_MAX];

	say_begin(r);
	fixes_say_metrics(&r->sampler.sample);
	if (!recorder_is_launched(r->o)) /* attached: these are not the job's */
		return;
	say_limits(r);
	if (getcwd(directory, sizeof directory))
		say_masked(r, "job.working_directory", directory);
	environment_say(&r->sampler.sample, r->o->sampler.tree.secrets, r->o->environment);
}

void metas_mechanisms(struct recorder *r)
{
	struct tree_totals totals;
	char text[320];

	tree_totals(r->sampler.tree, &totals);
	snprintf(text, sizeof text, "%s; process starts and exits from %s%s", totals.totals_how,
		 totals.starts_how, totals.lost_records ? ", some of which were lost" : "");
	sample_meta_text(&r->sampler.sample, "job.mechanisms", text);
	sample_meta_bool(&r->sampler.sample, "job.births_exact", totals.exact_starts);
	sample_meta_int(&r->sampler.sample, "job.unknown_ends", (int64_t)totals.unknown_ends);
	if (totals.lost_records)
		sample_meta_int(&r->sampler.sample, "job.process_records_lost",
				(int64_t)totals.lost_records);
}

/* Several tasks are one job: it failed when one of them did. */
static void take_roster(struct recorder *r)
{
	const struct roster_result x = roster_result(r->roster);
	struct sample *s = &r->sampler.sample;

	r->ended = x.tasks && x.ended == x.tasks;
	r->status = x.status;
	r->started_ns = x.started_ns > r->begin_ns ? x.started_ns : r->begin_ns;
	r->ended_ns = x.ended_ns;
	sample_meta_int(s, "job.tasks", x.tasks);
	sample_meta_int(s, "job.tasks_failed", x.failed);
	if (x.foreign)
		sample_meta_int(s, "monitor.foreign_connections", (int64_t)x.foreign);
	if (x.lost_ns)
		sample_meta_int(s, "monitor.recorder_lost_ns", x.lost_ns);
}

void metas_printed(struct recorder *r, const struct printed *p)
{
	if (p->ended_well)
		r->printed = *p;
	else
		error_text_say(&r->sampler.sample, 0, r->o->sampler.tree.secrets, p);
}

static void say_status(struct recorder *r)
{
	struct sample *s = &r->sampler.sample;

	if (r->printed.kind && tree_failed(r->sampler.tree))
		error_text_say_hidden(s, r->o->sampler.tree.secrets, &r->printed);

	if (r->roster)
		take_roster(r);
	sample_meta_bool(s, "job.complete", r->ended);
	if (!r->ended && r->o->members && r->seen && r->followed_ns > r->alive_ns)
		sample_meta_int(s, "monitor.waited_ns", r->followed_ns - r->alive_ns);
	if (!r->ended && r->o->members && !r->seen &&
	    r->followed_ns - r->alive_ns >= r->o->await_ns)
		sample_meta_int(s, "monitor.unseen_ns", r->followed_ns - r->alive_ns);
	if (!r->ended)
		return;
	if (WIFSIGNALED(r->status) && WCOREDUMP(r->status))
		sample_meta_bool(s, "job.core_dumped", true);
	if (WIFSIGNALED(r->status))
		sample_meta_int(s, "job.signal", WTERMSIG(r->status));
	else
		sample_meta_int(s, "job.exit_code", WEXITSTATUS(r->status));
	if (r->started_ns)
		sample_meta_int(s, "job.wall_ns", r->ended_ns - r->started_ns);
}

static void say_totals(struct recorder *r)
{
	struct sample *s = &r->sampler.sample;
	struct tree_totals t;
	char names[400];

	tree_totals(r->sampler.tree, &t);
	if (t.user_ns >= 0) {
		sample_meta_int(s, "job.cpu_user_ns", t.user_ns);
		sample_meta_int(s, "job.cpu_system_ns", t.system_ns);
	}
	sample_meta_int(s, "job.cpu_ns", t.cpu_ns);
	sample_meta_int(s, "job.cpu_attributed_ns", t.attributed_ns);
	sample_meta_int(s, "job.processes_started", t.started);
	if (t.started_at_most >= t.started)
		sample_meta_int(s, "job.processes_started_at_most", t.started_at_most);
	if (t.peak >= 0)
		sample_meta_int(s, "job.processes_peak", t.peak);
	if (t.io_known) {
		sample_meta_int(s, "job.read_bytes", t.read_bytes);
		sample_meta_int(s, "job.written_bytes", t.written_bytes);
	}
	if (t.peak_memory_kind) {
		sample_meta_int(s, "job.peak_memory_bytes", t.peak_memory_bytes);
		sample_meta_text(s, "job.peak_memory_kind", t.peak_memory_kind);
		if (t.peak_memory_is_bound)
			sample_meta_bool(s, "job.peak_memory_is_lower_bound", true);
		if (t.peak_memory_at_most_bytes > t.peak_memory_bytes)
			sample_meta_int(s, "job.peak_memory_at_most_bytes",
					t.peak_memory_at_most_bytes);
		if (t.peak_memory_error_bytes)
			sample_meta_int(s, "job.peak_memory_error_bytes",
					t.peak_memory_error_bytes);
		sample_meta_int(s, "job.peak_memory_age_ns", t.peak_memory_age_ns);
	}
	if (recorder_is_launched(r->o) && tree_survivors(r->sampler.tree, names, sizeof names))
		sample_meta_text(s, "job.survivors", names);
}

/* What recording took until now. */
static void metas_cost(struct recorder *r)
{
	int64_t launchers_ns =
		r->roster ? roster_result(r->roster).launchers_cpu_ns : r->launcher_cpu_ns;
	struct sample *s = &r->sampler.sample;

	sample_meta_int(s, "monitor.cpu_ns",
			clock_cpu_ns() + r->sampler.children_ns + launchers_ns);
	sample_meta_int(s, "monitor.bytes_written", r->figures.written_bytes);
}

static void say_cost(struct recorder *r)
{
	struct sample *s = &r->sampler.sample;

	sample_meta_int(s, "monitor.samples", r->samples + 1);
	sample_meta_int(s, "monitor.max_rss_bytes", r->sampler.peak_resident_bytes);
	sample_meta_int(s, "monitor.late_samples", r->figures.late);
	sample_meta_int(s, "monitor.skipped_samples", r->figures.skipped);
	metas_cost(r);
	left_out_say(s);
	if (s->refused) /* series, instances or events there was no room for */
		sample_meta_int(s, "monitor.refused", (int64_t)s->refused);
}

/* A launcher was killed, and could not report how its task ended. */
static bool misses_an_end(const struct recorder *r)
{
	struct roster_result x;

	if (!r->roster)
		return false;
	x = roster_result(r->roster);
	return x.ended < x.tasks;
}

/* A signal that others send ended it, or what it ran, as a shell says. */
static bool was_ended(const struct recorder *r)
{
	int status = r->status, signal;

	if (misses_an_end(r))
		return true;
	if (!recorder_is_launched(r->o))
		return r->o->stop && *r->o->stop == SIGTERM;
	signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
	return r->ended && (signal == SIGTERM || signal == SIGKILL || signal == SIGINT ||
			    signal == SIGHUP || signal == SIGQUIT);
}

static void say_missing(struct recorder *r, enum batch_text which, const char *text)
{
	if (*text && !r->o->identity->job.text[which])
		say_masked(r, batch_text_key(which), text);
}

/* What a site's prolog is not told. */
static void say_requests(struct recorder *r, const struct scheduler_answer *a)
{
	const int64_t *known = r->o->identity->job.number;
	int64_t cores = known[BATCH_CORES_ASKED], bytes = a->node_memory_bytes;

	say_missing(r, BATCH_NAME, a->name);
	say_missing(r, BATCH_ACCOUNT, a->account);
	say_missing(r, BATCH_QOS, a->qos);
	if (bytes < 0 && (a->cpu_memory_bytes < 0 || cores < 1 ||
			  __builtin_mul_overflow(a->cpu_memory_bytes, cores, &bytes)))
		bytes = -1;
	if (bytes > 0 && known[BATCH_MEMORY_ASKED] < 0)
		sample_meta_int(&r->sampler.sample, batch_number_key(BATCH_MEMORY_ASKED), bytes);
}

/* Of the whole job: no node has an end of its own. */
static void say_end(struct sample *s, const struct scheduler_answer *a)
{
	if (a->signal > 0 && a->signal < NSIG)
		sample_meta_int(s, "job.scheduler_signal", a->signal);
	else if (!a->signal)
		sample_meta_int(s, "job.scheduler_exit_code", a->exit_code);
}

/* Why, one or two of the job's nodes ask: for the others it is the same. */
static void say_why(struct recorder *r)
{
	const struct batch_job *job = &r->o->identity->job;
	int64_t index = job->number[BATCH_NODE_INDEX];
	struct sample *s = &r->sampler.sample;
	const struct scheduler_question q = {
		.patience_ns = r->roster || r->o->for_site ? PATIENCE_NS : SHORT_PATIENCE_NS,
		.is_over = r->o->for_site,
	};
	struct scheduler_answer a;

	if (!was_ended(r) || index < 0 || index >= ASKING_NODES || !scheduler_ask(job, &q, &a))
		return;
	sample_meta_text(s, "job.scheduler_state", a.state);
	if (a.time_limit_s > 0 && job->number[BATCH_TIME_LIMIT] < 0)
		sample_meta_int(s, "job.time_limit_seconds", a.time_limit_s);
	if (a.lost[0])
		sample_meta_text(s, "job.nodes_down", a.lost);
	if (a.lost_why[0])
		sample_meta_text(s, "job.nodes_down_reason", a.lost_why);
	if (q.is_over) {
		say_requests(r, &a);
		say_end(s, &a);
	}
}

/* What helpers took for that is told with the rest. */
static void say_crashes(struct recorder *r)
{
	int64_t before_ns = clock_children_ns();

	crash_log_say(r->crash_log, r->sampler.tree, !r->ended || r->status, r->o->words,
		      &r->sampler.sample);
	r->sampler.children_ns += clock_children_ns() - before_ns;
}

void metas_end(struct recorder *r)
{
	say_status(r);
	say_crashes(r);
	say_why(r);
	say_totals(r);
	say_cost(r);
}

/* The end of the recording: when it is whole, and when it is on the disk. */

/* What was written there is seen by all who read it, room was found for it, and only a power cut
 * takes it away again. A server may refuse it later, and shows it to other nodes later. */
static bool is_of_this_node(int fd)
{
	static const uint32_t known[] = {
		0xef53,     /* ext2, ext3, ext4 */
		0x58465342, /* xfs */
		0x9123683e, /* btrfs */
		0xf2f52010, /* f2fs */
		0x2fc12fc1, /* zfs */
		0x01021994, /* tmpfs */
		0x794c7630, /* overlay */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if ((uint32_t)fs.f_type == known[i])
			return true;
	return false;
}

void recorder_take_figures(struct recorder *r)
{
	struct writer_figures w;

	writer_figures(r->writer, &w);
	r->figures.written_bytes = (int64_t)w.bytes;
}

/* Sealing takes CPU time and bytes, too. What recording took is said behind it: only the end of the
 * file is missing there, and those of the processes. */
static int end_writer(struct recorder *r, struct err *e)
{
	if (!writer_seal(r->writer, e)) {
		recorder_take_figures(r);
		metas_cost(r);
		writer_events(r->writer, &r->sampler.sample, e);
	}
	return writer_end(r->writer, e);
}

int recorder_close(struct recorder *r, struct err *e)
{
	void (*closed)(void *context) = r->o->closed;
	int bad = end_writer(r, e);

	if (!bad && closed && is_of_this_node(r->directory)) {
		closed(r->o->closed_context);
		closed = NULL;
	}
	if (!bad) {
		bad = writer_close(r->writer, e);
		r->writer = NULL;
	}
	if (!bad && closed)
		closed(r->o->closed_context);
	return bad;
}

/* A process of the recorder's own, out of reach of the job's signals. */

/* In the new process: the job's pipes and locks are not the recorder's to hold. What it keeps below
 * 3 is to speak on. */
static void settle(int kept, int speaks)
{
	setsid();
	umask(umask(077) & 077); /* so that its user may read what it writes */
	descriptors_close(3, kept);
	descriptors_null(speaks);
	prctl(PR_SET_NAME, "sonde-recorder");
}

int recorder_detach(int *fd, pid_t *pid, struct orphan *beside, struct err *e)
{
	int pair[2], forked;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	forked = orphan_fork_two(beside);
	if (forked) {
		close(pair[1]);
		*fd = pair[0];
		if (forked > 0) {
			*pid = forked;
			return 0;
		}
		close(pair[0]);
		*fd = -1;
		return err_set(e, forked, "cannot fork: %s", strerror(-forked));
	}
	settle(pair[1], STDERR_FILENO);
	*fd = pair[1];
	return 1;
}

void recorder_may_look(int fd)
{
	if (fd >= 0)
		send(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void recorder_await_launcher(struct recorder *r)
{
	char go;

	if (r->o->launcher >= 0 && !r->may_look)
		(void)!recv(r->o->launcher, &go, 1, 0);
	r->may_look = true;
}

int recorder_detach_shared(int listener, struct err *e)
{
	int forked = orphan_fork();

	if (!forked) {
		settle(listener, STDERR_FILENO + 1);
		return 1;
	}
	close(listener);
	return forked > 0 ? 0 : err_set(e, forked, "cannot fork: %s", strerror(-forked));
}

void recorder_ignore_signals(void)
{
	static const int ignored[] = { SIGINT,  SIGHUP,  SIGQUIT, SIGTERM, SIGUSR1,
				       SIGUSR2, SIGPIPE, SIGXCPU, SIGXFSZ, SIGALRM };
	sigset_t none;

	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Whoever asks the scheduler for short turns need not wait until those of others are over (Linux
 * 6.12; before it, nothing comes of it). */
void recorder_short_turns(void)
{
	enum { TURN_NS = 100000 }; /* the shortest there is */
	struct { /* sched_attr: headers of different ages have it in different places */
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = { .size = sizeof a };

	if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) || a.policy != SCHED_OTHER)
		return;
	a.runtime = TURN_NS;
	syscall(SYS_sched_setattr, 0, &a, 0);
}

/* The job's limits are not meant for its recorder: as far as it may, it lifts its own. */
void recorder_lift_limits(struct recorder *r)
{
	static const __rlimit_resource_t lifted[] = { RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS,
						      RLIMIT_DATA, RLIMIT_CPU };
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	for (__rlimit_resource_t i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &r->limits[i]);
	for (size_t i = 0; i < sizeof lifted / sizeof lifted[0]; i++) {
		struct rlimit l = r->limits[lifted[i]];

		l.rlim_cur = l.rlim_max;
		if (lifted[i] == RLIMIT_NOFILE || setrlimit(lifted[i], &none))
			setrlimit(lifted[i], &l);
	}
	signal(SIGXFSZ, SIG_IGN); /* what is too large for a file is an error of the write */
}

/* Tables have room for the largest machines: what a small one leaves empty is memory only once it
 * is written to. So large ones come from the kernel, which need not be zeroed again. */
void recorder_take_tables_from_kernel(void)
{
	enum {
		LARGE = 20000,    /* bytes: more than a file's text */
		AT_ONCE_MB = 320, /* what is reserved until the first sample */
	};

	reserve_at_once((size_t)AT_ONCE_MB << 20);
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_ARENA_MAX, 1); /* threads that are there for a moment need none of their own */
}

/* Sources open as many files as they get; what the recording itself needs is kept from them. */
void recorder_keep_files(const struct recorder *r, rlim_t kept)
{
	struct rlimit l = r->limits[RLIMIT_NOFILE];

	l.rlim_cur = l.rlim_max > 2 * kept ? l.rlim_max - kept : l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}
