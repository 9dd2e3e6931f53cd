/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - one event (core/phase/event.h) as bytes, and back.
 *
 * A record is: varint length of the rest, kind, varint mask of the fields that follow, the fields.
 * Fields at their default are left out; a reader skips kinds it does not know by the length. A
 * record of a CATALOGUE carries its metric rows; SERIES and FINAL name the first of their metrics
 * by id.
 */
#ifndef SONDE_RECORDING_RECORD_H
#define SONDE_RECORDING_RECORD_H

#include "base/bytes.h"
#include "base/pool.h"
#include "core/phase/event.h"

/* Fields of a record: bit numbers of the mask, in the order they are written. Append only. */
enum record_field {
	FIELD_NODE = 0, /* left out: 1 */
	FIELD_ID,
	FIELD_PARENT,
	FIELD_COUNT,
	FIELD_FLAGS,
	FIELD_STATE,
	FIELD_META_TYPE,
	FIELD_T0,
	FIELD_T1,
	FIELD_VALUE,
	FIELD_REAL,
	FIELD_MASK, /* FINAL: values that are known; SERIES: metrics that are STORE_REAL */
	FIELD_NAME,
	FIELD_TEXT,
	FIELD_DOMAIN,
	FIELD_VALUES,     /* those whose bit in the mask is set */
	FIELD_METRIC,     /* id of the first metric */
	FIELD_ROWS,       /* count metric rows */
	FIELD_SPANS,      /* count spans */
	FIELD_POINTS,     /* count values with their times */
	FIELD_ITEMS = 24, /* count items. The bits before it have no field yet */
	FIELD_NUMBER_OF
};

/* Append the event. metric_id is the id of e->metric[0]; ids of a set follow one another. */
void record_put(struct bytes *out, const struct event *e, uint32_t metric_id);
/* Around the body of a record that is written otherwise: where it begins, and its length before it.
 */
size_t record_begin(struct bytes *out);
void record_end(struct bytes *out, size_t body);
/* Which of the event's metrics are STORE_REAL: bit i is of metric[i]. */
uint64_t record_real_mask(const struct event *e);

struct record {
	struct event event; /* event.metric is set for CATALOGUE only */
	uint32_t metric_id;
	const uint8_t *start; /* in what it was read from; it ends where the next begins */
};

/* The next record of kind known here; strings, values and rows are copied to pool, or left out when
 * it is NULL. 1, 0 at the end of in, -EBADMSG, -ENOMEM. A record of length 0 is an end, too. */
int record_get(struct scan *in, struct record *r, struct pool *pool);

/* Why rows of a stranger may not be taken for metrics, or NULL. */
const char *record_metric_fault(const struct metric *m);

#endif
