/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - where this process leaves its spans, for the recording of its own. Private to src/lib.
 */
#ifndef SONDE_LIB_SPAN_H
#define SONDE_LIB_SPAN_H

#include <sonde_span.h>

/* A descriptor of its own of the process's file of rings (core/ring.h), made without a folder
 * where there is none yet; -EBUSY when a recorder of a job takes what is in it; other -errno. */
int span_rings(void);
/* Whether anybody is there to take what is made from now on. */
void span_want(bool wanted);

#endif
