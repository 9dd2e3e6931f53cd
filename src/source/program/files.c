/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - the files that each process used. The helper sonde-files (src/files/) traces the job's
 * system calls, or looks at positions of descriptors; each of its rows becomes an instance whose
 * final counters are stored when the process ends. */
#include "base/bytes.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/process.h"
#include "base/text/number.h"
#include "source/program/files_row.h"
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	READY_MS = 6000,
	JOIN_MS = 1000,
	LAST_MS = 4000,
	SOCKET_ROOM = 4 << 20,
	RESTARTS_MOST = 3,
	LAUNCHERS_MOST = 64,
	PIDS_MOST = 4096,
};

#define ROW(name_, unit_, label_, help_)                                                           \
	{                                                                                          \
		"file." name_, .domain = "file", .unit = UNIT_##unit_, .kind = KIND_TOTAL,         \
			       .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM,           \
			       .label = label_, .help = help_                                      \
	}
#define NS(name_, label_, help_)                                                                   \
	{                                                                                          \
		"file." name_, .domain = "file", .unit = UNIT_SECONDS, .div = 1000000000,          \
			       .kind = KIND_TOTAL, .over_instances = COMBINE_SUM,                  \
			       .over_nodes = COMBINE_SUM, .label = label_, .help = help_           \
	}

static const struct metric metrics[] = {
	[FILE_READ_BYTES] =
		ROW("read_bytes", BYTES, "Read",
		    "Bytes that a process got from a file by system calls (`--files`)."),
	[FILE_WRITTEN_BYTES] = ROW("written_bytes", BYTES, "Written",
				   "Bytes that a process gave to a file by system calls."),
	[FILE_READS] = ROW("reads", COUNT, "Reads", "Calls of read and its kin on the file."),
	[FILE_WRITES] = ROW("writes", COUNT, "Writes", "Calls of write and its kin on the file."),
	[FILE_READ_NS] = NS("read_seconds", "Time in reads",
			    "Time within read and pread64 on the file, over all threads."),
	[FILE_WRITE_NS] = NS("write_seconds", "Time in writes",
			     "Time within write and pwrite64 on the file, over all threads."),
	[FILE_OTHER_NS] = NS("other_seconds", "Time in opens, stats and syncs",
			     "Time within openat, newfstatat and fsync that succeeded."),
	[FILE_SEQUENTIAL_BYTES] =
		ROW("sequential_bytes", BYTES, "Sequential",
		    "Bytes that were read or written where the call before on the "
		    "same descriptor had ended."),
	[FILE_OPENS] = ROW("opens", COUNT, "Opens", "How often the process opened the file."),
	[FILE_STATS] = ROW("stats", COUNT, "Stats",
			   "How often the process asked for the file's size, times and kind."),
	[FILE_NOT_FOUND] = ROW("not_found", COUNT, "Not found",
			       "Opens and stats of names in this directory that do not exist."),
	[FILE_SYNCS] = ROW("syncs", COUNT, "Syncs", "Calls of fsync and fdatasync."),
	[FILE_MAPPED_BYTES] =
		ROW("mapped_bytes", BYTES, "Mapped",
		    "Bytes of the file that the process mapped into its memory (mmap), each time; "
		    "how much of it was read or written there is not known."),
	[FILE_MAPPED_WRITABLE_BYTES] =
		ROW("mapped_writable_bytes", BYTES, "Mapped to be changed",
		    "Of the bytes mapped, those that the process could change in the file."),
	[FILE_CALLS_4K] = ROW("calls_below_4k", COUNT, "Calls below 4 KiB",
			      "Reads and writes that moved less than 4 KiB."),
	[FILE_CALLS_64K] = ROW("calls_below_64k", COUNT, "Calls of 4 to 64 KiB",
			       "Reads and writes that moved from 4 KiB to less than 64 KiB."),
	[FILE_CALLS_1M] = ROW("calls_below_1m", COUNT, "Calls of 64 KiB to 1 MiB",
			      "Reads and writes that moved from 64 KiB to less than 1 MiB."),
	[FILE_CALLS_ABOVE] = ROW("calls_from_1m", COUNT, "Calls of 1 MiB and more",
				 "Reads and writes that moved 1 MiB or more."),
	[FILE_FOLDED] =
		ROW("folded", COUNT, "Files together",
		    "Files of little use that are in this row together; 0: it is one file."),
	[FILE_SIZE] = ROW("size_bytes", BYTES, "Size", "The file's size at the process's end."),
	[FILE_MTIME_NS] = { "file.modified_seconds", .domain = "file", .unit = UNIT_SECONDS,
			    .div = 1000000000, .kind = KIND_TOTAL, .over_nodes = COMBINE_MAX,
			    .over_instances = COMBINE_MAX, .label = "Modified",
			    .help = "When the file was modified last, in seconds since 1970, as it "
				    "was at the process's end." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == FILE_COUNTERS, "a row for every counter");

struct files {
	const struct source_env *env;
	pid_t pid; /* of the helper; 0: it is gone */
	int socket;
	bool over, done, ready; /* ready: it has answered the last order */
	int64_t lost, cpu_ns, dropped;
	int64_t lost_before, cpu_before_ns; /* of the helpers that ended too early */
	bool uses_io_uring;
	uint32_t restarts;
	pid_t launcher[LAUNCHERS_MOST]; /* a helper that is started anew knows them, too */
	uint32_t nlaunchers;
	pid_t pids[PIDS_MOST];
	uint32_t instance[FILES_ROWS]; /* of each row of the helper */
	struct files_answer answer;
	char why[256];  /* positions alone: the reason */
	char note[800]; /* what is missing; "": nothing */
	char masked[FILES_TEXT];
};

/* ---- the helper ---- */

static _Noreturn void become(const char *path, int socket, bool positions)
{
	char *const argv[] = { (char *)path, positions ? (char *)"positions" : NULL, NULL };
	int from = fcntl(socket, F_DUPFD, FILES_SOCKET + 1);
	int null = open("/dev/null", O_RDWR);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int fd = 0; fd < FILES_SOCKET && null >= 0; fd++)
		(void)dup2(null, fd);
	if (dup2(from, FILES_SOCKET) < 0)
		_exit(HELPER_NOT_STARTED);
	descriptors_close(FILES_SOCKET + 1, -1);
	(void)execv(path, argv);
	_exit(HELPER_NOT_STARTED);
}

