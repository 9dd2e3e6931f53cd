/* SPDX-License-Identifier: Apache-2.0 */
#include "top/terminal.h"

#include "base/clock.h"
#include "top/grid.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The variable that decides, as setlocale(3) says. */
static bool is_utf8_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *v = getenv(names[i]);

		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

bool terminal_find(struct terminal *t, int in, int out)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	size_t n = term ? strlen(term) : 0;

	*t = (struct terminal){ .in = in, .out = out, .utf8 = is_utf8_locale() };
	t->moves = n && strcmp(term, "dumb") != 0 && strcmp(term, "unknown") != 0;
	/* VT100 to VT525, and what calls itself monochrome. */
	t->alternate = t->moves && strncmp(term, "vt", 2) != 0;
	t->colour = t->alternate && !(no_colour && *no_colour) &&
		    !(n > 2 && !strcmp(term + n - 2, "-m")) && !strstr(term, "-mono");
	return isatty(out) && !tcgetattr(in, &t->modes);
}

void terminal_size(const struct terminal *t, unsigned *rows, unsigned *columns)
{
	struct winsize w = { 0 };

	if (ioctl(t->out, TIOCGWINSZ, &w))
		w = (struct winsize){ 0 };
	*rows = w.ws_row;
	*columns = w.ws_col;
}

static void send_text(const struct terminal *t, const char *text)
{
	(void)!write(t->out, text, strlen(text));
}

/* Signals of keys stay: Ctrl-C, Ctrl-Z. Without wrapping, the last column can be written to. */
void terminal_enter(const struct terminal *t)
{
	struct termios m = t->modes;

	m.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	m.c_cc[VMIN] = 1;
	m.c_cc[VTIME] = 0;
	tcsetattr(t->in, TCSANOW, &m);
	if (t->alternate)
		send_text(t, "\033[?1049h");
	send_text(t, "\033[?7l\033[?25l");
}

/* A terminal that Ctrl-S holds would keep its end waiting. */
void terminal_leave(const struct terminal *t)
{
	tcflow(t->out, TCOON);
	send_text(t, t->alternate ? "\033[m\033[?7h\033[?25h\033[?1049l"
				  : "\033[m\033[H\033[J\033[?7h\033[?25h");
	tcsetattr(t->in, TCSANOW, &t->modes);
}

