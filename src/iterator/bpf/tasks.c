/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * tasks.c - the program that the kernel runs for each thread: it copies what /proc would show of
 * it. Linux 5.10 and later; what a kernel does not have is left out, and `has` says so. It is under
 * the GPL as well, since the kernel lends bpf_seq_write and bpf_probe_read_kernel to no other.
 */
#include "iterator/bpf/kernel.h"
#include "source/task_dump.h"

#ifdef __bpf__ /* there is nothing in it for a compiler of other programs */

#include <bpf/bpf_helpers.h>
/* behind the types and helpers that it needs */
#include <bpf/bpf_core_read.h>

char licence[] SEC("license") = "GPL";

enum {
	PF_KTHREAD = 0x00200000,
	NICE_0_PRIORITY = 120,
	CHILD_ENDS = 17 - 1, /* SIGCHLD, on x86, Arm, POWER, RISC-V and s390 */
	IGNORED = 1,         /* SIG_IGN */
	FILE_WORDS = 16,     /* 1,024 files: tables of more are not counted here */
	MM_FILEPAGES = 0,
	MM_ANONPAGES = 1,
	MM_SHMEMPAGES = 3,
};

/* struct upid, which has not changed since Linux 2.6.24. */
struct number {
	int nr;
	const struct pid_namespace *ns;
};

/* As the reader's pid namespace, at this level, numbers it; 0: it has none there. */
static __always_inline uint32_t number_of(const struct pid *pid, uint32_t level,
					  const struct pid_namespace *ns)
{
	const char *at = (const char *)pid;
	struct number n = { 0 };
	uint32_t own = 0;

	bpf_core_read(&own, sizeof own, &pid->level);
	if (own < level)
		return 0;
	at += __builtin_preserve_field_info(pid->numbers[0].nr, 0) + (uint64_t)level * sizeof n;
	bpf_probe_read_kernel(&n, sizeof n, at);
	return ns && n.ns != ns ? 0 : (uint32_t)n.nr;
}

static __always_inline const struct pid_namespace *namespace_of(const struct pid *pid,
								uint32_t level)
{
	const char *at = (const char *)pid;
	const struct pid_namespace *ns = 0;

	at += __builtin_preserve_field_info(pid->numbers[0].ns, 0) +
	      (uint64_t)level * sizeof(struct number);
	bpf_probe_read_kernel(&ns, sizeof ns, at);
	return ns;
}

static __always_inline void put_ids(const struct task_struct *t, struct task_thread *out,
				    uint32_t *ppid)
{
	const struct task_struct *self = (const struct task_struct *)bpf_get_current_task();
	const struct pid *pid = BPF_CORE_READ(self, thread_pid);
	uint32_t level = BPF_CORE_READ(pid, level);

	if (!level) {
		out->pid = (uint32_t)t->tgid;
		out->tid = (uint32_t)t->pid;
		*ppid = (uint32_t)t->real_parent->tgid;
		return;
	}
	out->tid = number_of(t->thread_pid, level, 0);
	out->pid = number_of(t->group_leader->thread_pid, level, 0);
	*ppid = number_of(t->real_parent->group_leader->thread_pid, level,
			  namespace_of(pid, level));
}

static __always_inline void put_io(uint64_t out[TASK_IO], const struct task_io_accounting *io)
{
	out[0] = io->rchar;
	out[1] = io->wchar;
	out[2] = io->syscr;
	out[3] = io->syscw;
	out[4] = io->read_bytes;
	out[5] = io->write_bytes;
	out[6] = io->cancelled_write_bytes;
}

static __always_inline uint32_t state_of(const struct task_struct *t)
{
	const struct task_struct___state *old = (const void *)t;

	if (bpf_core_field_exists(t->__state))
		return t->__state;
	return (uint32_t)old->state;
}

static __always_inline void put_thread(const struct task_struct *t, struct task_thread *out)
{
	out->state = state_of(t);
	out->exit_state = (uint32_t)t->exit_state;
	out->flags = t->flags;
	out->used.user_ns = t->utime;
	out->used.system_ns = t->stime;
	out->used.run_ns = t->se.sum_exec_runtime;
	out->used.minor_faults = t->min_flt;
	out->used.major_faults = t->maj_flt;
	if (bpf_core_field_exists(t->ioac.read_bytes))
		put_io(out->used.io, &t->ioac);
	out->voluntary = t->nvcsw;
	out->involuntary = t->nivcsw;
	out->migrations = t->se.nr_migrations;
	if (bpf_core_field_exists(t->sched_info.run_delay))
		out->waited_ns = t->sched_info.run_delay;
}

