/* SPDX-License-Identifier: Apache-2.0 */
#include "database/libpq.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int libpq_load(struct libpq *l, struct err *e)
{
	void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
	void *found;

	if (!library)
		return err_set(e, -ENOENT,
			       "PostgreSQL's library libpq.so.5 is missing: Debian's package is "
			       "libpq5");
#define FUNCTION(type, name, arguments)                                                            \
	found = dlsym(library, #name);                                                             \
	if (!found)                                                                                \
		return err_set(e, -ENOENT, "libpq.so.5 is too old: it has no " #name);             \
	memcpy(&l->name, &found, sizeof found);
	LIBPQ_FUNCTIONS(FUNCTION)
#undef FUNCTION
	return 0;
}
