/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/look.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/text/number.h"
#include "source/procfile.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SILENT_MS = 3000, /* without a word and without work */
	HELPERS_MAX = 8,
	PIECE = 65536,
	LINE_MAX_BYTES = 1 << 23, /* 256 frames with the longest names */
};

static int start(struct look_state *l, struct err *e)
{
	const struct look_question q = { sizeof q, l->npids, l->nskip };
	int bad = talk_open(&l->talk, "unwind", "libdw-dev and libelf-dev", e);

	if (bad)
		return bad;
	bytes_reset(&l->text);
	l->at = l->of = 0;
	l->heard_ns = clock_mono_ns();
	l->cpu_ns = 0;
	if (talk_write(l->talk.socket, &q, sizeof q) &&
	    talk_write(l->talk.socket, l->pid, l->npids * sizeof *l->pid) &&
	    talk_write(l->talk.socket, l->skip, l->nskip * sizeof *l->skip))
		return 0;
	return err_set(e, -EPIPE, "the helper sonde-unwind ended too early");
}

int look_begin(struct look_state *l, struct waits *w, const pid_t *pids, uint32_t n, struct err *e)
{
	*l = (struct look_state){ .waits = w };
	*w = (struct waits){ .at_ns = clock_utc_ns() };
	l->npids = n < LOOK_PIDS ? n : LOOK_PIDS;
	l->pid = malloc((l->npids ? l->npids : 1) * sizeof *l->pid);
	if (!l->pid)
		return err_set(e, -ENOMEM, "out of memory");
	memcpy(l->pid, pids, l->npids * sizeof *l->pid);
	return start(l, e);
}

void look_end(struct look_state *l)
{
	talk_close(&l->talk);
	bytes_free(&l->text);
	free(l->pid);
	*l = (struct look_state){ 0 };
}

/* ---- what it says ---- */

static pid_t number_at(const struct jsontree *doc, const char *key)
{
	const struct jsontree *v = jsontree_find(doc, key);

	return v && v->type == JSONDOC_NUMBER && v->whole && v->integer > 0 &&
			       v->integer < INT32_MAX
		       ? (pid_t)v->integer
		       : 0;
}

static void take_thread(struct look_state *l, const struct jsontree *doc)
{
	struct wait_thread *t = waits_add(l->waits);

	if (t && !wait_take(t, doc))
		waits_drop(l->waits);
}

static void take_moved(const struct look_state *l, pid_t tid)
{
	for (uint32_t i = 0; i < l->waits->n; i++)
		if (l->waits->thread[i].tid == tid)
			l->waits->thread[i].moved = true;
}

static void take_line(struct look_state *l, const char *line, size_t n)
{
	struct pool pool = { 0 };
	struct err e;
	const struct jsontree *doc = jsontree_read(&pool, line, n, &e);
	pid_t at = number_at(doc, "at"), moved = number_at(doc, "moved");

	if (at) {
		l->at = at;
		l->of = number_at(doc, "of");
	} else if (moved) {
		take_moved(l, moved);
	} else if (doc && jsontree_find(doc, "done")) {
		l->done = true;
	} else if (doc) {
		take_thread(l, doc);
	}
	pool_free(&pool);
}

static void take_lines(struct look_state *l)
{
	size_t from = 0;

	for (size_t i = 0; i < l->text.len; i++)
		if (l->text.data[i] == '\n') {
			take_line(l, (const char *)l->text.data + from, i - from);
			from = i + 1;
		}
	if (from)
		memmove(l->text.data, l->text.data + from, l->text.len - from);
	l->text.len -= from;
}

/* False: there is nothing more to come. */
static bool take_some(struct look_state *l)
{
	char piece[PIECE];
	ssize_t n = recv(l->talk.socket, piece, sizeof piece, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0 || l->text.len > LINE_MAX_BYTES)
		return false;
	bytes_put(&l->text, piece, (size_t)n);
	l->heard_ns = clock_mono_ns();
	take_lines(l);
	return !l->text.failed;
}

/* ---- when it says nothing ---- */

static bool is_known(const struct waits *w, pid_t tid)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->thread[i].tid == tid)
			return true;
	return false;
}

/* The thread at which it stayed is named without what it waits for. What came before may not have
 * been true at one moment with what is to come. */