static __always_inline void put_signal(const struct signal_struct *s, struct task_process *out)
{
	out->threads = (uint32_t)s->nr_threads;
	out->ended.user_ns = s->utime;
	out->ended.system_ns = s->stime;
	out->ended.run_ns = s->sum_sched_runtime;
	out->ended.minor_faults = s->min_flt;
	out->ended.major_faults = s->maj_flt;
	if (bpf_core_field_exists(s->ioac.read_bytes)) {
		put_io(out->ended.io, &s->ioac);
		out->has |= TASK_HAS_IO;
	}
	out->children_user_ns = s->cutime;
	out->children_system_ns = s->cstime;
	out->children_minor_faults = s->cmin_flt;
	out->children_major_faults = s->cmaj_flt;
	if (bpf_core_field_exists(s->prev_cputime.utime)) {
		out->before_user_ns = s->prev_cputime.utime;
		out->before_system_ns = s->prev_cputime.stime;
		out->has |= TASK_HAS_BEFORE;
	}
}

/* The kernel shows no count below 0. */
static __always_inline int64_t at_least_0(int64_t v)
{
	return v > 0 ? v : 0;
}

static __always_inline void put_memory(const struct mm_struct *m, struct task_process *out)
{
	const struct mm_struct___counts *old = (const void *)m;

	out->has |= TASK_HAS_RESIDENT;
	if (!m)
		return;
	if (bpf_core_field_exists(m->rss_stat[0].count))
		out->resident_pages = at_least_0(m->rss_stat[MM_FILEPAGES].count) +
				      at_least_0(m->rss_stat[MM_ANONPAGES].count) +
				      at_least_0(m->rss_stat[MM_SHMEMPAGES].count);
	else if (bpf_core_field_exists(old->rss_stat.count[0].counter))
		out->resident_pages = at_least_0(old->rss_stat.count[MM_FILEPAGES].counter) +
				      at_least_0(old->rss_stat.count[MM_ANONPAGES].counter) +
				      at_least_0(old->rss_stat.count[MM_SHMEMPAGES].counter);
	else
		out->has ^= TASK_HAS_RESIDENT;
	out->virtual_pages = m->total_vm;
	out->high_water_pages = (int64_t)m->hiwater_rss;
	out->stack = m->start_stack;
}

static __always_inline int32_t files_of(const struct task_struct *t)
{
	const struct fdtable *table = t->files ? t->files->fdt : 0;
	uint32_t words = table ? table->max_fds / 64 : 0;
	const unsigned long *bits;
	int32_t n = 0;

	if (!words || words > FILE_WORDS)
		return TASK_FILES_UNKNOWN;
	bits = table->open_fds;
	for (uint32_t i = 0; i < FILE_WORDS; i++) {
		uint64_t word = 0;

		if (i >= words)
			break;
		bpf_probe_read_kernel(&word, sizeof word, bits + i);
		n += __builtin_popcountll(word);
	}
	return n;
}

static __always_inline void put_process(const struct task_struct *t, struct task_process *out)
{
	put_signal(t->signal, out);
	put_memory(t->mm, out);
	if (bpf_core_field_exists(t->sched_info.run_delay))
		out->has |= TASK_HAS_WAITED;
	out->nice = t->static_prio - NICE_0_PRIORITY;
	out->files = files_of(t);
	if (t->sighand)
		out->ignores_children =
			(uint64_t)t->sighand->action[CHILD_ENDS].sa.sa_handler == IGNORED;
	out->start_ns = t->start_boottime;
	bpf_probe_read_kernel_str(out->comm, sizeof out->comm, t->comm);
}

SEC("iter/task")
int tasks(struct bpf_iter__task *c)
{
	const struct task_struct *t = c->task;
	struct task_thread thread = { 0 };
	uint32_t ppid = 0;

	if (!t || t->flags & PF_KTHREAD)
		return 0;
	put_ids(t, &thread, &ppid);
	put_thread(t, &thread);
	thread.size = t->pid == t->tgid ? TASK_PROCESS_SIZE : TASK_THREAD_SIZE;
	bpf_seq_write(c->meta->seq, &thread, sizeof thread);
	if (t->pid == t->tgid) {
		struct task_process process = { .ppid = ppid };

		put_process(t, &process);
		bpf_seq_write(c->meta->seq, &process, sizeof process);
	}
	return 0;
}

#endif
