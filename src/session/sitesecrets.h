/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitesecrets.h - the lists of secrets that this site and this user have: /etc/sonde/secrets and
 * the file that SONDE_SECRETS names.
 */
#ifndef SONDE_SESSION_SITESECRETS_H
#define SONDE_SESSION_SITESECRETS_H

#include "job/secret/secret_list.h"

#define SITESECRETS_FILE     "/etc/sonde/secrets"
#define SITESECRETS_VARIABLE "SONDE_SECRETS"

/* no_addresses: those of IP are masked, too, by a key that nobody knows and that goes with the
 * list. NULL: there is nothing of it. What cannot be read or understood is said, and then
 * everything is masked. */
const struct secret_list *sitesecrets_read(bool no_addresses);
void sitesecrets_free(const struct secret_list *l);

#endif
