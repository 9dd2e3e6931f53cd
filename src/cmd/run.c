/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - record a command and everything it starts. */
#include "base/bytes.h"
#include "base/clock.h"
#include "base/text/escape.h"
#include "console/command.h"
#include "job/launch.h"
#include "job/said.h"
#include "sampler/tree/reading.h"
#include "session/annotations.h"
#include "session/followers.h"
#include "session/recording.h"
#include "session/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0, or the errno of executing it. */
static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == EACCES ? EACCES : ENOENT;
	if (S_ISDIR(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

static int check_in(const char *list, const char *name)
{
	char path[PATH_MAX];
	int found = ENOENT;

	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ":");
		int rc = ENOENT;

		if ((size_t)snprintf(path, sizeof path, "%.*s%s%s", (int)n, at, n ? "/" : "",
				     name) < sizeof path)
			rc = check_file(path);
		if (!rc)
			return 0;
		found = rc == ENOENT ? found : rc;
		at += n;
		if (!*at)
			return found;
	}
}

static int check_name(const char *name)
{
	char standard[256];
	const char *list = getenv("PATH");

	if (!*name)
		return ENOENT;
	if (strchr(name, '/'))
		return check_file(name);
	if (list)
		return check_in(list, name);
	return confstr(_CS_PATH, standard, sizeof standard) < sizeof standard
		       ? check_in(standard, name)
		       : 0;
}

static bool is_for_a_shell(char *const *argv)
{
	static const char *const builtins[] = { "cd",     "export", "source", ".",
						"ulimit", "umask",  "alias",  "set",
						"unset",  "eval",   "exec",   "if",
						"for",    "while",  "case",   "module" };

	for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
		if (!strcmp(argv[0], builtins[i]))
			return true;
	return strpbrk(argv[0], " \t|&;<>()$`*") || strchr(argv[0], '=');
}

/* "; for a shell: sonde run -- sh -c 'cd /tmp'" */
static void add_hint(struct bytes *b, char *const *argv)
{
	struct bytes words = { 0 };

	for (char *const *word = argv; *word; word++) {
		bytes_puts(&words, word == argv ? "" : " ");
		if (word == argv) /* as it was written: it may be a whole line */
			bytes_puts(&words, *word);
		else
			escape_shell(&words, *word);
	}
	bytes_u8(&words, '\0');
	bytes_puts(b, "; to run it in a shell: sonde run -- sh -c ");
	escape_shell(b, words.failed ? "LINE" : (const char *)words.data);
	bytes_free(&words);
}

/* 0, or LAUNCH_NOT_FOUND or LAUNCH_NOT_EXECUTABLE, and then it has said why in a line; with the way
 * to hand the words to a shell when they are meant for one. */
static int program_check(char *const *argv)
{
	int rc = check_name(argv[0]);
	struct bytes hint = { 0 };

	if (rc == ENOENT && is_for_a_shell(argv))
		add_hint(&hint, argv);
	bytes_u8(&hint, '\0');
	if (rc == ENOENT)
		say("%s: command not found%s", *argv[0] ? argv[0] : "''",
		    hint.failed ? "" : (const char *)hint.data);
	else if (rc)
		say("%s: cannot execute: %s", argv[0], strerror(rc));
	bytes_free(&hint);
	if (!rc)
		return 0;
	return rc == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}

enum { READY_MS = 3000, DONE_MS = 15000 };

struct run_options {
	struct recording_options recording; /* first, as RECORDING_OPTIONS wants it */
	bool wait_all, no_env, no_error_text, report;
	int64_t node_recorder; /* enum node_recorder */
	struct option_list mark_logs, mark_rules;
};

_Static_assert(offsetof(struct run_options, recording) == 0, "RECORDING_OPTIONS");

