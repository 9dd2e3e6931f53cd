/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_helper.h - the helper process sonde-unwind, as the recorder sees it. It may hang or crash;
 * another one takes its place.
 */
#ifndef SONDE_SOURCE_PROGRAM_STACKS_HELPER_H
#define SONDE_SOURCE_PROGRAM_STACKS_HELPER_H

#include "base/err.h"
#include "source/program/stacks_events.h"
#include "source/program/stacks_page.h"
#include "source/source.h"

#include <stdbool.h>

struct stacks_helper {
	pid_t pid;
	int socket;
	uint32_t asked;
	struct stacks_page *page; /* NULL: not started */
};

/* Ids that the first new module, frame and node may have. */
struct stacks_ids {
	uint32_t module, frame, node;
};

/* What the helpers before it have left: ids that are taken, files that they died of. */
struct stacks_before {
	const struct stacks_ids *first;
	const struct stacks_file *refused;
	uint32_t nrefused;
	/* How it watches waits, with what to leave alone; NULL: it takes samples. */
	const struct stacks_watch *watch;
	const struct stacks_turns *turns; /* NULL, or of no threads: the rings' samples are all */
};

/* 0, or -errno with a sentence. */
int stacks_helper_start(struct stacks_helper *h, const struct stacks_rings *r,
			const struct stacks_before *b, struct err *e);
enum stacks_stage stacks_helper_stage(const struct stacks_helper *h);
void stacks_helper_ask(struct stacks_helper *h, bool last);
bool stacks_helper_answered(const struct stacks_helper *h);
/* Has it ended by itself? It is reaped then. */
bool stacks_helper_died(struct stacks_helper *h);
bool stacks_helper_stop(struct stacks_helper *h); /* false: it was left behind */

/*
 * The messages of the helper sonde-unwind as events of the recording. They are
 * hostile: it reads what is hostile. What does not fit into a sample stays for the next.
 */

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
