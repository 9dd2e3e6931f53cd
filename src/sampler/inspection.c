/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/inspection.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/text/number.h"
#include "core/stacks/rollcall.h"
#include "job/scheduler/scheduler.h"
#include "job/secret/secret.h"
#include "waits/look.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 20, PIPE = 3 };

void inspection_mask_text(const struct secret_list *secrets, char *text, size_t size)
{
	char masked[INSPECTION_TEXT];
	struct bytes b = { .data = (uint8_t *)masked, .cap = sizeof masked, .fixed = true };

	secret_text(secrets, &b, text);
	bytes_u8(&b, 0);
	snprintf(text, size, "%s", b.failed || b.len > size ? SECRET_MASK : masked);
}

void inspection_mask(const struct inspection *l, struct waits *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		inspection_mask_text(l->secrets, w->thread[i].object, WAIT_OBJECT);
}

/* Cut at the end of a line or a word, whose rest would mislead. */
void inspection_send(struct bytes *b, size_t most, char at)
{
	size_t n = b->len < most ? b->len : most - 1;

	while (n && n < b->len && b->data[n - 1] != (uint8_t)at)
		n--;
	if (!b->failed && n)
		(void)!write(PIPE, b->data, n);
	(void)!write(PIPE, "", 1);
	bytes_free(b);
}

static void become(int to)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-waits");
	if (to != PIPE && dup2(to, PIPE) < 0)
		_exit(EXIT_FAILURE);
	descriptors_close(PIPE + 1, -1);
}

bool inspection_begin(struct inspection *l, inspection_look *look, const pid_t *pids, size_t n,
		      int64_t now_ns)
{
	int ends[2];

	if (l->pid || !n || pipe2(ends, O_CLOEXEC))
		return l->pid != 0;
	l->pid = fork();
	if (l->pid == 0) {
		become(ends[1]);
		look(pids, n, l);
		_exit(EXIT_SUCCESS);
	}
	close(ends[1]);
	if (l->pid < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK)) {
		if (l->pid > 0)
			child_end(l->pid);
		close(ends[0]);
		l->pid = 0;
		return false;
	}
	l->from = ends[0];
	l->begun_ns = now_ns;
	l->looks++;
	l->coming_len = 0;
	return true;
}

void inspection_stop(struct inspection *l)
{
	int64_t before_ns = clock_children_ns();

	if (!l->pid)
		return;
	close(l->from);
	child_end(l->pid);
	l->pid = 0;
	l->cpu_ns += clock_children_ns() - before_ns;
}

bool inspection_take(struct inspection *l, int64_t now_ns)
{
	size_t most = sizeof l->coming - 1;
	ssize_t n = 1;

	while (l->pid && n > 0 && l->coming_len < most) {
		n = read(l->from, l->coming + l->coming_len, most - l->coming_len);
		l->coming_len += n > 0 ? (size_t)n : 0;
	}
	if (!l->pid || (n < 0 && (errno == EAGAIN || errno == EINTR) &&
			now_ns - l->begun_ns < PATIENCE_S * NS_PER_S))
		return false;
	inspection_stop(l);
	if (n || !l->coming_len || !l->coming[0])
		return false;
	l->coming[l->coming_len] = '\0';
	memcpy(l->text, l->coming, l->coming_len + 1);
	l->len = l->coming_len;
	return true;
}

const char *inspection_text(const struct inspection *l, int which)
{
	const char *at = l->text, *end = l->text + l->len;

	for (int i = 0; i < which && at < end; i++)
		at += strlen(at) + 1;
	return at < end ? at : "";
}

enum { ENVIRONMENT_MAX = 1 << 18, VARIABLES_MAX = 4096 };

struct environment {
	char text[ENVIRONMENT_MAX], host[256];
	char *variable[VARIABLES_MAX + 1];
};

/* What does not fit is left out. */
static void split(struct environment *e, size_t n)
{
	uint32_t k = 0;

	e->text[n] = '\0';
	for (char *at = e->text; at < e->text + n && k < VARIABLES_MAX; at += strlen(at) + 1)
		e->variable[k++] = at;
	e->variable[k] = NULL;
}

static bool rank_of(const struct root *proc, pid_t pid, struct environment *e, int64_t *rank,
		    int64_t *ranks)
{
	struct batch_job j;
	char path[32];
	ssize_t n;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	n = root_read(proc, path, e->text, sizeof e->text);
	if (n <= 0)
		return false;
	split(e, (size_t)n < sizeof e->text ? (size_t)n : sizeof e->text - 1);
	batch_job_find(&j, e->variable, e->host);
	*rank = j.number[BATCH_RANK];
	*ranks = j.number[BATCH_RANKS];
	batch_job_free(&j);
	return *rank >= 0 && *rank < ROLLCALL_RANKS;
}