static int start(struct files *k, struct err *e)
{
	char path[PATH_MAX];
	int pair[2], room = SOCKET_ROOM, bad = helper_find("files", NULL, path, sizeof path, e);

	if (bad)
		return bad;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	(void)setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
	k->socket = fcntl(pair[0], F_DUPFD_CLOEXEC, FILES_SOCKET);
	close(pair[0]);
	k->pid = k->socket < 0 ? -1 : fork();
	if (k->pid == 0)
		become(path, pair[1], k->env->files == FILES_BY_POSITIONS);
	bad = k->pid < 0 ? -errno : 0;
	close(pair[1]);
	return bad ? err_set(e, bad, "cannot start %s: %s", path, strerror(-bad)) : 0;
}

/* It may take seconds to end: the kernel closes its events one after the other. Nobody waits. */
static void stop(struct files *k)
{
	if (k->socket > 0)
		close(k->socket);
	k->socket = 0;
	if (k->pid > 0)
		(void)kill(k->pid, SIGKILL);
	if (k->pid > 0)
		(void)waitpid(k->pid, NULL, WNOHANG);
	k->pid = 0;
}

/* One message; false: none came in time, or it is malformed. */
static bool receive(struct files *k, int timeout_ms)
{
	struct pollfd p = { .fd = k->socket, .events = POLLIN };
	struct files_answer *a = &k->answer;
	ssize_t n;

	if (timeout_ms && poll(&p, 1, timeout_ms) <= 0)
		return false;
	n = recv(k->socket, a, sizeof *a - 1, MSG_DONTWAIT);
	if (n < (ssize_t)offsetof(struct files_answer, text))
		return false;
	((char *)a)[n] = '\0';
	a->comm[sizeof a->comm - 1] = '\0';
	return true;
}

/* ---- rows ---- */

static const char *shown(struct files *k, const char *path)
{
	struct bytes b = { .data = (uint8_t *)k->masked, .cap = sizeof k->masked, .fixed = true };
	const char *slash;

	if (k->env->mask.text) {
		k->env->mask.text(k->env->mask.secrets, &b, path);
		bytes_u8(&b, 0);
		path = b.failed ? "(masked)" : k->masked;
	}
	slash = k->env->no_paths ? strrchr(path, '/') : NULL;
	return slash && slash[1] ? slash + 1 : slash ? "(directory)" : path;
}

