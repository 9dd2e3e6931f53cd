/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room.h - how much memory there is for a measurement, and how large the caches are that it has to
 * exceed.
 */
#ifndef SONDE_INDICATOR_ROOM_H
#define SONDE_INDICATOR_ROOM_H

#include "base/err.h"

#include <stdint.h>

/* Of what is free, no indicator takes more than one part in so many. */
enum { ROOM_SHARE = 4 };

/* Bytes that are free, by MemAvailable and by the limits of the control groups this process is in;
 * -1: not known. */
int64_t room_free(void);
/* 0, or -EINVAL when that many bytes are more than the share. what is asked: "3 arrays of 64 MiB"
 */
int room_check(double bytes, const char *what, struct err *e);
/* Of the last level, all of them together; 0: not known. */
int64_t room_cache(void);

#endif
