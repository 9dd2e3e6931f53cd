/* SPDX-License-Identifier: Apache-2.0 */
#include "base/helper.h"

#include "base/files.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- where they are ---- */

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool try_below(const char *dir, const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s/%s%s", dir, strchr(name, '.') ? "" : "sonde-", name);

	return n > 0 && (size_t)n < size && is_program(path);
}

/* The directory `levels` above this program, with `below` behind it; false when that is not known.
 */
static bool beside_program(int levels, const char *below, char *dir, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", dir, size);
	char *slash = dir;

	if (n <= 0 || (size_t)n >= size)
		return false;
	dir[n] = '\0';
	for (int i = 0; i <= levels && slash; i++) {
		slash = strrchr(dir, '/');
		if (slash)
			*slash = '\0';
	}
	if (!slash || (size_t)(slash - dir) + strlen(below) + 1 > size)
		return false;
	memcpy(slash, below, strlen(below) + 1);
	return true;
}

static int find(const char *name, char *path, size_t size)
{
	const char *set = getenv("SONDE_LIBEXEC");
	char dir[PATH_MAX];

	if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] ||
	    name[0] == '.')
		return -ENOENT;
	if (set && *set)
		return try_below(set, name, path, size) ? 0 : -ENOENT;
	if (beside_program(1, "/libexec/sonde", dir, sizeof dir) &&
	    try_below(dir, name, path, size))
		return 0;
	if (beside_program(0, "/libexec/sonde", dir, sizeof dir) &&
	    try_below(dir, name, path, size))
		return 0;
	return try_below(SONDE_LIBEXEC, name, path, size) ? 0 : -ENOENT;
}

/* What the file `version` beside a helper says; "" when there is none. */
static void version_beside(const char *path, char *version, size_t size)
{
	char file[PATH_MAX];
	int dir = (int)(strrchr(path, '/') - path), fd;
	ssize_t n = 0;

	snprintf(file, sizeof file, "%.*s/version", dir, path);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0) {
		n = read(fd, version, size - 1);
		close(fd);
	}
	version[n > 0 ? n : 0] = '\0';
	version[strspn(version, "0123456789.abcdefghijklmnopqrstuvwxyz+~-")] = '\0';
}

static int check_version(const char *path, struct err *e)
{
	char version[32];

	version_beside(path, version, sizeof version);
	if (!*version || !strcmp(version, SONDE_VERSION))
		return 0;
	return err_set(e, -ESTALE,
		       "the helper %s is of Sonde %s, and this is Sonde " SONDE_VERSION
		       "; install both from one release",
		       path, version);
}

/* A release brings its program and its libraries. */
static int broken(int code, const char *name, const char *how, const char *library, struct err *e)
{
#ifdef SONDE_STATIC
	(void)library;
	return err_set(e, code, "the helper sonde-%s %s; install Sonde again", name, how);
#else
	return err_set(e, code, "the helper sonde-%s %s; it needs Debian's %s", name, how, library);
#endif
}

int helper_cannot_start(const char *name, const char *library, struct err *e)
{
	return broken(-ENOENT, name, "cannot start", library, e);
}

int helper_lost(const char *name, const char *library, struct err *e)
{
	return broken(-EPIPE, name, "ended too early", library, e);
}

/* How to get one: a release has all. packages: what it is built with, or NULL. */
static int not_installed(const char *name, const char *packages, struct err *e)
{
#ifdef SONDE_STATIC
	(void)packages;
	return err_set(e, -ENOENT, "the helper sonde-%s is not installed; install Sonde again",
		       name);
#else
	return err_set(e, -ENOENT, "the helper sonde-%s is not installed%s%s", name,
		       packages ? "; Sonde makes it when it is built with Debian's " : "",
		       packages ? packages : "");
#endif
}

int helper_find(const char *name, const char *packages, char *path, size_t size, struct err *e)
{
	if (strchr(name, '.') || find(name, path, size))
		return not_installed(name, packages, e);
	return check_version(path, e);
}

int helper_library(const char *name, char *path, size_t size, struct err *e)
{
	if (find(name, path, size))
		return err_set(e, -ENOENT, "%s is not installed beside the helpers of Sonde", name);
	return check_version(path, e);
}

