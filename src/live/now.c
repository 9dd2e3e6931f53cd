/* SPDX-License-Identifier: Apache-2.0 */
#include "live/now.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/root.h"
#include "live/now_part.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LATE_S = 5, SILENT_S = 60 };

const char *now_state_name(enum now_state s)
{
	static const char *const names[] = {
		[NOW_RUNNING] = "running", [NOW_LATE] = "late",   [NOW_SILENT] = "silent",
		[NOW_WAITING] = "waiting", [NOW_ENDED] = "ended", [NOW_UNREADABLE] = "unreadable",
	};
	_Static_assert(sizeof names / sizeof names[0] == NOW_STATE_NUMBER_OF, "a name each");

	return names[s];
}

/* ---- which nodes ---- */

static void node_free(struct now_node *n)
{
	free(n->path);
	free(n->name);
	free(n->series);
}

/* node-NAME.sonde */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	size_t n = strlen(file), end = strlen(".sonde");

	if (n > end && !strcmp(file + n - end, ".sonde"))
		n -= end;
	if (n > 5 && !strncmp(file, "node-", 5)) {
		file += 5;
		n -= 5;
	}
	return strndup(file, n);
}

static int node_new(struct now *x, struct now_node *n, const struct follow_node *from)
{
	*n = (struct now_node){ .id = ++x->last_id, .from = from };
	n->path = strdup(from->path);
	n->name = name_of(from->path);
	return n->path && n->name ? 0 : -ENOMEM;
}

/* Both lists are in the same order: who is not in the new one has gone. */
static int nodes_match(struct now *x)
{
	uint32_t n = follow_count(x->follow), k = 0, i;
	struct now_node *to = calloc(n + 1, sizeof *to);
	int rc = to ? 0 : -ENOMEM;

	if (rc)
		return rc;
	for (i = 0; i < n && !rc; i++) {
		const struct follow_node *from = follow_node(x->follow, i);
		int order = -1;

		while (k < x->n && (order = strcmp(x->node[k].path, from->path)) < 0)
			node_free(&x->node[k++]);
		if (k < x->n && !order) {
			to[i] = x->node[k++];
			to[i].from = from;
		} else {
			rc = node_new(x, &to[i], from);
		}
	}
	while (k < x->n)
		node_free(&x->node[k++]);
	free(x->node);
	x->node = to;
	x->n = i;
	return rc;
}

/* ---- how they are ---- */

/* Between machines clocks differ: once a sample has come while we look, it is our clock that tells.
 */
static double age_of(struct now_node *n, int64_t mono_ns, int64_t utc_ns)
{
	int64_t age = mono_ns - n->seen_ns, told = utc_ns - n->from->utc_ns;

	if (!n->from->mono_ns)
		return NAN;
	if (n->changed_ns)
		age = mono_ns - n->changed_ns;
	else if (told > age)
		age = told;
	return (double)age / 1e9;
}

static void see(struct now_node *n, int64_t mono_ns)
{
	if (n->replaced != n->from->replaced) {
		n->nseries = 0;
		n->mono_ns = 0;
		n->replaced = n->from->replaced;
	}
	if (!n->seen_ns)
		n->seen_ns = mono_ns;
	else if (n->from->mono_ns != n->mono_ns)
		n->changed_ns = mono_ns;
	n->mono_ns = n->from->mono_ns;
}

static enum now_state state_of_node(const struct now_node *n)
{
	double interval_s = (double)now_interval_ns(n) / 1e9;

	if (n->from->state == FOLLOW_ENDED)
		return NOW_ENDED;
	if (n->from->state == FOLLOW_UNREADABLE)
		return NOW_UNREADABLE;
	if (isnan(n->age_s))
		return NOW_WAITING;
	if (n->age_s > fmax(SILENT_S, 10 * interval_s))
		return NOW_SILENT;
	return n->age_s > fmax(LATE_S, 3 * interval_s) ? NOW_LATE : NOW_RUNNING;
}

static int node_figures(struct now_node *n, bool replays)
{
	int rc;

	n->elapsed_s = n->from->utc_ns && n->from->made_utc_ns
			       ? (double)(n->from->utc_ns - n->from->made_utc_ns) / 1e9
			       : (double)NAN;
	n->state = state_of_node(n);
	rc = now_series_look(n, replays);
	if (!rc)
		now_figures_look(n);
	return rc;
}

static int node_look(struct now_node *n, int64_t mono_ns, int64_t utc_ns)
{
	see(n, mono_ns);
	n->age_s = age_of(n, mono_ns, utc_ns);
	return node_figures(n, false);
}

/* Nothing of a replay is late. */
static int node_replay(struct now_node *n)
{
	n->age_s = n->from->mono_ns ? 0 : (double)NAN;
	return node_figures(n, true);
}

bool now_is_here(const struct now_node *n)
{
	const struct follow_meta *boot = follow_meta(n->from, "host.boot_id");
	const struct follow_meta *pids = follow_meta(n->from, "monitor.pid_namespace");
	struct root proc;
	struct stat here;
	char id[64];
	bool same = false;

	if (!boot || boot->type != META_TEXT || !pids || pids->type != META_INT ||
	    root_open(&proc, "/proc"))
		return false;
	if (root_read(&proc, "sys/kernel/random/boot_id", id, sizeof id) > 0 &&
	    !fstatat(proc.fd, "self/ns/pid", &here, 0)) {
		id[strcspn(id, "\n")] = '\0';
		same = !strcmp(id, boot->text) && (int64_t)here.st_ino == pids->value;
	}
	root_close(&proc);
	return same;
}

