/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/table.h"

#include "base/reserve.h"
#include "job/secret/secret.h"
#include "job/words.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pids go round, so that each bucket has its turn: all of them are memory in use some day. */
enum { BUCKETS = 8192, PIDS = 1 << 22 /* the most that Linux gives */ };

int table_init(struct table *t)
{
	*t = (struct table){ .used = 1, .cap = TABLE_CAP / reserve_parts() };
	t->row = reserve(t->cap * sizeof *t->row);
	t->bucket = reserve(BUCKETS * sizeof *t->bucket);
	t->live = reserve(t->cap * sizeof *t->live);
	t->spare = reserve(t->cap * sizeof *t->spare);
	t->removed = reserve(PIDS / 8);
	if (t->row && t->bucket && t->live && t->spare && t->removed)
		return 0;
	table_free(t);
	return -ENOMEM;
}

void table_free(struct table *t)
{
	reserve_free(t->row, t->cap * sizeof *t->row);
	reserve_free(t->bucket, BUCKETS * sizeof *t->bucket);
	reserve_free(t->live, t->cap * sizeof *t->live);
	reserve_free(t->spare, t->cap * sizeof *t->spare);
	reserve_free(t->removed, PIDS / 8);
	*t = (struct table){ 0 };
}

static uint32_t *bucket_of(const struct table *t, pid_t pid)
{
	return &t->bucket[(uint32_t)pid % BUCKETS];
}

static void set_removed(struct table *t, pid_t pid, bool yes)
{
	uint8_t bit = (uint8_t)(1U << (pid & 7));

	if (pid < 0 || pid >= PIDS)
		return;
	if (yes)
		t->removed[pid >> 3] |= bit;
	else if (t->removed[pid >> 3] & bit)
		t->removed[pid >> 3] ^= bit;
}

bool table_removed(const struct table *t, pid_t pid)
{
	return pid >= 0 && pid < PIDS && t->removed[pid >> 3] >> (pid & 7) & 1;
}

struct process *table_find(const struct table *t, pid_t pid)
{
	for (uint32_t i = *bucket_of(t, pid); i; i = t->row[i].next)
		if (t->row[i].pid == pid)
			return &t->row[i];
	return NULL;
}

struct process *table_add(struct table *t, pid_t pid, pid_t ppid)
{
	uint32_t *bucket = bucket_of(t, pid), i;

	if (t->nspare)
		i = t->spare[--t->nspare];
	else if (t->used < t->cap)
		i = t->used++;
	else {
		t->refused++;
		return NULL;
	}
	t->row[i] = (struct process){
		.pid = pid, .ppid = ppid, .next = *bucket, .order = t->arrived++
	};
	*bucket = i;
	set_removed(t, pid, false);
	t->live[t->nlive++] = i;
	return &t->row[i];
}

void process_name(struct process *p, const char *comm)
{
	process_changed(p);
	if (strncmp(p->comm, comm, sizeof p->comm - 1) != 0)
		process_executes(p);
	memset(p->comm, 0, sizeof p->comm);
	memcpy(p->comm, comm, strnlen(comm, sizeof p->comm - 1));
}

void process_executes(struct process *p)
{
	p->huge_faults = false;
	p->script[0] = '\0';
	p->arguments_due = p->limits_due = true;
	p->program_known = false;
	p->program = 0;
	p->memory_of = 0;
}

const char *process_called(const struct process *p)
{
	return p->script[0] ? p->script : p->comm;
}

