/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * kernel.h - of the kernel's structures, the fields that tasks.c reads; where they lie in the
 * kernel that runs is found from its BTF when the program is loaded. ___NAME: as they were before.
 */
#ifndef SONDE_ITERATOR_BPF_KERNEL_H
#define SONDE_ITERATOR_BPF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* What bpf/bpf_helpers.h takes from linux/types.h, which clang does not find for this target. */
typedef uint8_t __u8;
typedef uint16_t __u16, __be16;
typedef uint32_t __u32, __be32, __wsum;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;

#ifdef __bpf__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct seq_file;
struct pid_namespace;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct task_io_accounting {
	__u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

struct sched_entity {
	__u64 sum_exec_runtime, nr_migrations;
};

struct sched_info {
	__u64 run_delay;
};

struct prev_cputime {
	__u64 utime, stime;
};

struct signal_struct {
	int nr_threads;
	__u64 utime, stime, cutime, cstime, sum_sched_runtime;
	struct prev_cputime prev_cputime;
	unsigned long min_flt, maj_flt, cmin_flt, cmaj_flt;
	struct task_io_accounting ioac;
};

/* Linux 6.2 */
struct percpu_counter {
	__s64 count;
};

struct mm_struct {
	struct percpu_counter rss_stat[4];
	unsigned long total_vm, hiwater_rss, start_stack;
};

/* Until Linux 6.1. */
struct counter___atomic {
	__s64 counter;
};

struct mm_rss_stat {
	struct counter___atomic count[4];
};

struct mm_struct___counts {
	struct mm_rss_stat rss_stat;
};

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct fdtable {
	unsigned int max_fds;
	unsigned long *open_fds;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct {
	unsigned int __state, flags;
	int exit_state, static_prio;
	int pid, tgid;
	__u64 utime, stime, start_boottime;
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_io_accounting ioac;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct files_struct *files;
	char comm[16];
};

/* Until Linux 5.13. */
struct task_struct___state {
	long state;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#ifdef __bpf__
#pragma clang attribute pop
#endif

#endif
