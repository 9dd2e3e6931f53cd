/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_json.h - marks and spans of a run for scripts, as `sonde show --json` gives them.
 *
 * All of them, as they are in the recording; times are seconds since the run began.
 */
#ifndef SONDE_REPORT_TEXT_EVENTS_JSON_H
#define SONDE_REPORT_TEXT_EVENTS_JSON_H

#include "base/text/json.h"
#include "core/frame/run.h"

/* Keys "marks" and "spans" of the object that is open. */
void events_json(struct json *j, const struct run *r);

#endif
