/* SPDX-License-Identifier: Apache-2.0 */
#include "session/sitesecrets.h"

#include "base/random.h"
#include "console/command.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void add(struct secret_list *l, const char *file)
{
	struct err e = { "" };

	if (secret_list_read(l, file, &e))
		say("%s; command lines, the environment and texts of marks are masked whole",
		    e.text);
}

static const struct secret_list everything = { .all = true };

const struct secret_list *sitesecrets_read(bool no_addresses)
{
	const char *own = getenv(SITESECRETS_VARIABLE);
	bool has_own = own && *own, has_site = !access(SITESECRETS_FILE, F_OK) || errno != ENOENT;
	struct secret_list *l;

	if (!has_own && !has_site && !no_addresses)
		return NULL;
	l = calloc(1, sizeof *l);
	if (!l || (no_addresses && !entropy_fill(l->key, sizeof l->key))) {
		free(l);
		return &everything;
	}
	l->addresses = no_addresses;
	if (has_site)
		add(l, SITESECRETS_FILE);
	if (has_own)
		add(l, own);
	return l;
}

void sitesecrets_free(const struct secret_list *l)
{
	if (l != &everything)
		free((void *)l);
}
