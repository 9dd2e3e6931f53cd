/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - why something failed, in one sentence for a person.
 *
 * Functions that can fail return 0 or -errno and fill a struct err with one sentence that names
 * the thing and says what to do. Below cmd/ nothing prints: the sentence travels up.
 */
#ifndef SONDE_BASE_ERR_H
#define SONDE_BASE_ERR_H

struct err {
	char text[512]; /* no trailing newline; untrusted parts are escaped when it is printed */
};

/* Fill e (may be NULL) and return code, so that `return err_set(e, -EINVAL, ...)` reads well. */
int err_set(struct err *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
