/* SPDX-License-Identifier: Apache-2.0 */
#include "job/share.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/root.h"
#include "job/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	AGAIN_MS = 10, /* somebody else is just being elected */
};

static void let_go(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* One try. 0: registered, or elected and to be tried again at once; -EAGAIN; other -errno. */
static int try_once(struct share *s, struct err *e)
{
	int fd, got = election_try(s->what.key, &fd, e);

	if (got < 0)
		return got;
	if (got == ELECTION_ELECTED) {
		got = s->start(s->ctx, fd, e);
		return got ? got : -EAGAIN;
	}
	s->what.version = MESSAGE_VERSION;
	s->what.kind = MESSAGE_REGISTER;
	got = packet_send(fd, &s->what, sizeof s->what, s->marks);
	if (got) {
		close(fd);
		return -EAGAIN; /* it ends just now */
	}
	s->fd = fd;
	return 0;
}

int share_join(struct share *s, int timeout_ms, struct err *e)
{
	int64_t deadline = clock_mono_ns() + timeout_ms * NS_PER_MS;
	int bad;

	while ((bad = try_once(s, e)) == -EAGAIN && clock_mono_ns() < deadline)
		poll(NULL, 0, AGAIN_MS);
	s->over = bad != 0;
	return bad;
}

/* What the lost recorder had written of this task is in the table that it left behind. */
static void take_recorded(struct share *s)
{
	int64_t row[RECORDED_NUMBER_OF];

	if (s->table < 0 ||
	    pread(s->table, row, sizeof row, (off_t)(s->slot * sizeof row)) != (ssize_t)sizeof row)
		return;
	memcpy(s->what.recorded, row, sizeof row);
}

static void lost(struct share *s, bool in_order)
{
	if (s->ready && !in_order)
		s->what.lost_ns = clock_mono_ns();
	take_recorded(s);
	let_go(&s->fd);
	let_go(&s->table);
	s->ready = false;
	if (!s->over)
		s->again_ns = clock_mono_ns();
}

static void take_note(struct share *s, const struct note *n, int table)
{
	switch (n->kind) {
	case MESSAGE_READY:
		let_go(&s->table);
		s->table = table;
		s->slot = n->slot;
		s->recorder = n->pid;
		s->ready = true;
		s->moved = n->status == 1;
		if (!s->run_id[0] && strlen(n->text) < sizeof s->run_id)
			memcpy(s->run_id, n->text, strlen(n->text) + 1);
		return;
	case MESSAGE_LEAVING:
		lost(s, true);
		break;
	case MESSAGE_REFUSED:
		s->alone = n->alone;
		s->over = true;
		break;
	case MESSAGE_DONE:
		s->done = *n;
		s->over = true;
		break;
	default:
		break;
	}
	if (table >= 0)
		close(table);
	if (n->text[0] && (n->kind == MESSAGE_REFUSED || n->kind == MESSAGE_SAY))
		s->say(n->text);
}

/* All that is there. */
static void take(struct share *s)
{
	while (s->fd >= 0) {
		union packet p;
		int table, got = packet_receive(s->fd, &p, &table);

		if (got == -EAGAIN)
			return;
		if (got == 1 && p.message.kind != MESSAGE_REGISTER &&
		    !(p.message.kind >= MESSAGE_STARTED && p.message.kind <= MESSAGE_ENDED)) {
			take_note(s, &p.note, table);
			if (s->over)
				let_go(&s->fd);
		} else {
			lost(s, false); /* gone, or it speaks no language of ours */
		}
	}
}

bool share_listen(struct share *s)
{
	struct err e;
	int bad;

	take(s);
	if (s->fd >= 0 || s->over || !s->again_ns || clock_mono_ns() < s->again_ns)
		return false;
	bad = try_once(s, &e);
	if (!bad) {
		s->again_ns = 0;
		return true;
	}
	s->again_ns = clock_mono_ns() + AGAIN_MS * NS_PER_MS;
	if (bad != -EAGAIN) {
		s->over = true;
		s->say(e.text);
	}
	return false;
}

int share_timeout_ms(const struct share *s)
{
	int64_t left;

	if (s->fd >= 0 || s->over || !s->again_ns)
		return -1;
	left = (s->again_ns - clock_mono_ns()) / NS_PER_MS + 1;
	return left > 0 ? (int)left : 0;
}

void share_wait_ready(struct share *s, int timeout_ms)
{
	int64_t deadline = clock_mono_ns() + timeout_ms * NS_PER_MS;

	while (!s->ready && !s->over) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };
		int64_t left = (deadline - clock_mono_ns()) / NS_PER_MS;
		int again = share_timeout_ms(s);

		if (left <= 0)
			return;
		poll(&p, 1, again >= 0 && again < left ? again : (int)left);
		share_listen(s);
	}
}

