/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_take.h - the messages of the helper sonde-unwind as events of the recording. They are
 * hostile: it reads what is hostile. What does not fit into a sample stays for the next.
 */
#ifndef SONDE_SOURCE_PROGRAM_STACKS_TAKE_H
#define SONDE_SOURCE_PROGRAM_STACKS_TAKE_H

#include "source/program/stacks_helper.h"
#include "source/source.h"

struct stacks_taken {
	struct stacks_ids next;  /* above all that were taken */
	uint64_t bad;            /* messages that made no sense */
	bool no_paths;           /* of files the names alone */
	struct source_mask mask; /* of what was waited for */
	uint32_t objects;        /* the module of such frames; 0: none yet */
	/* scratch */
	char text[2][STACKS_TEXT_MAX + 1], masked[STACKS_TEXT_MAX + 1];
	struct event_item item[EVENT_ITEMS_MAX];
};

void stacks_take(struct stacks_taken *t, struct stacks_page *p, const struct source_job *job,
		 struct sample *s);
/* All there is, for which the job's end waits a moment. False: the helper did not answer. */
bool stacks_take_last(struct stacks_taken *t, struct stacks_helper *h, const struct source_job *job,
		      struct sample *s);

#endif