void ranks_find(struct waits *w, const struct root *proc)
{
	struct environment *e = calloc(1, sizeof *e);
	int64_t rank = -1, ranks = -1;

	if (e)
		gethostname(e->host, sizeof e->host - 1);
	for (uint32_t i = 0; e && i < w->n; i++) {
		if (!i || w->thread[i].pid != w->thread[i - 1].pid)
			rank = rank_of(proc, w->thread[i].pid, e, &rank, &ranks) ? rank : -1;
		w->thread[i].rank = (int32_t)rank;
		if (rank >= 0 && ranks > w->ranks && ranks <= ROLLCALL_RANKS)
			w->ranks = (uint32_t)ranks;
	}
	free(e);
}

enum { PIDS_MAX = 4096, ASKED_PATIENCE_S = 60, FOLDER = 3, NAME_BYTES = 320 };

/* ---- the process that answers ---- */

static bool read_word(char word[ASKED_WORD])
{
	int fd = openat(FOLDER, ASKED_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, word, ASKED_WORD - 1);

	if (fd >= 0)
		close(fd);
	word[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static void make_answer(struct bytes *out, const struct waits *w, const char *word,
			const char *host)
{
	struct json j = { .out = out };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/stacks/1");
	json_put_text(&j, "asked", word);
	json_put_text(&j, "host", host);
	json_put_int(&j, "ranks", w->ranks);
	json_key(&j, "threads");
	json_array(&j);
	for (uint32_t i = 0; i < w->n; i++)
		wait_put(&j, &w->thread[i]);
	json_array_end(&j);
	json_object_end(&j);
}

/* Whole or not there. */
static void write_answer(const struct bytes *b, const char *host, pid_t recorder)
{
	char name[NAME_BYTES], part[NAME_BYTES + 8];
	size_t done = 0;
	ssize_t n = 1;
	int fd;

	snprintf(name, sizeof name, ASKED_ANSWER "%s.%d.json", host, (int)recorder);
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
	snprintf(part, sizeof part, "%s.part", name);
	unlinkat(FOLDER, part, 0);
	fd = openat(FOLDER, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (fd >= 0 && done < b->len && n > 0) {
		n = write(fd, b->data + done, b->len - done);
		done += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0 && (close(fd) || done < b->len || renameat(FOLDER, part, FOLDER, name)))
		unlinkat(FOLDER, part, 0);
}

static _Noreturn void answer(const pid_t *pids, size_t n, pid_t recorder)
{
	char word[ASKED_WORD], host[256] = "";
	struct bytes out = { 0 };
	struct look_state l;
	struct root proc;
	struct waits w;
	struct err e;
	int rc;

	if (!read_word(word))
		_exit(EXIT_SUCCESS);
	rc = look_begin(&l, &w, pids, (uint32_t)n, &e);
	while (!rc)
		rc = look_go_on(&l, NS_PER_S, &e);
	look_end(&l);
	if (!root_open(&proc, "/proc"))
		ranks_find(&w, &proc);
	gethostname(host, sizeof host - 1);
	make_answer(&out, &w, word, host);
	if (!out.failed)
		write_answer(&out, host, recorder);
	_exit(EXIT_SUCCESS);
}

static void begin(struct asked *a, int folder, const struct tree *t, int64_t now_ns)
{
	pid_t pids[PIDS_MAX], recorder = getpid();
	size_t n = tree_pids(t, pids, PIDS_MAX);

	a->begun_ns = now_ns;
	a->pid = n ? fork() : 0;
	if (a->pid < 0)
		a->pid = 0;
	if (a->pid || !n)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-answer");
	if (folder != FOLDER && dup2(folder, FOLDER) < 0)
		_exit(EXIT_FAILURE);
	descriptors_close(FOLDER + 1, -1);
	answer(pids, n, recorder);
}

/* ---- the recorder ---- */

/* A file that a user of this recording made since the last time. */
static bool is_asked(struct asked *a, int folder)
{
	bool first = !a->due_ns, is_new;
	struct stat st;

	if (fstatat(folder, ASKED_FILE, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    (st.st_uid != geteuid() && st.st_uid))
		return false;
	is_new = st.st_mtim.tv_sec != a->seen.tv_sec || st.st_mtim.tv_nsec != a->seen.tv_nsec;
	a->seen = st.st_mtim;
	return is_new && !first;
}

void asked_stop(struct asked *a)
{
	if (a->pid)
		child_end(a->pid);
	a->pid = 0;
}

void asked_step(struct asked *a, int folder, const struct tree *t, int64_t now_ns)
{
	bool asked;

	if (now_ns < a->due_ns || folder <= 0)
		return;
	if (a->pid && waitpid(a->pid, NULL, WNOHANG) != 0)
		a->pid = 0;
	if (a->pid && now_ns - a->begun_ns > ASKED_PATIENCE_S * NS_PER_S)
		asked_stop(a);
	asked = is_asked(a, folder);
	a->due_ns = now_ns + ASKED_S * NS_PER_S;
	if (asked && !a->pid)
		begin(a, folder, t, now_ns);
}
