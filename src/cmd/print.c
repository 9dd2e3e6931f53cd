/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/print.h"

#include "cmd/command.h"
#include "cmd/say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int print_bytes(struct bytes *b)
{
	int code = EXIT_FAILED;

	if (b->failed)
		say("out of memory");
	else if (fwrite(b->data, 1, b->len, stdout) != b->len || fflush(stdout))
		say("cannot write to standard output: %s", strerror(errno));
	else
		code = EXIT_OK;
	bytes_free(b);
	return code;
}
