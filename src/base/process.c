/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- a command whose output is read ---- */

enum { NOT_FOUND = 127 };

static void become_command(char *const *argv, int to, void (*change)(void))
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	dup2(null, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	dup2(to, STDERR_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (change)
		change();
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(NOT_FOUND);
}

int asking_start(struct asking *c, char *const *argv, void (*change)(void))
{
	int ends[2], bad;

	*c = (struct asking){ 0 };
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (!c->pid)
		become_command(argv, ends[1], change);
	bad = c->pid < 0 ? -errno : 0;
	close(ends[1]);
	c->from = ends[0];
	fcntl(c->from, F_SETFL, O_NONBLOCK);
	if (bad) {
		close(c->from);
		c->pid = 0;
	}
	return bad;
}

bool asking_take(struct asking *c)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(c->from, buf, sizeof buf)) > 0)
		if (c->output.len < ASKING_OUTPUT)
			bytes_put(&c->output, buf, (size_t)n);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

bool asking_take_all(struct asking *c, int64_t patience_ns)
{
	int64_t until = clock_mono_ns() + patience_ns, left;

	while (asking_take(c)) {
		left = until - clock_mono_ns();
		if (left <= 0)
			return false;
		poll(&(struct pollfd){ .fd = c->from, .events = POLLIN }, 1,
		     (int)(left / NS_PER_MS) + 1);
	}
	return true;
}

const char *asking_text(struct asking *c)
{
	bytes_u8(&c->output, 0);
	if (c->output.failed)
		return "";
	c->output.len--;
	return (const char *)c->output.data;
}

int asking_end(struct asking *c, int signal)
{
	int status = -1;

	if (c->pid) {
		kill(c->pid, signal);
		waitpid(c->pid, &status, 0);
		close(c->from);
	}
	bytes_free(&c->output);
	*c = (struct asking){ 0 };
	return status;
}

/* ---- ending a child ---- */

bool child_end(pid_t pid)
{
	const struct timespec a_little = { .tv_nsec = 100000 };
	bool ended = waitpid(pid, NULL, WNOHANG) != 0;

	if (!ended)
		kill(pid, SIGKILL);
	for (int tries = 0; tries < 200 && !ended; tries++) {
		ended = waitpid(pid, NULL, WNOHANG) != 0;
		if (!ended)
			nanosleep(&a_little, NULL);
	}
	return ended;
}

/* ---- a process that is no child here ---- */

static void fork_other(struct orphan *o)
{
	o->pid = fork();
	if (!o->pid) {
		o->be(o->of);
		_exit(0);
	}
	o->pid = o->pid < 0 ? -errno : o->pid;
}

/* The child in between only forks and ends: with vfork it needs no copy of the memory for that. */
int orphan_fork_two(struct orphan *other)
{
	volatile int made = -ECHILD; /* its pid, or -errno */
	pid_t between = vfork(), orphan;

	if (between < 0)
		return -errno;
	if (!between) {
		orphan = fork();
		if (!orphan)
			return 0;
		made = orphan < 0 ? -errno : orphan;
		if (other)
			fork_other(other);
		_exit(0);
	}
	waitpid(between, NULL, 0);
	return made;
}

int orphan_fork(void)
{
	return orphan_fork_two(NULL);
}

/* ---- what was inherited ---- */

enum { USUAL = 1024 }; /* as far as descriptors are usually given out */

/* close_range(2), Linux 5.9; before it, one by one. */
static void close_from_to(unsigned first, unsigned last)
{
	if (first > last)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, last, 0))
		return;
#endif
	for (unsigned fd = first; fd <= last && fd < USUAL; fd++)
		close((int)fd);
}

void descriptors_close(int first, int keep)
{
	if (keep > first)
		close_from_to((unsigned)first, (unsigned)keep - 1);
	close_from_to(keep >= first ? (unsigned)keep + 1 : (unsigned)first, UINT_MAX);
}

void descriptors_null(int end)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd < end; fd++)
		dup2(null, fd);
	if (null >= end)
		close(null);
}

static void close_inherited(int fd, int keep)
{
	int flags = fcntl(fd, F_GETFD);

	if (fd > STDERR_FILENO && fd != keep && flags >= 0 && !(flags & FD_CLOEXEC))
		close(fd);
}

void descriptors_let_go(int keep)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *entry;

	descriptors_null(STDERR_FILENO);
	if (!d)
		for (int fd = 0; fd < USUAL; fd++)
			close_inherited(fd, keep);
	while (d && (entry = readdir(d)))
		close_inherited((int)strtol(entry->d_name, NULL, 10), keep);
	if (d)
		closedir(d);
}

enum { PIECE = 4096, PIECES = 64 };

bool memory_read(pid_t pid, uint64_t at, void *out, size_t size)
{
	const struct iovec to = { out, size }, from = { (void *)(uintptr_t)at, size };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* The kernel stops at the first piece that is not there. */
ssize_t memory_copy(pid_t pid, uint64_t at, void *out, size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct iovec from[PIECES], to = { (char *)out + done, 0 };
		unsigned long n = 0;
		ssize_t got;

		while (n < PIECES && done + to.iov_len < size) {
			uint64_t start = at + done + to.iov_len;
			size_t len = PIECE - (size_t)(start % PIECE);

			if (len > size - done - to.iov_len)
				len = size - done - to.iov_len;
			from[n++] = (struct iovec){ (void *)(uintptr_t)start, len };
			to.iov_len += len;
		}
		got = process_vm_readv(pid, &to, 1, from, n, 0);
		if (got < 0 && !done)
			return errno == EFAULT ? 0 : -errno;
		done += got > 0 ? (size_t)got : 0;
		if (got < (ssize_t)to.iov_len)
			break;
	}
	return (ssize_t)done;
}

bool memory_text(pid_t pid, uint64_t at, char *out, size_t size)
{
	ssize_t n = memory_copy(pid, at, out, size - 1);

	if (n <= 0)
		return false;
	out[n] = '\0';
	return memchr(out, '\0', (size_t)n) != NULL;
}

ssize_t memory_of_file(int fd, void *out, size_t size, int64_t at)
{
	int64_t from = at - at % sysconf(_SC_PAGESIZE);
	size_t skipped = (size_t)(at - from), mapped = skipped + size;
	char *map = mmap(NULL, mapped, PROT_READ, MAP_SHARED, fd, from);
	ssize_t n;

	if (map == MAP_FAILED)
		return pread(fd, out, size, at);
	n = memory_copy(getpid(), (uint64_t)(uintptr_t)map + skipped, out, size);
	munmap(map, mapped);
	return n < 0 ? pread(fd, out, size, at) : n;
}
