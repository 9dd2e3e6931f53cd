/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdicts_json.h - all verdicts of a summary as a JSON array, each with all that proves it.
 */
#ifndef SONDE_REPORT_TEXT_VERDICTS_JSON_H
#define SONDE_REPORT_TEXT_VERDICTS_JSON_H

#include "base/text/json.h"
#include "report/summary/summary.h"

void verdicts_json(struct json *j, const struct summary *s, const struct run *r);

#endif