bool terminal_write(const struct terminal *t, const struct bytes *b)
{
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(t->out, b->data + done, b->len - done);

		if (n < 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* ---- the keeper ---- */

/* Once asked to end, before it is killed; and then before the terminal is taken from it. */
enum { PATIENCE_S = 2 };

struct keeper {
	pid_t pid;
	int result[2]; /* what the work returned, and its sentence */
	int status;
	bool ended;
	int64_t signalled_ns; /* when it was asked to end; 0: it was not */
};

struct result {
	int rc;
	struct err e;
};

static void taken_set(sigset_t *set)
{
	static const int taken[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

	sigemptyset(set);
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		sigaddset(set, taken[i]);
}

static _Noreturn void be_worker(const struct keeper *k, const sigset_t *mask, pid_t keeper,
				int (*work)(const void *ctx, struct err *e), const void *ctx)
{
	struct result r = { .e = { "" } };

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != keeper)
		_exit(1);
	sigprocmask(SIG_SETMASK, mask, NULL);
	r.rc = work(ctx, &r.e);
	(void)!write(k->result[1], &r, sizeof r);
	_exit(0);
}

/* A shell takes the terminal back when this stops; by then the other has given it back. */
static void reap(struct keeper *k)
{
	int status;

	while (waitpid(k->pid, &status, WNOHANG | WUNTRACED) == k->pid) {
		if (!WIFSTOPPED(status)) {
			k->status = status;
			k->ended = true;
			return;
		}
		raise(SIGSTOP);
		kill(k->pid, SIGCONT);
	}
}

/* What comes from the terminal has come to both. */
static void pass_on(struct keeper *k, int signal, const siginfo_t *info)
{
	if (info->si_code <= 0)
		kill(k->pid, signal);
	if (signal != SIGTSTP && !k->signalled_ns)
		k->signalled_ns = clock_mono_ns();
}

static void keep(struct keeper *k, const sigset_t *set)
{
	const struct timespec second = { .tv_sec = 1 };
	siginfo_t info;

	while (!k->ended) {
		int signal = sigtimedwait(set, &info, k->signalled_ns ? &second : NULL);
		int64_t since = k->signalled_ns ? clock_mono_ns() - k->signalled_ns : 0;

		if (signal == SIGCHLD)
			reap(k);
		else if (signal > 0)
			pass_on(k, signal, &info);
		if (since > PATIENCE_S * NS_PER_S)
			kill(k->pid, SIGKILL);
		if (since > 2 * PATIENCE_S * NS_PER_S)
			return; /* it waits for a file system and cannot even be killed */
	}
}

static int result_of(const struct keeper *k, struct err *e)
{
	struct result r;

	if (read(k->result[0], &r, sizeof r) == (ssize_t)sizeof r) {
		*e = r.e;
		return r.rc;
	}
	return k->ended && WIFSIGNALED(k->status) ? WTERMSIG(k->status) : SIGKILL;
}

int keeper_run(const struct terminal *t, int (*work)(const void *ctx, struct err *e),
	       const void *ctx, struct err *e)
{
	struct keeper k = { 0 };
	pid_t self = getpid();
	sigset_t set, mask;
	int rc;

	if (pipe2(k.result, O_CLOEXEC | O_NONBLOCK))
		return err_set(e, -errno, "cannot make a pipe: %s", strerror(errno));
	taken_set(&set);
	sigprocmask(SIG_BLOCK, &set, &mask);
	k.pid = fork();
	if (!k.pid)
		be_worker(&k, &mask, self, work, ctx);
	if (k.pid < 0) {
		rc = err_set(e, -errno, "cannot fork: %s", strerror(errno));
	} else {
		keep(&k, &set);
		if (!k.ended || !WIFEXITED(k.status))
			terminal_leave(t);
		rc = result_of(&k, e);
	}
	close(k.result[0]);
	close(k.result[1]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return rc;
}

/* Parts with two blanks between them, as long as they fit. */
struct line {
	struct bytes *out;
	size_t begin;
	unsigned columns;
};

static void part(const struct line *l, const char *text)
{
	size_t used = l->out->len - l->begin, space = used ? 2 : 0;

	if (used + space + strlen(text) > l->columns)
		return;
	bytes_puts(l->out, space ? "  " : "");
	bytes_puts(l->out, text);
}

static void figure(const struct line *l, const char *before, const double *v, enum now_figure f,
		   const char *after)
{
	char value[FIGURE_TEXT], text[64];

	if (isnan(v[f]))
		return;
	snprintf(text, sizeof text, "%s%s%s", before, figure_text(value, f, v[f]), after);
	part(l, text);
}

static void used_of(const struct line *l, const double *v, enum now_figure used,
		    enum now_figure whole, const char *after)
{
	char value[FIGURE_TEXT], text[64];

	if (isnan(v[whole])) {
		figure(l, "", v, used, after);
		return;
	}
	snprintf(text, sizeof text, " of %s%s", figure_text(value, whole, v[whole]), after);
	figure(l, "", v, used, text);
}

void line_put(struct bytes *out, const struct now *now, double elapsed_s, unsigned columns)
{
	const struct line l = { out, out->len, columns };
	const double *v = now->figure;
	uint32_t missing = now->state[NOW_LATE] + now->state[NOW_SILENT];
	char text[64];
	long s = (long)elapsed_s;

	snprintf(text, sizeof text, "sonde: %ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
	part(&l, text);
	used_of(&l, v, NOW_CPU, NOW_CORES, " cores");
	used_of(&l, v, NOW_MEMORY, NOW_MEMORY_LIMIT, "");
	figure(&l, "GPU ", v, NOW_GPU, "");
	figure(&l, "read ", v, NOW_READ, "");
	figure(&l, "written ", v, NOW_WRITTEN, "");
	figure(&l, "", v, NOW_PROCESSES, v[NOW_PROCESSES] == 1 ? " process" : " processes");
	if (now->n > 1) {
		snprintf(text, sizeof text, "%u nodes", now->n);
		part(&l, text);
	}
	if (missing) {
		snprintf(text, sizeof text, "%u late", missing);
		part(&l, text);
	}
}
