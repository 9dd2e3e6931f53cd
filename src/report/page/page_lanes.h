/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_lanes.h - the processes of a node, for the lanes and the table of the report page.
 *
 * Those that used most CPU, as many as a screen can show; how many there are in all is said.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_LANES_H
#define SONDE_REPORT_PAGE_PAGE_LANES_H

#include "base/text/json.h"
#include "core/frame/run_index.h"
#include "report/summary/summary.h"

/* Keys "processes_total" and "processes" of the object that is open. x: the run's instances. */
void page_lanes_json(struct json *j, const struct run *r, const struct run_index *x,
		     const struct summary *s, uint32_t node);

#endif
