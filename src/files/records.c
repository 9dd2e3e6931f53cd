/* SPDX-License-Identifier: Apache-2.0 */
#include "files/records.h"

#include "base/clock.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

enum { AX, DX, SI, DI, SP, R10, NREGISTERS };

int records_open(struct records *r, struct err *e)
{
	int bad = calls_find(&r->ids, e);

	for (uint32_t i = 0; i < ncalls && !bad; i++) {
		if (r->ids.exit[i] && r->ids.exit[i] < RECORD_IDS)
			r->what[r->ids.exit[i]] = (uint8_t)(i * 2 + 2);
		if (calls[i].timed && r->ids.enter[i] < RECORD_IDS)
			r->what[r->ids.enter[i]] = (uint8_t)(i * 2 + 1);
	}
	return bad;
}

bool call_opens(const struct call *c)
{
	return c->kind == CALL_OPEN || c->kind == CALL_OPEN_AT || c->kind == CALL_OPEN_AT2;
}

bool call_is_named(const struct call *c)
{
	return call_opens(c) || c->kind == CALL_STAT || c->kind == CALL_STAT_AT ||
	       c->kind == CALL_STAT_FD;
}

bool call_is_at(const struct call *c)
{
	return c->kind == CALL_OPEN_AT || c->kind == CALL_OPEN_AT2 || c->kind == CALL_STAT_AT;
}

bool call_has_registers(const struct call *c)
{
	return !c->timed || call_is_named(c);
}

struct sample_head {
	struct perf_event_header h;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t raw_bytes;
	uint16_t type;
};

struct task_record {
	struct perf_event_header h;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};

static char *keep(const char *text)
{
	return strdup(text);
}

static void look_for_link(struct traced *t)
{
	char text[NAME_MOST];

	if (t->result >= 0 && name_of_fd(t->pid, (int)t->result, text) > 0)
		t->link = keep(text);
	t->seen_ns = clock_mono_ns();
}

static void look_for_name(struct traced *t, const struct name_at *at)
{
	char text[NAME_MOST];

	if (name_read(at, text)) {
		t->name = keep(text);
		t->from_memory = !(at->address >= at->stack_at &&
				   at->address - at->stack_at < at->stack_bytes);
	}
	if (call_opens(t->call))
		look_for_link(t);
	else
		t->seen_ns = clock_mono_ns();
}

/* The kernel's answer, where it lies in the copy: struct stat begins with device and inode. */
static void take_inode(struct traced *t, const struct name_at *at)
{
	uint64_t to = t->arg[t->call->kind == CALL_STAT_AT ? 2 : 1], in = to - at->stack_at;
	bool stats = t->call->kind == CALL_STAT_FD || t->call->kind == CALL_STAT ||
		     (t->call->kind == CALL_STAT_AT && strcmp(t->call->name, "statx") != 0);

	if (!stats || t->result || to < at->stack_at || in > at->stack_bytes ||
	    at->stack_bytes - in < 16)
		return;
	memcpy(&t->device, at->stack + in, 8);
	memcpy(&t->inode, at->stack + in + 8, 8);
}