static const struct option options[] = {
	RECORDING_OPTIONS,
	{ .name = "annotations",
	  .type = ARG_TEXT,
	  .value = "KIND,...",
	  .help = "Record what the job's programs report through a library that Sonde makes them load: mpi (each rank's calls of MPI: time, bytes, efficiencies), which sets "
		  "LD_PRELOAD for CMD, in front of what is there; and as spans: nvtx (ranges of "
		  "NVTX), itt (tasks of Intel's ITT), kokkos (kernels and regions; kokkos3: before "
		  "version 3.7) and ompt (OpenMP of clang and Intel), each of which sets the "
		  "variable of that interface.",
	  OPTION_OFFSET(struct recording_options, annotations) },
	{ .name = "no-env",
	  .type = ARG_FLAG,
	  .help = "Do not record the command's environment. By default it is recorded, with "
		  "passwords, keys and tokens masked.",
	  OPTION_OFFSET(struct run_options, no_env) },
	{ .name = "no-error-text",
	  .type = ARG_FLAG,
	  .help = "Do not record what a failed command printed last. By default the last lines of "
		  "its standard error are recorded, at most 4 KiB, if that is a file, with "
		  "passwords, keys and tokens masked; also if only a process of it failed.",
	  OPTION_OFFSET(struct run_options, no_error_text) },
	{ .name = "mark-log",
	  .type = ARG_LIST,
	  .value = "FILE",
	  .help = "Turn lines of this log, which the job writes, into marks by --mark-rule. "
		  "Repeatable. Existing lines are skipped.",
	  OPTION_OFFSET(struct run_options, mark_logs) },
	{ .name = "mark-rule",
	  .type = ARG_LIST,
	  .value = "REGEX=MARK",
	  .help = "Turn each line that matches REGEX (extended) into a mark: NAME [KEY=VALUE "
		  "...], or B NAME and E NAME for a span. \\1 is replaced by the first capture "
		  "group. Repeatable.",
	  OPTION_OFFSET(struct run_options, mark_rules) },
	{ .name = "node-recorder",
	  .type = ARG_CHOICE,
	  .value = "auto|shared|own",
	  .fallback = "auto",
	  .help = "Share one recorder among the copies of sonde on a node that record into the "
		  "same directory with the same options. auto: in a batch job and under mpirun. "
		  "shared: always. own: never.",
	  OPTION_OFFSET(struct run_options, node_recorder) },
	{ .name = "report",
	  .type = ARG_FLAG,
	  .help = "Write the page at the end, like `sonde report --only html`, and print its path "
		  "on standard error. Not for copies that share a recorder.",
	  OPTION_OFFSET(struct run_options, report) },
	{ .name = "wait-all",
	  .type = ARG_FLAG,
	  .help = "Wait for background processes of the command, too.",
	  OPTION_OFFSET(struct run_options, wait_all) },
};

static const struct example examples[] = {
	{ "run -- make -j2", "record a build" },
	{ "run -i 100ms -o first_try -- ./app --size 10",
	  "ten samples per second, into a named directory" },
	{ "run --report -- ./app", "also write the page" },
	{ "run --quiet --summary summary.txt -- ./app", "keep standard error for the application" },
	{ "run --mark-log app.log --mark-rule 'Epoch ([0-9]+)=epoch n=\\1' -- ./app",
	  "create marks from the program's log" },
};

/* SONDE=0 in the environment switches recording off from outside of a job script. */
static int without_recording(char **argv)
{
	if (!getenv(MARK_FILE_VARIABLE))
		setenv(MARK_FILE_VARIABLE, "/dev/null", 1);
	execvp(argv[0], argv);
	say("%s: %s", argv[0], strerror(errno));
	return errno == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}

/* What a recorder does behind its recording. */
struct after {
	const struct recording_plan *plan;
	int launcher;
	struct progressline line;
	bool done, tidy;
	const struct said *said;
};

/* While the job runs, or when the launcher was let go. */
static void tidy_up(void *after)
{
	struct after *a = after;

	if (!a->tidy)
		said_tidy(a->said);
	a->tidy = true;
}

/* Tell the story, let the launcher go. */
static void tell_and_let_go(struct after *a, bool bad)
{
	const struct message done = { .kind = MESSAGE_DONE };

	progressline_end(&a->line);
	if (!bad)
		recording_print(a->plan);
	if (!bad && a->plan->why)
		*a->plan->why = '\0'; /* what it said was no failure */
	message_send(a->launcher, &done);
	a->done = true;
}

static void let_go_early(void *after)
{
	tell_and_let_go(after, false);
}

/* In the recorder's own process: record, tell the story, let the launcher go. A summary needs files
 * and memory, of which there may be few: it waits until the sampler has given back its own. */
static _Noreturn void be_recorder(const struct recording_plan *plan, const struct launch *l,
				  const struct shared *job)
{
	struct recorder_options r = recording_recorder(plan);
	struct after after = { .plan = plan, .launcher = l->recorder, .said = job->said };
	int bad;

	r.instead = plan->moved ? plan->instead : NULL;
	r.moved = plan->moved;
	r.command = l->argv[0];
	r.words = l->argv;
	r.environment = job->with_environment ? environ : NULL;
	r.marks = job->marks >= 0 ? getenv(MARK_FILE_VARIABLE) : NULL;
	r.spans = job->spans;
	r.launcher = l->recorder;
	r.sampler.tree.launcher = job->launcher;
	r.beside = tidy_up;
	r.beside_context = &after;
	r.closed = recording_is_silent(plan) ? let_go_early : NULL;
	r.closed_context = &after;
	progressline_start(&after.line, plan, job->launcher);
	bad = recorder_run(&r);
	if (!after.done)
		tell_and_let_go(&after, bad != 0);
	tidy_up(&after);
	_exit(0);
}