/* The first in live[] that did not come before it. */
static uint32_t place_of(const struct table *t, const struct process *p)
{
	uint32_t from = 0, to = t->nlive;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (t->row[t->live[middle]].order < p->order)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

void table_remove(struct table *t, struct process *p)
{
	uint32_t i = (uint32_t)(p - t->row), *link = bucket_of(t, p->pid), at;

	while (*link && *link != i)
		link = &t->row[*link].next;
	if (!*link)
		return; /* not there, or not any more */
	*link = p->next;
	set_removed(t, p->pid, true);
	at = place_of(t, p);
	t->nlive--;
	memmove(t->live + at, t->live + at + 1, (t->nlive - at) * sizeof *t->live);
	t->spare[t->nspare++] = i;
}

enum { WORDS_MAX = 128, ROOM = 5 * ARGUMENTS_READ };

/* Lists of options have a blank before and after each. */
static const struct interpreter {
	const char *name;   /* "python": python3, python3.11, too */
	const char *valued; /* options that take the next word */
	const char *within; /* options after which the program is on the command line itself */
	const char *shown;  /* options whose value is the program's name */
} interpreters[] = {
	{ "python", " -W -X --check-hash-based-pycs ", " -c ", " -m " },
	{ "pypy", " -W -X ", " -c ", " -m " },
	{ "bash", " -O +O -o +o --rcfile --init-file ", " -c ", "" },
	{ "sh", " -o +o ", " -c ", "" },
	{ "dash", " -o +o ", " -c ", "" },
	{ "ksh", " -o +o ", " -c ", "" },
	{ "zsh", " -o +o ", " -c ", "" },
	{ "perl", " -I ", " -e -E ", "" },
	{ "ruby", " -I -r -C ", " -e ", "" },
	{ "node", " -r --require --import --loader ", " -e -p --eval --print ", "" },
	{ "php", " -c -d -z ", " -r ", " -f " },
	{ "lua", " -l ", " -e ", "" },
	{ "julia", " -J -p -t -L -H -C --project --threads ", " -e -E ", "" },
	{ "Rscript", "", " -e ", "" },
	{ "R", "", " -e ", " -f " },
	{ "tclsh", "", "", "" },
	{ "java", " -cp -classpath --class-path -p --module-path --add-modules ", "", " -jar -m " },
};

int arguments_open(struct arguments *a, const struct secret_list *secrets)
{
	*a = (struct arguments){
		.secrets = secrets,
		.words = { .data = malloc(ROOM), .cap = ROOM, .fixed = true },
		.scratch = { .data = malloc(ROOM), .cap = ROOM, .fixed = true },
	};
	return a->words.data && a->scratch.data ? 0 : -ENOMEM;
}

void arguments_close(struct arguments *a)
{
	bytes_free(&a->words);
	bytes_free(&a->scratch);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "python3.11" is python; "bashful" is no bash. */
static const struct interpreter *interpreter_of(const char *name)
{
	for (size_t i = 0; i < sizeof interpreters / sizeof interpreters[0]; i++) {
		size_t n = strlen(interpreters[i].name);

		if (!strncmp(name, interpreters[i].name, n) &&
		    !name[n + strspn(name + n, "0123456789.-")])
			return &interpreters[i];
	}
	return NULL;
}

static bool is_in(const char *list, const char *word)
{
	char padded[64];

	return (size_t)snprintf(padded, sizeof padded, " %s ", word) < sizeof padded &&
	       strstr(list, padded);
}

/* The word that names the program: option, when it takes one to say so. NULL: none does. */
static const char *program_of(const struct interpreter *x, char *const *argv, const char **option)
{
	*option = "";
	for (size_t i = 1; argv[i]; i++) {
		const char *word = argv[i];

		if (is_in(x->shown, word)) {
			*option = word;
			return argv[i + 1];
		}
		if (is_in(x->within, word))
			return NULL;
		if (word[0] != '-' && word[0] != '+')
			return word;
		if (!word[1])
			return NULL; /* from its standard input */
		i += is_in(x->valued, word) && argv[i + 1];
	}
	return NULL;
}

/* A text's bytes up to max that end with a whole character. */
static size_t whole_characters(const char *text, size_t n, size_t max)
{
	if (n <= max)
		return n;
	for (n = max; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

/* Who gave itself another name keeps it. */
static void find_script(struct arguments *a, char *const *argv, struct process *p)
{
	const struct interpreter *x = interpreter_of(base_name(argv[0]));
	const char *option, *program = x ? program_of(x, argv, &option) : NULL;
	size_t n;

	if (!program || !*program)
		return;
	if (!*option || !strcmp(option, "-jar"))
		program = base_name(program);
	if (!interpreter_of(p->comm) && strncmp(p->comm, program, sizeof p->comm - 1) != 0)
		return;
	bytes_reset(&a->scratch);
	bytes_printf(&a->scratch, "%s %s%s", base_name(argv[0]), option, *option ? " " : "");
	secret_text(a->secrets, &a->scratch, program);
	if (a->scratch.failed)
		return;
	n = whole_characters((const char *)a->scratch.data, a->scratch.len, sizeof p->script - 1);
	memset(p->script, 0, sizeof p->script);
	memcpy(p->script, a->scratch.data, n);
}

/* The words of what was read, and a NULL; what is cut off in its middle is left out, since half a
 * secret does not look like one. False: something is left out. */
static bool split(char *raw, size_t n, bool whole, char *argv[WORDS_MAX + 1])
{
	size_t words = 0;

	while (n && whole && !raw[n - 1])
		n--;
	raw[n] = '\0';
	for (size_t at = 0; at < n && words < WORDS_MAX; at += strlen(raw + at) + 1)
		argv[words++] = raw + at;
	if (!whole && words)
		words--;
	argv[words] = NULL;
	return whole && words < WORDS_MAX;
}

bool arguments_take(struct arguments *a, char *raw, size_t n, bool whole, struct process *p)
{
	char *argv[WORDS_MAX + 1];
	size_t len, kept;

	p->script[0] = '\0';
	whole = split(raw, n, whole, argv);
	if (!argv[0])
		return false;
	bytes_reset(&a->words);
	words_join_with(a->secrets, &a->words, &a->scratch, argv);
	if (a->words.failed)
		return false;
	len = a->words.len;
	kept = whole_characters((const char *)a->words.data, len, ARGUMENTS_LINE);
	memcpy(a->line, a->words.data, kept);
	snprintf(a->line + kept, sizeof a->line - kept, "%s", whole && kept == len ? "" : "...");
	find_script(a, argv, p);
	return true;
}

bool arguments_read(struct arguments *a, const struct root *proc, struct process *p)
{
	char path[32], raw[ARGUMENTS_READ + 1];
	ssize_t n;

	if (!a->words.data)
		return false;
	snprintf(path, sizeof path, "%d/cmdline", (int)p->pid);
	n = root_read(proc, path, raw, sizeof raw);
	return n > 0 ? arguments_take(a, raw, (size_t)n, true, p)
		     : n == -EFBIG && arguments_take(a, raw, ARGUMENTS_READ, false, p);
}
