/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex.h - what kind of lock a thread waits for in futex(2), and who holds it.
 *
 * The functions that it is in tell the kind; the lock's own words tell the holder, as glibc lays
 * them out (2.25 and later). A holder counts only if there is such a thread.
 */
#ifndef SONDE_WAITS_FUTEX_H
#define SONDE_WAITS_FUTEX_H

#include "base/root.h"
#include "waits/wait.h"

struct futex_call {
	uint64_t address;
	int op;
	uint32_t value;
	bool timed;
};

/* What the thread has of frames is used; kind, object, holders and closed are set. */
void futex_name(struct wait_thread *t, const struct futex_call *f, const struct root *proc);

/* What a function of a library waits for; WAIT_UNKNOWN: it says nothing. */
enum wait_kind futex_kind_of(const char *function);

#endif
