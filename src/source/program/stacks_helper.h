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

/* The fix_admin of sources that have it. */
#define STACKS_FIX_HELPER                                                                          \
	"install libexec/sonde/sonde-unwind, which needs elfutils' libdw to be built"

/* Ids that the first new module, frame and node may have. */
struct stacks_ids {
	uint32_t module, frame, node;
};

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

/* What a source has its helper for. */
struct stacks_use {
	struct {
		const char *note, *restarts, *files_left_out, *left_out, *refused;
	} key;               /* of its metadata */
	const char *verb;    /* "sampled", until it was given up */
	const char *missing; /* "samples", if the last question is not answered */
	uint32_t crashes_max;
	uint32_t nfigures; /* its counters; the helper's resident memory follows them */
	uint32_t lost;     /* which of them is of records that were lost */
	/* Those of one helper. */
	void (*figures)(const struct stacks_page *p, int64_t *own);
};
enum { STACKS_FIGURES_MAX = 16 };

/* One after another. The first members say what each of them is to do. */
struct stacks_helper {
	const struct stacks_use *use;
	struct stacks_rings
		*rings; /* whose samples it takes; closed when it is given up; or NULL */
	const struct stacks_watch *watch; /* how it watches waits, with what to leave alone */
	const struct stacks_turns *turns; /* NULL, or of no threads: the rings' samples are all */
	struct stacks_taken taken;        /* its messages so far */
	/* The one that runs. */
	pid_t pid;
	int socket;
	bool not_started; /* it has ended, as its program or a library was not there */
	uint32_t asked;
	struct stacks_page *page; /* NULL: not started */
	/* What those before it have left. */
	uint32_t restarts, blameless; /* blameless: for which no file was blamed */
	struct stacks_file refused[STACKS_REFUSED_MAX];
	uint32_t nrefused;
	int32_t left_out[STACKS_LEFT_OUT_MAX]; /* processes whose own samples are not the job's */
	uint32_t nleft_out;
	int64_t before[STACKS_FIGURES_MAX];
};

/* 0, or -errno with a sentence. */
int stacks_helper_start(struct stacks_helper *h, struct err *e);
/* Likewise, and waits for its first answer: nothing is recorded, this only tries. */
int stacks_helper_try(struct stacks_helper *h, struct err *e);
void stacks_helper_ask(struct stacks_helper *h, bool last);
bool stacks_helper_answered(const struct stacks_helper *h);
/* Has it ended by itself? It is reaped then. */
bool stacks_helper_died(struct stacks_helper *h);
bool stacks_helper_stop(struct stacks_helper *h); /* false: it was left behind */

/*
 * stacks_life.c: what every source does with its helper, whatever that is for. `job`: whose
 * processes its messages are of.
 */

/* At each sample: takes what there is, at the last one all, and puts another helper in the place of
 * one that is dead or is taken to be so. False: it was given up, as stacks_helper_give_up does. */
bool stacks_helper_serve(struct stacks_helper *h, bool dead, const struct source_job *job,
			 struct sample *s);
/* Ends it for good, with the reason in the recording. */
void stacks_helper_give_up(struct stacks_helper *h, struct sample *s, const char *why);
/* The samples of this process itself are not the job's; for those to come, too. */
void stacks_helper_leave_out(struct stacks_helper *h, pid_t pid);
/* The figures of all helpers together, from this series on (0: it has none), and the memory of
 * this one; without those whose bit is set in `without`. */
void stacks_helper_put(const struct stacks_helper *h, uint32_t slot, uint32_t without,
		       struct sample *s);

/* The messages of one. */
void stacks_take(struct stacks_taken *t, struct stacks_page *p, const struct source_job *job,
		 struct sample *s);
/* All there is, for which the job's end waits a moment. False: the helper did not answer. */
bool stacks_take_last(struct stacks_taken *t, struct stacks_helper *h, const struct source_job *job,
		      struct sample *s);

/*
 * The job's tasks that events are opened on, which all they start inherits; and why that is
 * refused.
 */

struct stacks_new {
	const pid_t *pids;
	size_t n;
	bool running; /* none of them is a launcher, whatever the environment says */
};

/* Every thread of these processes and of what they have started, or a launcher. 0, or -errno with a
 * sentence where none could be added; those that were refused are added to *missed. */
int stacks_tasks_add(struct stacks_rings *r, const struct source_env *env, struct stacks_new these,
		     int64_t *missed, struct err *e);
/* A refusal of perf events in words, with what helps against it; other errors stay as they are. */
int stacks_explain(const struct source_env *env, int bad, struct err *e);

#endif
