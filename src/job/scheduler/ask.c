/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scheduler/ask.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/text/number.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define AGAIN_NS (200 * NS_PER_MS)

enum { OUT_OF_MEMORY = 125 }; /* Slurm's own "signal" */

/* " NAME=value" of a line of scontrol -o; "" where there is none. Values of some keys have blanks:
 * those end where the next key begins. */
static const char *value_of(const char *line, const char *name, size_t *n)
{
	size_t all = strcspn(line, "\n"), skip = strlen(name);

	for (size_t i = 0; i + skip < all; i++)
		if ((!i || line[i - 1] == ' ') && !strncmp(line + i, name, skip) &&
		    line[i + skip] == '=') {
			*n = strcspn(line + i + skip + 1, " \n");
			return line + i + skip + 1;
		}
	*n = 0;
	return "";
}

/* "1-02:03:04", "02:03:04", "03:04" of minutes and seconds; -1: "UNLIMITED", or none of these. */
static int64_t seconds_of(const char *text, size_t n)
{
	int64_t total = 0, part;
	const char *p = text, *end = text + n;

	while (p < end) {
		if (!isdigit((unsigned char)*p) || !number_i64(&p, &part) || part > 100000000 ||
		    total > 100000000)
			return -1;
		total += part;
		if (p >= end)
			return total;
		total *= *p == '-' ? 24 : 60;
		p++;
	}
	return -1;
}

/* What the state of a job will be that is COMPLETING, as it is while its steps end (22.05.8). */
static const struct {
	const char *key, *value, *state;
} ends[] = {
	{ "Reason", "TimeLimit", "TIMEOUT" },
	{ "Reason", "NodeDown", "NODE_FAIL" },
	{ "Reason", "Preempted", "PREEMPTED" },
	{ "ExitCode", "0:15", "CANCELLED" }, /* scancel's signal, of a script that goes on */
};

static const char *end_of(const char *text)
{
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		size_t n;
		const char *value = value_of(text, ends[i].key, &n);

		if (n == strlen(ends[i].value) && !memcmp(value, ends[i].value, n))
			return ends[i].state;
	}
	return "COMPLETING";
}

/* A value that is a word; "(null)" is none. */
static void copy_word(char *to, size_t size, const char *text, const char *key)
{
	size_t n;
	const char *value = value_of(text, key, &n);

	if (n && *value != '(')
		snprintf(to, size, "%.*s", (int)n, value);
}

/* A name has blanks, and ends where the next key begins. */
static void copy_name(char *to, size_t size, const char *text)
{
	size_t n;
	const char *name = value_of(text, "JobName", &n), *end = strstr(name, " UserId=");

	if (n && end && end - name < INT_MAX)
		snprintf(to, size, "%.*s", (int)(end - name), name);
}

/* "4G", "500M", "62.50G"; -1: "0", or none of these. */
static int64_t bytes_of(const char *text, const char *key)
{
	static const char units[] = "KMGTP";
	size_t n;
	const char *p = value_of(text, key, &n), *end = p + n, *unit;
	int64_t hundredths;

	if (!n || !isdigit((unsigned char)*p) || !number_fixed(&p, 2, &hundredths))
		return -1;
	unit = p < end ? memchr(units, *p, sizeof units - 1) : NULL;
	if (hundredths <= 0 || (p < end && (!unit || p + 1 < end)))
		return -1;
	p = unit ? unit : units + 1; /* mebibytes */
	if (__builtin_mul_overflow(hundredths, (int64_t)1 << 10 * (p - units + 1), &hundredths))
		return -1;
	return hundredths / 100;
}

/* "3:0": exit code and signal. */
static void take_exit(struct scheduler_answer *a, const char *text)
{
	size_t n;
	const char *p = value_of(text, "ExitCode", &n);
	int64_t code, signal;

	if (!n || !number_i64(&p, &code) || *p++ != ':' || !number_i64(&p, &signal) || code < 0 ||
	    code > 255 || signal < 0 || signal > 255)
		return;
	a->exit_code = code;
	a->signal = signal;
}

static const struct scheduler_answer unknown = {
	.time_limit_s = -1,
	.node_memory_bytes = -1,
	.cpu_memory_bytes = -1,
	.exit_code = -1,
	.signal = -1,
};

void scheduler_answer_job(struct scheduler_answer *a, const char *text)
{
	size_t n;
	const char *value = value_of(text, "JobState", &n);

	*a = unknown;
	for (size_t i = 0; i < n && i + 1 < sizeof a->state; i++) {
		if (!isupper((unsigned char)value[i]) && value[i] != '_')
			break;
		a->state[i] = value[i];
	}
	if (!strcmp(a->state, "COMPLETING"))
		snprintf(a->state, sizeof a->state, "%s", end_of(text));
	value = value_of(text, "TimeLimit", &n);
	a->time_limit_s = seconds_of(value, n);
	copy_name(a->name, sizeof a->name, text);
	copy_word(a->account, sizeof a->account, text, "Account");
	copy_word(a->qos, sizeof a->qos, text, "QOS");
	a->node_memory_bytes = bytes_of(text, "MinMemoryNode");
	a->cpu_memory_bytes = bytes_of(text, "MinMemoryCPU");
	take_exit(a, text);
}

