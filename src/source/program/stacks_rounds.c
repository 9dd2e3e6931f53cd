/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/stacks_rounds.h"

#include "base/clock.h"
#include "source/cpulist.h"
#include "source/program/stacks_events.h"
#include "source/program/stacks_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BYTES_MOST = 8 << 20 };

static size_t asked_for(void)
{
	const char *text = getenv("SONDE_STACKS_THREADS");
	long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n <= STACKS_SLOTS_MAX ? (size_t)n : 0;
}

static size_t cpus(void)
{
	return cpulist_possible(NULL, 0);
}

bool stacks_rounds_needed(void)
{
	return asked_for() || cpus() > STACKS_CPUS_MAX;
}

/* Of what a user may lock on this machine, and of RLIMIT_MEMLOCK of a process beside it, half is
 * left to others. */
static uint32_t bytes_of(int64_t lock_kb)
{
	int64_t kb = lock_kb < BYTES_MOST / 1024 ? lock_kb : BYTES_MOST / 1024, room;
	struct rlimit lock = { 0, 0 };

	getrlimit(RLIMIT_MEMLOCK, &lock);
	if (lock.rlim_cur > 2 * BYTES_MOST)
		lock.rlim_cur = 2 * BYTES_MOST;
	room = kb * 1024 * sysconf(_SC_NPROCESSORS_ONLN) / 2 + (int64_t)lock.rlim_cur / 2;
	return room < BYTES_MOST ? (uint32_t)room : BYTES_MOST;
}

/* A quarter of the files that a process may open: the rest is for others. */
static uint32_t threads_of(uint32_t bytes)
{
	size_t n = asked_for(),
	       room = bytes / (stacks_ring_least() + (size_t)sysconf(_SC_PAGESIZE));
	struct rlimit files;

	if (!n)
		n = STACKS_SLOTS_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &files) && n > files.rlim_cur / 4)
		n = files.rlim_cur / 4;
	return (uint32_t)(n < room ? n : room);
}

int stacks_rounds_plan(struct stacks_turns *t, int64_t hz, int64_t lock_kb, struct err *e)
{
	int64_t all = (hz ? hz : STACKS_HZ_MOST) * (int64_t)cpus();
	int fd;

	*t = (struct stacks_turns){ .bytes = bytes_of(lock_kb) };
	if (!STACKS_REGISTERS)
		return err_set(e, -EOPNOTSUPP, "stacks are not sampled on this processor");
	t->threads = threads_of(t->bytes);
	t->hz = (uint32_t)(hz ? hz : STACKS_HZ_MOST);
	t->hz_of_node = (uint32_t)(!hz && all > STACKS_HZ_OF_NODE ? STACKS_HZ_OF_NODE : all);
	if (!t->threads)
		return err_set(e, -ENOMEM,
			       "there is no room for rings of perf events: raise RLIMIT_MEMLOCK or "
			       "kernel.perf_event_mlock_kb, or RLIMIT_NOFILE");
	fd = stacks_event_open(0, NS_PER_S, stacks_ring_least());
	if (fd >= 0)
		close(fd);
	return fd < 0 ? err_set(e, fd, "perf events are not available: %s", strerror(-fd)) : 0;
}
