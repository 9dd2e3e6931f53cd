/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot.h - the event that samples one thread for a while, and its ring.
 *
 * The event is on the thread wherever it runs, and nothing inherits it: so it has a ring of its own
 * (perf_event_open(2): events share one only on the same CPU, or of the same task).
 */
#ifndef SONDE_UNWIND_SLOT_H
#define SONDE_UNWIND_SLOT_H

#include "unwind/records.h"

#include <sys/types.h>

struct slot_event {
	int fd;        /* 0: none */
	size_t locked; /* bytes */
	struct record_ring ring;
};

/* size: of the ring, a power of two, not less than stacks_ring_least(). 0; -ESRCH: it has ended;
 * -EACCES: it must not be sampled; or another -errno, as where there is no room for the ring. */
int slot_event_open(struct slot_event *e, pid_t tid, int64_t period_ns, size_t size);
void slot_event_close(struct slot_event *e);
/* CPU time that its thread has used since it was opened, also of one that has ended. */
int64_t slot_event_count_ns(const struct slot_event *e);
/* From now on. */
void slot_event_period(const struct slot_event *e, int64_t period_ns);

#endif
