/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - the five states of a value. Absent is never 0.
 *
 * ABSENT: nothing was there then. The last three are states of a series over a time range, each
 * with a reason. Empty in CSV, null in JSON and tables.
 */
#ifndef SONDE_CORE_VALUE_H
#define SONDE_CORE_VALUE_H

/* The numbers are in the file format: append only. ABSENT is 0, so that zeroed memory holds
 * nothing. */
enum state {
	STATE_ABSENT = 0,
	STATE_PRESENT,
	STATE_UNSUPPORTED, /* this machine has no such thing */
	STATE_FORBIDDEN,   /* it is there and this user may not read it */
	STATE_FAILED,      /* it should have worked: the reason says what happened */
	STATE_NUMBER_OF
};

const char *state_name(enum state s);
/* What a failed open or read means: -ENOENT, -ENODEV, -ENOSYS, -EOPNOTSUPP -> unsupported;
 * -EACCES, -EPERM -> forbidden; everything else -> failed. */
enum state state_of(int negative_errno);

#endif
