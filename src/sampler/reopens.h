/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reopens.h - a file that a process opens and closes around each of its reads or writes, as a
 * script does that appends its lines one by one.
 *
 * A look at who makes many reads and writes lists its open files a few times in a row, within some
 * hundred microseconds: who opens a file once, or now and then, is hardly seen to open or close it
 * then. Nothing of the file itself is asked. Looks are so rare that they take less than a
 * thousandth of a core; there is none while the job makes few calls.
 */
#ifndef SONDE_SAMPLER_REOPENS_H
#define SONDE_SAMPLER_REOPENS_H

#include "base/root.h"
#include "core/sample.h"
#include "sampler/tree/tree.h"
#include "source/source.h"

#include <stdint.h>
#include <sys/types.h>

enum { REOPENS_FILES = 8, REOPENS_PATH = 160 };

struct reopened {
	pid_t pid;       /* 0: none */
	uint32_t closed; /* looks that saw it open and not open, */
	uint32_t seen;   /* of those that saw it open */
	char path[REOPENS_PATH];
};

struct reopens {
	int64_t began_ns, next_ns, looked_ns;
	int64_t calls; /* of the job, at the last look */
	struct reopened file[REOPENS_FILES];
};

/* After the tree's sample. */
void reopens_step(struct reopens *r, const struct tree *t, const struct root *proc,
		  const struct sample *s);
/* At the end, as metadata. */
void reopens_say_end(const struct reopens *r, const struct source_env *env, struct sample *s);

#endif
