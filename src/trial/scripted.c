/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/scripted.h"

#include "base/clock.h"
#include "base/helper.h"
#include "base/root.h"
#include "base/text/escape.h"
#include "base/text/number.h"
#include "base/text/textfile.h"
#include "console/command.h"
#include "job/message.h"
#include "job/said.h"
#include "job/words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READY_MS = 3000, DONE_MS = 15000 };
/* One byte more than a result may have, so that it is seen to be too long. */
enum { OUT_MOST = (16 << 20) + 1, ERR_MOST = 1 << 20, BLOCK = 65536 };
enum { OUT, ERR, REPORT, PIPES = SCRIPTED_PIPES };
enum { LAST_WORDS = 200 }; /* bytes of them in a reason */

/* ---- in the process that starts the script ---- */

static _Noreturn void be_recorder(const struct scripted_wish *w, const struct launch *l,
				  pid_t launcher, const struct said *said)
{
	const struct message done = { .kind = MESSAGE_DONE };
	struct recorder_options r = recording_recorder(w->plan);
	struct bytes words = { 0 };

	words_join(r.sampler.tree.secrets, &words, l->argv);
	bytes_u8(&words, '\0');
	r.command = words.failed ? l->argv[0] : (const char *)words.data;
	r.environment = environ;
	r.marks = said->marks.fd >= 0 ? said->marks.path : NULL;
	r.spans = said->spans.path;
	r.launcher = l->recorder;
	r.sampler.tree.launcher = launcher;
	recorder_run(&r);
	message_send(l->recorder, &done);
	_exit(0);
}

static void start_recorder(const struct scripted_wish *w, struct launch *l, const struct said *said)
{
	pid_t launcher = getpid();
	struct err e;

	if (recorder_detach(&l->recorder, &l->recorder_pid, NULL, &e) == 1)
		be_recorder(w, l, launcher, said);
	recorder_may_look(l->recorder);
}

static ssize_t read_children(char *buf, size_t size)
{
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : file_reread(fd, buf, size);

	if (fd >= 0)
		close(fd);
	return n;
}

static void name_of(int64_t pid, char *out, size_t size)
{
	char path[40];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%" PRId64 "/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : file_reread(fd, out, size);
	if (fd >= 0)
		close(fd);
	out[n > 0 ? strcspn(out, "\n") : 0] = '\0';
}

