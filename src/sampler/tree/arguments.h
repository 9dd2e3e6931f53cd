/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - what a process was started with, as one line for its instance, and what people call
 * it: of an interpreter, the script.
 *
 * The line is what /proc/PID/cmdline begins with, quoted for a shell, secrets masked (job/words.h)
 * and cut. The text is hostile. Nothing is allocated after arguments_open.
 */
#ifndef SONDE_SAMPLER_TREE_ARGUMENTS_H
#define SONDE_SAMPLER_TREE_ARGUMENTS_H

#include "base/bytes.h"
#include "base/root.h"
#include "job/secret/secret_list.h"
#include "sampler/tree/table.h"

enum { ARGUMENTS_READ = 2048, ARGUMENTS_LINE = 256 };

struct arguments {
	char line[ARGUMENTS_LINE + 4];
	/* private */
	const struct secret_list *secrets;
	struct bytes words, scratch;
};

/* 0 or -ENOMEM. secrets: the site's own, borrowed, or NULL. */
int arguments_open(struct arguments *a, const struct secret_list *secrets);
void arguments_close(struct arguments *a);

/* Three system calls: a->line, and p->script. False when nothing can be read, as of a process that
 * has ended, or is not to be (arguments_open was not called). */
bool arguments_read(struct arguments *a, const struct root *proc, struct process *p);

/* The same of n bytes as the file gives them, which are changed; whole: there are no more. */
bool arguments_take(struct arguments *a, char *raw, size_t n, bool whole, struct process *p);

#endif
