/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.h - a stream that is compressed as gzip on its way into another.
 *
 * One member, Deflate with its fixed codes: text of names that come again becomes a sixth or less,
 * without a library. Its memory is fixed.
 */
#ifndef SONDE_SINK_GZIP_H
#define SONDE_SINK_GZIP_H

#include <stdio.h>

/* What is written to it goes to out, which stays open and is the caller's. fclose completes the
 * output; as all of stdio, it and writing give EOF when out did not take it, with errno. NULL: out
 * of memory. */
FILE *gzip_open(FILE *out);

#endif
