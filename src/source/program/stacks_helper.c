/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/stacks_helper.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/descriptors.h"
#include "base/helper.h"
#include "base/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT_OF_THE_WAY = 64 }; /* above the descriptors that the helper gets */

/* Its descriptor, or -errno. */
static int make_page(struct stacks_helper *h, const struct stacks_rings *r,
		     const struct stacks_before *b)
{
	int fd = unnamed_memory("sonde-unwind");
	void *memory = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof *h->page) == 0)
		memory = mmap(NULL, sizeof *h->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		int bad = fd < 0 ? fd : -errno;

		if (fd >= 0)
			close(fd);
		return bad;
	}
	/* So that nobody can cut it under this process; a plain file cannot be sealed. */
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	h->page = memory;
	h->page->layout = sizeof *h->page;
	h->page->parent = getpid();
	h->page->nrings = (uint32_t)r->n;
	h->page->ring_bytes = r->bytes;
	h->page->stack_bytes = r->stack_bytes;
	h->page->module = b->first->module;
	h->page->frame = b->first->frame;
	h->page->node = b->first->node;
	if (b->watch) {
		h->page->watch.hz = b->watch->hz;
		h->page->watch.share = b->watch->share;
		h->page->watch.began_ns = b->watch->began_ns;
		h->page->watch.nskip = b->watch->nskip;
		memcpy(h->page->watch.skip, b->watch->skip, sizeof h->page->watch.skip);
	}
	if (b->turns) {
		h->page->rounds.threads = b->turns->threads;
		h->page->rounds.bytes = b->turns->bytes;
		h->page->rounds.hz = b->turns->hz;
		h->page->rounds.hz_of_node = b->turns->hz_of_node;
		h->page->rounds.began_ns = clock_mono_ns();
	}
	h->page->nrefused = b->nrefused;
	if (b->nrefused)
		memcpy(h->page->refused, b->refused, b->nrefused * sizeof *b->refused);
	return fd;
}

/* Only system calls, since the parent may have had threads. */
static _Noreturn void become(const char *path, int socket, int memory, const struct stacks_rings *r)
{
	char *const argv[] = { (char *)path, NULL };
	int from[2 + STACKS_CPUS_MAX] = { socket, memory }, null;
	int n = 2;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < r->n; i++)
		from[n++] = r->fd[i];
	for (int i = 0; i < n; i++)
		from[i] = fcntl(from[i], F_DUPFD, OUT_OF_THE_WAY);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < STACKS_SOCKET && null >= 0; fd++)
		dup2(null, fd);
	for (int i = 0; i < n; i++)
		if (dup2(from[i], STACKS_SOCKET + i) < 0)
			_exit(127);
	descriptors_close(STACKS_SOCKET + n, -1);
	execv(path, argv);
	_exit(127);
}

int stacks_helper_start(struct stacks_helper *h, const struct stacks_rings *r,
			const struct stacks_before *b, struct err *e)
{
	char path[PATH_MAX];
	int pair[2], memory, bad = helper_find("unwind", "libdw-dev", path, sizeof path, e);

	*h = (struct stacks_helper){ 0 };
	if (bad)
		return bad;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	memory = make_page(h, r, b);
	h->socket = fcntl(pair[0], F_DUPFD_CLOEXEC, STACKS_SOCKET); /* 0 to 2 may be closed here */
	close(pair[0]);
	h->pid = memory < 0 || h->socket < 0 ? -1 : fork();
	if (h->pid == 0)
		become(path, pair[1], memory, r);
	if (h->pid < 0)
		bad = memory < 0 ? memory : -errno;
	close(pair[1]);
	if (memory >= 0)
		close(memory);
	if (bad) {
		stacks_helper_stop(h);
		err_set(e, bad, "cannot start %s: %s", path, strerror(-bad));
	}
	return bad;
}

enum stacks_stage stacks_helper_stage(const struct stacks_helper *h)
{
	return (enum stacks_stage)atomic_load_explicit(&h->page->stage, memory_order_acquire);
}

void stacks_helper_ask(struct stacks_helper *h, bool last)
{
	atomic_store(&h->page->last, last);
	atomic_store_explicit(&h->page->asked, ++h->asked, memory_order_release);
	(void)send(h->socket, "?", 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* who died is found out */
}

bool stacks_helper_answered(const struct stacks_helper *h)
{
	return atomic_load_explicit(&h->page->answered, memory_order_acquire) == h->asked;
}

bool stacks_helper_died(struct stacks_helper *h)
{
	if (h->pid <= 0 || waitpid(h->pid, NULL, WNOHANG) == 0)
		return false;
	h->pid = 0;
	return true;
}

bool stacks_helper_stop(struct stacks_helper *h)
{
	bool ended = true;

	if (h->socket > 0)
		close(h->socket);
	if (h->pid > 0)
		ended = child_end(h->pid);
	if (h->page)
		munmap(h->page, sizeof *h->page);
	*h = (struct stacks_helper){ 0 };
	return ended;
}