void share_wait_done(struct share *s, struct patience *patience)
{
	int left;

	for (take(s); s->fd >= 0 && (left = patience_left_ms(patience)) > 0; take(s)) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };

		poll(&p, 1, left);
	}
}

void share_close(struct share *s)
{
	let_go(&s->fd);
	let_go(&s->table);
	s->over = true;
}

enum { BACKLOG = 4096 };

/* Copies of another version, whose packets are not ours, elect among themselves. Two keys of one
 * checksum meet in one name: the recorder compares the whole key. */
static socklen_t name_make(struct sockaddr_un *a, const char *key)
{
	size_t n = strlen(key);
	int len;

	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	len = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "sonde/%d/%u/%08x%08zx",
		       MESSAGE_VERSION, (unsigned)geteuid(), crc32c(0, key, n), n);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

pid_t election_peer(int fd)
{
	struct ucred c;
	socklen_t size = sizeof c;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &size))
		return -errno;
	if (c.uid != geteuid())
		return -EPERM;
	return c.pid > 0 ? c.pid : -ESRCH;
}

static int joined(int fd, struct err *e)
{
	pid_t peer = election_peer(fd);

	if (peer == -EPERM)
		return err_set(e, -EPERM,
			       "another user holds the socket of this job's recorder on this node");
	return peer < 0 ? err_set(e, peer,
				  "cannot identify the recorder of this job on this node: %s",
				  strerror(-peer))
			: 0;
}

int election_try(const char *key, int *out, struct err *e)
{
	struct sockaddr_un a;
	socklen_t size = name_make(&a, key);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), bad = 0;

	*out = -1;
	if (fd < 0)
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	if (!connect(fd, (const struct sockaddr *)&a, size)) {
		bad = joined(fd, e);
		if (!bad) {
			*out = fd;
			return ELECTION_CONNECTED;
		}
	} else if (errno != ECONNREFUSED) {
		bad = err_set(e, errno == EINTR ? -EAGAIN : -errno,
			      "cannot connect to this job's recorder: %s", strerror(errno));
	} else if (bind(fd, (const struct sockaddr *)&a, size) || listen(fd, BACKLOG)) {
		bad = err_set(e, errno == EADDRINUSE ? -EAGAIN : -errno,
			      "cannot be this job's recorder: %s", strerror(errno));
	} else {
		*out = fd;
		return ELECTION_ELECTED;
	}
	close(fd);
	return bad;
}

/* Who was elected for this key, without taking part: its pid, or 0. */
static pid_t election_holder(const char *key)
{
	struct sockaddr_un a;
	socklen_t size = name_make(&a, key);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	pid_t holder = 0;

	if (fd < 0)
		return 0;
	if (!connect(fd, (const struct sockaddr *)&a, size))
		holder = election_peer(fd);
	close(fd);
	return holder > 0 ? holder : 0;
}

/* Until one that begins at the same moment listens. */
enum { TRIES = 50, PAUSE_MS = 20 };

/* Without symbolic links, and where it is missing yet, its parent so. */
static void resolve(const char *given, char out[PATH_MAX])
{
	char directory[PATH_MAX], parent[PATH_MAX], whole[PATH_MAX];
	const char *slash, *name;

	if (realpath(given, out))
		return;
	snprintf(directory, sizeof directory, "%s", given);
	for (size_t n = strlen(directory); n > 1 && directory[n - 1] == '/';)
		directory[--n] = '\0';
	slash = strrchr(directory, '/');
	name = slash ? slash + 1 : directory;
	snprintf(parent, sizeof parent, "%.*s", (int)(name - directory), directory);
	if (!realpath(parent[0] ? parent : ".", whole) ||
	    snprintf(out, PATH_MAX, "%s/%s", whole, name) >= PATH_MAX)
		snprintf(out, PATH_MAX, "%s", directory);
}