static void take_row(struct files *k, struct sample *s)
{
	struct files_answer *a = &k->answer;
	const struct source_job *job = &k->env->job;
	const char *mount = a->text + strlen(a->text) + 1;
	uint32_t parent, *instance = &k->instance[a->row % FILES_ROWS];

	if (a->row >= FILES_ROWS || a->first_ns < 0 || a->last_ns < a->first_ns)
		return;
	if (s->nevents > s->event_cap / 4 * 3 || s->text_len > s->text_cap / 4 * 3) {
		number_add(&k->dropped, 1);
		return;
	}
	if (!*instance) {
		parent = a->pid > 0 && job->tree ? job->instance(job->tree, a->pid) : 0;
		*instance = sample_instance(s, "file", *a->text ? shown(k, a->text) : "(unnamed)",
					    parent, a->first_ns, 0);
		sample_label(s, *instance, "command", a->pid ? a->comm : "(all)");
		if (mount < a->text + sizeof a->text && *mount)
			sample_label(s, *instance, "mount",
				     k->env->no_paths ? "(not recorded)" : mount);
	}
	sample_final(s, *instance, metrics, FILE_COUNTERS, a->value, a->known);
	sample_end(s, *instance, a->last_ns);
}

static void take_ready(struct files *k)
{
	k->ready = true;
	if (*k->answer.text)
		snprintf(k->why, sizeof k->why, "%.250s", k->answer.text);
}

static void take_answer(struct files *k, struct sample *s)
{
	if (k->answer.kind == FILES_ROW)
		take_row(k, s);
	else if (k->answer.kind == FILES_DONE)
		k->done = true;
	else if (k->answer.kind == FILES_READY)
		take_ready(k);
	if (k->answer.kind != FILES_LOST)
		return;
	k->lost = k->answer.value[0] > 0 ? k->answer.value[0] : 0;
	k->cpu_ns = k->answer.value[1] > 0 ? k->answer.value[1] : 0;
	k->uses_io_uring |= k->answer.value[2] > 0;
}

/* That a task is traced from now on. */
static int order(struct files *k, enum files_order_kind kind, pid_t pid, int patience_ms,
		 struct sample *s)
{
	struct files_order o = { kind, (int32_t)pid };