static int replace(struct look_state *l, struct err *e)
{
	struct wait_thread *t;

	if (!l->at || l->nskip + l->waits->n >= LOOK_SKIPPED || l->told++ == HELPERS_MAX)
		return err_set(e, -EPIPE, "the helper sonde-unwind ended too early");
	if (!is_known(l->waits, l->at) && (t = waits_add(l->waits))) {
		t->pid = l->of;
		t->tid = l->at;
		t->state = WAIT_SILENT;
		snprintf(t->refused, sizeof t->refused,
			 "reading it did not come back: it may wait for a file system that does "
			 "not answer");
	}
	l->nskip = 0;
	for (uint32_t i = 0; i < l->waits->n; i++) {
		l->waits->thread[i].moved = true;
		l->skip[l->nskip++] = l->waits->thread[i].tid;
	}
	talk_close(&l->talk);
	return start(l, e);
}

static bool is_silent(struct look_state *l)
{
	int64_t now_ns = clock_mono_ns(), cpu_ns = clock_cpu_ns_of(l->talk.pid);

	if (cpu_ns != l->cpu_ns)
		l->heard_ns = now_ns;
	l->cpu_ns = cpu_ns;
	return now_ns - l->heard_ns > SILENT_MS * NS_PER_MS;
}

int look_go_on(struct look_state *l, int64_t patience_ns, struct err *e)
{
	int64_t until_ns = clock_mono_ns() + patience_ns;

	while (!l->done) {
		int64_t left_ns = until_ns - clock_mono_ns();
		struct pollfd p = { l->talk.socket, POLLIN, 0 };
		int ms = left_ns <= 0                ? 0
			 : left_ns > 100 * NS_PER_MS ? 100
						     : (int)(left_ns / NS_PER_MS) + 1;
		int bad, ready = poll(&p, 1, ms);

		bool gone = ready > 0 ? !take_some(l) && !l->done : is_silent(l);

		bad = gone ? replace(l, e) : 0;
		if (bad)
			return bad;
		if (ready <= 0 && left_ns <= 0)
			return 0;
	}
	return 1;
}

/* ---- which processes ---- */

struct parent {
	pid_t pid, of;
};

static uint32_t read_parents(const struct root *proc, struct parent **out)
{
	DIR *dir = opendir(proc->path);
	struct parent *all = NULL, *grown;
	uint32_t n = 0, cap = 0;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[288], text[512];
		struct proc_stat st;

		if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name))
			continue;
		snprintf(path, sizeof path, "%s/stat", entry->d_name);
		if (root_read(proc, path, text, sizeof text) <= 0 ||
		    proc_stat_parse(text, &st) != 0 || proc_stat_ended(&st))
			continue;
		grown = array_room(all, n, &cap, sizeof *all);
		if (!grown)
			break;
		all = grown;
		all[n++] = (struct parent){ st.pid, st.ppid };
	}
	if (dir)
		closedir(dir);
	*out = all;
	return n;
}

uint32_t look_tree(const struct root *proc, pid_t root, pid_t *pids, uint32_t most)
{
	struct parent *all;
	uint32_t n = read_parents(proc, &all), found = 0;

	for (uint32_t i = 0; i < n && most; i++)
		if (all[i].pid == root)
			pids[found++] = root;
	for (uint32_t i = 0; i < found; i++)
		for (uint32_t k = 0; k < n && found < most; k++)
			if (all[k].of == pids[i] && all[k].pid != root)
				pids[found++] = all[k].pid;
	free(all);
	return found;
}

/* ---- why not ---- */

static bool uid_of(const struct root *proc, pid_t pid, uint64_t *uid)
{
	char path[32], text[4096];
	const char *at;

	snprintf(path, sizeof path, "%d/status", (int)pid);
	at = root_read(proc, path, text, sizeof text) > 0 ? number_find_line(text, "Uid:") : NULL;
	return at && number_u64(&at, uid);
}

void look_refusal(const struct root *proc, pid_t pid, char *out, size_t size)
{
	char path[32], text[16];
	uint64_t uid;
	struct stat st;

	snprintf(path, sizeof path, "%d/syscall", (int)pid);
	if (!uid_of(proc, pid, &uid) || fstatat(proc->fd, path, &st, 0))
		snprintf(out, size, "it has ended");
	else if (uid != geteuid())
		snprintf(out, size, "it belongs to another user (uid %llu)",
			 (unsigned long long)uid);
	else if (st.st_uid != uid)
		snprintf(
			out, size,
			"it is not dumpable: a program with more rights than its user, or one that "
			"asked for it (prctl PR_SET_DUMPABLE)");
	else if (root_read(proc, "sys/kernel/yama/ptrace_scope", text, sizeof text) > 0 &&
		 text[0] >= '1')
		snprintf(out, size,
			 "kernel.yama.ptrace_scope is %c: only a process that started it may look "
			 "at it",
			 text[0]);
	else
		snprintf(out, size, "the kernel does not permit it");
}
