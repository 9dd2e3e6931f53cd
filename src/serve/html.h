/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - the pages of the server that are not a run's: where the token is said, and the list of
 * runs.
 *
 * Each carries a policy that lets only its own style and script act. Names of runs are hostile.
 */
#ifndef SONDE_SERVE_HTML_H
#define SONDE_SERVE_HTML_H

#include "live/exposition.h"

#include <microhttpd.h>

enum MHD_Result html_login(struct MHD_Connection *c);
enum MHD_Result html_list(struct MHD_Connection *c, const struct exposition_run *run, size_t n);

#endif
