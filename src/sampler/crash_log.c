/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/crash_log.h"

#include "base/clock.h"
#include "base/root.h"
#include "base/text/number.h"
#include "sampler/tree/crashes.h"
#include "source/procfile.h"
#include "source/program/code_name.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one record ---- */

enum {
	NAME_MAX_LETTERS = 15, /* of a thread */
	NEAR = 64 << 10,       /* bytes: of a null pointer, of the stack pointer */
	FAULT_PRESENT = 1,     /* of x86's error code: the page is there, but not for this */
	FAULT_WRITE = 2,       /* it was written, */
	FAULT_FETCH = 16,      /* or run as code */
	FACILITY_SHIFT = 3,    /* of the priority that a record begins with */
};

static bool take(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n) != 0)
		return false;
	*at += n;
	return true;
}

static bool take_hex(const char **at, uint64_t *out)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*out = strtoull(*at, &end, 16);
	*at = end;
	return !errno;
}

static void copy(char *out, size_t size, const char *text, size_t n)
{
	snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), text);
}

/* "6,1234,5678901,-;text": of the kernel itself, which others cannot write as. NULL: it is not. */
static const char *text_of(const char *record)
{
	char *end;

	if (!isdigit((unsigned char)*record) || strtoul(record, &end, 10) >> FACILITY_SHIFT ||
	    *end != ',')
		return NULL;
	record = strpbrk(end, ";\n");
	return record && *record == ';' ? record + 1 : NULL;
}

/* Behind "NAME[PID]" and these words. The name may have all of that in itself, so that the last
 * such counts behind what may be a name. What is no plain letter of it is \xNN. */
static const char *behind_pid(struct crash_line *out, const char *text, const char *words)
{
	const char *found = NULL, *at = text;

	for (int letters = 0; letters <= NAME_MAX_LETTERS && *at && *at != '\n'; letters++) {
		const char *next = at + 1;
		int64_t pid;

		if (*at == '[' && isdigit((unsigned char)*next) && number_i64(&next, &pid) &&
		    pid > 0 && pid <= INT32_MAX && take(&next, words)) {
			found = next;
			out->tid = (pid_t)pid;
			copy(out->comm, sizeof out->comm, text, (size_t)(at - text));
		}
		at += strncmp(at, "\\x", 2) == 0 && strnlen(at, 4) == 4 ? 4 : 1;
	}
	return found;
}

/* " in FILE[BASE+SIZE]", since Linux 6.8 [OFFSET,BASE+SIZE]: the last brackets there are. */
static void take_file(struct crash_line *out, const char *text, uint64_t ip)
{
	size_t n = strcspn(text, "\n");
	const char *at = text + n;
	uint64_t first, base, size;
	bool has_offset;

	while (at > text && *at != '[')
		at--;
	n = (size_t)(at - text);
	if (*at++ != '[' || !take(&text, " in ") || n <= 4 || !take_hex(&at, &first))
		return;
	has_offset = take(&at, ",");
	base = first;
	if ((has_offset && !take_hex(&at, &base)) || !take(&at, "+") || !take_hex(&at, &size) ||
	    *at != ']' || ip - base >= size)
		return;
	copy(out->file, sizeof out->file, text, n - 4);
	out->at = ip - base;
	out->size = size;
	out->offset = has_offset ? (int64_t)(first - out->at) : -1;
}

static enum crash_kind kind_of_fault(uint64_t address, uint64_t ip, uint64_t sp, uint64_t error)
{
	uint64_t apart = address > sp ? address - sp : sp - address;
	bool present = error & FAULT_PRESENT, write = error & FAULT_WRITE;

	if (error & FAULT_FETCH || address == ip)
		return address < NEAR ? CRASH_NULL_CALL : present ? CRASH_DATA_RUN : CRASH_JUMP;
	if (present)
		return write ? CRASH_READ_ONLY : CRASH_FORBIDDEN_READ;
	if (address < NEAR)
		return write ? CRASH_NULL_WRITE : CRASH_NULL_READ;
	if (apart < NEAR)
		return CRASH_STACK;
	return write ? CRASH_WRITE : CRASH_READ;
}

