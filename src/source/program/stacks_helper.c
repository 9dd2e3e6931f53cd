/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/stacks_helper.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/process.h"
#include "core/stacks/symbol.h"
#include "core/stacks/waitkind.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Helper ---- */

_Static_assert(STACKS_SOCKET == (int)HELPER_SOCKET && STACKS_MEMORY == (int)HELPER_MEMORY,
	       "as helpers have them");

static const struct stacks_rings no_rings = { .n = 0 };

/* Its descriptor, or -errno. */
static int make_page(struct stacks_helper *h)
{
	const struct stacks_rings *r = h->rings ? h->rings : &no_rings;
	void *memory;
	int fd = helper_memory("sonde-unwind", sizeof *h->page, &memory);

	if (fd < 0)
		return fd;
	h->page = memory;
	h->page->layout = sizeof *h->page;
	h->page->parent = getpid();
	h->page->nrings = (uint32_t)r->n;
	h->page->ring_bytes = r->bytes;
	h->page->stack_bytes = r->stack_bytes;
	h->page->touches.hz = r->faults_hz;
	h->page->touches.in_kernel = r->in_kernel;
	h->page->touches.step = r->step;
	h->page->touches.handed = r->what == RINGS_TASKS;
	for (size_t i = 0; i < r->n; i++)
		h->page->touches.cpu[i] = r->cpu[i];
	h->page->module = h->taken.next.module;
	h->page->frame = h->taken.next.frame;
	h->page->node = h->taken.next.node;
	if (h->watch) {
		h->page->watch.hz = h->watch->hz;
		h->page->watch.share = h->watch->share;
		h->page->watch.began_ns = clock_mono_ns();
		h->page->watch.nskip = h->watch->nskip;
		memcpy(h->page->watch.skip, h->watch->skip, sizeof h->page->watch.skip);
	}
	if (h->turns) {
		h->page->rounds.threads = h->turns->threads;
		h->page->rounds.bytes = h->turns->bytes;
		h->page->rounds.hz = h->turns->hz;
		h->page->rounds.hz_of_node = h->turns->hz_of_node;
		h->page->rounds.late = h->turns->after_ns > 0;
		h->page->rounds.began_ns = clock_mono_ns();
	}
	h->page->nrefused = h->nrefused;
	memcpy(h->page->refused, h->refused, sizeof h->refused);
	memcpy(h->page->left_out, h->left_out, sizeof h->left_out);
	h->page->nleft_out = h->nleft_out;
	return fd;
}

int stacks_helper_start(struct stacks_helper *h, struct err *e)
{
	const struct stacks_rings *r = h->rings ? h->rings : &no_rings;
	int fd[STACKS_RINGS + STACKS_RINGS_MAX] = { -1, -1, -1 };
	struct talk t;
	char path[PATH_MAX];
	int bad = helper_find("unwind", "libdw-dev", path, sizeof path, e);

	if (bad)
		return bad;
	fd[HELPER_MEMORY] = make_page(h);
	if (fd[HELPER_MEMORY] < 0)
		return err_set(e, fd[HELPER_MEMORY], "cannot start %s: %s", path,
			       strerror(-fd[HELPER_MEMORY]));
	for (size_t i = 0; i < r->n; i++)
		fd[STACKS_RINGS + i] = r->fd[i];
	bad = helper_start(path, fd, STACKS_RINGS + (int)r->n, &t, e);
	close(fd[HELPER_MEMORY]);
	h->pid = t.pid;
	h->socket = t.socket;
	if (bad)
		stacks_helper_stop(h);
	return bad;
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
	int status = 0;

	if (h->pid <= 0 || waitpid(h->pid, &status, WNOHANG) == 0)
		return false;
	h->pid = 0;
	h->not_started = WIFEXITED(status) && WEXITSTATUS(status) == HELPER_NOT_STARTED;
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
	h->pid = 0;
	h->socket = 0;
	h->asked = 0;
	h->page = NULL;
	return ended;
}

/* ---- Its messages ---- */

enum { LAST_MS = 500, LAST_MOST_MS = 3000 };

/* What is left of a message. The other process may change it at any time: everything is copied
 * before it is checked. */