static void make_key(char *key, size_t size, const struct batch_job *job, const char *id,
		     const char *directory)
{
	const char *system = batch_job_system(job), *raw = job->text[BATCH_RAW_ID];
	bool is_own = !id || (raw && !strcmp(id, raw)); /* an element of an array has two ids */
	char whole[PATH_MAX];

	resolve(directory, whole);
	snprintf(key, size, "all of %s %s on %s\n%s", system ? system : "-", is_own ? job->id : id,
		 job->node, whole);
}

pid_t claim_take(const struct batch_job *job, const char *id, const char *directory, int *fd)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * NS_PER_MS };
	char key[2 * PATH_MAX];
	int how = -EAGAIN;
	pid_t holder = 0;

	make_key(key, sizeof key, job, id, directory);
	for (int i = 0; i < TRIES && how == -EAGAIN; i++) {
		if (i)
			nanosleep(&pause, NULL);
		how = election_try(key, fd, NULL);
	}
	if (how == ELECTION_CONNECTED)
		holder = election_peer(*fd);
	if (how != ELECTION_ELECTED)
		file_close(fd);
	return holder > 0 ? holder : 0;
}

pid_t claim_holder(const struct batch_job *job, const char *directory)
{
	char key[2 * PATH_MAX];

	make_key(key, sizeof key, job, NULL, directory);
	return election_holder(key);
}

#define GOING_ON "INPROGRESS"

static const char blanks[] = " \t\r\n\v\f";

/* It is never long; a longer word is another one. -errno when it cannot be read. */
static int read_word(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
	int bad = n < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	n = n < 0 ? 0 : n;
	while (n && strchr(blanks, out[n - 1]))
		n--;
	out[n] = '\0';
	return bad;
}

/* An empty one is being written this moment. */
static bool says_over(const char *word)
{
	return word[0] && strcmp(word, GOING_ON) != 0;
}

static int write_word(const char *path, int how, struct err *e)
{
	static const char line[] = GOING_ON "\n";
	ssize_t n = sizeof line - 1;
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | how, 0600), bad = 0;

	if (fd < 0 || write(fd, line, (size_t)n) != n)
		bad = -errno;
	if (fd >= 0 && close(fd) && !bad)
		bad = -errno;
	if (!bad || (bad == -EEXIST && (how & O_EXCL)))
		return bad;
	return err_set(e, bad, "cannot write %s, by which the job could say that it is over: %s",
		       path, strerror(-bad));
}

static void look(const char *path, struct stat *st)
{
	if (stat(path, st) || !S_ISREG(st->st_mode))
		*st = (struct stat){ 0 };
}

int ipc_begin(struct ipc *f, const char *job, bool anew, struct err *e)
{
	char word[32];
	int bad;

	*f = (struct ipc){ 0 };
	snprintf(f->path, sizeof f->path, ".ipc-%.200s", job);
	for (char *c = f->path; *c; c++)
		if (*c == '/')
			*c = '_';
	bad = write_word(f->path, O_CREAT | O_EXCL, e);
	look(f->path, &f->seen);
	if (bad != -EEXIST)
		return bad;
	if (!f->seen.st_ino)
		return err_set(e, -EINVAL,
			       "%s is not a file, so the job cannot use it to report its end",
			       f->path);
	bad = read_word(f->path, word, sizeof word);
	if (bad)
		return err_set(e, bad, "cannot read %s: %s", f->path, strerror(-bad));
	if (!anew || !says_over(word))
		return 0;
	bad = write_word(f->path, O_TRUNC, e);
	look(f->path, &f->seen);
	return bad;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool ipc_over(struct ipc *f)
{
	struct stat now;
	char word[32];

	look(f->path, &now);
	if (is_same(&now, &f->seen))
		return false;
	f->seen = now;
	f->over = now.st_ino && !read_word(f->path, word, sizeof word) && says_over(word);
	return f->over;
}