	if (send(k->socket, &o, sizeof o, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof o)
		return -EPIPE;
	k->ready = !patience_ms;
	while (!k->ready && receive(k, patience_ms))
		take_answer(k, s);
	return k->ready ? 0 : -ETIMEDOUT;
}

/* One more sentence. */
static void note(struct files *k, struct sample *s, const char *text)
{
	size_t n = strlen(k->note);

	snprintf(k->note + n, sizeof k->note - n, "%s%s", n ? "; " : "", text);
	sample_meta_text(s, "files.note", k->note);
}

static void say_figures(struct files *k, struct sample *s)
{
	number_add(&k->lost, k->lost_before);
	number_add(&k->cpu_ns, k->cpu_before_ns);
	if (k->lost)
		sample_meta_int(s, "files.records_lost", k->lost);
	if (k->dropped)
		sample_meta_int(s, "files.rows_dropped", k->dropped);
	if (k->cpu_ns > 0)
		sample_meta_int(s, "files.helper_cpu_ns", k->cpu_ns);
}

static void finish(struct files *k, struct sample *s)
{
	int64_t end_ns = clock_mono_ns() + LAST_MS * NS_PER_MS, left_ns;

	(void)order(k, FILES_FINISH, 0, 0, s);
	while (!k->done && (left_ns = end_ns - clock_mono_ns()) > 0 &&
	       receive(k, (int)(left_ns / NS_PER_MS) + 1))
		take_answer(k, s);
	if (!k->done)
		note(k, s, "the last files are missing: the helper sonde-files did not answer");
	if (k->uses_io_uring)
		note(k, s,
		     "the job used io_uring: what it reads and writes by that is not counted");
	say_figures(k, s);
	k->over = true;
}

/* Another one for what the job has by now. Its rows are rows of their own. */
static bool start_again(struct files *k, struct err *e)
{
	const struct source_job *job = &k->env->job;
	struct files_order o = { FILES_LAUNCHER, 0 };
	size_t n;

	memset(k->instance, 0, sizeof k->instance);
	number_add(&k->lost_before, k->lost);
	number_add(&k->cpu_before_ns, k->cpu_ns);
	k->lost = k->cpu_ns = 0;
	if (start(k, e))
		return false;
	for (uint32_t i = 0; i < k->nlaunchers; i++) {
		o.pid = k->launcher[i];
		(void)send(k->socket, &o, sizeof o, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	n = job->tree ? job->pids(job->tree, k->pids, PIDS_MOST) : 0;
	for (size_t i = 0; i < n; i++) {
		o = (struct files_order){ FILES_RUNNING, k->pids[i] };
		for (uint32_t l = 0; l < k->nlaunchers; l++)
			if (k->launcher[l] == o.pid)
				o.kind = 0;
		if (o.kind)
			(void)send(k->socket, &o, sizeof o, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	return true;
}

/* It was killed or has crashed: what it had counted and not sent is lost. */
static void replace(struct files *k, struct sample *s)
{
	struct err e = { "it had ended too often" };
	char text[400];

	k->pid = 0;
	stop(k);
	if (k->restarts < RESTARTS_MOST && start_again(k, &e)) {
		sample_meta_int(s, "files.helper_restarts", ++k->restarts);
		snprintf(text, sizeof text,
			 "the helper sonde-files ended too early and was started again (%u): calls "
			 "in between, and those not yet stored, are missing",
			 k->restarts);
		k->note[0] = '\0'; /* of the restarts before */
	} else {
		stop(k);
		k->over = true;
		snprintf(text, sizeof text,
			 "recorded until the helper sonde-files ended too early: %.300s", e.text);
	}
	note(k, s, text);
}

static int files_read(void *state, struct sample *s)
{
	struct files *k = state;

	if (k->over)
		return 0;
	while (s->nevents < s->event_cap / 2 && receive(k, 0))
		take_answer(k, s);
	if (waitpid(k->pid, NULL, WNOHANG) == k->pid)
		replace(k, s);
	if (s->last && !k->over)
		finish(k, s);
	return 0;
}

/* ---- opening ---- */

static void remember(struct files *k, pid_t launcher)
{
	if (k->nlaunchers < LAUNCHERS_MOST)
		k->launcher[k->nlaunchers++] = launcher;
}

static int files_joined(void *state, pid_t launcher, bool runs, struct sample *s)
{
	struct files *k = state;

	if (k->over || launcher == k->env->roots[0])
		return 0;
	(void)runs;
	remember(k, launcher);
	return order(k, FILES_LAUNCHER, launcher, JOIN_MS, s);
}

static int files_adopted(void *state, const pid_t *pids, size_t n, struct sample *s)
{
	struct files *k = state;
	int bad = 0;

	for (size_t i = 0; i < n && !k->over && !bad; i++)
		bad = order(k, FILES_RUNNING, pids[i], 0, s);
	return bad;
}

static void files_close(void *state)
{
	stop(state);
}

/* Why there was no answer: it still runs, or has ended, as where its libraries are not there. */
static int no_answer(struct files *k, struct err *e)
{
	int status = 0;
	char c;

	if (!recv(k->socket, &c, 1, MSG_PEEK | MSG_DONTWAIT) && /* its other end is closed */
	    waitpid(k->pid, &status, 0) == k->pid) {
		k->pid = 0;
		return WIFEXITED(status) && WEXITSTATUS(status) == HELPER_NOT_STARTED
			       ? helper_cannot_start("files", "libc6", e)
			       : helper_lost("files", "libc6", e);
	}
	return err_set(e, -EPIPE, "the helper sonde-files did not answer");
}

static int begin(struct files *k, struct sample *s, struct err *e)
{
	int bad = start(k, e);

	if (bad)
		return bad;
	if (!receive(k, READY_MS) || k->answer.kind != FILES_READY)
		return no_answer(k, e);
	snprintf(k->why, sizeof k->why, "%.250s", k->answer.text);
	if (k->env->launched && k->env->nroots)
		remember(k, k->env->roots[0]);
	for (size_t i = 0; i < k->env->nroots && !bad && !k->env->followed; i++)
		bad = order(k, k->env->launched && !i ? FILES_LAUNCHER : FILES_RUNNING,
			    k->env->roots[i], READY_MS, s);
	return bad ? err_set(e, bad, "the helper sonde-files did not answer") : 0;
}

static int files_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct files *k = state;
	int bad;

	if (strcmp(env->proc.path, "/proc") != 0)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	k->env = env;
	bad = begin(k, s, e);
	if (bad) {
		stop(k);
		return bad;
	}
	if (*k->why) {
		char text[400];

		snprintf(text, sizeof text, "by positions of descriptors alone: %s", k->why);
		note(k, s, text);
	}
	sample_meta_text(s, "files.by", *k->why ? "positions" : "calls");
	if (!env->nroots && !env->followed) {
		stop(k);
		k->over = true; /* nothing is recorded: it was only tried */
		return 0;
	}
	sample_catalogue(s, metrics, FILE_COUNTERS);
	return 0;
}

static bool files_wanted(const struct source_env *env)
{
	return env->files != FILES_OFF;
}

const struct source source_files = {
	.name = "files",
	.what = "files that the job used, by traced system calls",
	.fix_admin = "install libexec/sonde/sonde-files",
	SOURCE_METRICS(metrics),
	.declares_itself = true,
	.size = sizeof(struct files),
	.wanted = files_wanted,
	.open = files_open,
	.read = files_read,
	.joined = files_joined,
	.adopted = files_adopted,
	.close = files_close,
};