struct rest {
	const uint8_t *at;
	size_t n;
};

static bool take_bytes(struct rest *r, void *out, size_t n)
{
	if (n > r->n)
		return false;
	memcpy(out, r->at, n);
	r->at += n;
	r->n -= n;
	return true;
}

static bool take_text(struct rest *r, char *out, uint16_t n)
{
	if (n > STACKS_TEXT_MAX || !take_bytes(r, out, n))
		return false;
	out[n] = '\0';
	return true;
}

enum taken { TAKEN, BAD, NO_ROOM };

static void note_id(uint32_t *next, uint32_t id, uint32_t n)
{
	if (id >= *next && id < UINT32_MAX - n)
		*next = id + n;
}

/* Paths, and what was waited for, are the job's own. What no longer fits is left out. */
static void mask(struct stacks_taken *t, char text[STACKS_TEXT_MAX + 1])
{
	struct bytes b = { .data = (uint8_t *)t->masked, .cap = sizeof t->masked, .fixed = true };

	if (!t->mask.text || !*text)
		return;
	t->mask.text(t->mask.secrets, &b, text);
	bytes_u8(&b, 0);
	snprintf(text, STACKS_TEXT_MAX + 1, "%s", b.failed ? "" : t->masked);
}

static const char *path_of(struct stacks_taken *t, char path[STACKS_TEXT_MAX + 1])
{
	mask(t, path);
	return t->no_paths ? symbol_base(path) : path;
}

static enum taken take_module(struct stacks_taken *t, struct rest r, struct sample *s)
{
	struct stacks_module m;

	if (!take_bytes(&r, &m, sizeof m) || !m.id || !take_text(&r, t->text[0], m.name) ||
	    !take_text(&r, t->text[1], m.build_id))
		return BAD;
	if (!sample_module(s, m.id, path_of(t, t->text[0]), t->text[1]))
		return NO_ROOM;
	if (!strcmp(t->text[0], WAIT_MODULE))
		t->objects = m.id;
	note_id(&t->next.module, m.id, 1);
	return TAKEN;
}

/* Of a function or of what was waited for. A file that is being opened may have a relative path. */
static const char *without_paths(char *text, bool object)
{
	const char *slash = strchr(text, '/');

	if (object && slash && slash > text && slash[-1] != ' ')
		return symbol_base(text);
	symbol_strip_paths(text);
	return text;
}

/* A function, or what was waited for, in t->text[0]. */
static const char *name_of(struct stacks_taken *t, const struct stacks_frame *f)
{
	bool object = f->module && f->module == t->objects;
	char *text = t->text[0];

	if (object)
		mask(t, text);
	return t->no_paths ? without_paths(text, object) : text;
}

static enum taken take_frame(struct stacks_taken *t, struct rest r, struct sample *s)
{
	struct stacks_frame f;
	struct frame_row row;

	if (!take_bytes(&r, &f, sizeof f) || !f.id || !take_text(&r, t->text[0], f.function) ||
	    !take_text(&r, t->text[1], f.file))
		return BAD;
	row = (struct frame_row){ .id = f.id,
				  .module = f.module,
				  .outer = f.outer,
				  .line = f.line,
				  .flags = f.flags,
				  .address = f.address,
				  .function = name_of(t, &f),
				  .file = path_of(t, t->text[1]) };
	if (!sample_frame(s, &row))
		return NO_ROOM;
	note_id(&t->next.frame, f.id, 1);
	return TAKEN;
}

static enum taken take_nodes(struct stacks_taken *t, struct rest r, struct sample *s)
{
	struct stacks_nodes m;

	if (!take_bytes(&r, &m, sizeof m) || !m.first || !m.n || m.n > EVENT_ITEMS_MAX ||
	    m.first > UINT32_MAX - m.n || !take_bytes(&r, t->item, m.n * sizeof t->item[0]))
		return BAD;
	/* Parents come first, so that no reader goes round in circles. */
	for (uint32_t i = 0; i < m.n; i++)
		if (t->item[i].task >= m.first + i)
			return BAD;
	if (!sample_stacks(s, m.first, t->item, m.n))
		return NO_ROOM;
	note_id(&t->next.node, m.first, m.n);
	return TAKEN;
}

