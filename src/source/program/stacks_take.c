/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/stacks_take.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "core/stacks/symbol.h"
#include "core/stacks/waitkind.h"

#include <string.h>
#include <time.h>

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

static const char *path_of(const struct stacks_taken *t, const char *path)
{
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

/* The paths and names that were waited for are the job's own. What no longer fits is left out. */
static char *masked(struct stacks_taken *t, char *text)
{
	struct bytes b = { .data = (uint8_t *)t->masked, .cap = sizeof t->masked, .fixed = true };

	if (!t->mask.text)
		return text;
	t->mask.text(t->mask.secrets, &b, text);
	bytes_u8(&b, 0);
	if (b.failed)
		t->masked[0] = '\0';
	return t->masked;
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
	char *text = object ? masked(t, t->text[0]) : t->text[0];

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
