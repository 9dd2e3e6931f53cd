/* SPDX-License-Identifier: Apache-2.0 */
#include "source/storage/statfs_helper.h"

#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static void look(struct statfs_answer *a)
{
	const char *path = a->path;
	struct statfs fs;
	struct stat st;
	struct statx sx = { 0 };

	if (statfs(path, &fs) < 0 || stat(path, &st) < 0) {
		a->error = -errno;
		return;
	}
	a->error = 0;
	a->device = st.st_dev;
	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT, STATX_MNT_ID, &sx) == 0 &&
	    (sx.stx_mask & STATX_MNT_ID))
		a->mount_id = sx.stx_mnt_id;
	a->block_bytes = (uint64_t)(fs.f_frsize ? fs.f_frsize : fs.f_bsize);
	a->blocks = fs.f_blocks;
	a->free = fs.f_bfree;
	a->available = fs.f_bavail;
	a->read_only = (fs.f_flags & ST_RDONLY) != 0;
	a->inodes = fs.f_files;
	a->inodes_free = fs.f_ffree;
}

static void answer(struct statfs_answer *a)
{
	look(a);
	atomic_fetch_add_explicit(&a->answered, 1, memory_order_release);
}

enum { SOCKET = 3 };

/* Keep nothing of the parent's, so that a hung child holds no pipe open that someone waits for. */
static void let_go(int socket)
{
	int null;

	if (socket != SOCKET)
		dup2(socket, SOCKET);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < SOCKET && null >= 0; fd++)
		dup2(null, fd);
	if (syscall(SYS_close_range, SOCKET + 1U, ~0U, 0U) == 0)
		return;
	for (int fd = SOCKET + 1; fd < 65536; fd++) /* before Linux 5.9 */
		close(fd);
}

/* What the child does: only system calls, since the parent may have had threads. */
static _Noreturn void serve(int socket, pid_t parent, struct statfs_answer *a)
{
	sigset_t all;
	char question;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-statfs");
	let_go(socket);
	while (getppid() == parent && read(SOCKET, &question, 1) == 1)
		answer(a);
	_exit(0);
}

static int make_answer(struct statfs_helper *h, const char *path)
{
	void *made = mmap(NULL, sizeof *h->answer, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		return -errno;
	h->answer = made;
	statfs_helper_path(h, path);
	return 0;
}

int statfs_helper_here(struct statfs_helper *h, const char *path)
{
	*h = (struct statfs_helper){ .here = true };
	return make_answer(h, path);
}

int statfs_helper_start(struct statfs_helper *h, const char *path)
{
	pid_t parent = getpid();
	int pair[2], saved;

	*h = (struct statfs_helper){ 0 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	h->socket = fcntl(pair[0], F_DUPFD_CLOEXEC, SOCKET); /* 0 to 2 may be closed here */
	close(pair[0]);
	h->pid = h->socket < 0 || make_answer(h, path) ? -1 : fork();
	if (h->pid == 0)
		serve(pair[1], parent, h->answer);
	saved = errno;
	close(pair[1]);
	if (h->pid > 0)
		return 0;
	statfs_helper_stop(h);
	return -saved;
}

void statfs_helper_path(struct statfs_helper *h, const char *path)
{
	snprintf(h->answer->path, sizeof h->answer->path, "%s", path);
}

int statfs_helper_ask(struct statfs_helper *h)
{
	if (h->here)
		answer(h->answer);
	else if (send(h->socket, "?", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		return -errno;
	h->asked++;
	return 0;
}

bool statfs_helper_answered(const struct statfs_helper *h)
{
	return atomic_load_explicit(&h->answer->answered, memory_order_acquire) == h->asked;
}

void statfs_helper_stop(struct statfs_helper *h)
{
	if (h->socket > 0)
		close(h->socket);
	if (h->pid > 0)
		child_end(h->pid);
	if (h->answer)
		munmap(h->answer, sizeof *h->answer);
	*h = (struct statfs_helper){ 0 };
}
