/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_pack.h - many numbers as a value of the page's JSON: what a chart needs of them, in as few
 * characters as possible. charts.js reads it.
 *
 * Numbers that are all the same are that number; none at all is null. Else an object: "values" are
 * base64 of 16 bits each, little-endian: an exponent of 5 bits and a fraction of 11, times
 * 2^"scale". That is right to 1 in 4,000, which is more than a chart shows. 0 is 0; all bits set is
 * absent. Numbers of which one is negative are base64 of floats instead.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_PACK_H
#define SONDE_REPORT_PAGE_PAGE_PACK_H

#include "base/text/json.h"

#include <stddef.h>

/* NAN is absent. */
void page_pack_numbers(struct json *j, const double *v, size_t n);
/* Bytes as base64. */
void page_pack_bytes(struct json *j, const void *data, size_t n);

#endif
