/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-iterator - loads the program that reads all tasks into the kernel, hands the recorder the
 * descriptor of it over the socket TASK_SOCKET, and ends. Whoever has that descriptor reads tasks
 * without this process and without libbpf; when it is closed nothing is left in the kernel.
 *
 * Before, it reads itself in both ways and compares: numbers that this /proc gives otherwise, in
 * another pid or time namespace, are refused. Started by hand it does nothing.
 */
#include "base/err.h"
#include "source/procfile.h"
#include "source/task_dump.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CPU_MAX_S = 5, PATIENCE_S = 10, BUFFER = 1 << 16 };

extern const char iterator_object[], iterator_object_end[];

/* What libbpf writes is for who develops it; the errno says enough. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

static void limit(void)
{
	const struct rlimit cpu = { CPU_MAX_S, CPU_MAX_S },
			    locked = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_MEMLOCK, &locked); /* BPF counts as locked memory until Linux 5.11 */
	alarm(PATIENCE_S);
}

static int own_stat(struct proc_stat *st, struct err *e)
{
	char text[1024] = "";
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || proc_stat_parse(text, st))
		return err_set(e, -ENODATA, "/proc/self/stat cannot be read");
	return 0;
}

static bool is_alike(const struct task_thread *t, const struct task_process *p,
		     const struct proc_stat *st)
{
	int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);

	return t->tid == (uint32_t)st->pid && p->ppid == (uint32_t)st->ppid &&
	       (int64_t)p->start_ns / tick_ns == st->starttime &&
	       p->threads == (uint32_t)st->num_threads && t->used.run_ns &&
	       p->has & TASK_HAS_RESIDENT && p->resident_pages > 0 &&
	       strncmp(p->comm, st->comm, sizeof p->comm) == 0;
}

/* Whether this process is among the n bytes at data, as /proc has it. */
static bool has_self(const char *data, size_t n, const struct proc_stat *st)
{
	struct task_thread t;
	struct task_process p;

	for (size_t at = 0; at + sizeof t <= n; at += t.size) {
		memcpy(&t, data + at, sizeof t);
		if (t.size < sizeof t || t.size > n - at)
			return false;
		if (t.size != TASK_PROCESS_SIZE || t.pid != (uint32_t)st->pid)
			continue;
		memcpy(&p, data + at + sizeof t, sizeof p);
		return is_alike(&t, &p, st);
	}
	return false;
}

static int compare(int link, struct err *e)
{
	static char data[BUFFER];
	struct proc_stat st;
	bool found = false;
	int bad = own_stat(&st, e), fd = bad ? -1 : bpf_iter_create(link);
	ssize_t n = 0;

	if (bad)
		return bad;
	if (fd < 0)
		return err_set(e, -errno, "the kernel refused to iterate over its tasks: %s",
			       strerror(errno));
	while (!found && (n = read(fd, data, sizeof data)) > 0)
		found = has_self(data, (size_t)n, &st);
	close(fd);
	if (found)
		return 0;
	return err_set(e, -EOPNOTSUPP,
		       "the kernel's tasks have other numbers here than /proc shows");
}

/* What else it may say of a program it does not know: that it is too old. */
static bool is_forbidden(int bad)
{
	return bad == -EPERM || bad == -EACCES;
}

/* The descriptor of the iterator, or -errno. */
static int make(struct err *e)
{
	struct bpf_object *o = bpf_object__open_mem(
		iterator_object, (size_t)(iterator_object_end - iterator_object), NULL);
	struct bpf_program *p;
	struct bpf_link *l;
	int bad = (int)libbpf_get_error(o);

	if (bad)
		return err_set(e, bad, "libbpf does not take the program: %s", strerror(-bad));
	bad = bpf_object__load(o);
	if (bad)
		return err_set(e, is_forbidden(bad) ? bad : -EOPNOTSUPP,
			       "the kernel refused the program: %s", strerror(-bad));
	p = bpf_object__find_program_by_name(o, "tasks");
	l = p ? bpf_program__attach_iter(p, NULL) : NULL;
	bad = p ? (int)libbpf_get_error(l) : -ENOENT;
	if (bad)
		return err_set(e, bad, "the kernel has no task iterator: %s", strerror(-bad));
	bad = compare(bpf_link__fd(l), e);
	return bad ? bad : bpf_link__fd(l);
}

static int answer(int link, const struct err *e)
{
	struct task_answer a = { .code = link < 0 ? link : 0 };
	struct iovec part = { &a, sizeof a };
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof link)] = { 0 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c;

	snprintf(a.text, sizeof a.text, "%.*s", (int)sizeof a.text - 1, e->text);
	if (link >= 0) {
		m.msg_control = room;
		m.msg_controllen = sizeof room;
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS,
				       .cmsg_len = CMSG_LEN(sizeof link) };
		memcpy(CMSG_DATA(c), &link, sizeof link);
	}
	return sendmsg(TASK_SOCKET, &m, MSG_NOSIGNAL) == (ssize_t)sizeof a ? EXIT_SUCCESS
									   : EXIT_FAILURE;
}

int main(void)
{
	struct err e = { "" };
	struct stat st;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fstat(TASK_SOCKET, &st) || !S_ISSOCK(st.st_mode))
		return EXIT_FAILURE;
	limit();
	libbpf_set_print(say_nothing);
	return answer(make(&e), &e);
}