/* "solver[12]: segfault at 0 ip 0000000000401136 sp 00007ffe4e5f error 4 in ..." */
static bool parse_fault(struct crash_line *out, const char *text)
{
	const char *at = behind_pid(out, text, "]: segfault at ");
	uint64_t address, ip, sp, error;

	if (!at || !take_hex(&at, &address) || !take(&at, " ip ") || !take_hex(&at, &ip) ||
	    !take(&at, " sp ") || !take_hex(&at, &sp) || !take(&at, " error ") ||
	    !take_hex(&at, &error))
		return false;
	out->signal = SIGSEGV;
	out->kind = kind_of_fault(address, ip, sp, error);
	take_file(out, at, ip);
	return true;
}

/* "traps: solver[12] trap divide error ip:401136 sp:7ffe4e5f error:0 in ..." */
static bool parse_trap(struct crash_line *out, const char *text)
{
	static const struct {
		const char *words;
		int signal;
		enum crash_kind kind;
	} traps[] = {
		{ "] trap divide error ip:", SIGFPE, CRASH_DIVISION },
		{ "] trap invalid opcode ip:", SIGILL, CRASH_INSTRUCTION },
		{ "] general protection fault ip:", SIGSEGV, CRASH_GENERAL },
		{ "] general protection ip:", SIGSEGV, CRASH_GENERAL }, /* before Linux 5.5 */
	};
	uint64_t ip, sp, error;
	const char *at;

	if (!take(&text, "traps: "))
		return false;
	for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++) {
		at = behind_pid(out, text, traps[i].words);
		if (!at || !take_hex(&at, &ip) || !take(&at, " sp:") || !take_hex(&at, &sp) ||
		    !take(&at, " error:") || !take_hex(&at, &error))
			continue;
		out->signal = traps[i].signal;
		out->kind = traps[i].kind;
		take_file(out, at, ip);
		return true;
	}
	return false;
}

bool crash_line_parse(struct crash_line *out, const char *record)
{
	const char *text = text_of(record);

	*out = (struct crash_line){ .offset = -1 };
	return text && (parse_trap(out, text) || parse_fault(out, text));
}

/* ---- where the code is ---- */

#define PATIENCE_NS (2 * NS_PER_S) /* for all names together */

/* The one file that may be it. */
struct search {
	const char *file;  /* its name alone */
	int64_t before_ns; /* when the process ended: what was changed since then is another */
	struct stat is;
	uint32_t found;
	char path[PATH_MAX];
};

static void consider(struct search *x, const char *path)
{
	char real[PATH_MAX];
	const char *slash = realpath(path, real) ? strrchr(real, '/') : NULL;
	struct stat st;

	if (!slash || strcmp(slash + 1, x->file) != 0 || stat(real, &st) || !S_ISREG(st.st_mode) ||
	    st.st_ctim.tv_sec * NS_PER_S + st.st_ctim.tv_nsec > x->before_ns ||
	    (x->found && st.st_dev == x->is.st_dev && st.st_ino == x->is.st_ino))
		return;
	x->found++;
	x->is = st;
	memcpy(x->path, real, sizeof real);
}

/* As a shell does. */
static void consider_in_path(struct search *x, const char *word)
{
	const char *dir = getenv("PATH");
	char path[PATH_MAX];

	while (dir && *dir) {
		size_t n = strcspn(dir, ":");

		if (snprintf(path, sizeof path, "%.*s/%s", (int)n, dir, word) < (int)sizeof path &&
		    !access(path, X_OK)) {
			consider(x, path);
			return;
		}
		dir += n + (dir[n] == ':');
	}
}

