/* SPDX-License-Identifier: Apache-2.0 */
/*
 * platform.h - what machine this is: hardware, kernel, distribution, hypervisor, container, as
 * metadata host.* of the recording.
 *
 * Said once, from files below the roots; every one of them is hostile, and what is not there or
 * cannot be understood is not said (docs/metadata.md has the keys). Nothing is kept open and no
 * program is asked. It does not say what changes while a job runs: that is a source's.
 */
#ifndef SONDE_SOURCE_PLATFORM_PLATFORM_H
#define SONDE_SOURCE_PLATFORM_PLATFORM_H

#include "base/root.h"
#include "core/sample.h"

struct platform {
	const struct root *proc, *sys;
	const struct root *files; /* /: of this machine's distribution; closed: not known */
	char *const *environment; /* of the job; NULL: not known */
	struct sample *sample;    /* where it is said */
};

void platform_say(const struct platform *p);

#endif
