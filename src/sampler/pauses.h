/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pauses.h - what a job waits for while it does little, over all of its time: looked at now and
 * then, and added up by kind.
 *
 * A look takes the last processes that were started. The time since the look before counts for the
 * wait that says most when the job used less than a tenth of a core in it; for processes that are
 * stopped, or wait for a lock on a file or for storage, whatever the others do. Looks are so rare
 * that they take less than half a thousandth of a core; those that search for the other ends of
 * connections and for holders of locks, which takes longer, are rarer, and the rarer the more of
 * them in a row found nothing. Only processes that have run since the last look are
 * looked at.
 */
#ifndef SONDE_SAMPLER_PAUSES_H
#define SONDE_SAMPLER_PAUSES_H

#include "sampler/tree/tree.h"
#include "source/program/waiting.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PAUSES_PROCESSES = 16 };

struct pauses {
	int64_t since_ns, looked_ns, next_ns; /* 0: none yet */
	int64_t cpu_ns;                       /* the job's at the last look */
	int64_t search_ns, cost_ns; /* when connections may be searched again; of a look without */
	uint32_t vain;              /* searches in a row that found nothing */
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
	int64_t failed, failed_ns, /* of TCP: the kernel's count; when it was read, */
		connects_failed;   /* and its growth while looks found it asleep */
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

#endif