int helper_exec(const char *name, char **argv, struct err *e)
{
	char path[PATH_MAX];
	int rc = helper_find(name, NULL, path, sizeof path, e);

	if (rc == -ENOENT)
		*e->text = '\0';
	if (rc)
		return rc;
	argv[0] = path;
	execv(path, argv);
	return err_set(e, -errno, "cannot start %s: %s", path, strerror(errno));
}

bool program_exists(const char *word)
{
	const char *dir = getenv("PATH");
	char path[PATH_MAX];

	if (!*word)
		return false;
	if (strchr(word, '/'))
		return is_program(word);
	while (dir && *dir) {
		size_t len = strcspn(dir, ":");
		int n = snprintf(path, sizeof path, "%.*s/%s", (int)(len ? len : 1),
				 len ? dir : ".", word);

		if (n > 0 && (size_t)n < sizeof path && is_program(path))
			return true;
		dir += len + (dir[len] == ':');
	}
	return false;
}

/* ---- their start ---- */

enum { OUT_OF_THE_WAY = 16 };

/* Its descriptors are those n and no other; -1: nothing is there. Only system calls. */
static _Noreturn void become(const char *path, int *fd, int n)
{
	char *const argv[] = { (char *)path, NULL };
	int null = open("/dev/null", O_RDWR), above = n > OUT_OF_THE_WAY ? n : OUT_OF_THE_WAY;
	bool placed = true;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < n; i++)
		fd[i] = fcntl(fd[i] < 0 ? null : fd[i], F_DUPFD, above);
	for (int i = 0; i < n; i++)
		placed &= dup2(fd[i], i) == i;
	if (placed) {
		descriptors_close(n, -1);
		execv(path, argv);
	}
	_exit(HELPER_NOT_STARTED);
}

/* ---- with memory that both have ---- */

int helper_memory(const char *name, size_t size, void **memory)
{
	int fd = unnamed_memory(name), bad;

	if (fd < 0)
		return fd;
	*memory = ftruncate(fd, (off_t)size)
			  ? MAP_FAILED
			  : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*memory != MAP_FAILED) {
		/* So that nobody can cut it under this process; a plain file cannot be sealed. */
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
		return fd;
	}
	bad = -errno;
	*memory = NULL;
	close(fd);
	return bad;
}

