/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/condition.h"

#include "report/summary/summary.h"

#include "base/root.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[] = {
	[COMPLETE] = "complete", [RUNNING] = "running",       [CUT] = "cut",
	[DAMAGED] = "damaged",   [UNREADABLE] = "unreadable",
};
_Static_assert(sizeof names / sizeof names[0] == CONDITION_NUMBER_OF, "a name each");

const char *condition_name(enum condition c)
{
	return names[c];
}

double condition_number(const struct run *r, const char *key)
{
	double largest = NAN;

	for (uint32_t i = 1; i < r->nmetas; i++) {
		const struct run_meta *m = &r->metas[i];

		if (m->type == META_INT && !strcmp(m->key, key))
			largest = fmax(largest, (double)m->value);
	}
	return largest;
}

/* Whether the processes that it names are those of this machine and pid namespace. */
static bool is_of_here(const struct run *r, uint32_t node)
{
	const struct run_meta *pids = run_find_meta(r, node, "monitor.pid_namespace");
	const char *boot = run_find_text(r, node, "host.boot_id");
	struct root proc = { 0 };
	struct stat here;
	char text[64];
	ssize_t n;

	if (!pids || pids->type != META_INT || !boot || stat("/proc/self/ns/pid", &here) ||
	    pids->value != (int64_t)here.st_ino || root_open(&proc, "/proc"))
		return false;
	n = root_read(&proc, "sys/kernel/random/boot_id", text, sizeof text);
	root_close(&proc);
	if (n <= 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, boot) == 0;
}

static bool holds(DIR *fds, const struct stat *file)
{
	const struct dirent *entry;
	struct stat other;

	while ((entry = readdir(fds)))
		if (!fstatat(dirfd(fds), entry->d_name, &other, 0) &&
		    other.st_dev == file->st_dev && other.st_ino == file->st_ino)
			return true;
	return false;
}

/* The recorder, of which the kernel says whether it has the file open: it may give no sample for
 * long, without CPU or memory, and close late. */
enum recorder { RECORDER_UNSEEN, RECORDER_GONE, RECORDER_LIVES };

static enum recorder look_for_recorder(const struct run *r, uint32_t node)
{
	const struct run_meta *pid = run_find_meta(r, node, "monitor.pid");
	enum recorder found = RECORDER_UNSEEN;
	struct stat file;
	char path[32];
	DIR *fds;

	if (!pid || pid->type != META_INT || pid->value < 1 || pid->value > INT_MAX ||
	    !is_of_here(r, node) || stat(r->nodes[node].file, &file))
		return found;
	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid->value);
	fds = opendir(path);
	if (fds) {
		if (holds(fds, &file)) /* else the number may be another process's by now */
			found = RECORDER_LIVES;
		closedir(fds);
	} else if (kill((pid_t)pid->value, 0) && errno == ESRCH) {
		found = RECORDER_GONE; /* /proc alone may hide it, or be another namespace's */
	}
	return found;
}

static bool is_running(const struct run *r, uint32_t node, double age_ns, double patience_ns)
{
	enum recorder recorder = look_for_recorder(r, node);

	if (recorder == RECORDER_UNSEEN)
		return r->nodes[node].rows && age_ns < patience_ns;
	return recorder == RECORDER_LIVES;
}

enum condition condition_of(const struct run *r, int64_t now_utc_ns)
{
	double interval_ns = condition_number(r, "run.interval_ns");
	double patience_ns = 3e9 + (isnan(interval_ns) ? 0 : 3 * interval_ns);
	enum condition c = r->ndamages ? DAMAGED : COMPLETE;

	for (uint32_t i = 1; i < r->nnodes && c != DAMAGED; i++) {
		double age_ns = (double)(now_utc_ns - run_utc_ns(r, i, r->nodes[i].last_ns));

		if (!r->nodes[i].complete && (c != CUT))
			c = is_running(r, i, age_ns, patience_ns) ? RUNNING : CUT;
	}
	return c;
}

const char *condition_at_the_end(const struct summary *s)
{
	return s->running ? "now" : s->complete ? "at the end" : "at the end of the recording";
}

const char *condition_the_end(const struct summary *s)
{
	return s->running ? "now" : s->complete ? "the end" : "the end of the recording";
}
