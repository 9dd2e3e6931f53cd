/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.c - what makes a combination the same in another sweep: a specification that grew, by a
 * value, a stack or trials, finds what an earlier one has run.
 *
 * The name of its batch is a digest of all that its trials get, not of what else is tried: a
 * specification without its matrix, decision and number of trials, then the combination's own
 * stack, environment and parameters, the user and, unless a cluster runs them, the machine.
 */
#include "sweep/known.h"

#include "base/text/number.h"
#include "base/text/textfile.h"
#include "console/command.h"
#include "sweep/sweeping.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

/* Of a specification: what decides which trials there are, and changes none of them. */
static bool is_about_which(const char *key)
{
	static const char *const keys[] = { "matrix", "batch_size", "count", "decision" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

bool sweepknown_common(const struct jsontree *document, char out[SHA256_HEX])
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	bool well;

	json_object(&j);
	for (const struct jsontree *v = document->first; v; v = v->next) {
		if (is_about_which(v->key))
			continue;
		json_key(&j, v->key);
		jsontree_write(&j, v);
	}
	json_object_end(&j);
	well = !b.failed;
	if (well)
		sha256_hex(out, b.data, b.len);
	bytes_free(&b);
	return well;
}

static void put_words(struct json *j, const char *key, const struct sweep_words *w)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < w->n; i++)
		json_text(j, w->word[i]);
	json_array_end(j);
}

static void put_stack(struct json *j, const struct sweep_stack *s)
{
	json_put_text(j, "stack", s->name);
	json_put_text(j, "base", s->base);
	put_words(j, "modules", &s->modules);
	put_words(j, "packages", &s->packages);
	json_put_text(j, "requirements", s->requirements);
	json_put_text(j, "locked", s->locked);
	json_put_text(j, "interpreter", s->interpreter);
	put_words(j, "pip", &s->pip);
	if (s->python_version)
		json_put_text(j, "python_version", s->python_version);
}

static void put_environment(struct json *j, const struct sweep_environment *s)
{
	json_put_text(j, "environment", s->name);
	json_key(j, "variables");
	json_array(j);
	for (uint32_t i = 0; i < s->variables.n; i++) {
		json_text(j, s->variables.v[i].name);
		json_text(j, s->variables.v[i].text);
	}
	json_array_end(j);
}

static int name_anew(struct sweeping *x, struct swept *p, struct err *e)
{
	bool here = x->o->executor == SWEEP_LOCAL;
	char digest[SHA256_HEX];
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	json_object(&j);
	json_put_text(&j, "common", x->common);
	json_put_text(&j, "user", x->sweep.user);
	json_put_text(&j, "host", here ? x->host : NULL);
	put_stack(&j, &x->spec.stack[p->at[SWEEP_AXIS_STACK]]);
	put_environment(&j, &x->spec.environments[p->at[SWEEP_AXIS_ENVIRONMENT]]);
	json_put_text(&j, "parameters", p->parameters);
	json_object_end(&j);
	if (b.failed) {
		bytes_free(&b);
		return err_set(e, -ENOMEM, "out of memory for a sweep");
	}
	sha256_hex(digest, b.data, b.len);
	bytes_free(&b);
	snprintf(p->batch_uid, sizeof p->batch_uid, "sweep:%.32s", digest);
	return 0;
}

int sweepknown_name(struct sweeping *x, struct swept *p, struct err *e)
{
	int rc = sweep_batch_uid(x->store.database, &x->sweep, p->combination, p->batch_uid,
				 sizeof p->batch_uid, e);

	return rc ? (rc < 0 ? rc : 0) : name_anew(x, p, e);
}

void sweepknown_say(const struct sweeping *x)
{
	int64_t known = 0, all = 0;

	for (uint32_t i = 0; i < x->nswept; i++) {
		const struct swept *p = x->swept[i];

		for (int64_t k = 0; k < x->spec.batch_size && !p->skipped; k++, all++)
			known += p->done[k];
	}
	if (known && !x->o->quiet)
		say("bench sweep: %" PRId64 " of %" PRId64
		    " trials are in the store already; %" PRId64 " will run",
		    known, all, all - known);
}

enum { CPUINFO_BYTES = 16 << 20, CORES_MOST = 4096 };

/* The first CPU's line of that name: what stands behind its colon. */
static bool line_of(const char *text, const char *name, char *out, size_t size)
{
	const char *at = number_find_line(text, name);

	at = at ? at + strspn(at, " \t") : NULL;
	if (!at || *at != ':')
		return false;
	at += 1 + strspn(at + 1, " \t");
	snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
	return true;
}

