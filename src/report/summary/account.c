/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/account.h"

#include "base/text/json.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_LEAST = 10, BAR_MOST = 24, TEXT_SIZE = 256 };

/* Threads are looked at every few seconds; nothing is concluded from a look that is older. */
static const double look_s = 10;

const struct account_row account_rows[ACCOUNT_PARTS] = {
	[ACCOUNT_USER] = { "computing_user", "Computing in user mode",
			   "CPU time of the job's processes", "\033[32m", '#' },
	[ACCOUNT_KERNEL] = { "computing_kernel", "Computing in the kernel",
			     "CPU time of the job's processes", "\033[36m", '+' },
	[ACCOUNT_COMPUTING] = { "computing", "Computing",
				"CPU time of the job's processes, user and kernel not separated",
				"\033[32m", '#' },
	[ACCOUNT_THROTTLED] = { "throttled", "Throttled by the CPU limit",
				"cgroup.throttled_seconds of the job's control group", "\033[31m",
				'!' },
	[ACCOUNT_OTHERS] = { "waiting_others", "Waiting for a core used by others",
			     "job.run_queue_seconds, at most the CPU time of others on the node",
			     "\033[33m", '=' },
	[ACCOUNT_OWN] = { "waiting_own", "Waiting for a core used by its own threads",
			  "job.run_queue_seconds, the rest", "\033[33m", '-' },
	[ACCOUNT_WAITING] = { "waiting", "Waiting for a core",
			      "job.run_queue_seconds; the user of the core is unknown", "\033[33m",
			      '=' },
	[ACCOUNT_MEMORY] = { "memory", "Waiting for memory (swap, reclaim)",
			     "memory pressure stall, a lower bound", "\033[35m", '~' },
	[ACCOUNT_STORAGE] = { "storage", "Waiting for storage",
			      "threads seen blocked (job.threads_blocked_count), processes seen to wait "
			      "for files, or the job's part of I/O pressure: the most",
			      "\033[34m", ':' },
	[ACCOUNT_IDLE] = { "idle", "Idle", "what is left", "", ' ' },
	[ACCOUNT_UNKNOWN] = { "unknown", "Unknown",
			      "the rest of periods in which no thread was sampled", "", '?' },
};

/* ---- the parts ---- */

static bool is_known(const struct account *a, enum account_part p)
{
	return a->part_s[p] > 0;
}

/* As much of it as there is room for. */
static double take(double *room, double wanted)
{
	double taken = fmin(*room, fmax(0, wanted));

	*room -= taken;
	return taken;
}

static void split_computing(struct account *a, const struct account_figures *f)
{
	double split = f->user_s + f->system_s;

	if (!(split > 0) && f->cpu_s > 0) {
		a->part_s[ACCOUNT_COMPUTING] = f->cpu_s;
		return;
	}
	a->part_s[ACCOUNT_KERNEL] = split > 0 ? f->cpu_s * (f->system_s / split) : 0;
	a->part_s[ACCOUNT_USER] = f->cpu_s - a->part_s[ACCOUNT_KERNEL];
}

static void split_waiting(struct account *a, const struct account_figures *f, double *room)
{
	double waited = f->waited_s;

	if (isnan(waited))
		return;
	if (a->part_s[ACCOUNT_THROTTLED] > 0)
		waited -= a->part_s[ACCOUNT_THROTTLED];
	if (isnan(f->others_s)) {
		a->part_s[ACCOUNT_WAITING] = take(room, waited);
		return;
	}
	a->part_s[ACCOUNT_OTHERS] = take(room, fmin(waited, f->others_s));
	a->part_s[ACCOUNT_OWN] = take(room, waited - a->part_s[ACCOUNT_OTHERS]);
}

static void split_blocked(struct account *a, const struct account_figures *f, double *room)
{
	double blocked = f->blocked_s;

	if (!isnan(f->memory_s))
		a->part_s[ACCOUNT_MEMORY] = take(room, f->memory_s);
	if (a->part_s[ACCOUNT_MEMORY] > 0)
		blocked -= a->part_s[ACCOUNT_MEMORY];
	if (!isnan(f->blocked_s))
		a->part_s[ACCOUNT_STORAGE] = take(room, blocked);
}