static pid_t own_pid(const char *procfs)
{
	struct root proc;
	pid_t pid = 0;

	if (!root_open(&proc, procfs ? procfs : "/proc"))
		pid = reading_self(&proc);
	root_close(&proc);
	return pid ? pid : getpid();
}

/* Beside: what the recorder need not wait for; NULL: nothing is. */
static void start_recorder(struct launch *l, const struct shared *job, struct orphan *beside)
{
	struct err e = { "" };
	int code = recorder_detach(&l->recorder, &l->recorder_pid, beside, &e);

	if (code == 1)
		be_recorder(job->plan, l, job);
	if (code < 0)
		say("run: not recording: %s", e.text);
}

/* One that is shared, or one of its own. The sentinel is there before either looks at processes: it
 * is none of the job's. One's own recorder has other things to do until then, and one process in
 * between makes both. */
static void find_recorder(struct launch *l, struct shared *s, enum node_recorder how,
			  struct progressline *line)
{
	bool is_shared = shared_is_wanted(s, how), beside;
	struct orphan sentinel;

	if (is_shared)
		sentinel_start(l->sentinel);
	if (is_shared && shared_join(s)) {
		l->share = &s->share;
		setenv("SONDE_RUN_ID", s->plan->run_id, 1);
		progressline_start(line, s->plan, s->launcher);
		return;
	}
	beside = !is_shared && sentinel_plan(l->sentinel, &sentinel);
	start_recorder(l, s, beside ? &sentinel : NULL);
	if (beside)
		sentinel_take(l->sentinel, &sentinel);
	recorder_may_look(l->recorder);
}

static void say_lost(const struct recording_plan *plan)
{
	say("recording: the recorder ended, or did not answer, before it was done; what it "
	    "recorded is in %s",
	    recording_directory(plan));
}

/* The recorder is ready: where it records is known. */
static void name_directory(void *plan)
{
	setenv("SONDE_DIR", recording_absolute(plan), 1);
}

/* What the recorder says of a failure, which is said again when the job has printed all it had; and
 * whether it had to take another directory. */
static void share_words(struct recording_plan *plan, struct launch *l)
{
	struct words {
		char why[RECORDING_WHY];
		bool moved;
	} *words = mmap(NULL, sizeof *words, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);

	name_directory(plan);
	l->ready = name_directory;
	l->ready_ctx = plan;
	if (words == MAP_FAILED)
		return;
	plan->why = words->why;
	plan->moved = &words->moved;
}

/* By another process: the page takes memory, and the job's end is to be repeated here. */
static void write_page(const struct recording_plan *plan, const struct launch_signals *saved)
{
	pid_t pid = fork();

	if (!pid) {
		launch_signals_restore(saved);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/proc/self/exe", "sonde", "report", "--only", "html", "--",
		      recording_absolute(plan), (char *)NULL);
		say("run: --report: %s", strerror(errno));
		_exit(EXIT_FAILED);
	}
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

/* When the job is over, what went wrong with the recording, else its page. */
static void conclude(const struct run_options *o, const struct recording_plan *plan,
		     const struct launch *l, const struct launch_end *end)
{
	bool failed = plan->why && *plan->why;

	if (failed)
		say("recording failed: %s", plan->why);
	if (failed && o->recording.json)
		print_error_json(stderr, "run");
	if (end->recorder_lost)
		say_lost(plan);
	else if (o->report && !failed && end->wall_ns && !l->share)
		write_page(plan, l->saved);
}

/* On the heap: the job's limit of the stack may be a small one. NULL: none are, or it has said why
 * they cannot be. */
static struct mark_log *logs_to_follow(const struct run_options *o, bool *bad)
{
	struct mark_log *logs = NULL;

	*bad = false;
	if (!o->mark_logs.n && !o->mark_rules.n)
		return NULL;
	logs = calloc(1, sizeof *logs);
	if (!logs)
		say("run: out of memory");
	else if (logmarks_read(logs, &o->mark_logs, &o->mark_rules))
		return logs;
	free(logs);
	*bad = true;
	return NULL;
}

