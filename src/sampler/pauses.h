/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pauses.h - what a job waits for while it does little, over all of its time: looked at now and
 * then, and added up by kind.
 *
 * A look takes the last processes that were started. The time since the look before counts for the
 * wait that says most when the job used less than a tenth of a core in it; for processes that are
 * stopped, or wait for a lock on a file or for storage, whatever the others do. Looks are so rare
 * that they take less than a thousandth of a core; those that search for the other ends of
 * connections, which takes longer, are rarer.
 */
#ifndef SONDE_SAMPLER_PAUSES_H
#define SONDE_SAMPLER_PAUSES_H

#include "sampler/tree/tree.h"
#include "source/program/waiting.h"

struct pauses {
	int64_t since_ns, looked_ns, next_ns; /* 0: none yet */
	int64_t cpu_ns;                       /* the job's at the last look */
	int64_t search_ns, cost_ns; /* when connections may be searched again; of a look without */
	const struct secret_list *secrets; /* of the site and the user; NULL: none */
	struct connections connections;
	struct pause {
		int64_t ns;
		char text[2 * WAITING_TEXT + 8]; /* of the first process that was seen in it */
		bool beside_sleeper;             /* and of the one that slept meanwhile */
		bool is_named;                   /* what it waits for */
	} kind[STALL_NUMBER_OF];
};

/* After the tree's sample. */
void pauses_step(struct pauses *p, const struct tree *t, const struct root *proc,
		 const struct sample *s);
/* At the end, as metadata. */
void pauses_say_end(const struct pauses *p, struct sample *s);

#endif