static bool is_down(const char *state, size_t n)
{
	static const char *const words[] = { "DOWN", "FAIL" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (n >= strlen(words[i]) && !strncmp(state, words[i], strlen(words[i])))
			return true;
	return n && memchr(state, '*', n); /* it does not answer */
}

static void add_lost(struct scheduler_answer *a, const char *name, size_t n)
{
	size_t used = strlen(a->lost);

	if (used + n + 3 < sizeof a->lost)
		snprintf(a->lost + used, sizeof a->lost - used, "%s%.*s", used ? ", " : "", (int)n,
			 name);
}

void scheduler_answer_nodes(struct scheduler_answer *a, const char *text)
{
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t name_n, state_n, why_n;
		const char *name = value_of(line, "NodeName", &name_n);
		const char *state = value_of(line, "State", &state_n);
		const char *why = value_of(line, "Reason", &why_n);

		if (!name_n || !is_down(state, state_n))
			continue;
		add_lost(a, name, name_n);
		why_n = why_n ? strcspn(why, "\n") : 0; /* it is the last one, and has blanks */
		if (why_n && !a->lost_why[0])
			snprintf(a->lost_why, sizeof a->lost_why, "%.*s", (int)strcspn(why, "[\n"),
				 why);
	}
	for (size_t n = strlen(a->lost_why); n && a->lost_why[n - 1] == ' ';)
		a->lost_why[--n] = '\0';
}

/* The words of a command end with NULL. False: no answer in time. */
static bool ask(const char *const *words, int64_t until_ns, struct asking *x)
{
	char *const *argv = (char *const *)(uintptr_t)words;

	return !asking_start(x, argv, NULL) && asking_take_all(x, until_ns - clock_mono_ns());
}

static void ask_nodes(const struct batch_job *j, int64_t until_ns, struct scheduler_answer *a)
{
	struct bytes names = { 0 };
	struct asking x = { 0 };

	for (uint32_t i = 0; i < j->nodes.n; i++)
		bytes_printf(&names, "%s%s", i ? "," : "", hostlist_name(&j->nodes, i));
	bytes_u8(&names, 0);
	if (!names.failed && j->nodes.n &&
	    ask((const char *[]){ "scontrol", "-o", "show", "node", (const char *)names.data,
				  NULL },
		until_ns, &x))
		scheduler_answer_nodes(a, asking_text(&x));
	asking_end(&x, SIGKILL);
	bytes_free(&names);
}

/* An array is answered by a line of each element: that of this number, else the first. */
static const char *line_of(const char *text, const char *id)
{
	size_t n;

	for (const char *line = text; *line; line = number_next_line(line)) {
		const char *value = value_of(line, "JobId", &n);

		if (n == strlen(id) && !memcmp(value, id, n))
			return line;
	}
	return text;
}

/* False: no answer in time. */
static bool ask_job(const char *id, int64_t until_ns, struct scheduler_answer *a)
{
	struct asking x = { 0 };
	bool answered =
		ask((const char *[]){ "scontrol", "-o", "show", "job", id, NULL }, until_ns, &x);

	if (answered)
		scheduler_answer_job(a, line_of(asking_text(&x), id));
	asking_end(&x, SIGKILL);
	return answered;
}

bool scheduler_answer_accounts(struct scheduler_answer *a, const char *text)
{
	static const char *const known[] = {
		"CANCELLED", "COMPLETED", "DEADLINE", "FAILED",
		"NODE_FAIL", "PREEMPTED", "TIMEOUT",  "OUT_OF_MEMORY"
	};
	size_t n = strcspn(text, " \n|+");

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (n == strlen(known[i]) && !memcmp(text, known[i], n)) {
			snprintf(a->state, sizeof a->state, "%s", known[i]);
			/* Of a script that was ended, it is not reported yet. */
			if (strcmp(known[i], "COMPLETED") != 0 && !a->exit_code && !a->signal)
				a->exit_code = a->signal = -1;
			return true;
		}
	return false;
}

/* What the state of a job will be that is over. An exit code does not tell whether somebody ended
 * the job; the accounts have that at once. */
static void settle(const char *id, int64_t until_ns, struct scheduler_answer *a)
{
	const char *const words[] = { "sacct", "-n", "-P", "-X", "-j", id, "-o", "State", NULL };
	struct asking x = { 0 };

	if (strcmp(a->state, "COMPLETING") != 0 || a->exit_code < 0)
		return;
	if (a->signal == OUT_OF_MEMORY)
		snprintf(a->state, sizeof a->state, "OUT_OF_MEMORY");
	else if (a->signal || !ask(words, until_ns, &x) ||
		 !scheduler_answer_accounts(a, asking_text(&x)))
		snprintf(a->state, sizeof a->state, "%s",
			 a->exit_code || a->signal ? "FAILED" : "COMPLETED");
	asking_end(&x, SIGKILL);
}

bool scheduler_ask(const struct batch_job *j, const struct scheduler_question *q,
		   struct scheduler_answer *a)
{
	int64_t until = clock_mono_ns() + q->patience_ns;
	const char *system = batch_job_system(j), *id = j->text[BATCH_RAW_ID];

	*a = unknown;
	if (!system || strcmp(system, "slurm") != 0 || !id)
		return false;
	/* Whether the script was killed is known when its node has reported it. */
	while (ask_job(id, until, a) && !q->is_over && !strcmp(a->state, "COMPLETING") &&
	       clock_mono_ns() + AGAIN_NS < until)
		nanosleep(&(struct timespec){ .tv_nsec = AGAIN_NS }, NULL);
	if (q->is_over)
		settle(id, until, a);
	if (!strcmp(a->state, "NODE_FAIL"))
		ask_nodes(j, until, a);
	return a->state[0];
}
