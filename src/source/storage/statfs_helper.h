/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statfs_helper.h - asks how full a file system is, in a process of its own.
 *
 * statfs on a dead network mount hangs, sometimes beyond SIGKILL. So a small child asks, and
 * answers in shared memory; it sleeps in between and dies with its parent. Nobody ever waits for it
 * long: who does not answer is left behind. It holds no descriptor of the parent's.
 */
#ifndef SONDE_SOURCE_STORAGE_STATFS_HELPER_H
#define SONDE_SOURCE_STORAGE_STATFS_HELPER_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Written by the child; steady while `answered` equals what was asked. */
struct statfs_answer {
	_Atomic uint32_t answered;
	int32_t error; /* 0 or -errno */
	uint32_t read_only;
	uint64_t device;     /* st_dev */
	uint64_t mount_id;   /* of mountinfo; 0 = this kernel does not report it */
	char path[PATH_MAX]; /* the parent's word */
	uint64_t block_bytes, blocks, free, available, inodes, inodes_free;
};

struct statfs_helper {
	pid_t pid;
	int socket;
	bool here; /* there is no child */
	uint32_t asked;
	struct statfs_answer *answer;
};

/* Start a child for path, which may be told later by statfs_helper_path: "" here. 0 or -errno. Not
 * to be called by a thread that ends before the helper is stopped: the child would be taken for an
 * orphan and end, too. */
int statfs_helper_start(struct statfs_helper *h, const char *path);
/* The same without a child, for a file system that no server keeps waiting: each question is
 * answered at once. */
int statfs_helper_here(struct statfs_helper *h, const char *path);
/* Before the first question. */
void statfs_helper_path(struct statfs_helper *h, const char *path);
/* Ask once more; only when the last question was answered. 0, or -errno when it died. */
int statfs_helper_ask(struct statfs_helper *h);
bool statfs_helper_answered(const struct statfs_helper *h);
void statfs_helper_stop(struct statfs_helper *h);

#endif
