/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rereads.h - a file that a process reads from begin to end again and again.
 *
 * Looks at who has read much find its open files, where in them it is, and how much it has read so
 * far. What it read from one look to the next came from a file, pass after pass, if it is now just
 * as far in the file as that says; a file whose size changes, reads from anywhere in it, and what
 * comes from elsewhere give other places. Only files of local file systems are asked for their
 * size, by their descriptor. Looks are so rare that they take less than a thousandth of a core;
 * there is none while the job reads hardly anything.
 */
#ifndef SONDE_SAMPLER_REREADS_H
#define SONDE_SAMPLER_REREADS_H

#include "base/root.h"
#include "core/sample.h"
#include "sampler/tree/tree.h"
#include "source/source.h"

#include <stdint.h>
#include <sys/types.h>

enum { REREADS_FILES = 16, REREADS_PATH = 160, REREADS_MOUNTS = 32 * 1024 };

struct reread {
	pid_t pid; /* 0: none */
	int fd;    /* another one of the same file is at another place */
	uint64_t mount, inode;
	int64_t size, at, read; /* at: in the file; read: by the process, at the same look */
	int64_t bytes;          /* that came from it, pass after pass */
	int64_t before;         /* read by the process when it was seen first */
	uint32_t back;          /* of the moves: to a place before the last */
	uint32_t moved, agreed; /* looks at another place; of them where what was read tells */
	uint32_t within, looks; /* looks in the middle of it, of those at its process */
	char path[REREADS_PATH];
};

struct rereads {
	int64_t began_ns, next_ns;
	int64_t read; /* by the job, at the last look */
	struct reread file[REREADS_FILES];
	char mounts[REREADS_MOUNTS]; /* the text of mountinfo of the last look */
};

/* After the tree's sample. */
void rereads_step(struct rereads *r, const struct tree *t, const struct root *proc,
		  const struct sample *s);
/* At the end, as metadata; also a file in which a process went back again and again, and read many
 * times what all of its files that moved have. */
void rereads_say_end(const struct rereads *r, const struct source_env *env, struct sample *s);

/*
 * For both watches of files, this one and reopens.h. A watch that began then looked from
 * began_cpu_ns on: when it may look again, within a thousandth of a core, and about 64 times until
 * each time doubles.
 */
enum { REREADS_SOONEST_NS = 200 * 1000 * 1000 };
int64_t rereads_next_ns(int64_t began_ns, int64_t now_ns, int64_t began_cpu_ns);
/* A path as metadata: its name alone where paths are not wished, and without secrets. */
void rereads_say_path(const struct source_env *env, const char *key, const char *path,
		      struct sample *s);

/* Two looks at a file: is the second place where so many bytes lead to, pass after pass? */
bool reread_agrees(int64_t size, int64_t from, int64_t bytes, int64_t to);

#endif