static bool is_current(const struct now_node *n)
{
	return n->state == NOW_RUNNING || n->state == NOW_LATE;
}

static void add(double *sum, double v)
{
	if (!isnan(v))
		*sum = isnan(*sum) ? v : *sum + v;
}

/* What a host has counts once, however many recordings are made on it. */
static bool is_another_host(const struct now *x, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++) {
		if (is_current(&x->node[k]) &&
		    !strcmp(x->node[k].from->host, x->node[i].from->host))
			return false;
	}
	return true;
}

static void add_node(struct now *x, uint32_t i, double *gpus, double *used)
{
	static const enum now_figure summed[] = { NOW_CPU,     NOW_CPU_TIME,  NOW_MEMORY, NOW_READ,
						  NOW_WRITTEN, NOW_PROCESSES, NOW_THREADS };
	static const enum now_figure of_host[] = { NOW_CORES,
						   NOW_MEMORY_LIMIT,
						   NOW_GPU_MEMORY,
						   NOW_GPU_MEMORY_TOTAL,
						   NOW_POWER,
						   NOW_NODE_CPU,
						   NOW_NODE_CORES,
						   NOW_NODE_MEMORY_TOTAL,
						   NOW_NODE_MEMORY_FREE,
						   NOW_LOAD };
	const struct now_node *n = &x->node[i];

	for (size_t k = 0; k < sizeof summed / sizeof summed[0]; k++)
		add(&x->figure[summed[k]], n->figure[summed[k]]);
	if (!is_another_host(x, i))
		return;
	for (size_t k = 0; k < sizeof of_host / sizeof of_host[0]; k++)
		add(&x->figure[of_host[k]], n->figure[of_host[k]]);
	if (!isnan(n->figure[NOW_GPU])) {
		*gpus += n->ngpus;
		*used += n->ngpus * n->figure[NOW_GPU];
	}
}

static void totals(struct now *x)
{
	double gpus = 0, used = 0;

	now_figures_clear(x->figure);
	memset(x->state, 0, sizeof x->state);
	x->damaged = 0;
	x->elapsed_s = NAN;
	for (uint32_t i = 0; i < x->n; i++) {
		x->state[x->node[i].state]++;
		x->damaged += x->node[i].from->damages > 0;
		x->elapsed_s = fmax(x->elapsed_s, x->node[i].elapsed_s);
		if (is_current(&x->node[i]))
			add_node(x, i, &gpus, &used);
	}
	if (gpus > 0)
		x->figure[NOW_GPU] = used / gpus;
	now_figures_ratios(x->figure);
}

/* ---- the calls ---- */

int now_open(struct now *x, const char *path, struct err *e)
{
	*x = (struct now){ 0 };
	now_figures_clear(x->figure);
	return follow_open(&x->follow, path, e);
}

int now_look(struct now *x, struct err *e)
{
	int64_t mono_ns, utc_ns;
	int rc = follow_poll(x->follow, e);

	if (rc)
		return rc;
	rc = nodes_match(x);
	mono_ns = clock_mono_ns();
	utc_ns = clock_utc_ns();
	for (uint32_t i = 0; !rc && i < x->n; i++)
		rc = node_look(&x->node[i], mono_ns, utc_ns);
	totals(x);
	return rc ? err_set(e, rc, "out of memory for %u nodes", x->n) : 0;
}

static int64_t last_of(const struct follow_node *n)
{
	return n->first_utc_ns + (n->last_mono_ns - n->first_mono_ns);
}

/* 0 is not known. */
static int64_t least_of(int64_t a, int64_t b)
{
	return !a || (b && b < a) ? b : a;
}

bool now_span(const struct now *x, struct now_span *out)
{
	struct now_span s = { 0 };

	for (uint32_t i = 0; i < x->n; i++) {
		const struct follow_node *n = x->node[i].from;
		int64_t interval = now_interval_ns(&x->node[i]);

		if (n->state != FOLLOW_ENDED && n->state != FOLLOW_UNREADABLE)
			return false;
		if (!n->first_mono_ns || !n->last_mono_ns)
			continue;
		s.first_ns = least_of(s.first_ns, n->first_utc_ns);
		s.begin_ns = least_of(s.begin_ns, n->made_utc_ns ? n->made_utc_ns : s.first_ns);
		s.interval_ns = least_of(s.interval_ns, interval);
		s.last_ns = last_of(n) > s.last_ns ? last_of(n) : s.last_ns;
	}
	s.begin_ns = least_of(s.begin_ns, s.first_ns);
	*out = s;
	return s.first_ns > 0 && s.last_ns >= s.first_ns;
}

int now_replay(struct now *x, int64_t utc_ns, struct err *e)
{
	int rc = follow_at(x->follow, utc_ns, e);

	x->replays = true;
	for (uint32_t i = 0; !rc && i < x->n; i++)
		rc = node_replay(&x->node[i]);
	totals(x);
	return rc ? err_set(e, rc, "out of memory for %u nodes", x->n) : 0;
}

void now_close(struct now *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		node_free(&x->node[i]);
	free(x->node);
	follow_close(x->follow);
	*x = (struct now){ 0 };
}