int helper_start(const char *path, int *fd, int n, struct talk *t, struct err *e)
{
	int pair[2], code;

	*t = (struct talk){ 0 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	/* 0 to 2 may be closed here */
	t->socket = fcntl(pair[0], F_DUPFD_CLOEXEC, HELPER_SOCKET);
	close(pair[0]);
	fd[HELPER_SOCKET] = pair[1];
	t->pid = t->socket < 0 ? -1 : fork();
	if (t->pid == 0)
		become(path, fd, n);
	code = errno;
	close(pair[1]);
	if (t->pid > 0)
		return 0;
	if (t->socket > 0)
		close(t->socket);
	*t = (struct talk){ 0 };
	return err_set(e, -code, "cannot start %s: %s", path, strerror(code));
}

/* ---- asked over a socket ---- */

int talk_open(struct talk *t, const char *helper, const char *packages, struct err *e)
{
	char path[PATH_MAX];
	int pair[2], code;

	*t = (struct talk){ 0 };
	code = helper_find(helper, packages, path, sizeof path, e);
	if (code)
		return code;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	t->pid = fork();
	code = errno;
	if (t->pid == 0)
		become(path, (int[]){ pair[1], -1, -1 }, 3);
	close(pair[1]);
	t->socket = pair[0];
	if (t->pid > 0)
		return 0;
	close(pair[0]);
	*t = (struct talk){ 0 };
	return err_set(e, -code, "cannot start %s: %s", path, strerror(code));
}

void talk_close(struct talk *t)
{
	if (t->pid > 0) {
		close(t->socket);
		child_end(t->pid);
	}
	*t = (struct talk){ 0 };
}

bool talk_read(int fd, void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = read(fd, (char *)to + done, n - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

bool talk_read_ahead(int fd, struct talk_ahead *ahead, void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		size_t there = ahead->end - ahead->at, part = there < n - done ? there : n - done;
		ssize_t got;

		if (part) {
			memcpy((char *)to + done, ahead->bytes + ahead->at, part);
			ahead->at += part;
			done += part;
			continue;
		}
		if (n - done >= sizeof ahead->bytes)
			return talk_read(fd, (char *)to + done, n - done);
		got = read(fd, ahead->bytes, sizeof ahead->bytes);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		ahead->at = 0;
		ahead->end = (size_t)got;
	}
	return true;
}

bool talk_write(int fd, const void *from, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = send(fd, (const char *)from + done, n - done, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return true;
}

/* ---- that write a file ---- */

static int start(struct helper_talk *t, const char *path, int file, struct err *e)
{
	int work[2], answer[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, work))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	if (pipe2(answer, O_CLOEXEC)) {
		int code = errno;

		close(work[0]);
		close(work[1]);
		return err_set(e, -code, "cannot make a pipe: %s", strerror(code));
	}
	t->pid = fork();
	if (t->pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		/* What the library says for itself goes nowhere: its user gets our sentence. */
		become(path, (int[]){ work[1], answer[1], -1, file }, HELPER_FILE + 1);
	}
	close(work[1]);
	close(answer[1]);
	t->work = work[0];
	t->answer = answer[0];
	if (t->pid < 0) {
		int code = errno;

		t->pid = 0;
		close(t->work);
		close(t->answer);
		t->work = t->answer = -1;
		return err_set(e, -code, "cannot start %s: %s", path, strerror(code));
	}
	return 0;
}

/* Its exit status, once: -1 when it was waited for before. */
static int reap(struct helper_talk *t)
{
	int status = -1;

	if (t->work >= 0)
		close(t->work);
	t->work = -1;
	while (t->pid > 0 && waitpid(t->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (t->pid > 0 && t->answer >= 0)
		close(t->answer);
	t->pid = 0;
	return status;
}

static size_t read_all(int fd, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, (char *)to + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* What it has to say at its end: 0 when all is written. */
static int hear(struct helper_talk *t, struct err *e)
{
	const struct helper_program *p = t->program;
	char text[sizeof(e->text)];
	int32_t code;
	size_t n = 0;
	int status;

	close(t->work); /* or it might wait for more */
	t->work = -1;
	if (talk_read(t->answer, &code, sizeof(code))) {
		n = read_all(t->answer, text, sizeof(text) - 1);
		text[n] = '\0';
		reap(t);
		return code ? err_set(e, code < 0 ? code : -EPROTO, "%s", text) : 0;
	}
	status = reap(t);
	if (WIFEXITED(status) && WEXITSTATUS(status) == HELPER_NOT_STARTED)
		return helper_cannot_start(p->name, p->library, e);
	return err_set(e, -EPIPE, "the helper sonde-%s died of %s", p->name,
		       WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an error");
}

int helper_talk_begin(struct helper_talk *t, const struct helper_program *program, int file,
		      struct err *e)
{
	char path[PATH_MAX];
	struct stat st;
	int bad;

	*t = (struct helper_talk){ .program = program, .work = -1, .answer = -1 };
	bad = helper_find(program->name, program->development, path, sizeof path, e);
	if (bad)
		return bad;
	if (file < 0 || fstat(file, &st) || !S_ISREG(st.st_mode))
		return err_set(e, -ESPIPE, "%s goes to a file only", program->name);
	return start(t, path, file, e);
}

/* Who does not listen any more has said why. */
int helper_talk_send(struct helper_talk *t, const void *data, size_t n, struct err *e)
{
	int rc;

	if (talk_write(t->work, data, n))
		return 0;
	rc = hear(t, e);
	return rc ? rc
		  : err_set(e, -EPIPE, "the helper sonde-%s ended too early", t->program->name);
}

int helper_talk_end(struct helper_talk *t, struct err *e)
{
	return hear(t, e);
}

void helper_talk_free(struct helper_talk *t)
{
	if (!t->program)
		return;
	if (t->pid > 0)
		kill(t->pid, SIGKILL);
	reap(t);
	*t = (struct helper_talk){ 0 };
}

int helper_answer(int code, const struct err *e)
{
	int32_t told = code;
	size_t n = code ? strlen(e->text) : 0;

	return write(1, &told, sizeof(told)) == sizeof(told) && write(1, e->text, n) == (ssize_t)n
		       ? EXIT_SUCCESS
		       : EXIT_FAILURE;
}
