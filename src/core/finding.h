/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.h - one line of `sonde doctor`: is something available, and if not, why and what helps.
 *
 * Texts are borrowed from tables, but reason and note, which are the finding's own.
 */
#ifndef SONDE_CORE_FINDING_H
#define SONDE_CORE_FINDING_H

#include "core/metric.h"

struct finding {
	const char *name; /* of a source, a metric or a mechanism */
	const char *what; /* in a few words */
	enum state state; /* PRESENT: available */
	char reason[256]; /* why not; "" when available */
	char note[256];   /* what to know of it when it is available; "" = nothing */
	const char *fix_user, *fix_admin; /* NULL: nothing to do */
};

#endif