static bool is_dup(uint64_t command)
{
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

static void take_registers(struct traced *t, const uint8_t *at, size_t n)
{
	uint64_t word[1 + NREGISTERS + 1], stack = 0;
	const uint64_t *reg = word + 1;
	struct name_at name = { .pid = t->pid };

	if (n < (1 + NREGISTERS) * sizeof *word)
		return;
	memcpy(word, at, (1 + NREGISTERS) * sizeof *word);
	if (!word[0])
		return;
	t->result = (int64_t)reg[AX];
	t->arg[0] = reg[DI];
	t->arg[1] = reg[SI];
	t->arg[2] = reg[DX];
	t->arg[3] = reg[R10];
	if (t->call->kind == CALL_DUP || (t->call->kind == CALL_FCNTL && is_dup(t->arg[1])))
		look_for_link(t); /* what it is a copy of may be closed already */
	if (!call_is_named(t->call))
		return;
	at += (1 + NREGISTERS) * sizeof *word;
	n -= (1 + NREGISTERS) * sizeof *word;
	if (n >= sizeof stack)
		memcpy(&stack, at, sizeof stack);
	name.stack = (const char *)at + sizeof stack;
	name.stack_bytes = n >= sizeof stack && stack <= n - sizeof stack ? (size_t)stack : 0;
	if (name.stack_bytes) { /* how much of it was there */
		uint64_t had = 0;

		if (n >= 2 * sizeof stack + stack)
			memcpy(&had, name.stack + stack, sizeof had);
		name.stack_bytes = had < stack ? (size_t)had : (size_t)stack;
	}
	name.stack_at = reg[SP];
	take_inode(t, &name);
	if (t->call->kind == CALL_STAT_FD)
		return;
	name.address = t->arg[call_is_at(t->call)];
	look_for_name(t, &name);
}

/* Behind the head and the number: of an entry its arguments, of a return the result. */
static void take_words(struct traced *t, const uint8_t *at, size_t n)
{
	if (t->kind == TRACED_EXIT && n >= sizeof t->result)
		memcpy(&t->result, at, sizeof t->result);
	else if (t->kind == TRACED_ENTER)
		memcpy(t->arg, at, n < sizeof t->arg ? n : sizeof t->arg);
}

static bool take_sample(const struct records *r, const uint8_t *at, size_t n, struct traced *t)
{
	enum { TYPE = offsetof(struct sample_head, type), WORDS = TYPE + 16 };
	struct sample_head s;
	int32_t nr;
	size_t behind;
	uint8_t what;

	if (n < sizeof s + 12)
		return false;
	memcpy(&s, at, sizeof s);
	what = r->what[s.type];
	memcpy(&nr, at + TYPE + 8, sizeof nr);
	behind = TYPE + (size_t)s.raw_bytes;
	if (!what || (what - 1) / 2 >= (int)ncalls || nr != calls[(what - 1) / 2].nr || behind > n)
		return false;
	*t = (struct traced){ .time_ns = (int64_t)s.time,
			      .pid = (pid_t)s.pid,
			      .tid = (pid_t)s.tid,
			      .kind = what % 2 ? TRACED_ENTER : TRACED_EXIT,
			      .call = &calls[(what - 1) / 2] };
	if (behind > WORDS)
		take_words(t, at + WORDS, behind - WORDS);
	t->has_arguments = t->kind == TRACED_ENTER || call_has_registers(t->call);
	if (t->kind == TRACED_EXIT && t->has_arguments)
		take_registers(t, at + behind, n - behind);
	return true;
}

static bool take_task(const uint8_t *at, size_t size, struct traced *t)
{
	struct task_record task = { .time = 0 };

	if (size < sizeof task)
		return false;
	memcpy(&task, at, sizeof task);
	*t = (struct traced){ .kind = task.h.type == PERF_RECORD_FORK ? TRACED_FORK : TRACED_END,
			      .time_ns = (int64_t)task.time,
			      .pid = (pid_t)task.pid,
			      .tid = (pid_t)task.tid,
			      .parent = (pid_t)task.parent };
	return true;
}

static bool take_exec(const uint8_t *at, size_t size, struct traced *t)
{
	enum { PID = 8, COMM = 16, LEAST = 40 };

	if (size < LEAST)
		return false;
	*t = (struct traced){ .kind = TRACED_EXEC };
	memcpy(&t->time_ns, at + size - 8, sizeof t->time_ns);
	memcpy(&t->pid, at + PID, sizeof t->pid);
	memcpy(t->comm, at + COMM, sizeof t->comm - 1);
	return true;
}

/* Shared memory without a file goes by such names. */
static bool is_memory(const char *name)
{
	return !strncmp(name, "/memfd:", 7) || !strncmp(name, "/dev/zero", 9) ||
	       !strncmp(name, "/SYSV", 5) || !strncmp(name, "/anon_hugepage", 14);
}

/* What a program runs, its libraries, and files that it maps: the kernel itself names them. */
static bool take_map(const uint8_t *at, size_t size, bool data, struct traced *t)
{
	enum { PID = 8, BYTES = 24, MAJOR = 40, INODE = 48, HOW = 64, NAME = 72, BEHIND = 16 };
	uint32_t device[2], how[2]; /* how: protection, flags */
	char *gone;

	if (size < NAME + BEHIND + 8 || at[NAME] != '/' || is_memory((const char *)at + NAME))
		return false;
	*t = (struct traced){ .kind = TRACED_MAP };
	if (data)
		memcpy(&t->result, at + BYTES, sizeof t->result);
	memcpy(how, at + HOW, sizeof how);
	t->writable = how[0] & PROT_WRITE && how[1] & MAP_SHARED;
	memcpy(&t->time_ns, at + size - 8, sizeof t->time_ns);
	memcpy(&t->pid, at + PID, sizeof t->pid);
	memcpy(device, at + MAJOR, sizeof device);
	memcpy(&t->inode, at + INODE, sizeof t->inode);
	t->device = makedev(device[0], device[1]);
	t->name = strndup((const char *)at + NAME, size - NAME - BEHIND);
	gone = t->name ? strstr(t->name, " (deleted)") : NULL;
	if (gone && !gone[10])
		*gone = '\0';
	return t->name != NULL;
}

bool record_take(const struct records *r, const uint8_t *at, size_t size, struct traced *t,
		 uint64_t *lost)
{
	struct perf_event_header h;
	uint64_t more;

	if (size < sizeof h)
		return false;
	memcpy(&h, at, sizeof h);
	switch (h.type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(r, at, size, t);
	case PERF_RECORD_LOST:
		if (size >= sizeof h + 16) {
			memcpy(&more, at + sizeof h + 8, sizeof more);
			*lost += more;
		}
		return false;
	case PERF_RECORD_COMM:
		return h.misc & PERF_RECORD_MISC_COMM_EXEC && take_exec(at, size, t);
	case PERF_RECORD_MMAP2:
		return take_map(at, size, h.misc & PERF_RECORD_MISC_MMAP_DATA, t);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return take_task(at, size, t);
	default:
		return false;
	}
}

bool traced_link_spoiled(const struct traced *t, size_t later)
{
	for (const struct traced *l = t + 1; later && l->time_ns <= t->seen_ns; l++, later--)
		if (l->pid == t->pid && l->kind == TRACED_EXIT &&
		    ((l->call->kind == CALL_CLOSE && l->arg[0] == (uint64_t)t->result) ||
		     (l->call->kind == CALL_DUP && l->result == t->result)))
			return true;
	return false;
}

bool traced_name_spoiled(const struct traced *t, size_t later)
{
	bool at = call_is_at(t->call);

	for (const struct traced *l = t + 1; t->from_memory && later; l++, later--)
		if (l->pid == t->pid && l->kind == TRACED_EXIT && call_is_named(l->call) &&
		    l->arg[call_is_at(l->call)] == t->arg[at] &&
		    (!l->name || !t->name || !strcmp(l->name, t->name)))
			return true;
	return false;
}
