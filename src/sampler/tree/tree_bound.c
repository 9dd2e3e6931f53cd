/* SPDX-License-Identifier: Apache-2.0 */
/* tree_bound.c - the most that the job can have started, where not every birth was seen.
 *
 * The kernel counts what was started on the whole machine, threads included. Of a pid namespace it
 * tells the last pid that was given out: less in a container, but the numbers begin again at
 * pid_max, and whether once or twice is only certain when there were fewer starts than numbers.
 *
 * And the most that exit records can have above what the kernel charged: what interrupts and a
 * hypervisor took meanwhile, on all CPUs. */
#include "sampler/tree/tree_state.h"

#include "base/text/number.h"
#include "source/kept.h"

enum { PIDS_RESERVED = 300 }; /* where the numbers begin again (the kernel's RESERVED_PIDS) */

/* irq, softirq and steal of the first line; -1: not told. */
static int64_t taken_ticks(const char *text)
{
	enum { IRQ = 5, STEAL = 7 };
	const char *p = number_find_line(text, "cpu ");
	int64_t v, sum = 0;

	for (int i = 0; i <= STEAL; i++) {
		if (!p || !number_i64(&p, &v) || v < 0)
			return -1;
		if (i >= IRQ)
			number_add(&sum, v);
	}
	return sum;
}

/* Processes and threads that the machine has started, and ticks that were taken; -1: not told. */
static int64_t machine_counts(const struct root *proc, int64_t *taken)
{
	struct kept stat = { 0 };
	int64_t forks = -1;
	const char *p;

	*taken = -1;
	if (!kept_open(&stat, proc, "stat", 0, NULL)) {
		p = number_find_line(stat.text, "processes ");
		if (!p || !number_i64(&p, &forks))
			forks = -1;
		*taken = taken_ticks(stat.text);
	}
	kept_close(&stat);
	return forks;
}

static int64_t last_pid(const struct tree *t)
{
	char buf[128];
	pid_t last;

	if (t->loadavg <= 0 || file_reread(t->loadavg, buf, sizeof buf) <= 0 ||
	    proc_last_pid_parse(buf, &last))
		return -1;
	return last;
}

static int64_t pid_max(const struct root *proc)
{
	char buf[32];
	const char *p = buf;
	int64_t max = 0;

	if (root_read(proc, "sys/kernel/pid_max", buf, sizeof buf) > 0)
		number_i64(&p, &max);
	return max;
}

void bound_begin(struct tree *t)
{
	t->forks_before = machine_counts(t->reading.proc, &t->taken_before);
	t->taken_ns = -1;
	t->pid_before = last_pid(t);
	t->started_at_most = -1;
}

void bound_end(struct tree *t)
{
	int64_t taken, forks = machine_counts(t->reading.proc, &taken), last = last_pid(t);
	int64_t numbers = pid_max(t->reading.proc) - PIDS_RESERVED;

	if (t->taken_before >= 0 && taken >= t->taken_before)
		t->taken_ns = (taken - t->taken_before) * t->reading.tick_ns;
	if (t->forks_before < 0 || forks < t->forks_before)
		return;
	t->started_at_most = forks - t->forks_before;
	if (t->pid_before < 0 || last < 0 || t->started_at_most >= numbers)
		return;
	last -= t->pid_before;
	if (last < 0)
		last += numbers;
	if (last < t->started_at_most)
		t->started_at_most = last;
}
