/* SPDX-License-Identifier: Apache-2.0 */
#include "console/version.h"

#include "base/text/json.h"
#include "console/command.h"
#include "console/print.h"
#include "sink/sink.h"
#include "source/source.h"

#include <zstd.h>

#if defined __SANITIZE_ADDRESS__
#define SANITIZED true
#elif defined __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED false
#endif

static void build_json(struct json *j)
{
	json_key(j, "build");
	json_object(j);
	json_key(j, "compiler");
	json_text(j, __VERSION__);
	json_key(j, "optimised");
#ifdef __OPTIMIZE__
	json_bool(j, true);
#else
	json_bool(j, false);
#endif
	json_put_bool(j, "address_sanitizer", SANITIZED);
	json_key(j, "libexec");
	json_text(j, SONDE_LIBEXEC);
	json_key(j, "zstd");
	json_text(j, ZSTD_versionString());
	json_object_end(j);
}

static void contents_json(struct json *j)
{
	json_key(j, "sources");
	json_array(j);
	for (size_t i = 0; i < nsources; i++)
		json_text(j, sources[i]->name);
	json_array_end(j);
	json_key(j, "formats");
	json_array(j);
	for (size_t i = 0; i < nsinks; i++)
		json_text(j, sinks[i]->name);
	json_array_end(j);
	json_key(j, "commands");
	json_array(j);
	for (size_t i = 0; i < ncommands; i++)
		json_text(j, commands[i]->name);
	json_array_end(j);
}

static void version_json(struct bytes *b)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/version/1");
	json_key(&j, "version");
	json_text(&j, SONDE_VERSION);
	build_json(&j);
	contents_json(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

int version_print(bool json)
{
	struct bytes b = { 0 };

	if (json)
		version_json(&b);
	else
		bytes_puts(&b, "sonde " SONDE_VERSION "\n");
	return print_bytes(&b);
}
