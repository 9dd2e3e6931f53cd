/* SPDX-License-Identifier: Apache-2.0 */
#include "console/print.h"

#include "base/text/json.h"
#include "console/command.h"
#include "console/say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int print_to(FILE *out, struct bytes *b)
{
	int code = EXIT_FAILED;

	if (b->failed)
		say("out of memory");
	else if (fwrite(b->data, 1, b->len, out) != b->len || fflush(out))
		say("cannot write to standard output: %s", strerror(errno));
	else
		code = EXIT_OK;
	bytes_free(b);
	return code;
}

int print_bytes(struct bytes *b)
{
	return print_to(stdout, b);
}

void print_error_json(FILE *out, const char *command)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/error/1");
	json_put_text(&j, "command", command);
	json_put_text(&j, "error", say_last());
	json_object_end(&j);
	bytes_u8(&b, '\n');
	print_to(out, &b);
}
