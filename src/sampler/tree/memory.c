/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - memory that no resident set has: huge pages of hugetlbfs, which the kernel counts
 * apart (HugetlbPages of /proc/PID/status), and files in memory that no process maps; and what each
 * of several resident sets has, since the processes run in the same memory. */
#include "sampler/tree/memory.h"

#include "base/text/number.h"
#include "sampler/tree/tree_state.h"

#include <linux/kcmp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Descriptors looked at in a turn of processes that have as many as before. */
enum { DESCRIPTORS_AGAIN = 64 };

enum { READS = 32 /* of status, in a sample: 20 us each */, LOOK_AGAIN = 16 /* turns */ };

/* What the machine has of them in use, which is the most that the job can have of shared ones. */
static bool machine_has_any(struct tree *t)
{
	struct memory *m = &t->memory;
	struct proc_hugetlb huge;
	char text[4096];

	if (m->meminfo <= 0)
		return false;
	if (!(t->due & READ_FILES) && !m->huge_present) /* once a second at most */
		return false;
	if (file_reread(m->meminfo, text, sizeof text) <= 0 || proc_hugetlb_parse(text, &huge))
		return false;
	m->huge_present = huge.present > 0;
	m->huge_used = huge.used;
	return m->huge_present;
}

static void read_huge(struct tree *t, struct process *p)
{
	char path[32], text[4096];
	int64_t had = p->hugetlb_bytes;

	snprintf(path, sizeof path, "%d/status", (int)p->pid);
	if (root_read(t->reading.proc, path, text, sizeof text) <= 0)
		return;
	p->hugetlb_faults = p->stat.minflt;
	p->hugetlb_bytes = proc_hugetlb(text);
	p->hugetlb_known = true;
	if (p->hugetlb_bytes == had)
		return;
	process_changed(p);
	process_grew(&t->reading, p);
}

/* To have more of them takes a page fault each. */
static bool may_have_others(const struct process *p)
{
	return !p->ended && !p->vanished && p->read_ns && p->stat.rss_pages &&
	       (!p->hugetlb_known || p->hugetlb_faults != p->stat.minflt);
}

static void huge_step(struct tree *t)
{
	struct memory *m = &t->memory;
	uint32_t n = t->table.nlive;
	int reads = 0;

	if (!(t->due & READ_IO) || !machine_has_any(t))
		return;
	for (uint32_t i = 0; i < n && reads < READS; i++) {
		struct process *p = &t->table.row[t->table.live[m->cursor++ % n]];

		if (!may_have_others(p))
			continue;
		read_huge(t, p);
		reads++;
	}
}

/* It is, or was until it ended. */
static bool is_of_tree(const void *tree, pid_t pid)
{
	const struct tree *t = tree;

	return table_find(&t->table, pid) || table_removed(&t->table, pid);
}

/* Shared memory of its processes that is no memfd or segment of theirs, neither now nor a turn ago:
 * what they had mapped was summed up before this turn. */
static void count_mapped(struct tree *t, int64_t surely_before)
{
	struct memory *m = &t->memory;
	bool known = !t->parts[PART_NO_PSS] && t->pss != PSS_OFF;
	int64_t mapped = t->parts[known ? PART_SHARED_MEMORY : PART_SHARED];
	int64_t surely = m->surely_bytes > surely_before ? m->surely_bytes : surely_before;

	if (mapped - surely > m->mapped)
		m->mapped = mapped - surely;
	if (m->surely_bytes - mapped > m->surely_written)
		m->surely_written = m->surely_bytes - mapped;
}

/* Other descriptors than when they were looked at: more or fewer of them; and, asked once in a
 * while and of few in a turn, any, of one that ran since. */
static bool may_have_other_files(const struct memory *m, const struct process *p)
{
	if (p->ended || !p->files_known)
		return false;
	return p->files_looked != p->files ||
	       ((m->turn + (uint64_t)p->pid) % LOOK_AGAIN == 0 && p->files_looked_ns != p->cpu_ns &&
		m->files.left > MEMORY_DESCRIPTORS - DESCRIPTORS_AGAIN);
}

