/* SPDX-License-Identifier: Apache-2.0 */
#include "indicator/indicator.h"

#include "base/clock.h"
#include "base/root.h"
#include "base/text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 8192, CACHES = 8 };

/* A whole number that a file holds, -1: none ("max", or no such file). */
static int64_t number_in(const struct root *r, const char *path)
{
	char text[64];
	const char *at = text;
	int64_t v;

	return root_read(r, path, text, sizeof text) > 0 && number_i64(&at, &v) && v >= 0 ? v : -1;
}

/* What a line of a text of such lines says; -1: it has none. */
static int64_t line_of(const char *text, const char *key)
{
	const char *at = number_find_line(text, key);
	int64_t v;

	return at && number_i64(&at, &v) && v >= 0 ? v : -1;
}

/* What the group of that folder, and those above it, still give. File pages that can go are free.
 */
static int64_t free_in_groups(const struct root *sys, char *folder, size_t least, const char *limit,
			      const char *usage, const char *pages)
{
	int64_t most = INT64_MAX;

	while (strlen(folder) >= least) {
		char path[PATH_MAX + 64], stat[16384] = "";
		int64_t may, has, file;

		snprintf(path, sizeof path, "%s/%s", folder, limit);
		may = number_in(sys, path);
		snprintf(path, sizeof path, "%s/%s", folder, usage);
		has = number_in(sys, path);
		snprintf(path, sizeof path, "%s/memory.stat", folder);
		file = root_read(sys, path, stat, sizeof stat) > 0 ? line_of(stat, pages) : -1;
		has -= file > 0 && file < has ? file : 0;
		if (may >= 0 && has >= 0 && may - has < most)
			most = may > has ? may - has : 0;
		if (!strrchr(folder, '/'))
			break;
		*strrchr(folder, '/') = '\0';
	}
	return most;
}

/* Both versions of control groups: "0::/job" and "9:memory:/job". */
static int64_t free_by_groups(const struct root *proc, const struct root *sys)
{
	char text[16384], folder[PATH_MAX], *save = NULL;
	int64_t most = INT64_MAX, v;

	if (root_read(proc, "self/cgroup", text, sizeof text) <= 0)
		return most;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *path = strstr(line, ":/");

		if (!path)
			continue;
		if (!strncmp(line, "0::", 3)) {
			snprintf(folder, sizeof folder, "fs/cgroup%s", path + 1);
			v = free_in_groups(sys, folder, strlen("fs/cgroup"), "memory.max",
					   "memory.current", "inactive_file ");
		} else if (strstr(line, ":memory:")) {
			snprintf(folder, sizeof folder, "fs/cgroup/memory%s", path + 1);
			v = free_in_groups(sys, folder, strlen("fs/cgroup/memory"),
					   "memory.limit_in_bytes", "memory.usage_in_bytes",
					   "total_inactive_file ");
		} else {
			continue;
		}
		most = v < most ? v : most;
	}
	return most;
}

int64_t room_free(void)
{
	struct root proc = { 0 }, sys = { 0 };
	char text[16384];
	int64_t all = -1, v;

	if (root_open(&proc, "/proc") || root_read(&proc, "meminfo", text, sizeof text) <= 0)
		return -1;
	all = line_of(text, "MemAvailable:");
	all = all > 0 && all < INT64_MAX / 1024 ? all * 1024 : all;
	if (all >= 0 && !root_open(&sys, "/sys")) {
		v = free_by_groups(&proc, &sys);
		all = v < all ? v : all;
		root_close(&sys);
	}
	root_close(&proc);
	return all;
}

int room_check(double bytes, const char *what, struct err *e)
{
	int64_t have = room_free();

	if (have < 0)
		return err_set(e, -EINVAL,
			       "how much memory is free is not known here (/proc/meminfo has no "
			       "MemAvailable), so none is taken");
	if (bytes <= (double)have / ROOM_SHARE)
		return 0;
	return err_set(e, -EINVAL,
		       "%s take %.0f MiB; no more than a quarter of the %" PRId64
		       " MiB that are free is taken: give a smaller --size",
		       what, bytes / 1048576, have / 1048576);
}

