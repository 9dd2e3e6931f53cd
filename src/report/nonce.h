/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nonce.h - a number that only one page has. Only scripts and styles that carry it may act, so that
 * nothing smuggled in by a name could.
 */
#ifndef SONDE_REPORT_NONCE_H
#define SONDE_REPORT_NONCE_H

#include "base/err.h"

enum { NONCE_SIZE = 33 };

/* 32 hexadecimal digits and a NUL. 0, or -errno with a sentence. */
int nonce_make(char out[NONCE_SIZE], struct err *e);

#endif