/* Of a process that no sample saw: what the command names, what is here, what a shell finds. */
static void look_around(struct search *x, char *const *words)
{
	for (size_t i = 0; words && words[i]; i++)
		consider(x, words[i]);
	consider(x, x->file);
	if (words && words[0] && !strchr(words[0], '/'))
		consider_in_path(x, words[0]);
	consider_in_path(x, x->file);
}

static bool name_code(const struct crash_line *l, const struct crashed *c, char *const *words,
		      int64_t until_ns, struct code_answer *a)
{
	struct search x = { .file = l->file,
			    .before_ns = c->end_ns + clock_utc_ns() - clock_mono_ns() };
	struct code_question q = { CODE_QUESTION, l->at, l->size, l->offset, "" };

	if (!*l->file)
		return false;
	if (*c->program)
		consider(&x, c->program);
	if (!x.found)
		look_around(&x, words);
	if (x.found != 1)
		return false;
	memcpy(q.path, x.path, sizeof q.path);
	return code_name_ask(&q, until_ns - clock_mono_ns(), a);
}

/* ---- all of it ---- */

enum { RECORDS_MAX = 1 << 16, RECORD_BYTES = 8192 };

static void say(const struct crash_line *l, const struct crashed *c, char *const *words,
		int64_t until_ns, struct sample *s)
{
	enum crash_kind kind = l->kind;
	struct code_answer a;
	char text[CODE_SOURCE + 16];

	if (kind == CRASH_STACK && l->tid != c->pid)
		kind = CRASH_THREAD_STACK;
	if (!c->signal) { /* how it ended was not known */
		snprintf(text, sizeof text, "%d", l->signal);
		sample_label(s, c->instance, "signal", text);
	}
	sample_label(s, c->instance, CRASH_KIND, crash_name(kind));
	if (*l->file)
		sample_label(s, c->instance, CRASH_FILE, l->file);
	if (!name_code(l, c, words, until_ns, &a))
		return;
	sample_label(s, c->instance, CRASH_FUNCTION, a.function);
	snprintf(text, sizeof text, "%s:%u", a.source, a.line);
	if (a.source[0] && a.line)
		sample_label(s, c->instance, CRASH_SOURCE, text);
}

/* The next record: 1, 0 at the end. What was overwritten is passed over. */
static int next(int fd, char record[RECORD_BYTES])
{
	ssize_t n;

	do
		n = read(fd, record, RECORD_BYTES - 1);
	while (n < 0 && (errno == EPIPE || errno == EINTR));
	record[n > 0 ? n : 0] = '\0';
	return n > 0;
}

int crash_log_open(int *fd, struct err *e)
{
	char target[64];
	ssize_t n = readlink("/proc/self/ns/pid", target, sizeof target - 1);

	*fd = 0;
	target[n > 0 ? n : 0] = '\0';
	if (strcmp(target, PID_NAMESPACE_INITIAL) != 0)
		return err_set(
			e, -EOPNOTSUPP,
			"the kernel's log has the pids of the initial pid namespace, and this "
			"is another one");
	*fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (*fd > 0 && lseek(*fd, 0, SEEK_END) >= 0)
		return 0;
	n = -errno;
	file_close(fd);
	return err_set(e, (int)n, "/dev/kmsg: %s", strerror((int)-n));
}

void crash_log_say(int fd, struct tree *t, bool failed, char *const *words, struct sample *s)
{
	int64_t until_ns = clock_mono_ns() + PATIENCE_NS;
	char record[RECORD_BYTES];
	struct crash_line l;

	if (fd <= 0 || !tree_may_have_crashed(t, failed))
		return;
	for (int i = 0; i < RECORDS_MAX && next(fd, record); i++) {
		struct crashed *c = crash_line_parse(&l, record)
					    ? tree_crashed(t, l.tid, l.comm, l.signal)
					    : NULL;

		if (!c || c->told) /* of several threads the first */
			continue;
		say(&l, c, words, until_ns, s);
		c->told = true;
	}
}
