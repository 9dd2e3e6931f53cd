/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/foreign.h"

#include "base/descriptors.h"
#include "base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT_OF_THE_WAY = 16, CANNOT_START = 127 };

/* Only system calls. What the library says for itself goes nowhere: its user gets our sentence. */
static _Noreturn void become(const char *path, int table, int answer, int file)
{
	char *const argv[] = { (char *)path, NULL };
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	table = fcntl(table, F_DUPFD, OUT_OF_THE_WAY);
	answer = fcntl(answer, F_DUPFD, OUT_OF_THE_WAY);
	file = fcntl(file, F_DUPFD, OUT_OF_THE_WAY);
	null = open("/dev/null", O_WRONLY);
	if (dup2(table, 0) == 0 && dup2(answer, 1) == 1 && dup2(null, 2) == 2 &&
	    dup2(file, FOREIGN_FILE) == FOREIGN_FILE) {
		descriptors_close(FOREIGN_FILE + 1, -1);
		signal(SIGPIPE, SIG_DFL);
		execv(path, argv);
	}
	_exit(CANNOT_START);
}

static int start(struct foreign *x, const char *path, int file, struct err *e)
{
	int table[2], answer[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, table))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	if (pipe2(answer, O_CLOEXEC)) {
		int code = errno;

		close(table[0]);
		close(table[1]);
		return err_set(e, -code, "cannot make a pipe: %s", strerror(code));
	}
	x->pid = fork();
	if (x->pid == 0)
		become(path, table[1], answer[1], file);
	close(table[1]);
	close(answer[1]);
	x->table = table[0];
	x->answer = answer[0];
	if (x->pid < 0) {
		int code = errno;

		x->pid = 0;
		close(x->table);
		close(x->answer);
		return err_set(e, -code, "cannot start %s: %s", path, strerror(code));
	}
	return 0;
}

/* Its exit status, once: -1 when it was waited for before. */
static int reap(struct foreign *x)
{
	int status = -1;

	if (x->table >= 0)
		close(x->table);
	x->table = -1;
	while (x->pid > 0 && waitpid(x->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (x->pid > 0 && x->answer >= 0)
		close(x->answer);
	x->pid = 0;
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
static int hear(struct foreign *x, struct err *e)
{
	const struct foreign_format *f = x->format;
	char text[sizeof(e->text)];
	int32_t code;
	size_t n = 0;
	int status;

	close(x->table); /* or it might wait for more */
	x->table = -1;
	if (read_all(x->answer, &code, sizeof(code)) == sizeof(code)) {
		n = read_all(x->answer, text, sizeof(text) - 1);
		text[n] = '\0';
		reap(x);
		return code ? err_set(e, code < 0 ? code : -EPROTO, "%s", text) : 0;
	}
	status = reap(x);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_START)
		return err_set(e, -ENOENT, "the helper sonde-%s cannot start; it needs Debian's %s",
			       f->helper, f->library);
	return err_set(e, -EPIPE, "the helper sonde-%s died of %s", f->helper,
		       WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an error");
}

/* Who does not listen any more has said why. */
static int send_block(struct foreign *x, struct err *e)
{
	const struct bytes *b = &x->writer.block;

	for (size_t done = 0; done < b->len;) {
		ssize_t n = send(x->table, b->data + done, b->len - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int rc = hear(x, e);

			return rc ? rc
				  : err_set(e, -EPIPE, "the helper sonde-%s ended too early",
					    x->format->helper);
		}
		done += (size_t)n;
	}
	return 0;
}

int foreign_begin(struct foreign *x, const struct foreign_format *format,
		  const struct frame_schema *schema, FILE *out, struct err *e)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, rc;

	x->format = format;
	x->table = x->answer = -1;
	if (helper_find(format->helper, path, sizeof(path)))
		return err_set(
			e, -ENOENT,
			"the helper sonde-%s is not installed; Sonde makes it when it is built "
			"with Debian's %s",
			format->helper, format->development);
	fd = fileno(out);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return err_set(e, -ESPIPE, "%s goes to a file only", format->helper);
	rc = start(x, path, fd, e);
	if (!rc)
		rc = stream_put_schema(&x->writer, schema, e);
	return rc ? rc : send_block(x, e);
}

int foreign_batch(void *state, const struct batch *b, struct err *e)
{
	struct foreign *x = state;
	int rc = stream_put_batch(&x->writer, b, e);

	return rc ? rc : send_block(x, e);
}

int foreign_end(void *state, struct err *e)
{
	struct foreign *x = state;
	int rc = stream_put_end(&x->writer, e);

	if (!rc)
		rc = send_block(x, e);
	return rc ? rc : hear(x, e);
}

void foreign_free(void *state)
{
	struct foreign *x = state;

	if (!x->format)
		return;
	if (x->pid > 0)
		kill(x->pid, SIGKILL);
	reap(x);
	stream_writer_free(&x->writer);
}
