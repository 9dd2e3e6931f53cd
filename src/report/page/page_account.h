/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_account.h - the bar of where the time went on the page, and its colours on paper, too.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_ACCOUNT_H
#define SONDE_REPORT_PAGE_PAGE_ACCOUNT_H

#include "report/summary/account.h"

/* Of each part a token of page.css and of colour_named. */
extern const char *const account_colours[ACCOUNT_PARTS];

#endif
