/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/suspend.h"

#include "base/clock.h"

#include <stdio.h>

static const int64_t least_ns = NS_PER_S / 10; /* a shorter one is no gap between samples */

void suspend_step(struct suspend *x, struct sample *s)
{
	/* Whoever reads two clocks may have to wait in between: these are both bounds. */
	int64_t before = clock_mono_ns(), boot = clock_boot_ns(), after = clock_mono_ns();
	int64_t least = boot - after, most = boot - before, stood = least - x->ahead_ns;
	char text[80];

	if (!boot)
		return;
	if (!x->seen || most < x->ahead_ns)
		x->ahead_ns = most;
	if (x->seen && stood >= least_ns) {
		x->ahead_ns = most;
		x->total_ns += stood;
		snprintf(text, sizeof text, "the machine was suspended for %.1f s",
			 (double)stood / NS_PER_S);
		sample_mark(s, 0, s->mono_ns, "sonde.suspended", text);
		sample_meta_int(s, "monitor.suspended_seconds",
				(x->total_ns + NS_PER_S - 1) / NS_PER_S);
	}
	x->seen = true;
}
