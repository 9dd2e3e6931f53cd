/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lastlines.h - what a command that failed printed last, as metadata: its last lines in valid UTF-8
 * without control characters and secrets.
 *
 * job.error_text of a node, or the label error_text of a task's instance; error_text_from where
 * that is not standard error, and error_text_absent where there is none.
 */
#ifndef SONDE_JOB_LASTLINES_H
#define SONDE_JOB_LASTLINES_H

#include "core/sample.h"
#include "job/message.h"
#include "job/secret/secret_list.h"

enum { ERROR_TEXT_LINES = 20, ERROR_TEXT_BYTES = 4096 };

/* instance 0: of the node. */
void error_text_say(struct sample *s, uint32_t instance, const struct secret_list *l,
		    const struct printed *p);

#endif
