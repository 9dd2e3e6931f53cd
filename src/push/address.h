/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - a server's address, with its user and password taken out of it.
 *
 * `shown` is what sentences, state files and requests name: it never holds a password, nor a query,
 * which may hold a key.
 */
#ifndef SONDE_PUSH_ADDRESS_H
#define SONDE_PUSH_ADDRESS_H

#include "base/err.h"

enum { ADDRESS_MAX = 1024 };

struct address {
	char url[ADDRESS_MAX];         /* without user, password and slashes at its end */
	char shown[ADDRESS_MAX];       /* the same without its query */
	char user[256], password[256]; /* "": none */
};

/* http and https only. what names it in the sentence ("MLFLOW_TRACKING_URI"). 0 or -EINVAL. */
int address_parse(struct address *a, const char *text, const char *what, struct err *e);

#endif
