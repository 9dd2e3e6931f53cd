/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_columns.h - what the figures of a run are called, in the store and as JSON. Private to
 * store/history*.c.
 */
#ifndef SONDE_STORE_HISTORY_COLUMNS_H
#define SONDE_STORE_HISTORY_COLUMNS_H

#include "store/history.h"

struct history_column {
	const char *name;
	bool whole; /* a BIGINT */
};

extern const char *const history_text_columns[HISTORY_TEXTS];
extern const struct history_column history_number_columns[HISTORY_NUMBERS];

#endif
