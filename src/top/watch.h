/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - a view on a terminal until its user has seen enough: looks at the recording, takes
 * keys, paints what changed.
 *
 * It runs in a process of its own, and a keeper holds the terminal: however that process ends, the
 * terminal is given back as it was. Ctrl-Z gives it back, too, until it is resumed.
 */
#ifndef SONDE_TOP_WATCH_H
#define SONDE_TOP_WATCH_H

#include "base/bytes.h"
#include "live/now.h"
#include "top/terminal.h"
#include "top/view.h"

struct watch {
	const struct terminal *terminal;
	struct now *now;
	struct view *view;
	int64_t every_ns;      /* between two looks */
	struct replay *replay; /* NULL: live */
};

/* Until the user ends it, or a signal does. 0; -errno with a sentence; the signal's number when
 * that was not the user's Ctrl-C; and when the process ended otherwise, too. */
int watch_run(const struct watch *w, struct err *e);

/*
 * What `sonde top --json` says: the figures of all nodes, their processes and GPUs.
 */
/* Schema sonde/top/1. 0 or -ENOMEM. */
int top_document_put(struct bytes *out, const struct now *now, const char *title, int64_t utc_ns);

#endif