/* Cores, each once however many threads it has; 0: not told. */
static int64_t cores_of(const char *text)
{
	static int64_t seen[CORES_MOST];
	int64_t n = 0, package = 0, core;

	for (const char *p = text; *p && n < CORES_MOST; p = number_next_line(p)) {
		const char *at = strchr(p, ':');
		bool known = false;

		if (!at || strncmp(p, "physical id", 11) != 0) {
			if (!at || strncmp(p, "core id", 7) != 0)
				continue;
			at++;
			if (!number_i64(&at, &core))
				continue;
			for (int64_t i = 0; i < n; i++)
				known |= seen[i] == (package << 32 | core);
			if (!known)
				seen[n++] = package << 32 | core;
			continue;
		}
		at++;
		number_i64(&at, &package);
	}
	return n;
}

/* Another thing that is missing. */
static void lack(char *why, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void lack(char *why, size_t size, const char *format, ...)
{
	size_t n = strlen(why);
	va_list ap;

	if (n)
		n += (size_t)snprintf(why + n, size - n, "; ");
	if (n >= size)
		return;
	va_start(ap, format);
	vsnprintf(why + n, size - n, format, ap);
	va_end(ap);
}

static void look_at_line(const char *text, const char *line, const char *wanted, char *why,
			 size_t size)
{
	char got[256];

	if (wanted && line_of(text, line, got, sizeof got) && strcmp(got, wanted) != 0)
		lack(why, size, "the %s is %.100s, but %.100s was requested", line, got, wanted);
}

static void look_at_processor(const struct sweep_needs *n, const char *text, char *why, size_t size)
{
	int64_t cores = n->physical_cpus ? cores_of(text) : 0;
	char got[256];

	if (cores && cores < n->physical_cpus)
		lack(why, size, "%" PRId64 " cores were requested, but there are %" PRId64,
		     n->physical_cpus, cores);
	look_at_line(text, "cpu family", n->cpu_family, why, size);
	look_at_line(text, "model", n->cpu_model, why, size);
	/* The name of a processor is written in many ways: a part of it is enough. */
	if (n->processor && line_of(text, "model name", got, sizeof got) &&
	    !strcasestr(got, n->processor))
		lack(why, size, "the processor is %.100s, but %.100s was requested", got,
		     n->processor);
}

bool sweephost_has(const struct sweep_needs *n, char *why, size_t size)
{
	struct bytes text = { 0 };
	struct sysinfo memory;
	cpu_set_t cpus;
	struct err e;

	*why = '\0';
	if (!sched_getaffinity(0, sizeof cpus, &cpus) && n->cores > CPU_COUNT(&cpus))
		lack(why, size, "%g CPUs were requested, but there are %d", n->cores,
		     CPU_COUNT(&cpus));
	if (!sysinfo(&memory) && n->memory_bytes > (double)memory.totalram * memory.mem_unit)
		lack(why, size, "%.4g GiB of memory were requested, but there are %.4g",
		     n->memory_bytes / 1073741824,
		     (double)memory.totalram * memory.mem_unit / 1073741824);
	/* All of it: it has over a kilobyte for each CPU. */
	if (!textfile_read("/proc/cpuinfo", "processors", CPUINFO_BYTES, &text, &e)) {
		bytes_u8(&text, 0);
		if (!text.failed)
			look_at_processor(n, (const char *)text.data, why, size);
	}
	bytes_free(&text);
	return !*why;
}

static bool begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

static int length_of(const char *line)
{
	return (int)strcspn(line, "\r\n");
}

/* The lines below it, which are set in: "thing<2; part 0.2 depends on thing>=2". */
static bool take_conflict(const char *text, char *out, size_t size)
{
	static const char head[] = "The conflict is caused by:";
	size_t n = 0;

	while (*text && !begins(text, head))
		text = number_next_line(text);
	if (!*text)
		return false;
	for (text = number_next_line(text); *text == ' ' && n < size;
	     text = number_next_line(text)) {
		const char *words = text + strspn(text, " ");

		n += (size_t)snprintf(out + n, size - n, "%s%.*s",
				      n ? "; " : "conflict: ", length_of(words), words);
	}
	return n > 0;
}

/* Is it an error only by its first word? */
static bool says_nothing(const char *line)
{
	return begins(line, "ERROR: Ignored the following") ||
	       begins(line, "ERROR: ResolutionImpossible");
}

void pipwords_reason(const char *text, char *out, size_t size)
{
	const char *line = text, *last = "";

	*out = '\0';
	if (take_conflict(text, out, size))
		return;
	for (; *line; line = number_next_line(line)) {
		if (begins(line, "ERROR: ") && !says_nothing(line))
			break;
		if (length_of(line))
			last = line;
	}
	if (!*line)
		line = last;
	snprintf(out, size, "%.*s", length_of(line), line);
}