/* Orphans of the script have become children here: they end, and so do theirs. */
static void end_left(struct scripted_report *r)
{
	enum { TRIES = 2000 };
	const struct timespec pause = { .tv_nsec = NS_PER_MS };
	char buf[4096];
	int64_t pid;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	for (int i = 0; i < TRIES && read_children(buf, sizeof buf) > 0; i++) {
		for (const char *p = buf; number_i64(&p, &pid);) {
			if (!r->left)
				name_of(pid, r->left_name, sizeof r->left_name);
			r->left += !i;
			kill((pid_t)pid, SIGKILL);
		}
		nanosleep(&pause, NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

static void set_environment(const struct scripted_wish *w)
{
	for (uint32_t i = 0; w->environment && i < w->environment->n; i++) {
		char name[256];
		const char *text = w->environment->text[i], *is = strchr(text, '=');

		snprintf(name, sizeof name, "%.*s", is ? (int)(is - text) : 0, text);
		if (is)
			setenv(name, is + 1, 1);
	}
	if (!w->plan)
		return;
	setenv("SONDE_DIR", w->plan->absolute, 1);
	setenv("SONDE_RUN_ID", w->plan->run_id, 1);
}

static void take_output(int out, int err, bool discards)
{
	int in = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (in >= 0)
		dup2(in, STDIN_FILENO);
	dup2(discards && in >= 0 ? in : out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
}

static _Noreturn void be_launcher(const struct scripted_wish *w, const int to[PIPES])
{
	struct launch_signals saved;
	struct sentinel sentinel;
	struct launch l = { .argv = w->argv,
			    .sentinel = &sentinel,
			    .saved = &saved,
			    .recorder = -1,
			    .limit_ns = w->limit_ns,
			    .ready_ms = READY_MS,
			    .done_ms = DONE_MS };
	struct scripted_report r = { .code = LAUNCH_FAILED };
	struct said said = { .marks = { .fd = -1, .folder = -1 }, .spans.fd = -1 };
	struct err e = { "" };

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	set_environment(w);
	/* Before orphans come here: what makes it may hang, and is none of the script's. */
	if (w->plan && said_make(&said, &e))
		say("bench run: %s", e.text);
	if (w->plan)
		said_tidy(&said);
	e.text[0] = '\0';
	if (w->cpus && sched_setaffinity(0, sizeof w->cpus->word, (const void *)w->cpus->word)) {
		err_set(&e, -errno, "its CPUs cannot be chosen: %s", strerror(errno));
	} else if (!launch_begin(&saved, &e)) {
		sentinel_start(&sentinel);
		if (w->plan)
			start_recorder(w, &l, &said);
		take_output(to[OUT], to[ERR], w->discards);
		r.start_utc_ns = clock_utc_ns();
		if (w->directory && chdir(w->directory))
			err_set(&e, -errno, "%s: %s", w->directory, strerror(errno));
		else
			r.code = launch_command(&l, &r.end, &e);
		r.end_utc_ns = r.start_utc_ns + r.end.wall_ns;
		end_left(&r);
		if (w->plan)
			said_remove(&said);
	}
	snprintf(r.why, sizeof r.why, "%s", e.text);
	_exit(write(to[REPORT], &r, sizeof r) != sizeof r);
}

/* ---- in the one that waits for it ---- */

/* What is there now; 0: it is at its end. What there is no room for is counted. */
static ssize_t take(int fd, struct bytes *kept, size_t most, uint64_t *total)
{
	uint8_t block[BLOCK];
	ssize_t n;

	do
		n = read(fd, block, sizeof block);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? -1 : 0;
	*total += (uint64_t)n;
	if (kept->len < most)
		bytes_put(kept, block, (size_t)n < most - kept->len ? (size_t)n : most - kept->len);
	return n;
}

static void close_pipe(struct scripted *r, int pipe)
{
	if (r->from[pipe] >= 0)
		close(r->from[pipe]);
	r->from[pipe] = -1;
}

static void take_report(struct scripted *r)
{
	ssize_t n;

	do
		n = read(r->from[REPORT], &r->report, sizeof r->report);
	while (n < 0 && errno == EINTR);
	r->reported = n == sizeof r->report;
}

/* Of a pipe of which poll has said something. True: it was the report, after which it has ended. */
static bool take_ready(struct scripted *r, int pipe)
{
	if (pipe == REPORT)
		take_report(r);
	else if (pipe == OUT && !take(r->from[OUT], &r->out, OUT_MOST, &r->out_bytes))
		close_pipe(r, OUT);
	else if (pipe == ERR && !take(r->from[ERR], &r->err, ERR_MOST, &r->err_bytes))
		close_pipe(r, ERR);
	return pipe == REPORT;
}

uint32_t scripted_wait(struct scripted *const *running, uint32_t n)
{
	struct pollfd p[SCRIPTED_MOST * PIPES];

	for (;;) {
		uint32_t ended = n;

		for (uint32_t i = 0; i < n * PIPES; i++)
			p[i] = (struct pollfd){ running[i / PIPES]->from[i % PIPES], POLLIN, 0 };
		if (poll(p, n * PIPES, -1) < 0)
			continue;
		for (uint32_t i = 0; i < n * PIPES && ended == n; i++)
			if (p[i].revents && take_ready(running[i / PIPES], (int)(i % PIPES)))
				ended = i / PIPES;
		if (ended < n)
			return ended;
	}
}

/* What was written until it ended, too. */
int scripted_end(struct scripted *r, struct err *e)
{
	while (r->from[OUT] >= 0 && take(r->from[OUT], &r->out, OUT_MOST, &r->out_bytes) > 0)
		;
	while (r->from[ERR] >= 0 && take(r->from[ERR], &r->err, ERR_MOST, &r->err_bytes) > 0)
		;
	waitpid(r->pid, NULL, 0);
	for (int i = 0; i < PIPES; i++)
		close_pipe(r, i);
	bytes_u8(&r->out, 0);
	bytes_u8(&r->err, 0);
	return r->out.failed || r->err.failed
		       ? err_set(e, -ENOMEM, "out of memory for what the script printed")
		       : 0;
}

static int make_pipes(int from[PIPES], int to[PIPES], struct err *e)
{
	for (int i = 0; i < PIPES; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC)) {
			int rc = -errno;

			while (i-- > 0) {
				close(from[i]);
				close(to[i]);
			}
			return err_set(e, rc, "cannot make a pipe: %s", strerror(-rc));
		}
		from[i] = ends[0];
		to[i] = ends[1];
		fcntl(from[i], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

int scripted_begin(struct scripted *r, const struct scripted_wish *w, struct err *e)
{
	int to[PIPES], rc;

	*r = (struct scripted){ .from = { -1, -1, -1 }, .load_1m = NAN };
	rc = make_pipes(r->from, to, e);
	if (rc)
		return rc;
	if (getloadavg(&r->load_1m, 1) != 1)
		r->load_1m = NAN;
	fflush(NULL);
	r->pid = fork();
	if (!r->pid) {
		for (int i = 0; i < PIPES; i++)
			close(r->from[i]);
		for (uint32_t i = 0; i < w->nforeign; i++)
			close(w->foreign[i]);
		be_launcher(w, to);
	}
	if (r->pid < 0) {
		rc = err_set(e, -errno, "cannot fork: %s", strerror(errno));
		for (int i = 0; i < PIPES; i++)
			close_pipe(r, i);
	}
	for (int i = 0; i < PIPES; i++)
		close(to[i]);
	return rc;
}

int scripted_run(struct scripted *r, const struct scripted_wish *w, struct err *e)
{
	int rc = scripted_begin(r, w, e);

	if (rc)
		return rc;
	scripted_wait(&r, 1);
	return scripted_end(r, e);
}

void scripted_free(struct scripted *r)
{
	bytes_free(&r->out);
	bytes_free(&r->err);
}

bool scripted_failed(const struct scripted *r, char *why, size_t size)
{
	const struct scripted_report *p = &r->report;
	int status = p->end.status;

	*why = '\0';
	if (!r->reported)
		snprintf(why, size, "the process that started it was killed");
	else if (p->code)
		snprintf(why, size, "it could not be started: %s", p->why);
	else if (p->end.timed_out)
		snprintf(why, size, "it was ended after %.3g s: it took longer than it was given",
			 (double)p->end.wall_ns / 1e9);
	else if (WIFSIGNALED(status))
		snprintf(why, size, "it was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		snprintf(why, size, "it ended with exit code %d", WEXITSTATUS(status));
	else if (p->left)
		snprintf(why, size,
			 "it left %u process%s behind (%s), which %s ended: a trial is over when "
			 "its script is",
			 p->left, p->left == 1 ? "" : "es", p->left_name,
			 p->left == 1 ? "was" : "were");
	return *why;
}

void scripted_last_words(const struct scripted *r, char *why, size_t size)
{
	const char *text = (const char *)r->err.data;
	size_t end = r->err.len - 1, begun, n = strlen(why);
	char line[4 * LAST_WORDS], clean[LAST_WORDS];

	if (r->err_bytes > end)
		return; /* its end was not kept */
	while (end && strchr(" \t\r\n", text[end - 1]))
		end--;
	for (begun = end; begun && text[begun - 1] && !strchr("\r\n", text[begun - 1]); begun--)
		;
	snprintf(line, sizeof line, "%.*s", (int)(end - begun), text + begun);
	if (*line && n < size)
		snprintf(why + n, size - n, "; it said last: %s",
			 escape_terminal_into(clean, sizeof clean, line));
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* The script as it is executed: in PATH, or here. 0, or -errno with a sentence. */
static int scripted_find(const char *word, char path[PATH_MAX], struct err *e)
{
	return scripted_find_in(getenv("PATH"), word, path, e);
}

int scripted_find_in(const char *list, const char *word, char path[PATH_MAX], struct err *e)
{
	struct stat st;
	bool here = !stat(word, &st);

	if (strchr(word, '/'))
		list = NULL;
	else /* a directory that is only called like it is not meant */
		here = here && !S_ISDIR(st.st_mode);
	for (const char *at = list ? list : ""; *at;) {
		size_t n = strcspn(at, ":");

		if ((size_t)snprintf(path, PATH_MAX, "%.*s/%s", (int)n, at, word) < PATH_MAX && n &&
		    is_program(path))
			return 0;
		at += n + (at[n] == ':');
	}
	if (!here)
		return err_set(e, -ENOENT, "%.300s: there is no such script%s", word,
			       list ? ", here or in PATH" : "");
	if (!is_program(word))
		return err_set(e, -EACCES,
			       "%.300s is not an executable script; chmod +x makes it one", word);
	if ((size_t)snprintf(path, PATH_MAX, "%s%s", strchr(word, '/') ? "" : "./", word) >=
	    PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "the script's name is too long");
	return 0;
}

#define INDICATOR(name, what) { #name, what },
const struct builtin builtins[] = {
#include "indicators.def"
};
#undef INDICATOR

const size_t nbuiltins = sizeof builtins / sizeof builtins[0];

static bool is_builtin(const char *word)
{
	for (size_t i = 0; i < nbuiltins; i++)
		if (!strcmp(builtins[i].name, word))
			return true;
	return false;
}

int chosen_script_find(struct chosen_script *s, char *const *words, struct err *e)
{
	size_t n = 1;
	int rc = scripted_find(words[0], s->path, e);

	s->builtin = rc == -ENOENT && is_builtin(words[0]);
	if (rc && !s->builtin)
		return rc;
	if (s->builtin)
		rc = helper_find("indicator", NULL, s->path, sizeof s->path, e);
	if (s->builtin && rc)
		return rc;
	while (words[n])
		n++;
	s->argv = calloc(n + 2, sizeof *s->argv);
	if (!s->argv)
		return err_set(e, -ENOMEM, "out of memory");
	s->argv[0] = s->path;
	memcpy(s->argv + 1, words + !s->builtin, (n - !s->builtin) * sizeof *s->argv);
	return 0;
}

void builtin_help(char *const *words)
{
	struct chosen_script s = { 0 };
	bool asked = false;
	struct err e;

	for (size_t i = 1; words[0] && words[i]; i++)
		asked |= !strcmp(words[i], "--help") || !strcmp(words[i], "-h");
	if (asked && !chosen_script_find(&s, words, &e) && s.builtin)
		execv(s.path, s.argv);
	chosen_script_free(&s);
}

void chosen_script_free(struct chosen_script *s)
{
	free(s->argv);
	s->argv = NULL;
}

enum { MODEL_BYTES = 1 << 20 };

extern const char asset_sonde_model[], asset_sonde_model_end[];
extern const char asset_thoth_model[], asset_thoth_model_end[];
extern const char asset_suites_model[], asset_suites_model_end[];

static const struct {
	const char *name, *text, *end;
} own[] = {
	{ "sonde.model", asset_sonde_model, asset_sonde_model_end },
	{ "thoth.model", asset_thoth_model, asset_thoth_model_end },
	{ "suites.model", asset_suites_model, asset_suites_model_end },
};

int benchmodels_read(struct models *m, const struct option_list *files, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof own / sizeof own[0] && !rc; i++)
		rc = models_parse(m, own[i].name, own[i].text, (size_t)(own[i].end - own[i].text),
				  e);
	for (uint32_t i = 0; i < files->n && !rc; i++) {
		struct bytes text = { 0 };

		rc = textfile_read(files->text[i], "model", MODEL_BYTES, &text, e);
		if (!rc)
			rc = models_parse(m, files->text[i],
					  text.len ? (const char *)text.data : "", text.len, e);
		bytes_free(&text);
	}
	return rc;
}