void account_make(struct account *a, const struct account_figures *f)
{
	bool looked = !isnan(f->waited_s) && !isnan(f->blocked_s) && !isnan(f->unseen_s);
	double room;

	*a = (struct account){ .wall_s = f->wall_s, .cores = f->cores, .crowded_s = f->crowded_s };
	for (int p = 0; p < ACCOUNT_PARTS; p++)
		a->part_s[p] = NAN;
	if (!(f->wall_s > 0) || !(f->cores > 0) || !(f->cpu_s >= 0) || isinf(f->cpu_s) ||
	    isinf(f->wall_s * f->cores))
		return;
	a->whole_s = fmax(f->wall_s * f->cores, f->cpu_s);
	room = a->whole_s - f->cpu_s;
	split_computing(a, f);
	if (!isnan(f->throttled_s))
		a->part_s[ACCOUNT_THROTTLED] = take(&room, f->throttled_s);
	split_waiting(a, f, &room);
	split_blocked(a, f, &room);
	a->part_s[ACCOUNT_UNKNOWN] = take(&room, looked ? f->unseen_s : room);
	a->part_s[ACCOUNT_IDLE] = looked ? room : NAN;
}

/* ---- as text ---- */

/* `total` shared out by the parts' sizes; what rounding leaves goes to the largest remainders. */
static void share_out(const struct account *a, int total, int share[ACCOUNT_PARTS])
{
	double rest[ACCOUNT_PARTS];
	int left = total;

	for (int p = 0; p < ACCOUNT_PARTS; p++) {
		double exact =
			is_known(a, (enum account_part)p) ? total * (a->part_s[p] / a->whole_s) : 0;

		share[p] = (int)exact;
		rest[p] = exact - share[p];
		left -= share[p];
	}
	for (; left > 0; left--) {
		int most = 0;

		for (int p = 1; p < ACCOUNT_PARTS; p++)
			if (rest[p] > rest[most])
				most = p;
		share[most]++;
		rest[most] = -1;
	}
}

void account_percent(const struct account *a, int percent[ACCOUNT_PARTS])
{
	memset(percent, 0, ACCOUNT_PARTS * sizeof *percent);
	if (a->whole_s > 0)
		share_out(a, 100, percent);
}

static void put_bar(struct bytes *out, const struct account *a, int width, bool colour)
{
	int columns[ACCOUNT_PARTS];

	share_out(a, width, columns);
	bytes_puts(out, "[");
	for (int p = 0; p < ACCOUNT_PARTS; p++) {
		const struct account_row *row = &account_rows[p];
		bool coloured = colour && *row->colour && columns[p];

		bytes_puts(out, coloured ? row->colour : "");
		for (int i = 0; i < columns[p]; i++)
			bytes_u8(out, (uint8_t)row->glyph);
		bytes_puts(out, coloured ? "\033[0m" : "");
	}
	bytes_puts(out, "]");
}

/* Parts that a line says as one, in the order in which it says them. */
static const struct said {
	const char *words, *fewer; /* where there is little room */
	unsigned parts;
} said[] = {
	{ "computing", "computing",
	  1U << ACCOUNT_USER | 1U << ACCOUNT_KERNEL | 1U << ACCOUNT_COMPUTING },
	{ "throttled", "throttled", 1U << ACCOUNT_THROTTLED },
	{ "waiting for a core", "core wait",
	  1U << ACCOUNT_OTHERS | 1U << ACCOUNT_OWN | 1U << ACCOUNT_WAITING },
	{ "waiting for memory", "memory", 1U << ACCOUNT_MEMORY },
	{ "waiting for storage", "storage", 1U << ACCOUNT_STORAGE },
	{ "idle", "idle", 1U << ACCOUNT_IDLE },
	{ "unknown", "unknown", 1U << ACCOUNT_UNKNOWN },
};
enum { SAID = sizeof said / sizeof said[0] };

static int percent_of(const struct said *x, const int percent[ACCOUNT_PARTS])
{
	int sum = 0;

	for (int p = 0; p < ACCOUNT_PARTS; p++)
		sum += x->parts & 1U << p ? percent[p] : 0;
	return sum;
}

