/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracker_json.h - a sample as files of samples have it: keys and scales of tracker_fields.
 */
#ifndef SONDE_CORE_TRACKER_JSON_H
#define SONDE_CORE_TRACKER_JSON_H

#include "base/text/json.h"
#include "core/tracker.h"

/* An object. The plain keys are always there, with null where nothing is known. */
void tracker_sample_json(const struct tracker_sample *s, struct json *j);

#endif
