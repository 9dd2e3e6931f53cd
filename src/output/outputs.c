/* SPDX-License-Identifier: Apache-2.0 */
#include "output/outputs.h"

#include "base/text/json.h"
#include "console/command.h"
#include "console/print.h"
#include "console/say.h"
#include "core/frame/losses.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void outputs_add(struct outputs *w, const char *path)
{
	w->files++;
	if (w->json || w->keep)
		bytes_put(&w->paths, path, strlen(path) + 1);
}

void outputs_in(void *ctx, const char *name)
{
	struct outputs *w = ctx;
	char path[PATH_MAX + 256];

	snprintf(path, sizeof path, "%s/%s", w->to, name);
	outputs_add(w, path);
}

static void put_files(const struct outputs *w, struct json *j)
{
	const char *at = (const char *)w->paths.data, *end = at ? at + w->paths.len : at;

	json_key(j, "files");
	json_array(j);
	for (; at < end; at += strlen(at) + 1)
		json_text(j, at);
	json_array_end(j);
}

int outputs_end(struct outputs *w, uint32_t damages)
{
	struct bytes out = { 0 };
	struct json j = { .out = &out, .indent = true };
	char schema[64];
	int code = EXIT_OK;

	if (w->json) {
		snprintf(schema, sizeof schema, "sonde/%s/1", w->verb);
		json_object(&j);
		json_key(&j, "schema");
		json_text(&j, schema);
		json_key(&j, "recording");
		json_text(&j, w->recording);
		put_files(w, &j);
		json_key(&j, "damages");
		json_int(&j, damages);
		json_object_end(&j);
		bytes_u8(&out, '\n');
		out.failed |= w->paths.failed;
		code = print_bytes(&out);
	}
	bytes_free(&w->paths);
	return code;
}

void outputs_report_losses(const char *verb, const struct run *r)
{
	struct bytes words = { 0 };
	struct losses x;

	if (losses_make(&x, r))
		return;
	losses_words(&x, false, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed)
		say("%s: note: the recording is not complete: %s", verb, (const char *)words.data);
	bytes_free(&words);
}
