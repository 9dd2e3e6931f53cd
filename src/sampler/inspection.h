/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspection.h - looks at the job's threads by processes of their own, so that the recorder does
 * not wait: for watches over it, for who asks on another node, and now and then for its pauses.
 */
#ifndef SONDE_SAMPLER_INSPECTION_H
#define SONDE_SAMPLER_INSPECTION_H

#include "base/bytes.h"
#include "base/root.h"
#include "job/secret/secret_list.h"
#include "sampler/tree/tree.h"
#include "source/program/waiting.h"
#include "waits/wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * A look at the job's threads by a process of its own, which asks the helper
 * sonde-unwind and makes texts of what it says, so that the recorder neither waits nor allocates.
 *
 * It is left behind when it takes too long. {0} has none under way and no answer.
 */

/* At most so long, of a hang: in a line, all threads, and the roll call of ranks. */
enum { HANG_WHERE = 1000, HANG_STACKS = 6000, HANG_RANKS = 12000 };
enum { INSPECTION_BYTES = HANG_WHERE + HANG_STACKS + HANG_RANKS, INSPECTION_TEXT = 512 };

struct inspection {
	pid_t pid; /* 0: none is under way */
	int from;
	int64_t begun_ns;
	uint32_t looks; /* so far, */
	int64_t cpu_ns; /* and what they used */
	size_t of;      /* processes, some of which may be looked at; whoever begins one says it */
	const struct secret_list *secrets; /* of the site and the user; NULL: none */
	size_t coming_len, len;
	/* Texts that end in NUL. What comes takes the place of the last when it is whole. */
	char coming[INSPECTION_BYTES], text[INSPECTION_BYTES];
};

/* What that process does: it sends its texts, and knows those of the last one. */
typedef void inspection_look(const pid_t *pids, size_t n, const struct inspection *last);

/* Of at most INSPECTION_TEXT bytes, without secrets; what no longer fits with them masked is masked
 * whole. */
void inspection_mask_text(const struct secret_list *secrets, char *text, size_t size);
/* What the threads wait for, likewise: a path may hold one. */
void inspection_mask(const struct inspection *l, struct waits *w);
/* The next text, less than `most` bytes, cut behind the last `at`; frees it. */
void inspection_send(struct bytes *b, size_t most, char at);

/* Begin one, if none is under way. False: it cannot be. */
bool inspection_begin(struct inspection *l, inspection_look *look, const pid_t *pids, size_t n,
		      int64_t now_ns);
void inspection_stop(struct inspection *l);
/* True when there is a new answer, whose first text is not empty. */
bool inspection_take(struct inspection *l, int64_t now_ns);
/* Of the last answer; "": there is none. */
const char *inspection_text(const struct inspection *l, int which);

/*
 * Which ranks of a parallel job the threads of a look are of, as the environments of
 * their processes tell. Reading one may block: as looks, for helpers and for who can wait.
 */

/* Sets rank of each thread, and how many there are. */
void ranks_find(struct waits *w, const struct root *proc);

/*
 * What a job waits for while it does little, over all of its time: looked at now and
 * then, and added up by kind.
 *
 * A look takes the last processes that were started. The time since the look before counts for the
 * wait that says most when the job used less than a tenth of a core in it; for processes that are
 * stopped, or wait for a lock on a file or for storage, whatever the others do. Looks are so rare
 * that they take less than a thousandth of a core; those that search for the other ends of
 * connections, which takes longer, are rarer. Only processes that have run since the last look are
 * looked at.
 */

enum { PAUSES_PROCESSES = 16 };

struct pauses {
	int64_t since_ns, looked_ns, next_ns; /* 0: none yet */
	int64_t cpu_ns;                       /* the job's at the last look */
	int64_t search_ns, cost_ns; /* when connections may be searched again; of a look without */
	const struct secret_list *secrets; /* of the site and the user; NULL: none */
	struct waiting_known known;
	/* What was seen at the last look: who has not run since waits for the same. */
	struct looked {
		pid_t pid;
		int64_t ran_ns;
		bool searched; /* connections and locks might be searched */
		struct waiting is;
	} looked[PAUSES_PROCESSES];
	size_t nlooked;
	int64_t failed,
		connects_failed; /* of TCP: the kernel's count; since looks found it asleep */
	bool failed_known;
	uint32_t looks; /* so far, */
	struct pause {
		int64_t ns, most; /* most: processes in one look */
		uint32_t looks;   /* and in which all processes that were looked at waited so */
		char text[2 * WAITING_TEXT + 8]; /* of the first process that was seen in it */
		bool beside_sleeper;             /* and of the one that slept meanwhile */
		bool is_named;                   /* what it waits for */
	} kind[STALL_NUMBER_OF], turns; /* turns: of processes of which one thread ran while others
					 * waited for one mutex */
};

/* After the tree's sample. */
void pauses_step(struct pauses *p, const struct tree *t, const struct root *proc,
		 const struct sample *s);
/* At the end, as metadata. */
void pauses_say_end(const struct pauses *p, struct sample *s);

/*
 * What a job does now on this node, for `sonde stacks` on another one.
 *
 * Who asks makes a file ASKED_FILE in the recording's directory, with a word in it; each recorder
 * looks for it every five seconds, and answers by a file ASKED_ANSWER* of its own: schema
 * sonde/stacks/1, with that word as "asked". Files of other users do not count. A process of its
 * own looks and writes, so that the recorder does not wait.
 */

#define ASKED_FILE   "stacks-asked"
#define ASKED_ANSWER "stacks-answer."

enum { ASKED_WORD = 64, ASKED_S = 5 };

struct asked {
	int64_t due_ns; /* 0: it was not looked for yet */
	struct timespec seen;
	pid_t pid; /* that answers; 0: none does */
	int64_t begun_ns;
};

/* folder: of the recording. */
void asked_step(struct asked *a, int folder, const struct tree *t, int64_t now_ns);
void asked_stop(struct asked *a);

#endif
