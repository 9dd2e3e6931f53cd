/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/inspection.h"

#include "base/clock.h"
#include "base/process.h"
#include "job/secret/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATIENCE_S = 20, PIPE = 3 };

void inspection_mask_text(const struct secret_list *secrets, char *text, size_t size)
{
	char masked[INSPECTION_TEXT];
	struct bytes b = { .data = (uint8_t *)masked, .cap = sizeof masked, .fixed = true };

	secret_text(secrets, &b, text);
	bytes_u8(&b, 0);
	snprintf(text, size, "%s", b.failed || b.len > size ? SECRET_MASK : masked);
}

void inspection_mask(const struct inspection *l, struct waits *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		inspection_mask_text(l->secrets, w->thread[i].object, WAIT_OBJECT);
}

/* Cut at the end of a line or a word, whose rest would mislead. */
void inspection_send(struct bytes *b, size_t most, char at)
{
	size_t n = b->len < most ? b->len : most - 1;

	while (n && n < b->len && b->data[n - 1] != (uint8_t)at)
		n--;
	if (!b->failed && n)
		(void)!write(PIPE, b->data, n);
	(void)!write(PIPE, "", 1);
	bytes_free(b);
}

static void become(int to)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-waits");
	if (to != PIPE && dup2(to, PIPE) < 0)
		_exit(EXIT_FAILURE);
	descriptors_close(PIPE + 1, -1);
}

bool inspection_begin(struct inspection *l, inspection_look *look, const pid_t *pids, size_t n,
		      int64_t now_ns)
{
	int ends[2];

	if (l->pid || !n || pipe2(ends, O_CLOEXEC))
		return l->pid != 0;
	l->pid = fork();
	if (l->pid == 0) {
		become(ends[1]);
		look(pids, n, l);
		_exit(EXIT_SUCCESS);
	}
	close(ends[1]);
	if (l->pid < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK)) {
		if (l->pid > 0)
			child_end(l->pid);
		close(ends[0]);
		l->pid = 0;
		return false;
	}
	l->from = ends[0];
	l->begun_ns = now_ns;
	l->looks++;
	l->coming_len = 0;
	return true;
}

static int64_t children_ns(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_CHILDREN, &u))
		return 0;
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

void inspection_stop(struct inspection *l)
{
	int64_t before_ns = children_ns();

	if (!l->pid)
		return;
	close(l->from);
	child_end(l->pid);
	l->pid = 0;
	l->cpu_ns += children_ns() - before_ns;
}

bool inspection_take(struct inspection *l, int64_t now_ns)
{
	size_t most = sizeof l->coming - 1;
	ssize_t n = 1;

	while (l->pid && n > 0 && l->coming_len < most) {
		n = read(l->from, l->coming + l->coming_len, most - l->coming_len);
		l->coming_len += n > 0 ? (size_t)n : 0;
	}
	if (!l->pid || (n < 0 && (errno == EAGAIN || errno == EINTR) &&
			now_ns - l->begun_ns < PATIENCE_S * NS_PER_S))
		return false;
	inspection_stop(l);
	if (n || !l->coming_len || !l->coming[0])
		return false;
	l->coming[l->coming_len] = '\0';
	memcpy(l->text, l->coming, l->coming_len + 1);
	l->len = l->coming_len;
	return true;
}

const char *inspection_text(const struct inspection *l, int which)
{
	const char *at = l->text, *end = l->text + l->len;

	for (int i = 0; i < which && at < end; i++)
		at += strlen(at) + 1;
	return at < end ? at : "";
}