/* Computing, and what has at least so many percent; the rest together. Returns its length. */
static size_t put_words(char text[TEXT_SIZE], const int percent[ACCOUNT_PARTS], int least,
			bool fewer)
{
	size_t n = 0;
	int rest = 0;

	*text = '\0';
	for (size_t i = 0; i < SAID; i++) {
		int sum = percent_of(&said[i], percent);

		if ((i && sum < least) || !sum) {
			rest += sum;
			continue;
		}
		n += (size_t)snprintf(text + n, TEXT_SIZE - n, "%s%s %d %%", n ? ", " : "",
				      fewer ? said[i].fewer : said[i].words, sum);
		if (!i && least < 2 && percent[ACCOUNT_KERNEL])
			n += (size_t)snprintf(text + n, TEXT_SIZE - n, " (kernel %d %%)",
					      percent[ACCOUNT_KERNEL]);
	}
	if (rest)
		n += (size_t)snprintf(text + n, TEXT_SIZE - n, "%sother %d %%", n ? ", " : "",
				      rest);
	return n;
}

void account_print(struct bytes *out, const struct account *a, unsigned columns, bool colour)
{
	int percent[ACCOUNT_PARTS], least = 1, room = (int)columns - (int)strlen("[] ");
	char text[TEXT_SIZE];

	if (!(a->whole_s > 0))
		return;
	account_percent(a, percent);
	if ((int)put_words(text, percent, least, false) + BAR_LEAST > room)
		while ((int)put_words(text, percent, least, true) + BAR_LEAST > room && least < 100)
			least++;
	room -= (int)strlen(text);
	put_bar(out, a, room < BAR_MOST ? room : BAR_MOST, colour);
	bytes_printf(out, " %s", text);
}

