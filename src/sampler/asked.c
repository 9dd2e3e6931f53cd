/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/asked.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/process.h"
#include "sampler/inspection.h"
#include "waits/look.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIDS_MAX = 4096, PATIENCE_S = 60, FOLDER = 3, NAME_BYTES = 320 };

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
	if (a->pid && now_ns - a->begun_ns > PATIENCE_S * NS_PER_S)
		asked_stop(a);
	asked = is_asked(a, folder);
	a->due_ns = now_ns + ASKED_S * NS_PER_S;
	if (asked && !a->pid)
		begin(a, folder, t, now_ns);
}
