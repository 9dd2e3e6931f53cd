/* SPDX-License-Identifier: Apache-2.0 */
#include "console/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { EVERY_NS = 200 * 1000 * 1000 };

void progress_begin(struct progress *p)
{
	*p = (struct progress){ .next_ns = INT64_MAX };
	if (isatty(STDERR_FILENO))
		p->next_ns = clock_mono_ns() + NS_PER_S;
}

/* The cursor goes back to the line's begin, so that whatever else is said takes its place. */
void progress_show(void *ctx, uint32_t at, uint32_t of)
{
	struct progress *p = ctx;
	int64_t now;

	if (p->next_ns == INT64_MAX)
		return;
	if (at >= of) {
		if (p->shown)
			fputs("\033[K", stderr);
		p->shown = false;
		return;
	}
	now = clock_mono_ns();
	if (now < p->next_ns)
		return;
	fprintf(stderr, "\033[Ksonde: reading %u of %u\r", at + 1, of);
	p->shown = true;
	p->next_ns = now + EVERY_NS;
}