/* What the launcher starts with. */
static struct launch launch_of(const struct run_options *o, char **argv,
			       const struct launch_signals *saved, struct sentinel *sentinel)
{
	return (struct launch){ .argv = argv,
				.sentinel = sentinel,
				.saved = saved,
				.recorder = -1,
				.wait_all = o->wait_all,
				.let_go = true,
				.error_text = o->no_error_text ? PRINTED_REFUSED : PRINTED_WANTED,
				.ready_ms = READY_MS,
				.done_ms = DONE_MS };
}

/* Where the job says what it does. */
static void listen_to(struct said *x, struct shared *told)
{
	struct err e = { "" };

	if (said_make(x, &e))
		say("run: %s", e.text);
	told->said = x;
	told->marks = x->marks.fd;
	told->spans = x->spans.path;
}

/* A recorder of its own has them open, and tidies beside them. */
static void hand_over(struct said *x, const struct launch *l)
{
	if (l->share)
		said_tidy(x);
	else
		said_taken(x);
}

/* What the command starts loads what hands over its marks; what comes behind it does not. */
static int launch(const struct launch *l, const char *annotations, struct launch_end *end,
		  struct err *e)
{
	struct annotations before = { 0 };
	int code;

	annotations_export(&before, annotations, l->argv[0]);
	code = launch_command(l, end, e);
	annotations_undo(&before);
	return code;
}

static int run(const void *given, int n, char **argv)
{
	const struct run_options *o = given;
	const char *off = getenv("SONDE");
	struct recording_plan plan;
	struct launch_signals saved;
	struct sentinel sentinel;
	struct launch l = launch_of(o, argv, &saved, &sentinel);
	struct shared shared = { .plan = &plan, .argv = argv, .with_environment = !o->no_env };
	struct progressline line = { .fd = -1 };
	struct mark_log *logs;
	struct said said;
	struct launch_end end;
	struct err e = { "" };
	bool bad;
	int code;

	if (!n) {
		say("run: no command given: sonde run -- CMD [ARGS...]");
		return LAUNCH_FAILED;
	}
	if (off && !strcmp(off, "0"))
		return without_recording(argv);
	code = program_check(argv);
	if (code)
		return code;
	if (o->recording.annotations && !annotations_check(o->recording.annotations))
		return LAUNCH_FAILED;
	logs = logs_to_follow(o, &bad);
	if (bad || !recording_plan(&plan, &o->recording))
		return LAUNCH_FAILED;
	share_words(&plan, &l);
	shared.launcher = own_pid(o->recording.procfs);
	setenv("SONDE_RUN_ID", plan.run_id, 1);
	if (launch_begin(&saved, &e)) {
		say("run: %s", e.text);
		return LAUNCH_FAILED;
	}
	listen_to(&said, &shared);
	l.follower = logmarks_start(logs, said.marks.path);
	find_recorder(&l, &shared, (enum node_recorder)o->node_recorder, &line);
	hand_over(&said, &l);
	code = launch(&l, o->recording.annotations, &end, &e);
	progressline_end(&line);
	said_remove(&said);
	conclude(o, &plan, &l, &end);
	if (code == LAUNCH_NO_PROCESS) {
		say("run: %s; running CMD without a recording", e.text);
		launch_signals_restore(&saved);
		return without_recording(argv);
	}
	if (l.share)
		shared_print(&shared);
	if (code) {
		say("%s", e.text);
		return code;
	}
	launch_repeat(end.status);
}

const struct command command_run = {
	.name = "run",
	.operands = "[--] CMD [ARGS...]",
	.what = "Record a command and everything it starts",
	.description =
		"Runs CMD and records how it and its descendants use the machine, until CMD ends. "
		"The recording is a new directory, named after the batch job or the time.\n\n"
		"CMD is not affected. It keeps its standard input and output, exit status, "
		"signals, limits, affinity and environment, except for the variables SONDE_DIR, "
		"SONDE_RUN_ID, SONDE_MARKS and SONDE_SPANS. If a signal ends CMD, sonde ends by "
		"the same signal. If Sonde cannot record, it prints a message on standard error "
		"before CMD starts and again after it ends; CMD runs anyway.\n\n"
		"Exit status: that of CMD; 125 for a usage error of sonde, 126 if CMD cannot be "
		"executed, 127 if CMD is not found. With SONDE=0 in the environment, CMD runs "
		"without a recording.",
	COMMAND_OPTIONS(options),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct run_options),
	.stop_at_operand = true,
	.usage_code = LAUNCH_FAILED,
	.exec = run,
};
