/* SPDX-License-Identifier: Apache-2.0 */
#include "core/value.h"

#include <errno.h>

static const char *const names[] = {
	[STATE_ABSENT] = "absent",           [STATE_PRESENT] = "present",
	[STATE_UNSUPPORTED] = "unsupported", [STATE_FORBIDDEN] = "forbidden",
	[STATE_FAILED] = "failed",
};
_Static_assert(sizeof names / sizeof names[0] == STATE_NUMBER_OF, "a name for every state");

const char *state_name(enum state s)
{
	return (unsigned)s < STATE_NUMBER_OF ? names[s] : "unknown";
}

enum state state_of(int negative_errno)
{
	switch (-negative_errno) {
	case ENOENT:
	case ENODEV:
	case ENOSYS:
	case EOPNOTSUPP:
		return STATE_UNSUPPORTED;
	case EACCES:
	case EPERM:
		return STATE_FORBIDDEN;
	default:
		return STATE_FAILED;
	}
}