/* The size of the highest level of one CPU; *cpus is which share it. */
static int64_t last_of(const struct root *sys, unsigned cpu, char *cpus, size_t size)
{
	int64_t highest = 0, bytes = 0;

	for (unsigned i = 0; i < CACHES; i++) {
		char path[128], text[64];
		const char *at = text;
		int64_t level, kib;

		snprintf(path, sizeof path, "devices/system/cpu/cpu%u/cache/index%u/level", cpu, i);
		level = number_in(sys, path);
		snprintf(path, sizeof path, "devices/system/cpu/cpu%u/cache/index%u/size", cpu, i);
		if (level <= highest || root_read(sys, path, text, sizeof text) <= 0 ||
		    !number_i64(&at, &kib) || kib <= 0 || kib > INT64_MAX >> 30)
			continue;
		highest = level;
		bytes = kib * (*at == 'M' ? 1 << 20 : *at == 'K' ? 1 << 10 : 1);
		snprintf(path, sizeof path,
			 "devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu, i);
		if (root_read(sys, path, cpus, size) <= 0)
			*cpus = '\0';
	}
	return bytes;
}

int64_t room_cache(void)
{
	struct root sys = { 0 };
	int64_t sum = 0;

	if (root_open(&sys, "/sys"))
		return 0;
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		char cpus[1024] = "";
		const char *at = cpus;
		int64_t bytes = last_of(&sys, cpu, cpus, sizeof cpus), first;

		/* Counted where the first of those that share it is. */
		if (bytes && (!number_i64(&at, &first) || first == cpu))
			sum += bytes;
	}
	root_close(&sys);
	return sum;
}

enum { STEP_MAX = 16 };

struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t change;
	int64_t waiting;
	bool open, given_up;
};

struct member {
	const struct team *team;
	struct gate *gate;
	pthread_t thread;
	int64_t number, begin_ns, end_ns;
};

static void *be_member(void *arg)
{
	struct member *m = arg;
	struct gate *g = m->gate;
	bool go;

	pthread_mutex_lock(&g->mutex);
	g->waiting++;
	pthread_cond_broadcast(&g->change);
	while (!g->open && !g->given_up)
		pthread_cond_wait(&g->change, &g->mutex);
	go = g->open;
	pthread_mutex_unlock(&g->mutex);
	if (!go)
		return NULL;
	m->begin_ns = clock_mono_ns();
	m->team->work(m->team->ctx, m->number);
	m->end_ns = clock_mono_ns();
	return NULL;
}

/* When all that were started wait at it. */
static void open_gate(struct gate *g, int64_t started, bool all)
{
	pthread_mutex_lock(&g->mutex);
	while (all && g->waiting < started)
		pthread_cond_wait(&g->change, &g->mutex);
	g->open = all;
	g->given_up = !all;
	pthread_cond_broadcast(&g->change);
	pthread_mutex_unlock(&g->mutex);
}

int team_run(const struct team *t, double *seconds, struct err *e)
{
	struct member *member = calloc((size_t)t->threads, sizeof *member);
	struct gate gate = { .mutex = PTHREAD_MUTEX_INITIALIZER,
			     .change = PTHREAD_COND_INITIALIZER };
	int64_t begin = INT64_MAX, end = 0, started = 0;
	int rc = 0;

	if (!member)
		return err_set(e, -ENOMEM, "out of memory");
	while (started < t->threads && !rc) {
		member[started] = (struct member){ .team = t, .gate = &gate, .number = started };
		rc = pthread_create(&member[started].thread, NULL, be_member, &member[started]);
		started += !rc;
	}
	open_gate(&gate, started, !rc);
	for (int64_t i = 0; i < started; i++) {
		pthread_join(member[i].thread, NULL);
		begin = member[i].begin_ns < begin ? member[i].begin_ns : begin;
		end = member[i].end_ns > end ? member[i].end_ns : end;
	}
	free(member);
	if (rc)
		return err_set(e, -rc, "%" PRId64 " threads cannot be started: %s", t->threads,
			       strerror(rc));
	*seconds = (double)(end - begin) / 1e9;
	return 0;
}

/* A first round is cold, and tells little of how long the next ones take: it grows in steps. */
int team_measure(const struct team *t, int64_t seconds_ns, int64_t most, int64_t *times,
		 double *seconds, struct err *e)
{
	double wanted = (double)seconds_ns / 1e9;
	int rc;

	while (!(rc = team_run(t, seconds, e)) && *seconds < wanted && *times < most) {
		double more = *seconds > 0 ? fmin(1.1 * wanted / *seconds, STEP_MAX) : STEP_MAX;

		*times = (int64_t)fmin(ceil((double)*times * more), (double)most);
	}
	return rc;
}