static enum taken take_samples(struct stacks_taken *t, struct rest r, const struct source_job *job,
			       struct sample *s)
{
	struct stacks_samples m;
	struct samples_head h;

	if (!take_bytes(&r, &m, sizeof m) || !m.n || m.n > EVENT_ITEMS_MAX ||
	    m.kind >= SAMPLE_KIND_NUMBER_OF || !take_bytes(&r, t->item, m.n * sizeof t->item[0]))
		return BAD;
	m.command[sizeof m.command - 1] = '\0';
	h = (struct samples_head){ .instance = job->instance ? job->instance(job->tree, m.pid) : 0,
				   .kind = (enum sample_kind)m.kind,
				   .command = m.command,
				   .unit = m.unit,
				   .t0_ns = m.t0_ns,
				   .t1_ns = m.t1_ns };
	return sample_samples(s, &h, t->item, m.n) ? TAKEN : NO_ROOM;
}

static enum taken take_message(struct stacks_taken *t, uint32_t kind, struct rest r,
			       const struct source_job *job, struct sample *s)
{
	switch (kind) {
	case STACKS_NONE:
		return TAKEN;
	case STACKS_MODULE:
		return take_module(t, r, s);
	case STACKS_FRAME:
		return take_frame(t, r, s);
	case STACKS_NODES:
		return take_nodes(t, r, s);
	case STACKS_SAMPLES:
		return take_samples(t, r, job, s);
	default:
		return BAD;
	}
}

void stacks_take(struct stacks_taken *t, struct stacks_page *p, const struct source_job *job,
		 struct sample *s)
{
	uint64_t head = atomic_load_explicit(&p->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&p->tail, memory_order_relaxed);

	while (head - tail >= sizeof(struct stacks_message) && head - tail <= STACKS_ROOM) {
		size_t at = tail % STACKS_ROOM;
		struct stacks_message m;
		enum taken taken;

		if (at % 8)
			break;
		memcpy(&m, p->room + at, sizeof m);
		if (m.size < sizeof m || m.size % 8 || m.size > head - tail ||
		    m.size > STACKS_ROOM - at)
			break;
		taken = take_message(t, m.kind,
				     (struct rest){ p->room + at + sizeof m, m.size - sizeof m },
				     job, s);
		if (taken == NO_ROOM) {
			atomic_store_explicit(&p->tail, tail, memory_order_release);
			return;
		}
		t->bad += taken == BAD;
		tail += m.size;
	}
	/* All was taken; or the rest makes no sense, and is passed over. */
	t->bad += tail != head;
	atomic_store_explicit(&p->tail, head, memory_order_release);
}

/* How long the helper is waited for: LAST_MS, and again as long as it uses CPU time, as on a busy
 * machine, but not for ever. */
struct patience {
	int64_t until_ns, most_ns, cpu_ns;
};

static bool may_wait(const struct stacks_helper *h, struct patience *p)
{
	int64_t now_ns = clock_mono_ns();
	int64_t cpu_ns = h->pid > 0 ? clock_cpu_ns_of(h->pid) : 0;

	if (cpu_ns != p->cpu_ns)
		p->until_ns = now_ns + LAST_MS * NS_PER_MS;
	p->cpu_ns = cpu_ns;
	return now_ns < p->until_ns && now_ns < p->most_ns;
}

bool stacks_take_last(struct stacks_taken *t, struct stacks_helper *h, const struct source_job *job,
		      struct sample *s)
{
	const struct timespec a_little = { .tv_nsec = NS_PER_MS };
	struct patience p = { .most_ns = clock_mono_ns() + LAST_MOST_MS * NS_PER_MS, .cpu_ns = -1 };
	bool more = true;

	while (more && may_wait(h, &p)) {
		stacks_helper_ask(h, true);
		while (!stacks_helper_answered(h) && may_wait(h, &p) && !stacks_helper_died(h))
			nanosleep(&a_little, NULL);
		more = h->pid > 0 && atomic_load(&h->page->left);
		if (h->page)
			stacks_take(t, h->page, job, s);
	}
	return !more && stacks_helper_answered(h);
}