void account_json(struct json *j, const struct account *a)
{
	if (!(a->whole_s > 0)) {
		json_null(j);
		return;
	}
	json_object(j);
	json_put_real(j, "whole_seconds", a->whole_s);
	json_put_real(j, "wall_seconds", a->wall_s);
	json_put_real(j, "cores", a->cores);
	json_put_real(j, "crowded_seconds", a->crowded_s);
	json_key(j, "parts");
	json_array(j);
	for (int p = 0; p < ACCOUNT_PARTS; p++) {
		json_object(j);
		json_put_text(j, "part", account_rows[p].key);
		json_put_text(j, "label", account_rows[p].label);
		json_put_real(j, "seconds", a->part_s[p]);
		json_put_real(j, "ratio", a->part_s[p] / a->whole_s);
		json_put_text(j, "source", account_rows[p].source);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

/* ---- of a run ---- */

/* A limit of one and a half cores is work for two that stand still a part of the time. */
static double cores_of(const struct summary *s)
{
	if (!isnan(s->cores_asked))
		return s->cores_asked;
	return fmin(isnan(s->cores_allowed) ? s->cores_present : s->cores_allowed,
		    ceil(s->cores_limit));
}

double summary_others_s(const struct summary *s)
{
	static const char *const busy[] = { "node.cpu_nice_seconds", "node.cpu_system_seconds",
					    "node.cpu_irq_seconds", "node.cpu_softirq_seconds" };
	double all = summary_grown(s, "node.cpu_user_seconds");

	for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++) {
		double one = summary_grown(s, busy[i]);

		all += isnan(one) ? 0 : one;
	}
	return fmax(all, s->cpu_s) - s->cpu_s + 0 * all;
}

/* Whether the job was alone in its control groups, whose pressure is its own then. */
static bool is_alone(const struct run *r)
{
	uint32_t alone = 0, nodes = 0;

	for (uint32_t i = 1; i < r->nmetas; i++) {
		const struct run_meta *m = &r->metas[i];

		if (strcmp(m->key, "cgroup.owner") != 0 || m->type != META_TEXT || !m->text)
			continue;
		nodes++;
		alone += strcmp(m->text, "alone") == 0;
	}
	return nodes && alone == nodes;
}

static double memory_stall(const struct summary *s, const struct run *r, double blocked_s)
{
	double own = is_alone(r) ? summary_grown(s, "cgroup.pressure_memory_some_seconds") : NAN;
	double node = summary_grown(s, "node.pressure_memory_some_seconds");

	if (!isnan(own))
		return own;
	return isnan(node) || isnan(blocked_s) ? NAN : fmin(node, blocked_s);
}

/* Of what the node's work stalled on storage the job's part is as large as of what its disks did.
 */
static double storage_stall(const struct summary *s, const struct run *r)
{
	double own = is_alone(r) ? summary_grown(s, "cgroup.pressure_io_some_seconds") : NAN;
	double did = summary_grown(s, "job.storage_read_bytes") +
		     summary_grown(s, "job.storage_written_bytes");
	double all = summary_grown(s, "disk.read_bytes") + summary_grown(s, "disk.written_bytes");

	if (!isnan(own))
		return own;
	return all > 0 ? summary_grown(s, "node.pressure_io_some_seconds") * fmin(1, did / all)
		       : NAN;
}

double summary_storage_s(const struct summary *s)
{
	return s->account.whole_s > 0 ? s->account.part_s[ACCOUNT_STORAGE] : NAN;
}

/* The last look at the threads that is not too old; NAN: there is none. */
static double blocked_at(const struct timeline *t, const double *blocked, uint32_t window)
{
	uint32_t back = (uint32_t)ceil(look_s / t->width_s);

	for (uint32_t i = window + 1; i-- > 0 && window - i <= back;)
		if (!isnan(blocked[i]))
			return blocked[i];
	return NAN;
}

/* Threads that wait need a core only where the job has not all of them. */
static void add_window(struct account_figures *f, double had, double waited, double blocked,
		       double width_s)
{
	double room = fmax(0, f->cores - (isnan(had) ? 0 : had));
	double waits = fmin(waited, room);

	f->waited_s += waits * width_s;
	f->crowded_s += (waited - waits) * width_s;
	room -= waits;
	if (isnan(blocked))
		f->unseen_s += room * width_s;
	else
		f->blocked_s += fmin(blocked, room) * width_s;
}

static bool any_value(const struct timeline *t, const struct timeline_row *row)
{
	for (uint32_t i = 0; row && i < t->nwindows; i++)
		if (!isnan(row->value[i]))
			return true;
	return false;
}

/* 0 or -ENOMEM. */
static int look_at_threads(struct account_figures *f, const struct summary *s)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *cores = timeline_find(t, summary_cores_metric);
	const struct timeline_row *known = timeline_find(t, summary_waited_metric);
	const struct timeline_row *blocked = timeline_find(t, summary_blocked_metric);
	double *waited;

	if (!any_value(t, cores) || !any_value(t, known) || !any_value(t, blocked))
		return 0;
	waited = summary_waits_make(s);
	if (!waited)
		return -ENOMEM;
	f->waited_s = f->crowded_s = f->blocked_s = f->unseen_s = 0;
	for (uint32_t i = 0; i < t->nwindows; i++)
		add_window(f, cores->value[i], waited[i], blocked_at(t, blocked->value, i),
			   t->width_s);
	free(waited);
	return 0;
}

int summary_account_make(struct summary *s, const struct run *r)
{
	struct account_figures f = {
		.wall_s = s->wall_s,
		.cores = cores_of(s),
		.cpu_s = s->cpu_s,
		.user_s = s->cpu_user_s,
		.system_s = s->cpu_system_s,
		.waited_s = NAN,
		.crowded_s = NAN,
		.throttled_s = summary_grown(s, "cgroup.throttled_seconds"),
		.others_s = summary_others_s(s),
		.blocked_s = NAN,
		.unseen_s = NAN,
	};

	if (look_at_threads(&f, s))
		return -ENOMEM;
	/* What waits for a remote file system is not blocked, but asleep. */
	if (!isnan(f.blocked_s) && s->story.wait[STALL_STORAGE].seconds > f.blocked_s)
		f.blocked_s = s->story.wait[STALL_STORAGE].seconds;
	if (!isnan(f.blocked_s)) /* looks are rare: the kernel measures */
		f.blocked_s = fmax(f.blocked_s, storage_stall(s, r));
	s->cpu_at_most_s = s->cpu_is_bound ? f.others_s + s->cpu_s : NAN;
	if (s->cpu_is_bound) /* what seems idle may have been computing */
		f.unseen_s = NAN;
	f.memory_s = memory_stall(s, r, f.blocked_s);
	account_make(&s->account, &f);
	return 0;
}
