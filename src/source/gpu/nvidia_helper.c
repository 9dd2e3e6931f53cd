/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/nvidia_helper.h"

#include "base/child.h"
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

enum { OUT_OF_THE_WAY = 16 }; /* above the descriptors that the helper gets */

/* A page for it, zero but for what the helper must know. Its descriptor, or -errno. */
static int make_page(struct nvidia_helper *h, uint32_t left_out)
{
	int fd = unnamed_memory("sonde-nvml");
	void *memory = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof *h->page) == 0)
		memory = mmap(NULL, sizeof *h->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		int bad = -errno;

		if (fd >= 0)
			close(fd);
		return bad;
	}
	h->page = memory;
	h->page->layout = sizeof *h->page;
	h->page->parent = getpid();
	h->page->left_out = left_out;
	atomic_store(&h->page->at_gpu, -1);
	return fd;
}

/* Only system calls, since the parent may have had threads. */
static _Noreturn void become(const char *path, int socket, int memory)
{
	char *const argv[] = { (char *)path, NULL };
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	socket = fcntl(socket, F_DUPFD, OUT_OF_THE_WAY);
	memory = fcntl(memory, F_DUPFD, OUT_OF_THE_WAY);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < NVIDIA_SOCKET && null >= 0; fd++)
		dup2(null, fd);
	if (dup2(socket, NVIDIA_SOCKET) >= 0 && dup2(memory, NVIDIA_MEMORY) >= 0) {
		descriptors_close(NVIDIA_MEMORY + 1, -1);
		execv(path, argv);
	}
	_exit(127);
}

int nvidia_helper_start(struct nvidia_helper *h, uint32_t left_out, struct err *e)
{
	char path[PATH_MAX];
	int pair[2], memory, bad = helper_find("nvml", NULL, path, sizeof path, e);

	*h = (struct nvidia_helper){ 0 };
	if (bad)
		return bad;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	memory = make_page(h, left_out);
	h->socket = fcntl(pair[0], F_DUPFD_CLOEXEC, NVIDIA_SOCKET); /* 0 to 2 may be closed here */
	close(pair[0]);
	h->pid = memory < 0 || h->socket < 0 ? -1 : fork();
	if (h->pid == 0)
		become(path, pair[1], memory);
	if (h->pid < 0)
		bad = memory < 0 ? memory : -errno;
	close(pair[1]);
	if (memory >= 0)
		close(memory);
	if (bad) {
		nvidia_helper_stop(h);
		err_set(e, bad, "cannot start %s: %s", path, strerror(-bad));
	}
	return bad;
}

int nvidia_helper_ask(struct nvidia_helper *h, int64_t due_ns)
{
	h->page->due_ns = due_ns;
	if (send(h->socket, "?", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		return -errno;
	h->asked++;
	return 0;
}

enum nvidia_stage nvidia_helper_stage(const struct nvidia_helper *h)
{
	return (enum nvidia_stage)atomic_load_explicit(&h->page->stage, memory_order_acquire);
}

bool nvidia_helper_answered(const struct nvidia_helper *h)
{
	return atomic_load_explicit(&h->page->answered, memory_order_acquire) == h->asked;
}

bool nvidia_helper_died(struct nvidia_helper *h)
{
	if (h->pid <= 0 || waitpid(h->pid, NULL, WNOHANG) == 0)
		return false;
	h->pid = 0;
	return true;
}

void nvidia_helper_stop(struct nvidia_helper *h)
{
	if (h->socket > 0)
		close(h->socket);
	if (h->pid > 0)
		child_end(h->pid);
	if (h->page)
		munmap(h->page, sizeof *h->page);
	*h = (struct nvidia_helper){ 0 };
}
