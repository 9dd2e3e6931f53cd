/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - which file a thread is reading: what this process died of, if it dies.
 *
 * The recorder learns it in the page, and the next helper leaves that file alone. It also dies of a
 * file that it reads for too long: 10 s of CPU time, or a minute without using it
 * (SONDE_UNWIND_PATIENCE: other than 10). The only state of the process itself that is not handed
 * in, since a signal's handler is handed nothing.
 */
#ifndef SONDE_UNWIND_WORK_H
#define SONDE_UNWIND_WORK_H

#include "source/program/stacks_page.h"
#include "unwind/module.h"

/* From now on a crash is told there, and a file that is read for too long. */
void work_watch(struct stacks_page *page);
/* For each thread that reads, one after the other; one without stack left can tell, too. */
void work_thread(void);
/* A thread with a stack of its own size: the job's limit, which is the helper's, may be small. */
bool work_start(size_t stack, void *(*work)(void *), void *of);
/* What this thread reads from now on; NULL: none. */
void work_on(const struct module *m);

#endif
