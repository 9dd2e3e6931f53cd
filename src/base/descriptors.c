/* SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptors.h"

#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

/* close_range(2), Linux 5.9; before it, one by one as far as descriptors are usually given out. */
static void close_from_to(unsigned first, unsigned last)
{
	enum { USUAL = 1024 };

	if (first > last)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, last, 0))
		return;
#endif
	for (unsigned fd = first; fd <= last && fd < USUAL; fd++)
		close((int)fd);
}

void descriptors_close(int first, int keep)
{
	if (keep > first)
		close_from_to((unsigned)first, (unsigned)keep - 1);
	close_from_to(keep >= first ? (unsigned)keep + 1 : (unsigned)first, UINT_MAX);
}
