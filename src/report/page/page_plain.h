/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_plain.h - the charts of a page that was built without uPlot, since npm was not there: the
 * plots of `sonde report --plots` as images.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_PLAIN_H
#define SONDE_REPORT_PAGE_PAGE_PLAIN_H

#include "base/err.h"
#include "report/page/page_html.h"

/* Whether this program was built so. */
bool page_is_plain(void);
/* Nothing when it was not. 0, or -errno with a sentence. */
int page_plain_charts(struct bytes *b, const struct page_source *p, struct err *e);
void page_licence_note(struct bytes *b, const struct page_source *p);

#endif
