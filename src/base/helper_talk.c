/* SPDX-License-Identifier: Apache-2.0 */
#include "base/helper_talk.h"

#include "base/descriptors.h"
#include "base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT_OF_THE_WAY = 16, CANNOT_START = 127 };

/* Only system calls. What the library says for itself goes nowhere: its user gets our sentence. */
static _Noreturn void become(const char *path, int work, int answer, int file)
{
	char *const argv[] = { (char *)path, NULL };
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	work = fcntl(work, F_DUPFD, OUT_OF_THE_WAY);
	answer = fcntl(answer, F_DUPFD, OUT_OF_THE_WAY);
	file = fcntl(file, F_DUPFD, OUT_OF_THE_WAY);
	null = open("/dev/null", O_WRONLY);
	if (dup2(work, 0) == 0 && dup2(answer, 1) == 1 && dup2(null, 2) == 2 &&
	    dup2(file, HELPER_FILE) == HELPER_FILE) {
		descriptors_close(HELPER_FILE + 1, -1);
		signal(SIGPIPE, SIG_DFL);
		execv(path, argv);
	}
	_exit(CANNOT_START);
}

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
	if (t->pid == 0)
		become(path, work[1], answer[1], file);
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
	if (read_all(t->answer, &code, sizeof(code)) == sizeof(code)) {
		n = read_all(t->answer, text, sizeof(text) - 1);
		text[n] = '\0';
		reap(t);
		return code ? err_set(e, code < 0 ? code : -EPROTO, "%s", text) : 0;
	}
	status = reap(t);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_START)
		return err_set(e, -ENOENT, "the helper sonde-%s cannot start; it needs Debian's %s",
			       p->name, p->library);
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
	for (size_t done = 0; done < n;) {
		ssize_t sent = send(t->work, (const char *)data + done, n - done, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			int rc = hear(t, e);

			return rc ? rc
				  : err_set(e, -EPIPE, "the helper sonde-%s ended too early",
					    t->program->name);
		}
		done += (size_t)sent;
	}
	return 0;
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
