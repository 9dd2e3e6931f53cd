/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused PATTERN CMD [ARGS...]: runs CMD with every open of a path that matches PATTERN (of
 * fnmatch, several with | between them) refused by EACCES, whoever asks, as a security module
 * (AppArmor, SELinux) does. A seccomp filter sends each open here; the path is read from who asks,
 * and one that is relative is put behind its folder. Ends with CMD's exit status when the last
 * process that CMD started has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 4096, NO_FILTER = 77, PIDFD_OPEN = 434, PIDFD_GETFD = 438 };

/* The filter's descriptor; the calls that open are those of every processor. */
static int filter_install(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof code / sizeof code[0], .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

static void path_read(const struct seccomp_notif *asked, char path[PATH])
{
	char name[64], text[PATH / 2] = "", folder[PATH / 2] = "";
	int memory, at = (int)asked->data.args[0];

	snprintf(name, sizeof name, "/proc/%u/mem", asked->pid);
	memory = open(name, O_RDONLY | O_CLOEXEC);
	if (memory < 0 || pread(memory, text, sizeof text - 1, (off_t)asked->data.args[1]) < 0)
		text[0] = '\0';
	if (memory >= 0)
		close(memory);
	if (text[0] != '/') {
		if (at == AT_FDCWD)
			snprintf(name, sizeof name, "/proc/%u/cwd", asked->pid);
		else
			snprintf(name, sizeof name, "/proc/%u/fd/%d", asked->pid, at);
		if (readlink(name, folder, sizeof folder - 1) < 0)
			folder[0] = '\0';
	}
	snprintf(path, PATH, "%s%s%s", folder, folder[0] ? "/" : "", text);
}

static int is_refused(const char *patterns, const char *path)
{
	char one[PATH];

	while (*patterns) {
		size_t n = strcspn(patterns, "|");

		snprintf(one, sizeof one, "%.*s", (int)n, patterns);
		if (!fnmatch(one, path, 0))
			return 1;
		patterns += n + (patterns[n] == '|');
	}
	return 0;
}

static void answer_all(int filter, const char *patterns)
{
	struct pollfd asks = { .fd = filter, .events = POLLIN };

	while (poll(&asks, 1, -1) > 0 && !(asks.revents & POLLHUP)) {
		struct seccomp_notif asked = { 0 };
		struct seccomp_notif_resp answer = { 0 };
		char path[PATH];

		if (ioctl(filter, SECCOMP_IOCTL_NOTIF_RECV, &asked))
			continue;
		path_read(&asked, path);
		answer.id = asked.id;
		if (is_refused(patterns, path))
			answer.error = -EACCES;
		else
			answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(filter, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

static void run(int parent, char **command)
{
	int filter = filter_install();

	if (filter < 0)
		perror("refused: seccomp");
	if (write(parent, &filter, sizeof filter) != sizeof filter || filter < 0 ||
	    read(parent, &filter, sizeof filter) != sizeof filter)
		_exit(NO_FILTER);
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	int pair[2], filter = -1, status, held;
	pid_t pid;

	if (argc < 3 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return 2;
	pid = fork();
	if (pid < 0)
		return 2;
	if (!pid)
		run(pair[1], argv + 2);
	close(pair[1]);
	if (read(pair[0], &filter, sizeof filter) != sizeof filter || filter < 0)
		return NO_FILTER;
	held = (int)syscall(PIDFD_GETFD, syscall(PIDFD_OPEN, pid, 0), filter, 0);
	if (held < 0) {
		perror("refused: pidfd_getfd");
		kill(pid, SIGKILL);
		return NO_FILTER;
	}
	if (write(pair[0], &filter, sizeof filter) != sizeof filter)
		return 2;
	answer_all(held, argv[1]);
	if (waitpid(pid, &status, 0) != pid)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