static void files_step(struct tree *t)
{
	struct memory *m = &t->memory;
	int64_t surely_before = m->surely_bytes;
	uint32_t n = t->table.nlive;

	if (!(t->due & READ_FILES) || !m->files.proc)
		return;
	m->turn++;
	memory_files_begin(&m->files, is_of_tree, t);
	for (uint32_t i = 0; i < n; i++) {
		struct process *p = &t->table.row[t->table.live[(m->turn + i) % n]];

		if (!may_have_other_files(m, p))
			continue;
		if (!memory_files_look(&m->files, p->pid))
			break;
		p->files_looked = p->files;
		p->files_looked_ns = p->cpu_ns;
	}
	m->files_known = memory_files_bytes(&m->files, &m->surely_bytes, &m->of_user_bytes);
	count_mapped(t, surely_before);
}

void memory_open(struct tree *t, pid_t pid, pid_t launcher)
{
	if (t->reading.clocks) /* pids are this machine's, and so is /dev/shm */
		memory_files_open(&t->memory.files, t->reading.proc,
				  pid ? pid : reading_self(t->reading.proc), launcher);
	t->memory.meminfo = root_file(t->reading.proc, "meminfo");
}

void memory_close(struct tree *t)
{
	memory_files_close(&t->memory.files);
	file_close(&t->memory.meminfo);
}

void memory_step(struct tree *t, bool last)
{
	if (!last) /* nobody is there any more who has some */
		huge_step(t);
	files_step(t);
}

/* What was written and went to no storage: into files in memory, pipes and sockets. */
static void count_unstored(struct tree *t)
{
	struct memory *m = &t->memory;
	int64_t written = t->job[JOB_WRITTEN] - m->written;
	int64_t stored = t->job[JOB_STORAGE_WRITTEN] - m->stored;

	if (!t->job_known[JOB_WRITTEN])
		return;
	if (written > stored)
		number_add(&m->unstored, written - stored);
	m->written = t->job[JOB_WRITTEN];
	m->stored = t->job[JOB_STORAGE_WRITTEN];
}

/* Other processes of the user make files in memory, too, and nothing says who made one. The job
 * made no more than it wrote that went to no storage, and is in none that is surely its own, or had
 * mapped. */
void memory_sum(struct tree *t)
{
	struct memory *m = &t->memory;
	int64_t most;

	count_unstored(t);
	most = m->unstored > m->surely_written ? m->unstored - m->surely_written : 0;
	number_add(&most, m->mapped);
	/* A directory that grew went to storage and was not written by a call. */
	m->files_bytes = m->of_user_bytes - most <= most / 16 ? m->of_user_bytes : most;
	number_add(&m->files_bytes, m->surely_bytes);
}

int64_t memory_hugetlb(const struct tree *t)
{
	int64_t sum = t->parts[PART_HUGETLB];

	return sum < t->memory.huge_used ? sum : t->memory.huge_used;
}

int64_t memory_hugetlb_of(const struct tree *t, const struct process *p)
{
	int64_t sum = t->parts[PART_HUGETLB];

	if (!p->hugetlb_bytes || sum <= t->memory.huge_used)
		return p->hugetlb_bytes;
	return (int64_t)((double)p->hugetlb_bytes * (double)t->memory.huge_used / (double)sum);
}

int64_t memory_unmapped(const struct tree *t)
{
	int64_t more = t->memory.files_bytes - t->parts[PART_SHARED_MEMORY];

	return more > 0 ? more : 0;
}

/* kcmp(2); where it may not be asked, they have not. */
static bool same_memory(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

void memory_lend(struct tree *t, struct process *p)
{
	struct process *parent = table_find(&t->table, p->ppid);
	pid_t pid;

	if (!t->reading.clocks || !parent || parent->stack != p->stack ||
	    parent->stat.vsize_bytes / 2 > p->stat.vsize_bytes || !same_memory(p->pid, p->ppid))
		return;
	pid = parent->memory_of ? parent->memory_of : parent->pid;
	parent = table_find(&t->table, pid);
	if (!parent)
		return;
	parent->lends = true;
	p->memory_of = pid;
}

void memory_lender_left(struct tree *t, pid_t pid)
{
	struct process *heir = NULL;

	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (p->memory_of != pid)
			continue;
		p->memory_of = heir ? heir->pid : 0;
		if (heir)
			heir->lends = true;
		else
			heir = p;
		p->walk_due = true;
		process_changed(p);
	}
}
