/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/slot.h"

#include "source/program/stacks_events.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int slot_event_open(struct slot_event *e, pid_t tid, int64_t period_ns, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = stacks_event_open(tid, period_ns, size);
	void *map;

	*e = (struct slot_event){ 0 };
	if (fd < 0)
		return fd == -EPERM ? -EACCES : fd;
	map = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int bad = -errno;

		close(fd);
		return bad;
	}
	*e = (struct slot_event){ fd, size + page, { map, (const uint8_t *)map + page, size } };
	return 0;
}

void slot_event_close(struct slot_event *e)
{
	if (e->ring.page)
		munmap(e->ring.page, e->ring.size + (size_t)sysconf(_SC_PAGESIZE));
	if (e->fd > 0)
		close(e->fd);
	*e = (struct slot_event){ 0 };
}

int64_t slot_event_count_ns(const struct slot_event *e)
{
	uint64_t count = 0;

	return read(e->fd, &count, sizeof count) == (ssize_t)sizeof count ? (int64_t)count : 0;
}

void slot_event_period(const struct slot_event *e, int64_t period_ns)
{
	uint64_t period = (uint64_t)period_ns;

	(void)ioctl(e->fd, PERF_EVENT_IOC_PERIOD, &period); /* else it stays as it is */
}
